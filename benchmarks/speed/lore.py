"""Made-up books, aliases and chats of any size, the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from embeddings.index import VectorIndex
from service.lore.book import Book, Entry, handle_of
from service.lore.open_book import AttachedBook, BookText, OpenBook
from service.lore.request import Message, RetrieveRequest

DIMENSION = 384
WINDOWS = 6
"""Windows beside the one piece of an entry; our lore set has 5.7, an encyclopaedia 8.5."""
_ONSETS = ("b", "br", "d", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "r", "s", "sh", "t", "th", "v", "z", "")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")


def words(random: np.random.Generator, count: int, syllables: tuple[int, int] = (2, 4)) -> list[str]:
    """Pronounceable words of so many syllables."""
    lengths = random.integers(syllables[0], syllables[1] + 1, count)
    # all syllables in two calls, since a call costs far more than a number
    onsets, vowels = (random.integers(len(kinds), size=lengths.sum()).tolist() for kinds in (_ONSETS, _VOWELS))
    spoken = [_ONSETS[onset] + _VOWELS[vowel] for onset, vowel in zip(onsets, vowels, strict=True)]
    ends = lengths.cumsum().tolist()
    return ["".join(spoken[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def names(random: np.random.Generator, count: int) -> list[str]:
    """`count` different names of one or two capitalised words, of three syllables or more."""
    found: dict[str, None] = {}
    while missing := count - len(found):
        drawn = [word.title() for word in words(random, 2 * missing, (3, 4))]
        alone = random.random(missing) < 0.5
        for single, one, two in zip(alone.tolist(), drawn[::2], drawn[1::2], strict=True):
            found[one if single else f"{one} {two}"] = None
    return list(found)


def unit(random: np.random.Generator, rows: int) -> np.ndarray:
    """Random rows of unit length, shape (rows, 384), float32."""
    vectors = random.normal(size=(rows, DIMENSION)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def called_entries(
    random: np.random.Generator, book_id: str, size: int, vocabulary: Sequence[str]
) -> tuple[Entry, ...]:
    """`size` entries of about a hundred tokens, three names each."""
    called = names(random, 3 * size)
    return tuple(
        Entry(
            id=number,
            handle=handle_of(book_id, number),
            title=called[3 * number],
            aliases=tuple(called[3 * number + 1 : 3 * number + 3]),
            content=" ".join(vocabulary[word] for word in random.integers(0, len(vocabulary), 55)) + ".",
        )
        for number in range(size)
    )


def attached_book(random: np.random.Generator, book_id: str, size: int, vocabulary: Sequence[str]) -> AttachedBook:
    """A book of `size` entries of about a hundred tokens, three names each, with as many vectors as an entry has."""
    entries = called_entries(random, book_id, size, vocabulary)
    return book_of(book_id, entries, unit(random, size * (1 + WINDOWS)).reshape(size, 1 + WINDOWS, DIMENSION))


def book_of(book_id: str, entries: Sequence[Entry], vectors: np.ndarray) -> AttachedBook:
    """A book of these entries; `vectors` has shape (entries, 1 + WINDOWS, 384), of each entry the piece first."""
    text = BookText.build(Book(id=book_id, version=1, name=f"Book {book_id}"), entries)
    groups = {number: (rows[:1], rows[1:]) for number, rows in enumerate(vectors)}
    return AttachedBook(open=OpenBook(text=text, index=VectorIndex.build(DIMENSION, groups)))


def letters(entries: Sequence[Entry]) -> int:
    """Characters of titles, aliases and contents."""
    return sum(len(entry.title) + len(entry.content) + sum(map(len, entry.aliases)) for entry in entries)


def asked(contents: Sequence[str], **fields: Any) -> RetrieveRequest:
    """The request of a chat whose last message is the user's."""
    last = len(contents) - 1
    messages = tuple(
        Message(role="assistant" if (last - place) % 2 else "user", content=content)
        for place, content in enumerate(contents)
    )
    return RetrieveRequest(messages=messages, **fields)


def chat(random: np.random.Generator, books: Sequence[AttachedBook], vocabulary: Sequence[str]) -> list[str]:
    """Six messages, 4 kB in all, of which two name an entry."""
    messages = [" ".join(vocabulary[word] for word in random.integers(0, len(vocabulary), 110)) for _ in range(6)]
    for place, book in ((5, books[0]), (4, books[-1])):
        entries = book.open.text.entries
        messages[place] += f" Ask {entries[random.integers(len(entries))].title}!"
    return messages
