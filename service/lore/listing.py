"""All entries of the attached books, one line each, never a body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from service.lore import rendering
from service.lore.book import parts_of
from service.lore.lookups import ListedBook, ListItem
from service.lore.open_book import AttachedBook
from service.lore.text import fold
from service.lore.tokens import Tokenizer


def called(books: Sequence[AttachedBook], word: str) -> list[AttachedBook]:
    """The books that have this id or this name, in any case, width or normal form."""
    folded = fold(word).text.strip()
    return [book for book in books if folded in (book.open.text.book.id, fold(book.open.text.book.name).text.strip())]


def listed(books: Sequence[AttachedBook]) -> tuple[ListedBook, ...]:
    """The books themselves."""
    return tuple(
        ListedBook(
            id=book.open.text.book.id,
            name=book.open.text.book.name,
            label=book.label,
            entries=int(book.open.text.enabled.sum()),
        )
        for book in books
    )


@dataclass(frozen=True)
class Place:
    """Where a page ended: an entry, and where it stood, since it may be gone when the next page is asked for."""

    book: str
    entry: int
    position: int


def lines(books: Sequence[AttachedBook], after: Place | None, tokenizer: Tokenizer) -> Iterator[ListItem]:
    """Enabled entries, book by book in list order, behind a place; nothing when its book is not attached any more."""
    begun = after is None
    for book in books:
        text = book.open.text
        first = 0
        if after is not None and text.book.id == after.book:
            there = text.ordinals.get(after.entry)
            begun, first = True, after.position if there is None else there + 1
        if not begun:
            continue
        for ordinal in range(first, len(text.entries)):
            if text.enabled[ordinal]:
                entry = book.shown(ordinal)
                yield ListItem(
                    handle=entry.handle,
                    title=entry.title,
                    gist=rendering.gist_of(entry),
                    book=text.book.id,
                    label=book.label,
                    tokens=book.cost(ordinal, tokenizer),
                )


def place_of(books: Sequence[AttachedBook], item: ListItem) -> Place:
    """Where the entry of a line stands."""
    text = next(book.open.text for book in books if book.open.text.book.id == item.book)
    _, entry = parts_of(item.handle)
    return Place(item.book, entry, text.ordinals[entry])
