"""Random books and chats for the `sillytavern` dialect, small enough that entries meet: few words, all settings."""

from __future__ import annotations

from random import Random
from typing import Any

from service.lore.activation.state import Effect, State
from service.lore.book import Entry
from service.lore.open_book import AttachedBook
from service.lore.request import Message, Names, RetrieveRequest, SillyTavern, SourceText
from service.lore.trigger import CharacterFilter, Group, Recursion
from tests.lore.activation.worlds import entry, lorebook

WORDS = ("cat", "cats", "Dog", "dark elf", "dark  elf", "кот", "который", "東京", "東京都", "café", "cafés", "straße",
    "STRASSE", "İst", "c++", "a_b", "King", "King's", "ΟΔΟΣ", "3", "Mira", "Ilse")  # fmt: skip
KEYS = (*WORDS, " ", "", "\t", "/cat/", "/CAT|dog/i", "/^cat/m", "/dog$/", "/dog$/m", "/c.t.*elf/s", "/(/", "/a/gg",
    "/dog(?= cat)/", "/(?<!the )cat/", "/[dD]o\\/?g/", "{{user}}", "{{char}}", " cat ", "/cat/y",
    "/cat/, dog")  # fmt: skip
HOSTS = ("conversation:c", "persona:p", "character:i", "story:s", "server:x", "request")
TEXTS = ("persona", "description", "scenario", "prompt")
DECORATED = ("", "", "", "", "@@activate\n", "@@dont_activate\n", "@@depth 3\n@@@activate\n",
    "@@activate_only_after 2\n",    "\n@@activate\n\n", "@@activate\n@@dont_activate\n")  # fmt: skip


def text(random: Random, most: int = 8) -> str:
    """A few words that keys may meet."""
    return random.choice((" ", " ", ", ", "-", "\n", "")).join(random.choices(WORDS, k=random.randint(1, most)))


def keys(random: Random, most: int = 3) -> tuple[str, ...]:
    return tuple(random.choices(KEYS, k=random.randint(0, most)))


def maybe(random: Random, value: Any, otherwise: Any, probability: float = 0.25) -> Any:
    return value if random.random() < probability else otherwise


def random_entry(random: Random, name: str) -> Entry:
    """All settings, each at its default more often than not."""
    content = random.choice(DECORATED) + maybe(random, text(random), f"{name} {text(random, 3)} {{{{user}}}}")
    return entry(
        name,
        content if random.random() > 0.05 else "@@activate",
        enabled=random.random() > 0.05,
        keys=keys(random),
        secondary_keys=maybe(random, keys(random), (), 0.4),
        logic=random.choice(("any", "all", "none", "not_all")),
        selective=random.random() > 0.1,
        constant=random.random() < 0.1,
        whole_words=random.choice((None, None, True, False)),
        case_sensitive=random.choice((None, None, True, False)),
        scan_depth=maybe(random, random.choice((0, 1, 2, 5, 1000)), None),
        chance=maybe(random, random.choice((0, 30, 50, 99.5, 100)), None),
        order=random.choice((100, 100, 100, 1, 50, 200)),
        at=random.choice(
            (
                "before",
                "after",
                "depth",
                "depth",
                "note_top",
                "note_bottom",
                "examples_top",
                "examples_bottom",
                "outlet",
            )
        ),
        depth=random.choice((0, 1, 4)),
        role=random.choice(("system", "user", "assistant")),
        outlet=random.choice(("", "hall")),
        sticky=maybe(random, random.choice((0, 2, 5, 9)), None, 0.4),
        cooldown=maybe(random, random.choice((0, 1, 4)), None, 0.4),
        delay=maybe(random, random.choice((0, 2, 6)), None, 0.1),
        group=Group(
            names=maybe(random, tuple(random.sample(("one", "two", "three"), k=random.randint(1, 2))), (), 0.4),
            override=random.random() < 0.2,
            weight=random.choice((100, 100, 0, 10, 250)),
            scoring=random.choice((None, None, True, False)),
        ),
        recursion=Recursion(
            exclude=random.random() < 0.15,
            prevent=random.random() < 0.15,
            delay_until=maybe(random, random.choice((1, 2, 3)), 0, 0.15),
        ),
        ignore_budget=random.random() < 0.1,
        generations=maybe(random, ("normal", "quiet"), (), 0.1),
        characters=CharacterFilter(
            names=maybe(random, ("Ilse",), (), 0.1),
            tags=maybe(random, ("kind",), (), 0.1),
            exclude=random.random() < 0.5,
        ),
        sources=maybe(random, tuple(random.sample(TEXTS[:3], k=random.randint(1, 2))), ()),
    )


def random_books(random: Random) -> list[AttachedBook]:
    """One to three books of one to eight entries, brought by various hosts."""
    ids = ("gomedi", "bakiru", "todane")[: random.randint(1, 3)]
    return [
        lorebook(
            "sillytavern",
            *(random_entry(random, f"{id_}{number}") for number in range(random.randint(1, 8))),
            id=id_,
            via=random.sample(HOSTS, k=random.choice((1, 1, 2))),
            enabled=random.random() > 0.05,
        )
        for id_ in ids
    ]


def random_request(random: Random) -> RetrieveRequest:
    """A chat of up to eight messages with the program's settings."""
    messages = tuple(
        Message(
            role=random.choice(("user", "assistant", "user", "assistant", "system")),
            name=random.choice((None, "Mira", "Ilse")),
            content=maybe(random, " ", "", 0.1) + text(random),
        )
        for _ in range(random.randint(0, 8))
    )
    program = SillyTavern(
        generation=random.choice(("normal", "quiet", "swipe")),
        max_context=random.choice((8192, 8192, 400, 1000, 0)),
        character=maybe(random, "Ilse", None, 0.5),
        character_tags=random.choice((None, ("kind",), ("cruel",), ())),
        texts=tuple(
            SourceText(source=random.choice(TEXTS), text=maybe(random, text(random, 3), ""))  # type: ignore[arg-type]
            for _ in range(random.randint(0, 3))
        ),
        scan_depth=random.choice((0, 1, 2, 2, 4, 100)),
        budget_cap=random.choice((0, 0, 0, 40, 60, 150)),
        include_names=random.random() < 0.7,
        recursive=random.random() < 0.7,
        case_sensitive=random.random() < 0.2,
        whole_words=random.random() < 0.8,
        min_activations=random.choice((0, 0, 0, 2, 4)),
        min_activations_depth=random.choice((0, 0, 3, 6)),
        max_recursion_steps=random.choice((0, 0, 0, 1, 2, 3)),
        group_scoring=random.random() < 0.3,
        strategy=random.choice(("character_first", "global_first", "evenly")),
    )
    return RetrieveRequest(
        messages=messages,
        messages_before=random.choice((0, 0, 3)),
        conversation=random.choice((None, "c")),
        turn=random.randint(0, 50),
        names=maybe(random, Names(user="Mira", char="Ilse"), None, 0.6),
        sillytavern=program,
    )


def random_state(random: Random, books: list[AttachedBook], length: int) -> State:
    """Effects in force, just over, and from a longer conversation than this one."""
    handles = [each.handle for book in books for each in book.open.text.entries] + ["gone-1"]
    return State.of(
        Effect(handle, kind, start, start + random.randint(1, 5), random.random() < 0.2)  # type: ignore[arg-type]
        for handle in random.sample(handles, k=min(len(handles), random.choice((0, 1, 2, 4))))
        for kind in random.sample(("sticky", "cooldown"), k=random.randint(1, 2))
        for start in (max(0, length + random.randint(-4, 1)),)
    )
