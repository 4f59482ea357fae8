"""The `sillytavern` dialect: what authors rely on, by small cases; and the listed differences, each shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.lore.activation.draws import drawn
from service.lore.activation.state import EMPTY, Effect, State
from service.lore.open_book import AttachedBook
from service.lore.reasons import Filtered, Nothing, Outgrouped, OverLorebookBudget, Timed, Unreached
from service.lore.request import Message, Names, RetrieveRequest, SillyTavern, SourceText
from service.lore.trigger import CharacterFilter, Group, Recursion
from tests.lore.activation.differences import CHOSEN, DIFFERENCES
from tests.lore.activation.tavern_oracle import Oracle
from tests.lore.activation.worlds import LETTERS, Turn, asked, entry, lorebook, said


def tavern(*contents: str | Message, names: Names | None = None, **program: Any) -> RetrieveRequest:
    """A request with settings of the program."""
    return asked(*contents, names=names, sillytavern=SillyTavern(**program))


KEYS = [
    ("one word is whole", "cat", "the cats", {}, False),
    ("punctuation bounds it", "cat", "the cat, asleep", {}, True),
    ("a possessive matches", "king", "the King's road", {}, True),
    ("underscore is a word character", "cat", "cat_1", {}, False),
    ("several words are a substring", "dark elf", "a dark elfish thing", {}, True),
    ("blanks between words are exact", "dark elf", "a dark  elf", {}, False),
    ("other scripts are substrings", "кот", "который", {}, True),
    ("ideographs too", "東京", "東京都", {}, True),
    ("an accent bounds a word", "caf", "café", {}, True),
    ("but a letter after it does not", "café", "cafés", {}, False),
    ("signs of a key", "c++", "in c++ and", {}, True),
    ("lower case is not folding", "straße", "STRASSE", {}, False),
    ("a dotted İ is two characters", "i̇stanbul", "İSTANBUL", {}, True),
    ("final sigma", "ΟΔΟΣ", "η οδος", {}, True),
    ("case when asked", "Cat", "a cat", {"case_sensitive": True}, False),
    ("case by the program", "Cat", "a cat", {"program": {"case_sensitive": True}}, False),
    (
        "the entry wins over the program",
        "Cat",
        "a cat",
        {"case_sensitive": False, "program": {"case_sensitive": True}},
        True,
    ),
    ("part of a word when asked", "cat", "the cats", {"whole_words": False}, True),
    ("by the program", "cat", "the cats", {"program": {"whole_words": False}}, True),
    ("ends are trimmed", "  cat ", "a cat", {}, True),
    ("a blank key", " ", "a cat", {}, False),
    ("a name as a macro", "{{user}}", "then Mira said", {"names": Names(user="Mira")}, True),
    ("a regular expression", "/c[aou]t/", "a cut", {}, True),
    ("it ignores whole words", "/cat/", "cats", {}, True),
    ("and case only with its flag", "/cat/", "CAT", {"case_sensitive": False}, False),
    ("with its flag", "/cat/i", "CAT", {}, True),
    ("a broken one is plain text", "/(/", "see /(/ there", {}, True),
    ("an unescaped slash makes it text", "/a/b/", "x/a/b/y", {"whole_words": False}, True),
    ("an unknown flag too", "/cat/x", "the cat/x", {}, False),
    ("a caret does not stand before a message", "/^cat/", "cat", {}, False),
    ("nor with m", "/^cat/m", "cat", {}, False),
    ("but at a line of it", "/^cat/m", "a\ncat", {}, True),
    ("a dollar stands at the end", "/cat$/", "the cat", {}, True),
    ("looking around", "/(?<!the )cat/", "a cat", {}, True),
    ("looking around, against", "/(?<!the )cat/", "the cat", {}, False),
    ("P05: a pattern that would stall", "/(a+)+$/", "a" * 40 + "!", {}, False),
    ("P05: and one that only looks around can be", "/(?=a)(a|a)+$/", "a" * 40 + "!", {}, False),
]


@pytest.mark.parametrize(("key", "text", "fields", "found"), [row[1:] for row in KEYS], ids=[row[0] for row in KEYS])
def test_keys(key: str, text: str, fields: dict[str, Any], found: bool) -> None:
    """P05: keys as that program reads them, patterns without its stalls."""
    fields = dict(fields)
    request = tavern(text, names=fields.pop("names", None), **fields.pop("program", {}))
    assert Turn(lorebook("sillytavern", entry("a", keys=(key,), **fields)), request).titles == (["a"] if found else [])


def test_names_before_messages() -> None:
    """A key that is the name of who speaks fires on every message, unless names are left out."""
    book = lorebook("sillytavern", entry("a", keys=("Ilse",)))
    message = said("Hello.", name="Ilse")
    assert Turn(book, tavern(message)).titles == ["a"]
    assert Turn(book, tavern(message, include_names=False)).titles == []
    assert Turn(book, tavern(message)).reason("a").span is None
    greeting = Turn(book, tavern(said(" Ilse, me.", name="Oru")))
    assert greeting.reason("a").span == (1, 5)


def test_depths() -> None:
    """Two messages unless entry or program says otherwise; with a depth of 0 nothing matches, contents neither."""
    entries = [
        entry("two", keys=("tide",)),
        entry("three", keys=("tide",), scan_depth=3),
        entry("zero", keys=("gate", "x"), scan_depth=0),
        entry("constant", "gate", constant=True),
    ]
    turn = Turn(lorebook("sillytavern", *entries), tavern("tide", "x", "x"))
    assert set(turn.titles) == {"three", "constant"}
    assert set(Turn(lorebook("sillytavern", *entries), tavern("tide", "x", "x", scan_depth=3)).titles) == {
        "two", "three", "constant"
    }  # fmt: skip


def test_other_texts() -> None:
    """Texts that an entry asks for are searched for it, injected prompts for every entry."""
    texts = (SourceText(source="persona", text="a smith"), SourceText(source="prompt", text="a storm"))
    book = lorebook(
        "sillytavern",
        entry("asks", keys=("smith",), sources=("persona",)),
        entry("does not", keys=("smith",)),
        entry("all", keys=("storm",)),
        entry("pattern", keys=("/sm.th/",), sources=("persona",)),
    )
    turn = Turn(book, tavern("x", texts=texts))
    assert set(turn.titles) == {"asks", "all", "pattern"}
    assert turn.reason("asks").source == turn.reason("pattern").source == "persona"
    assert turn.reason("pattern").span == (2, 7)


def test_recursion_and_its_flags() -> None:
    """R09: contents wake entries, not those that refuse, nor by those that wake nobody."""
    book = lorebook(
        "sillytavern",
        entry("root", "gate", keys=("tide",)),
        entry("woken", "wall", keys=("gate",)),
        entry("woken by that", keys=("wall",)),
        entry("refuses", keys=("gate",), recursion=Recursion(exclude=True)),
        entry("wakes nobody", "tower, everyone", constant=True, recursion=Recursion(prevent=True)),
        entry("stays asleep", keys=("tower", "everyone")),
        entry("dead", keys=("gate",), recursion=Recursion(exclude=True, delay_until=1)),
    )
    turn = Turn(book, "tide")
    assert set(turn.titles) == {"root", "woken", "woken by that", "wakes nobody"}
    assert turn.reason("refuses") == Unreached(rule="excluded")
    assert turn.reason("dead") == Unreached(rule="excluded")
    assert [turn.reason(title).pass_number for title in ("root", "woken", "woken by that")] == [1, 2, 3]


def test_delayed_levels() -> None:
    """The lowest level is open in recursion passes; a higher one opens when a pass yields nothing, even without
    recursion."""
    book = lorebook(
        "sillytavern",
        entry("root", "gate", keys=("tide",)),
        entry("one", "wall", keys=("gate", "tide"), recursion=Recursion(delay_until=1)),
        entry("two", keys=("tide",), recursion=Recursion(delay_until=2)),
        entry("three", keys=("tide",), recursion=Recursion(delay_until=3)),
    )
    turn = Turn(book, "tide")
    assert [turn.reason(title).pass_number for title in ("root", "one", "two", "three")] == [1, 2, 4, 6]
    off = Turn(book, tavern("tide", recursive=False))
    assert [off.reason(title).pass_number for title in ("root", "two", "three")] == [1, 2, 3]


def test_most_passes() -> None:
    """One pass means no recursion."""
    book = lorebook(
        "sillytavern",
        entry("a", "gate", keys=("tide",)),
        entry("b", "wall", keys=("gate",)),
        entry("c", keys=("wall",)),
    )
    assert [len(Turn(book, tavern("tide", max_recursion_steps=most)).titles) for most in (1, 2, 3, 0)] == [1, 2, 3, 3]


def test_minimum_of_activations() -> None:
    """The scan widens message by message until enough entries are active, to the depth that is allowed."""
    book = lorebook("sillytavern", *(entry(str(n), keys=(f"key{n}",)) for n in range(5)))
    chat = [f"key{n}" for n in range(5)]
    assert Turn(book, tavern(*chat, min_activations=3)).titles == ["2", "3", "4"]
    assert Turn(book, tavern(*chat, min_activations=9)).titles == list("01234")
    assert Turn(book, tavern(*chat, min_activations=9, min_activations_depth=3)).titles == ["2", "3", "4"]
    assert Turn(book, tavern(*chat, min_activations=9, max_recursion_steps=5)).titles == ["3", "4"]


@pytest.mark.parametrize(
    ("fields", "program", "reason"),
    [
        ({"generations": ("quiet",)}, {}, Filtered(by="generation")),
        ({"generations": ("quiet", "normal")}, {}, None),
        ({"characters": CharacterFilter(names=("Oru",))}, {"character": "Ilse"}, Filtered(by="character")),
        ({"characters": CharacterFilter(names=("Ilse",))}, {"character": "Ilse"}, None),
        (
            {"characters": CharacterFilter(names=("Ilse",), exclude=True)},
            {"character": "Ilse"},
            Filtered(by="character"),
        ),
        ({"characters": CharacterFilter(tags=("kind",))}, {"character_tags": ("cruel",)}, Filtered(by="tag")),
        ({"characters": CharacterFilter(tags=("kind",))}, {}, None),
        (
            {"characters": CharacterFilter(tags=("kind",), exclude=True)},
            {"character_tags": ("kind",)},
            Filtered(by="tag"),
        ),
    ],
)
def test_filters(fields: dict[str, Any], program: dict[str, Any], reason: object) -> None:
    """Generations, characters and tags take an entry out of scope."""
    turn = Turn(lorebook("sillytavern", entry("a", constant=True, **fields)), tavern("x", **program))
    assert turn.titles == ([] if reason else ["a"])
    if reason:
        assert (turn.reason("a"), turn.traces["a"].status) == (reason, "out_of_scope")


def grouped(title: str, *names: str, order: int = 100, **fields: Any) -> Any:
    group = {key: fields.pop(key) for key in ("override", "weight", "scoring") if key in fields}
    return entry(title, order=order, **{"constant": True, **fields}, group=Group(names=names, **group))


def test_groups() -> None:
    """One of a group: what overrides, else one by weight; who is left out is told by whom."""
    book = lorebook(
        "sillytavern", grouped("a", "w"), grouped("b", "w", override=True), grouped("c", "w", override=True, order=200)
    )
    turn = Turn(book, "x")
    assert turn.titles == ["c"]
    assert turn.reason("a") == Outgrouped(group="w", winner="gomedi-3")
    weighted = lorebook(
        "sillytavern", grouped("a", "w", weight=300), grouped("b", "w"), grouped("never", "w", weight=0)
    )
    found = [Turn(weighted, asked("x", conversation="c", turn=turn)).titles for turn in range(400)]
    assert all(len(titles) == 1 for titles in found)
    assert 250 < found.count(["a"]) < 350
    assert ["never"] not in found


def test_scoring() -> None:
    """Members that take part in scoring leave when others see more of their keys."""
    keys = {"constant": False}
    book = lorebook(
        "sillytavern",
        grouped("one", "w", keys=("tide",), scoring=True, **keys),
        grouped("two", "w", keys=("tide", "salt"), **keys),
    )
    found = {tuple(Turn(book, asked("tide, salt", turn=turn)).titles) for turn in range(20)}
    assert found == {("two",)}


def test_a_group_with_an_active_member() -> None:
    """Once a member is active no other comes in a later pass."""
    book = lorebook("sillytavern", grouped("a", "w"), entry("b", keys=("About a",), group=Group(names=("w", "v"))))
    assert Turn(book, "x").titles == ["a"]


def sequence(book: AttachedBook, *turns: tuple[str, int]) -> list[list[str]]:
    """What is active when the conversation has so many messages, turn after turn."""
    state, found = EMPTY, []
    for text, length in turns:
        turn = Turn(book, asked(text, conversation="c", turn=length, messages_before=length - 1), state)
        state = State.from_json(turn.state.to_json())
        found.append(turn.titles)
    return found


TIMES = [
    ("sticky", {"sticky": 3}, [("tide", 1), ("x", 2), ("x", 3), ("x", 4)], "1110"),
    ("not prolonged while it lasts", {"sticky": 3}, [("tide", 1), ("tide", 3), ("x", 4)], "110"),
    ("cooldown", {"cooldown": 3}, [("tide", 1), ("tide", 2), ("tide", 3), ("tide", 4)], "1001"),
    ("delay", {"delay": 3}, [("tide", 1), ("tide", 2), ("tide", 3)], "001"),
    ("sticky, then cooldown", {"sticky": 2, "cooldown": 2},
     [("tide", 1), ("x", 2), ("tide", 3), ("tide", 4), ("tide", 5)], "11001"),
    ("a chat that became shorter", {"sticky": 5}, [("tide", 4), ("x", 3), ("x", 4)], "100"),
    ("sticky passes its chance", {"sticky": 3, "chance": 99.999}, [("tide", 1), ("x", 2), ("x", 3)], "111"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "turns", "active"), [row[1:] for row in TIMES], ids=[row[0] for row in TIMES])
def test_timed_effects(fields: dict[str, Any], turns: list[tuple[str, int]], active: str) -> None:
    """Sticky, cooldown and delay are counted in messages of the conversation."""
    book = lorebook("sillytavern", entry("a", keys=("tide",), **fields))
    assert "".join(str(len(titles)) for titles in sequence(book, *turns)) == active


def test_cooling() -> None:
    """B1: the reason says until when."""
    state = State((Effect("gomedi-1", "cooldown", 1, 5),))
    turn = Turn(lorebook("sillytavern", entry("a", keys=("tide",), cooldown=4)), asked("tide", "x"), state)
    assert turn.reason("a") == Timed(effect="cooldown", until=5)


def test_budget_stops() -> None:
    """The first text that reaches the budget is rejected with all that follow; only what ignores it goes in."""
    book = lorebook(
        "sillytavern",
        entry("first", "x" * 40, constant=True, order=9),
        entry("big", "x" * 70, constant=True, order=8),
        entry("small", "x", constant=True, order=7),
        entry("exempt", "x" * 500, constant=True, order=6, ignore_budget=True),
    )
    turn = Turn(book, tavern("x", max_context=400))
    assert turn.titles == ["exempt", "first"]
    assert turn.answer.budgets[0].limit == 100
    assert isinstance(turn.reason("small"), OverLorebookBudget)


@pytest.mark.parametrize(
    ("percent", "context", "cap", "limit"),
    [(25, 8192, 0, 2048), (25, 8192, 500, 500), (25, 8192, 9000, 2048), (0, 8192, 0, 1), (25, 10, 0, 3), (25, 6, 0, 2)],
)
def test_size_of_the_budget(percent: int, context: int, cap: int, limit: int) -> None:
    """A share of the context, rounded as JavaScript does, at least 1, at most the cap."""
    request = tavern("x", budget_percent=percent, max_context=context, budget_cap=cap)
    assert Turn(lorebook("sillytavern", entry("a")), request).answer.budgets[0].limit == limit


def test_places() -> None:
    """Each position in prompt order; the deepest first, lower order first among equals, whatever the role."""
    book = lorebook(
        "sillytavern",
        entry("outlet", at="outlet", outlet="hall", constant=True),
        entry("no outlet", at="outlet", constant=True),
        entry("d0", at="depth", depth=0, constant=True),
        entry("d4 late", at="depth", order=9, role="user", constant=True),
        entry("d4 early", at="depth", order=1, role="assistant", constant=True),
        *(
            entry(at, at=at, constant=True)
            for at in ("note_bottom", "note_top", "examples_bottom", "examples_top", "after", "before")
        ),
    )
    turn = Turn(book, tavern("1", "2", "3", "4", "5"))
    assert turn.titles == [
        "before", "after", "examples_top", "examples_bottom", "note_top", "note_bottom", "d4 early", "d4 late", "d0",
        "outlet",
    ]  # fmt: skip
    deep = {trace.title: message for trace, message in zip(turn.answer.entries, turn.answer.messages, strict=True)}
    assert [(deep[title].role, deep[title].depth, deep[title].before_message) for title in ("d4 early", "d0")] == [
        ("assistant", 4, 1), ("system", 0, 5)
    ]  # fmt: skip
    assert (deep["outlet"].at, deep["outlet"].outlet) == ("outlet", "hall")
    assert turn.reason("no outlet") == Nothing()


def test_roles_do_not_beat_order() -> None:
    """R02: at one depth order decides, not the role."""
    book = lorebook(
        "sillytavern",
        entry("two", at="depth", role="assistant", order=2, constant=True),
        entry("one", at="depth", role="user", order=1, constant=True),
    )
    assert Turn(book, "x").titles == ["one", "two"]


@pytest.mark.parametrize(
    ("strategy", "first"), [("character_first", "character"), ("global_first", "story"), ("evenly", "story")]
)
def test_books_in_turn(strategy: str, first: str) -> None:
    """The budget sees the chat's books, the persona's, then those of the character and the others by the strategy."""
    books = [
        lorebook("sillytavern", entry(kind, "x" * 30, constant=True, order=order), id=id_, via=[f"{kind}:k"])
        for kind, id_, order in (
            ("character", "gomedi", 1), ("story", "bakiru", 2), ("persona", "todane", 0), ("conversation", "lusano", 0)
        )
    ]  # fmt: skip
    turn = Turn(books, tavern("x", budget_cap=91))
    assert set(turn.titles) == {"conversation", "persona", "character"}
    turn = Turn(books, tavern("x", budget_cap=91 + 30, strategy=strategy))
    assert set(turn.titles) == {"conversation", "persona", "character", "story"}
    turn = Turn(books, tavern("x", budget_cap=91, strategy=strategy))
    assert set(turn.titles) == {"conversation", "persona", first}


def single(*entries: Any, **fields: Any) -> tuple[list[AttachedBook], RetrieveRequest]:
    return [lorebook("sillytavern", *entries)], tavern("the tide", **fields)


PREVENTS = Recursion(prevent=True)
A_TURN = next(turn for turn in range(1000) if drawn("c", turn, "group w") < 50 and drawn("c", turn, "gomedi-1") > 50)
CASES: dict[str, tuple[list[AttachedBook], RetrieveRequest]] = {
    "chance-below": single(entry("a", constant=True, chance=drawn(None, 1, "gomedi-1"))),
    "chance-before-groups": single(grouped("a", "w", chance=50), grouped("b", "w")),
    "blank-keys": single(entry("a", keys=(" ",))),
    "every-text-counts": single(
        entry("a", "x" * 60, constant=True, recursion=PREVENTS), entry("b", "gate", constant=True),
        entry("c", "x" * 60, keys=("gate",)), budget_cap=100,
    ),
    "cut-wakes-nobody": single(
        entry("a", "gate" + "x" * 200, constant=True, order=9),
        entry("b", constant=True, recursion=Recursion(delay_until=2)),
        entry("d", keys=("nothing",), recursion=Recursion(delay_until=1)),
        entry("c", "c", keys=("gate",), whole_words=False, ignore_budget=True), budget_cap=100,
    ),
    "groups-by-member": single(
        entry("a", "gate", constant=True, group=Group(names=("w", "v"))),
        entry("b", keys=("gate",), group=Group(names=("w",)))
    ),
    "left-once": single(
        grouped("a", "w", override=True), grouped("b", "w", "v"), grouped("c", "v", override=True),
        entry("last", constant=True, order=1),
    ),
    "order-before-role": single(
        entry("a", at="depth", role="user", order=1, constant=True),
        entry("b", at="depth", role="system", order=2, constant=True)
    ),
    "exact-decorators": single(entry("a", "@@activate_only_after 5\n@@@activate\nx")),
    "no-decorator-in-prompt": single(entry("a", "@@activate")),
}  # fmt: skip
ELSEWHERE = {
    "handles-not-hashes": "test_state.py",
    "tokens-by-text": "the oracle counts so as well; a letter is a token there",
    "patterns-in-linear-time": "test_keys here, test_patterns.py",
    "drawn-not-rolled": "test_chance.py",
}
"""Rows that no single case can show, and what does."""


def prompts(name: str, chosen: frozenset[str]) -> list[str]:
    """What the oracle inserts in the case of a difference."""
    books, request = CASES[name]
    turn = A_TURN if name == "chance-before-groups" else 1
    conversation = "c" if name == "chance-before-groups" else None
    return (
        Oracle(books, request, EMPTY, lambda about: drawn(conversation, turn, about), LETTERS.count, chosen)
        .run()
        .prompt
    )


@pytest.mark.parametrize("name", CASES)
def test_each_difference(name: str) -> None:
    """A listed difference is a real one: with it the oracle says what the engine says, without it something else."""
    books, request = CASES[name]
    if name == "chance-before-groups":
        request = asked("the tide", conversation="c", turn=A_TURN)
    ours = [trace.handle for trace in Turn(books, request).answer.entries]
    assert ours == prompts(name, CHOSEN)
    assert ours != prompts(name, CHOSEN - {name})


def test_every_difference_is_shown_and_written_down() -> None:
    """The table, the cases and the decision record name the same differences."""
    assert CASES.keys() | ELSEWHERE.keys() == CHOSEN
    record = (Path(__file__).parents[3] / "docs/decisions/0011-the-program-and-our-dialect.md").read_text("utf-8")
    for difference in DIFFERENCES:
        assert f"| {difference.theirs} | {difference.ours} | {difference.why} |" in record
