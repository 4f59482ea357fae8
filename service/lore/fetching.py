"""Entries by handle, title or alias, for a model that has seen their index lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import regex
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from embeddings.windows import sentences
from service.lore.book import Entry
from service.lore.lookups import FetchAnswer, FetchedEntry, MissingName, NearTitle
from service.lore.open_book import AttachedBook, world_books
from service.lore.text import fold
from service.lore.tokens import Tokenizer

_WORD = regex.compile(r"\s*\S+\s*")
_GRAPHEME = regex.compile(r"\X")
NEAREST = 3
"""Suggestions for a name that nothing has."""
LIKELY = 32
"""Names of each book that are compared twice."""


def fetch(books: Sequence[AttachedBook], names: Sequence[str], max_tokens: int, tokenizer: Tokenizer) -> FetchAnswer:
    """The enabled entries of these names, each once, in the order asked; at most `max_tokens` of bodies.

    A handle wins over a title of the same letters; a title that several entries bear gives them all. The entry that
    passes the cap is cut at a sentence, those behind it come without content, and all of them say so. Where not even
    the first sentence of the first entry fits, a part of it is given, so that something can be read.
    """
    books = world_books(books)
    found: dict[tuple[int, int], list[str]] = {}
    missing: list[MissingName] = []
    for name in dict.fromkeys(names):
        places = _by_handle(books, name) or _by_name(books, name)
        if not places:
            missing.append(MissingName(name=name, nearest=_nearest(books, name)))
        for place in places:
            found.setdefault(place, []).append(name)
    entries: list[FetchedEntry] = []
    left = max_tokens
    for (number, ordinal), asked in found.items():
        book = books[number]
        entry = book.shown(ordinal)
        content = _within(entry.content, left, tokenizer, divide=left == max_tokens)
        tokens = tokenizer.count(content)
        left -= tokens
        entries.append(_fetched(book, entry, content, tokens, asked))
    return FetchAnswer(entries=tuple(entries), missing=tuple(missing), tokens=max_tokens - left)


def entry_of_handle(books: Sequence[AttachedBook], handle: str) -> Entry | None:
    """The enabled entry of this handle, whole."""
    return next((books[number].shown(ordinal) for number, ordinal in _by_handle(books, handle)), None)


def _fetched(book: AttachedBook, entry: Entry, content: str, tokens: int, asked: Sequence[str]) -> FetchedEntry:
    return FetchedEntry(
        handle=entry.handle,
        title=entry.title,
        book=book.open.text.book.id,
        label=book.label,
        content=content,
        tokens=tokens,
        cut=content != entry.content,
        asked=tuple(asked),
    )


def _by_handle(books: Sequence[AttachedBook], name: str) -> list[tuple[int, int]]:
    book_id, _, entry_id = fold(name).text.strip(" []").rpartition("-")
    return [
        (number, ordinal)
        for number, book in enumerate(books)
        if book.open.text.book.id == book_id
        and (ordinal := book.open.text.ordinal_of(entry_id)) is not None
        and book.open.text.enabled[ordinal]
    ]


def _by_name(books: Sequence[AttachedBook], name: str) -> list[tuple[int, int]]:
    folded = fold(name).text.strip()
    return [(number, ordinal) for number, book in enumerate(books) for ordinal in book.named.get(folded, ())]


def _nearest(books: Sequence[AttachedBook], name: str) -> tuple[NearTitle, ...]:
    """The entries whose title or alias is written most alike.

    Two letters that changed places are one edit of the optimal string alignment and two of the plain ratio, which in
    turn sees a name inside a longer one; the sum of both puts the right entry first more often than either.
    """
    wanted = fold(name).text.strip()
    likely = [
        (known, ratio, number)
        for number, book in enumerate(books)
        for known, ratio, _ in process.extract(wanted, book.named.keys(), scorer=fuzz.ratio, limit=LIKELY)
    ]
    ranked = sorted(likely, key=lambda one: -(one[1] / 100 + OSA.normalized_similarity(wanted, one[0])))
    entries = dict.fromkeys((number, ordinal) for known, _, number in ranked for ordinal in books[number].named[known])
    return tuple(
        NearTitle(handle=entry.handle, title=entry.title)
        for number, ordinal in list(entries)[:NEAREST]
        for entry in (books[number].shown(ordinal),)
    )


def _within(content: str, most: int, tokenizer: Tokenizer, *, divide: bool) -> str:
    """As many whole sentences from the start as `most` tokens hold; all of it when it fits.

    `divide`: a first sentence that does not fit is cut at a blank, else between two graphemes.
    """
    if most <= 0:
        return ""
    if tokenizer.count(content) <= most:
        return content
    for divided in (sentences, _WORD.findall, _GRAPHEME.findall) if divide else (sentences,):
        pieces = divided(content)
        ends = list(accumulate(map(len, pieces)))
        fitting = bisect_right(ends, most, key=lambda end: tokenizer.count(content[:end].rstrip()))
        if fitting:
            return content[: ends[fitting - 1]].rstrip()
    return ""
