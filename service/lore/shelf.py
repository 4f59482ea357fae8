"""The entries of all attached books side by side, with what they cost.

Entries are numbered through: a *place* is an entry's ordinal plus the number of entries of the books before its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from service.lore import rendering
from service.lore.macros import macro_values
from service.lore.open_book import AttachedBook, Sheet, starts_of
from service.lore.request import Names
from service.lore.tokens import Tokenizer

S = TypeVar("S", bound=np.generic)
Places = NDArray[np.int64]


class Shelf:
    """The entries of the attached books side by side, with what they cost."""

    def __init__(
        self,
        books: Sequence[AttachedBook],
        tokenizer: Tokenizer,
        exclude: Collection[str] = (),
        *,
        names: Names | None = None,
        beside: Iterable[str] = (),
    ) -> None:
        """`names` replace macros; `beside`: other texts that will stand in the frame."""
        self.books = books
        self.tokenizer = tokenizer
        macros = [macro_values(names, book.label) for book in books]
        self.beside = [text for values in macros for text in values.values()]
        self.beside += beside
        self.sheets: list[Sheet] = [_sheet(book, tokenizer, values) for book, values in zip(books, macros, strict=True)]
        sizes = [len(book.open.text.entries) for book in books]
        self.starts = starts_of(books)
        self.book_of = np.repeat(np.arange(len(books)), sizes)
        self.full = _joined([sheet.full for sheet in self.sheets], np.int64)
        self.enabled = _joined([book.open.text.enabled for book in books], np.bool_)
        self.canon = _joined([book.open.text.canon for book in books], np.bool_)
        self.excluded = np.zeros(len(self.full), np.bool_)
        for handle in exclude:
            place = self._place_of(handle)
            if place is not None:
                self.excluded[place] = True
        self.open = self.enabled & ~self.excluded
        """Entries that may go in."""

    # Lists beside the arrays: one place of a list is read several times as fast.

    @cached_property
    def numbers(self) -> list[int]:
        """Of each place: the number of its book."""
        numbers: list[int] = self.book_of.tolist()
        return numbers

    @cached_property
    def tokens(self) -> list[int]:
        """Of each place: what its entry costs in full."""
        tokens: list[int] = self.full.tolist()
        return tokens

    @cached_property
    def line_tokens(self) -> NDArray[np.int64]:
        """Tokens of index lines, shape (3, entries)."""
        if not self.sheets:
            return np.zeros((3, 0), np.int64)
        return np.concatenate([sheet.line_tokens for sheet in self.sheets], axis=1)

    @cached_property
    def mark(self) -> str:
        taken: frozenset[str] = frozenset().union(*(book.open.text.frame_words for book in self.books))
        labels = rendering.frame_words(book.label for book in self.books if book.label)
        beside = rendering.frame_words(self.beside)
        # A text may say half of a marker and a name the other half.
        spoken = [sheet.entries[ordinal] for sheet in self.sheets for ordinal in sheet.changed]
        said = rendering.frame_words(
            text for entry in spoken for text in (entry.title, entry.content, entry.gist or "")
        )
        return rendering.marker([book.open.text.book.id for book in self.books], taken | labels | beside | said)

    def of(self, number: int) -> slice:
        """The places of one book."""
        return slice(self.starts[number], self.starts[number] + len(self.books[number].open.text.entries))

    def book(self, place: int) -> AttachedBook:
        return self.books[self.numbers[place]]

    def block(self, place: int) -> str:
        number = self.numbers[place]
        entry = self.sheets[number].entries[place - self.starts[number]]
        return rendering.entry_block(entry, self.books[number].label)

    def line(self, place: int, shape: int) -> str:
        number = self.numbers[place]
        return self.sheets[number].lines[shape][place - self.starts[number]]

    @cached_property
    def frame_cost(self) -> int:
        return self.tokenizer.count(rendering.frame_start(self.mark)) + self.tokenizer.count(
            rendering.frame_end(self.mark)
        )

    def _place_of(self, handle: str) -> int | None:
        book_id, _, number = handle.rpartition("-")
        for start, book in zip(self.starts, self.books, strict=True):
            if book.open.text.book.id == book_id:
                ordinal = book.open.text.ordinal_of(number)
                return None if ordinal is None else start + ordinal
        return None


def _sheet(book: AttachedBook, tokenizer: Tokenizer, macros: Mapping[str, str]) -> Sheet:
    text = book.open.text
    sheet = text.sheet(tokenizer, book.label)
    return sheet.spoken(macros, text.macros) if macros and text.macros else sheet


def _joined(parts: Sequence[NDArray[S]], kind: type[S]) -> NDArray[S]:
    return np.concatenate(parts) if parts else np.zeros(0, kind)
