"""What fits: canon, whole books, named and matched entries, and the index of everything else.

Counts are of rendered blocks, and sums of them are exact (see `tokens`), so nothing is rendered to find out whether it
fits. The stable part is packed by a function that never sees the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.lore import rendering
from service.lore.indexing import NO_INDEX, PackedIndex, fixed_cost, pack_index
from service.lore.request import IndexMode
from service.lore.shelf import Places, Shelf

RESERVE = 4
"""A quarter of what canon and whole books left is kept for the index before matched entries are taken."""


@dataclass(frozen=True)
class Short:
    """Why an entry did not fit, in tokens."""

    needed: int
    """With the heading and the frame that it would have brought."""
    left: int
    """When its turn came."""


@dataclass(frozen=True, kw_only=True)
class Stable:
    """The part that does not depend on the conversation."""

    canon: tuple[int, ...]
    canon_tokens: int
    kept_over_budget: bool
    canon_left: dict[int, Short]
    """Canon that did not fit."""
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
    left: dict[int, Short]
    """Named or matched entries that did not fit."""
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
    canon_left: dict[int, Short] = {}
    limit = min(canon_limit, budget)
    used = 0
    for place in np.flatnonzero(shelf.open & shelf.canon).tolist():
        price = int(shelf.full[place])
        if not canon or shelf.book_of[canon[-1]] != shelf.book_of[place]:
            price += count(rendering.canon_heading(shelf.book(place).open.text.book.name))
        if not canon:
            price += shelf.frame_cost
        if canon and used + price > limit:
            canon_left[place] = Short(price, max(0, limit - used))
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
    nearest: Places,
    index: IndexMode,
    tools: bool,
) -> Volatile:
    """Named entries, most recently named first; matched ones by rank; the index of the rest.

    `named` and `matched` hold no entry that is canon, or of a book that went whole, or twice. The index begins with
    what did not fit, then goes by `nearest`, then in list order: what the floor kept out may still be what is meant.
    """
    count = shelf.tokenizer.count
    room = max(0, budget - stable.tokens)
    remaining = shelf.open.copy()
    remaining[list(stable.canon + stable.whole)] = False
    left: dict[int, Short] = {}

    def take(places: Sequence[int], heading: str, room: int, *, framed: bool) -> tuple[list[int], int]:
        taken: list[int] = []
        used = 0
        opening = count(heading) + (0 if framed else shelf.frame_cost) if places else 0
        for place in places:
            price = int(shelf.full[place]) + (0 if taken else opening)
            if used + price > room:
                left[place] = Short(price, max(0, room - used))
                continue
            taken.append(place)
            used += price
        remaining[taken] = False
        return taken, used

    taken_named, named_tokens = take(named, rendering.NAMED_HEADING, room, framed=False)
    room -= named_tokens
    reserve = 0
    if index == "rest" and matched:
        titles = fixed_cost(shelf, framed=bool(taken_named), tools=tools) + int(shelf.line_tokens[0][remaining].sum())
        reserve = min(max(0, budget - stable.tokens) // RESERVE, titles, room)
    taken_matched, matched_tokens = take(matched, rendering.MATCHED_HEADING, room - reserve, framed=bool(taken_named))
    room -= matched_tokens
    packed = NO_INDEX
    if index == "rest":
        first = np.array(list(left), np.int64)
        remaining[first] = False
        near = nearest[remaining[nearest]]
        remaining[near] = False
        order = np.concatenate([first, near, np.flatnonzero(remaining)])
        packed = pack_index(shelf, order, room, framed=bool(taken_named or taken_matched), tools=tools)
    return Volatile(
        named=tuple(taken_named),
        named_tokens=named_tokens,
        matched=tuple(taken_matched),
        matched_tokens=matched_tokens,
        left=left,
        index=packed,
    )
