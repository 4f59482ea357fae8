"""An immutable index that visits every vector: windows and pieces of texts in, one score per text out.

A group is the set of vectors of one text, known by the caller's number. Its score is half its best window plus half
its best piece (docs/recall.md: windows find the sentence, pieces keep the context). Every group is scored: a search
for the nearest rows would visit all of them too, and could not say how the rows of one group combine. A score has the
same bits whatever other queries are asked with it, so the scores of the latest queries are kept: a chat asks the same
queries turn after turn, and a new one or two.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from embeddings.embedder import Vectors
from embeddings.rows import Float32Rows, Products, RoundedRows, Rows

Scores = NDArray[np.float32]

KEPT_QUERIES = 64
"""Whose scores an index keeps; a long chat asks about twenty at a time."""


@dataclass(frozen=True, kw_only=True)
class _Slots:
    """Rows in the order in which the best of each group is found fastest: the first of every group, then the second of
    those that have two, and so on; the groups with the most rows first."""

    sizes: tuple[int, ...]
    """How many groups have a row of each slot."""
    columns: NDArray[np.int64]
    """Where each group stands in the first slot."""

    @classmethod
    def of(cls, counts: Sequence[int]) -> tuple[_Slots, NDArray[np.int64]]:
        """The slots of groups of so many rows, and the order for rows that stand group by group."""
        held = np.array(counts, np.int64)
        groups = np.argsort(-held, kind="stable")
        begins = np.cumsum(held) - held
        sizes = [int((held > slot).sum()) for slot in range(int(held.max(initial=0)))]
        order = [begins[groups[:size]] + slot for slot, size in enumerate(sizes)]
        return cls(sizes=tuple(sizes), columns=np.argsort(groups)), np.concatenate([np.zeros(0, np.int64), *order])

    def best(self, products: Products) -> Scores:
        """The highest of each group, shape (queries, groups), from shape (queries, rows)."""
        best = products[:, : self.sizes[0]].copy()
        first = self.sizes[0]
        for size in self.sizes[1:]:
            np.maximum(best[:, :size], products[:, first : first + size], out=best[:, :size])
            first += size
        return best[:, self.columns]


class _Latest:
    """The scores of the queries that were asked last."""

    def __init__(self) -> None:
        self._rows: OrderedDict[bytes, Scores] = OrderedDict()
        self._lock = Lock()

    def of(self, query: bytes) -> Scores | None:
        with self._lock:
            if (row := self._rows.get(query)) is not None:
                self._rows.move_to_end(query)
            return row

    def keep(self, query: bytes, row: Scores) -> None:
        with self._lock:
            self._rows[query] = row
            if len(self._rows) > KEPT_QUERIES:
                self._rows.popitem(last=False)


@dataclass(frozen=True, kw_only=True)
class VectorIndex:
    """Scores of every group for any query. Build it once, ask it from any thread, drop it."""

    dimension: int
    numbers: NDArray[np.int64]
    """The groups' numbers, ascending; column n of the scores is group `numbers[n]`."""
    _rows: Rows
    """All pieces, then all windows, each by slot."""
    _pieces: _Slots
    _windows: _Slots
    _first_window: int
    """Row of the first window."""
    _latest: _Latest = field(default_factory=_Latest, repr=False, compare=False)

    @classmethod
    def build(
        cls, dimension: int, groups: Mapping[int, tuple[Vectors, Vectors]], *, rounded: bool = True
    ) -> VectorIndex:
        """An index of group number to (pieces, windows), each of shape (rows, dimension), unit rows.

        A group without windows is scored by its pieces alone. `rounded=False` keeps float32 rows, which is how the
        benchmark tells what rounding costs. Raises ValueError on a group without pieces, a row of another dimension, or
        a row that is not finite.
        """
        numbers = sorted(groups)
        pieces = [groups[number][0] for number in numbers]
        windows = [groups[number][1] if len(groups[number][1]) else groups[number][0] for number in numbers]
        for number, rows in zip(numbers * 2, pieces + windows, strict=True):
            if not len(rows):
                raise ValueError(f"group {number} has no piece")
            if rows.ndim != 2 or rows.shape[1] != dimension:
                raise ValueError(f"group {number} has rows of shape {rows.shape}, not (rows, {dimension})")
            if not np.isfinite(rows).all():
                raise ValueError(f"group {number} has a vector that is not finite")
        piece_slots, piece_order = _Slots.of([len(rows) for rows in pieces])
        window_slots, window_order = _Slots.of([len(rows) for rows in windows])
        none = np.zeros((0, dimension), np.float32)
        every = np.concatenate(
            [np.concatenate([none, *pieces])[piece_order], np.concatenate([none, *windows])[window_order]]
        )
        kind = RoundedRows if rounded else Float32Rows
        return cls(
            dimension=dimension,
            numbers=np.array(numbers, np.int64),
            _rows=kind.of(every),
            _pieces=piece_slots,
            _windows=window_slots,
            _first_window=len(piece_order),
        )

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.numbers)

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors and of what leads from them to their groups."""
        leading = (self.numbers, self._pieces.columns, self._windows.columns)
        return self._rows.nbytes + sum(part.nbytes for part in leading)

    @property
    def nbytes_of_scores(self) -> int:
        """Bytes at most of the scores that are kept, and of the queries that they are found by."""
        return KEPT_QUERIES * (self.groups + self.dimension) * np.float32().nbytes

    def scores(self, queries: Vectors) -> Scores:
        """The score of each group for each query, shape (queries, groups).

        Without groups there is nothing to compare, whatever the dimension: a book that was opened before the model was
        loaded has none. Else raises ValueError when a query has another dimension or is not finite.
        """
        if not self.groups:
            return np.zeros((len(queries), 0), np.float32)
        asked = np.ascontiguousarray(queries, np.float32)
        if asked.ndim != 2 or asked.shape[1] != self.dimension:
            raise ValueError(f"queries have shape {asked.shape}, not (queries, {self.dimension})")
        if not np.isfinite(asked).all():
            raise ValueError("a query vector is not finite")
        if not len(asked):
            return np.zeros((0, self.groups), np.float32)
        keys = [query.tobytes() for query in asked]
        known = {key: row for key in keys if (row := self._latest.of(key)) is not None}
        new = [place for place, key in enumerate(keys) if key not in known]
        if new:
            for place, row in zip(new, self._computed(asked[new]), strict=True):
                known[keys[place]] = row.copy()  # a row alone does not keep its whole batch in memory
                self._latest.keep(keys[place], known[keys[place]])
        return np.stack([known[key] for key in keys])

    def _computed(self, queries: Vectors) -> Scores:
        products = self._rows.products(queries)
        scores = self._pieces.best(products[:, : self._first_window])
        scores += self._windows.best(products[:, self._first_window :])
        scores /= np.float32(2)
        return scores
