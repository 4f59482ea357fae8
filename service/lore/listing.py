"""All entries of the attached books, one line each, never a body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.lore import rendering
from service.lore.answer import ListedBook, ListItem
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


def lines(books: Sequence[AttachedBook], after: tuple[str, int] | None, tokenizer: Tokenizer) -> Iterator[ListItem]:
    """Enabled entries, book by book in list order, behind the one at position `after` of a book.

    Nothing when that book is not attached any more.
    """
    begun = after is None
    for book in books:
        text = book.open.text
        least = -1
        if after is not None and text.book.id == after[0]:
            begun, least = True, after[1]
        if not begun:
            continue
        tokens = text.sheet(tokenizer, book.label).full
        for ordinal, entry in enumerate(text.entries):
            if text.enabled[ordinal] and entry.position > least:
                yield ListItem(
                    handle=entry.handle,
                    title=entry.title,
                    gist=rendering.gist_of(entry),
                    book=text.book.id,
                    label=book.label,
                    tokens=int(tokens[ordinal]),
                )


def position_of(books: Sequence[AttachedBook], item: ListItem) -> int:
    """Where the entry stands in its book."""
    text = next(book.open.text for book in books if book.open.text.book.id == item.book)
    return text.entries[text.ordinals[int(item.handle.rpartition("-")[2])]].position
