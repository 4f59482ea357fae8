"""An immutable index that visits every vector: windows and pieces of texts in, one score per text out.

A group is the set of vectors of one text, known by the caller's number. Its score is half its best window plus half
its best piece (docs/recall.md: windows find the sentence, pieces keep the context). Every group is scored: a search
for the nearest rows would visit all of them too, and could not say how the rows of one group combine. FAISS computes
each inner product on its own, so a score has the same bits whatever other queries are asked with it.

Rows are kept as int8 with one scale a row: a quarter of the memory, at the speed of float32, for .02 points of R@5
(G12 of docs/recall.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import faiss
import numpy as np
from numpy.typing import NDArray

from embeddings.embedder import Vectors

_BLOCK = 512
"""Rows that stay in the processor's cache while every query visits them."""

Scores = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class VectorIndex:
    """Scores of every group for any query. Build it once, ask it from any thread, drop it."""

    dimension: int
    numbers: NDArray[np.int64]
    """The groups' numbers, ascending; column n of the scores is group `numbers[n]`."""
    _rows: NDArray[np.int8] | Vectors
    """All pieces, then all windows, each sorted by group; shape (rows, dimension)."""
    _scales: NDArray[np.float32]
    """What one step of a row is worth."""
    _pieces: NDArray[np.int64]
    """First row of the pieces of each group."""
    _windows: NDArray[np.int64]
    """First row of the windows of each group, counted from the first window."""
    _first_window: int
    """Row of the first window."""

    @classmethod
    def build(
        cls, dimension: int, groups: Mapping[int, tuple[Vectors, Vectors]], *, exact: bool = False
    ) -> VectorIndex:
        """An index of group number to (pieces, windows), each of shape (rows, dimension), unit rows.

        A group without windows is scored by its pieces alone. `exact` keeps float32 rows, which is how the benchmark
        tells what rounding costs. Raises ValueError on a group without pieces, a row of
        another dimension, or a row that is not finite.
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
        every = np.concatenate([np.zeros((0, dimension), np.float32), *pieces, *windows])
        kept, scales = (every, np.ones(len(every), np.float32)) if exact else _rounded(every)
        return cls(
            dimension=dimension,
            numbers=np.array(numbers, np.int64),
            _rows=kept,
            _scales=scales,
            _pieces=_starts(pieces),
            _windows=_starts(windows),
            _first_window=sum(map(len, pieces)),
        )

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.numbers)

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors and of what leads from them to their groups."""
        return sum(part.nbytes for part in (self._rows, self._scales, self.numbers, self._pieces, self._windows))

    def scores(self, queries: Vectors) -> Scores:
        """The score of each group for each query, shape (queries, groups).

        Raises ValueError when a query has another dimension or is not finite.
        """
        asked = np.ascontiguousarray(queries, np.float32)
        if asked.ndim != 2 or asked.shape[1] != self.dimension:
            raise ValueError(f"queries have shape {asked.shape}, not (queries, {self.dimension})")
        if not np.isfinite(asked).all():
            raise ValueError("a query vector is not finite")
        if not self.groups or not len(asked):
            return np.zeros((len(asked), self.groups), np.float32)
        products = np.empty((len(asked), len(self._rows)), np.float32)
        for first in range(0, len(self._rows), _BLOCK):
            block = self._rows[first : first + _BLOCK].astype(np.float32)
            for query, found in zip(asked, products[:, first : first + _BLOCK], strict=True):
                faiss.fvec_inner_products_ny(  # type: ignore[attr-defined]  # missing in FAISS's type stubs
                    *map(faiss.swig_ptr, (found, query, block)), self.dimension, len(block)
                )
        products *= self._scales
        best_pieces: Scores = np.maximum.reduceat(products[:, : self._first_window], self._pieces, axis=1)
        best_windows: Scores = np.maximum.reduceat(products[:, self._first_window :], self._windows, axis=1)
        scores: Scores = (best_pieces + best_windows) / np.float32(2)
        return scores


def _rounded(rows: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    scales = np.abs(rows).max(axis=1, initial=np.finfo(np.float32).tiny) / np.float32(127)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def _starts(parts: Sequence[Vectors]) -> NDArray[np.int64]:
    return np.cumsum([0, *(len(part) for part in parts)])[:-1].astype(np.int64)
