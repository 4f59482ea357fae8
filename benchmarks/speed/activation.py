"""Activation of many lorebooks beside a loop over every key, on the semantics of formats.md 6.3 (`sillytavern`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from benchmarks.speed.lore import names, words
from benchmarks.speed.size import Figures, Size
from benchmarks.speed.timing import alternate, median
from embeddings.index import VectorIndex
from service.lore.activation.lorebooks import Lorebooks
from service.lore.activation.state import EMPTY
from service.lore.book import Book, Entry, handle_of
from service.lore.open_book import AttachedBook, BookText, OpenBook
from service.lore.request import Message, RetrieveRequest, SillyTavern
from service.lore.tokens import Tokenizer
from service.lore.trigger import Trigger

ENTRIES, KEYS, MESSAGES, LETTERS = 250, 3, 100, 2000
SAMPLE = 250
"""Entries on which the loop is measured; its time is scaled to all of them."""
PROGRAM = SillyTavern(scan_depth=MESSAGES, recursive=False, include_names=False, max_context=10_000_000)
WORDS = Tokenizer(name="words", encode=str.split)  # type: ignore[arg-type]  # only the number of parts is read


def measure_activation(size: Size) -> Figures:
    """Seconds of an activation, of the loop (measured on a sample, scaled) and of making the lorebooks ready."""
    random = np.random.default_rng(13)
    entries = size.lorebooks * ENTRIES
    called = names(random, entries * KEYS)
    books = [_book(f"book{number}", called[number * ENTRIES * KEYS :]) for number in range(size.lorebooks)]
    request = RetrieveRequest(messages=_chat(random, called), sillytavern=PROGRAM)

    def ours(attached: Sequence[AttachedBook]) -> Lorebooks:
        return Lorebooks(attached, request, WORDS, characters=8000, state=EMPTY)

    sample = [(book, place) for book in books for place in range(0, ENTRIES, max(1, entries // SAMPLE))]
    loop = _Loop([book.open.text.entries[place] for book, place in sample], request.messages)
    active = {each.active.member.rule.entry.handle for each in ours(books).placed}
    sampled = {book.open.text.entries[place].handle for book, place in sample}
    assert loop.run() == active & sampled, "the two sides do not agree"
    seconds = alternate({"ours": lambda: ours(books), "loop": loop.run}, rounds=size.slow_rounds)
    cold = alternate({"cold": lambda: ours([_again(book) for book in books])}, rounds=1)
    scaled = median(seconds["loop"]) * entries / len(sample)
    return {
        "activation_s": median(seconds["ours"]),
        "with_the_lorebooks_made_ready_s": median(cold["cold"]),
        "loop_s_scaled_from_a_sample": scaled,
        "entries": entries,
        "entries_of_the_sample": len(sample),
        "times_faster_than_the_loop": scaled / median(seconds["ours"]),
        "entries_activated": len(active),
    }


class _Loop:
    """Every key of every entry against the whole text, its pattern compiled beforehand."""

    def __init__(self, entries: Sequence[Entry], messages: Sequence[Message]) -> None:
        self.text = ("\x01" + "\n\x01".join(message.content.strip() for message in reversed(messages))).lower()
        self.rows = [
            (entry.handle, [_pattern(key.lower()) for key in entry.trigger.keys]) for entry in entries if entry.trigger
        ]

    def run(self) -> set[str]:
        return {handle for handle, patterns in self.rows if any(pattern.search(self.text) for pattern in patterns)}


def _pattern(key: str) -> re.Pattern[str]:
    return re.compile(re.escape(key) if " " in key else rf"(?:^|\W)({re.escape(key)})(?:$|\W)", re.ASCII)


def _book(id_: str, called: Sequence[str]) -> AttachedBook:
    entries = tuple(
        Entry(
            id=number,
            handle=handle_of(id_, number),
            title=called[KEYS * number],
            content=f"About {called[KEYS * number]}.",
            trigger=Trigger(keys=tuple(called[KEYS * number : KEYS * (number + 1)])),
        )
        for number in range(ENTRIES)
    )
    return _attached(Book(id=id_, version=1, name=id_, dialect="sillytavern"), entries)


def _again(book: AttachedBook) -> AttachedBook:
    return _attached(book.open.text.book, book.open.text.entries)


def _attached(book: Book, entries: tuple[Entry, ...]) -> AttachedBook:
    text = BookText.build(book, entries)
    return AttachedBook(open=OpenBook(text=text, index=VectorIndex.build(1, {})), via=("request",))


def _chat(random: np.random.Generator, called: Sequence[str]) -> tuple[Message, ...]:
    """Messages in which one word of a hundred is a key."""
    vocabulary = words(random, 4000)
    messages = []
    for place in range(MESSAGES):
        parts = [vocabulary[word] for word in random.integers(0, len(vocabulary), LETTERS // 5)]
        for position in range(50, len(parts), 100):
            parts[position] = called[random.integers(len(called))]
        messages.append(Message(role="user" if place % 2 else "assistant", content=" ".join(parts)[:LETTERS]))
    return tuple(messages)
