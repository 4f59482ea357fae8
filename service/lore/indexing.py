"""The world index: one line per entry that is not in full, in the richest shape that fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from service.lore import rendering
from service.lore.answer import IndexShape
from service.lore.shelf import Places, Shelf

SHAPES: tuple[IndexShape, ...] = ("titles", "short_gists", "long_gists")


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


def fixed_cost(shelf: Shelf, *, framed: bool, tools: bool) -> int:
    """What an index costs before its first line; `framed`: the part has a frame already."""
    count = shelf.tokenizer.count
    index_frame = count(rendering.index_start(shelf.mark, tools=tools)) + count(rendering.index_end(shelf.mark))
    return index_frame + (0 if framed else shelf.frame_cost)


def pack_index(shelf: Shelf, order: Places, room: int, *, framed: bool, tools: bool) -> PackedIndex:
    """Lines for the entries of `order` in at most `room` tokens: the richest shape in which all fit, then what is left
    over lengthens gists from the first line on; if titles do not all fit, as many as do and a closing line.
    """
    if not len(order):
        return NO_INDEX
    fixed = fixed_cost(shelf, framed=framed, tools=tools)
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
