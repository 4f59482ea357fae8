"""What fits: canon, whole books, named and matched entries, and the index of everything else.

Counts are of rendered blocks, and sums of them are exact (see `tokens`), so nothing is rendered to find out whether it
fits. The stable part is packed by a function that never sees the conversation.

Entries of all attached books are numbered through: a *place* is an entry's ordinal plus the number of entries of the
books before its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from service.lore import rendering
from service.lore.answer import IndexShape
from service.lore.book import Entry
from service.lore.open_book import AttachedBook, Sheet
from service.lore.request import IndexMode
from service.lore.tokens import Tokenizer

S = TypeVar("S", bound=np.generic)
Places = NDArray[np.int64]
SHAPES: tuple[IndexShape, ...] = ("titles", "short_gists", "long_gists")
MATCHED_RESERVE = 4
"""A quarter of what canon and whole books left is kept for the index before matched entries are taken."""


class Shelf:
    """The entries of the attached books side by side, with what they cost."""

    def __init__(self, books: Sequence[AttachedBook], tokenizer: Tokenizer, exclude: Collection[str] = ()) -> None:
        self.books = books
        self.tokenizer = tokenizer
        self.sheets: list[Sheet] = [book.open.text.sheet(tokenizer, book.label) for book in books]
        sizes = [len(book.open.text.entries) for book in books]
        self.starts: list[int] = [sum(sizes[:number]) for number in range(len(sizes))]
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
        return rendering.marker([book.open.text.book.id for book in self.books], taken | labels)

    def of(self, number: int) -> slice:
        """The places of one book."""
        return slice(self.starts[number], self.starts[number] + len(self.books[number].open.text.entries))

    def entry(self, place: int) -> Entry:
        number = int(self.book_of[place])
        return self.books[number].open.text.entries[place - self.starts[number]]

    def book(self, place: int) -> AttachedBook:
        return self.books[int(self.book_of[place])]

    def block(self, place: int) -> str:
        return rendering.entry_block(self.entry(place), self.book(place).label)

    def line(self, place: int, shape: int) -> str:
        number = int(self.book_of[place])
        return self.sheets[number].lines[shape][place - self.starts[number]]

    @cached_property
    def frame_cost(self) -> int:
        return self.tokenizer.count(rendering.frame_start(self.mark)) + self.tokenizer.count(
            rendering.frame_end(self.mark)
        )

    def _place_of(self, handle: str) -> int | None:
        book_id, _, number = handle.rpartition("-")
        for start, book in zip(self.starts, self.books, strict=True):
            if book.open.text.book.id == book_id and number.isdecimal():
                ordinal = book.open.text.ordinals.get(int(number))
                return None if ordinal is None else start + ordinal
        return None


def _joined(parts: Sequence[NDArray[S]], kind: type[S]) -> NDArray[S]:
    return np.concatenate(parts) if parts else np.zeros(0, kind)


@dataclass(frozen=True, kw_only=True)
class PackedIndex:
    """Which entries get a line, and of which shape."""

    places: Places
    shapes: Places
    """Of each line: 0 the title alone, 1 a short gist, 2 a long one."""
    shape: IndexShape
    """The poorest shape among the lines."""
    more: int
    """Entries that are only counted, in the closing line or, when even that did not fit, in the answer alone."""
    closing: bool
    """Whether the closing line fits."""
    tokens: int

    @property
    def exists(self) -> bool:
        """Whether any entry was to be indexed here, even if nothing fitted."""
        return bool(self.places.size or self.more)


NO_INDEX = PackedIndex(
    places=np.zeros(0, np.int64), shapes=np.zeros(0, np.int64), shape="none", more=0, closing=False, tokens=0
)


@dataclass(frozen=True, kw_only=True)
class Stable:
    """The part that does not depend on the conversation."""

    canon: tuple[int, ...]
    canon_tokens: int
    kept_over_budget: bool
    canon_left: dict[int, int]
    """Canon that did not fit, and how many tokens were left when its turn came."""
    whole: tuple[int, ...]
    whole_books: frozenset[int]
    whole_tokens: int
    index: PackedIndex

    @property
    def tokens(self) -> int:
        return self.canon_tokens + self.whole_tokens + self.index.tokens


@dataclass(frozen=True, kw_only=True)
class Volatile:
    """The part that follows the conversation."""

    named: tuple[int, ...]
    named_tokens: int
    matched: tuple[int, ...]
    matched_tokens: int
    left: dict[int, int]
    """Named or matched entries that did not fit, and how many tokens were left when their turn came."""
    index: PackedIndex

    @property
    def tokens(self) -> int:
        return self.named_tokens + self.matched_tokens + self.index.tokens


def written_index(stable: Stable, volatile: Volatile) -> PackedIndex:
    """The one index of an answer, wherever it stands."""
    return stable.index if stable.index.exists else volatile.index


def pack_stable(shelf: Shelf, *, budget: int, canon_limit: int, index: IndexMode, tools: bool) -> Stable:
    """Canon in list order, then whole books, then (`index: all`) the index of every relevant entry."""
    count = shelf.tokenizer.count
    canon: list[int] = []
    canon_left: dict[int, int] = {}
    limit = min(canon_limit, budget)
    used = 0
    for place in np.flatnonzero(shelf.open & shelf.canon).tolist():
        price = int(shelf.full[place])
        if not canon or shelf.book_of[canon[-1]] != shelf.book_of[place]:
            price += count(rendering.canon_heading(shelf.book(place).open.text.book.name))
        if not canon:
            price += shelf.frame_cost
        if canon and used + price > limit:
            canon_left[place] = max(0, limit - used)
            continue
        canon.append(place)
        used += price
    rest = max(0, budget - used)
    whole_books, whole_tokens = _whole_books(shelf, rest, framed=bool(canon))
    whole = np.flatnonzero(shelf.open & ~shelf.canon & np.isin(shelf.book_of, sorted(whole_books)))
    packed = NO_INDEX
    if index == "all":
        listed = np.zeros(len(shelf.open), np.bool_)
        listed[list(canon_left)] = True
        listed |= shelf.open & ~shelf.canon & ~np.isin(shelf.book_of, sorted(whole_books))
        framed = bool(canon) or bool(whole_books)
        room = (rest - whole_tokens) // 2
        packed = pack_index(shelf, np.flatnonzero(listed), room, framed=framed, tools=tools)
    return Stable(
        canon=tuple(canon),
        canon_tokens=used,
        kept_over_budget=used > limit,
        canon_left=canon_left,
        whole=tuple(whole.tolist()),
        whole_books=frozenset(whole_books),
        whole_tokens=whole_tokens,
        index=packed,
    )


def _whole_books(shelf: Shelf, rest: int, *, framed: bool) -> tuple[set[int], int]:
    """The books that go in whole, and what they cost with their headings and, if they come first, the frame."""
    relevant = shelf.open & ~shelf.canon
    costs = {
        number: shelf.tokenizer.count(rendering.book_heading(book.open.text.book.name))
        + int(shelf.full[relevant & (shelf.book_of == number)].sum())
        for number, book in enumerate(shelf.books)
        if (relevant & (shelf.book_of == number)).any()
    }
    frame = 0 if framed else shelf.frame_cost
    if costs and frame + sum(costs.values()) <= rest:
        return set(costs), frame + sum(costs.values())
    cap = rest if len(shelf.books) == 1 else rest - rest // 3
    chosen: set[int] = set()
    used = 0
    for number, cost in costs.items():
        price = cost + (0 if chosen else frame)
        if used + price <= cap:
            chosen.add(number)
            used += price
    return chosen, used


def pack_volatile(
    shelf: Shelf,
    stable: Stable,
    *,
    budget: int,
    named: Sequence[int],
    matched: Sequence[int],
    index: IndexMode,
    tools: bool,
) -> Volatile:
    """Named entries, most recently named first; matched ones by rank; the index of the rest.

    `named` and `matched` hold no entry that is canon, or of a book that went whole, or twice.
    """
    count = shelf.tokenizer.count
    room = max(0, budget - stable.tokens)
    remaining = shelf.open.copy()
    remaining[list(stable.canon + stable.whole)] = False
    left: dict[int, int] = {}

    def take(places: Sequence[int], heading: str, room: int, *, framed: bool) -> tuple[list[int], int]:
        taken: list[int] = []
        used = 0
        opening = count(heading) + (0 if framed else shelf.frame_cost) if places else 0
        for place in places:
            price = int(shelf.full[place]) + (0 if taken else opening)
            if used + price > room:
                left[place] = max(0, room - used)
                continue
            taken.append(place)
            used += price
        remaining[taken] = False
        return taken, used

    taken_named, named_tokens = take(named, rendering.NAMED_HEADING, room, framed=False)
    room -= named_tokens
    reserve = 0
    if index == "rest" and matched:
        titles = _fixed_cost(shelf, framed=bool(taken_named), tools=tools) + int(shelf.line_tokens[0][remaining].sum())
        reserve = min(max(0, budget - stable.tokens) // MATCHED_RESERVE, titles, room)
    taken_matched, matched_tokens = take(matched, rendering.MATCHED_HEADING, room - reserve, framed=bool(taken_named))
    room -= matched_tokens
    packed = NO_INDEX
    if index == "rest":
        first = np.array(list(left), np.int64)
        remaining[first] = False
        order = np.concatenate([first, np.flatnonzero(remaining)])
        packed = pack_index(shelf, order, room, framed=bool(taken_named or taken_matched), tools=tools)
    return Volatile(
        named=tuple(taken_named),
        named_tokens=named_tokens,
        matched=tuple(taken_matched),
        matched_tokens=matched_tokens,
        left=left,
        index=packed,
    )


def _fixed_cost(shelf: Shelf, *, framed: bool, tools: bool) -> int:
    count = shelf.tokenizer.count
    index_frame = count(rendering.index_start(shelf.mark, tools=tools)) + count(rendering.index_end(shelf.mark))
    return index_frame + (0 if framed else shelf.frame_cost)


def pack_index(shelf: Shelf, order: Places, room: int, *, framed: bool, tools: bool) -> PackedIndex:
    """Lines for the entries of `order` in at most `room` tokens: the richest shape in which all fit, then what is left
    over lengthens gists from the first line on; if titles do not all fit, as many as do and a closing line.
    """
    if not len(order):
        return NO_INDEX
    fixed = _fixed_cost(shelf, framed=framed, tools=tools)
    tokens = shelf.line_tokens[:, order]
    sums = tokens.sum(axis=1)
    for shape in (2, 1, 0):
        spare = room - fixed - int(sums[shape])
        if spare >= 0:
            shapes = np.full(len(order), shape, np.int64)
            used = fixed + int(sums[shape])
            if shape < 2:
                longer = np.maximum(tokens[shape + 1] - tokens[shape], 0)
                lengthened = int(np.searchsorted(np.cumsum(longer), spare, side="right"))
                shapes[:lengthened] = shape + 1
                used += int((tokens[shape + 1] - tokens[shape])[:lengthened].sum())
            return PackedIndex(places=order, shapes=shapes, shape=SHAPES[shape], more=0, closing=False, tokens=used)
    return _cut_index(shelf.tokenizer.count, order, tokens[0], room - fixed, fixed, tools=tools)


def _cut_index(
    count: Callable[[str], int], order: Places, titles: Places, room: int, fixed: int, *, tools: bool
) -> PackedIndex:
    sums = np.concatenate([[0], np.cumsum(titles)])
    total = len(order)
    lines = int(np.searchsorted(sums, room - count(rendering.more_line(total, tools=tools)), side="right")) - 1
    while lines >= 0:
        used = int(sums[lines]) + count(rendering.more_line(total - lines, tools=tools))
        if used <= room:
            return PackedIndex(
                places=order[:lines],
                shapes=np.zeros(lines, np.int64),
                shape="titles",
                more=total - lines,
                closing=True,
                tokens=fixed + used,
            )
        lines -= 1
    return PackedIndex(places=order[:0], shapes=order[:0], shape="none", more=total, closing=False, tokens=0)
