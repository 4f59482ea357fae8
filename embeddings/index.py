"""An immutable, exact FAISS index: windows and pieces of texts in, one score per text out.

A group is the set of vectors of one text, known by the caller's number. Its score is half its best window plus half
its best piece (docs/recall.md: windows find the sentence, pieces keep the context). Every group is scored: a search
for the nearest rows would visit all of them too, and could not say how the rows of one group combine. FAISS computes
each inner product on its own, so a score has the same bits whatever other queries are asked with it.
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
    _flat: faiss.IndexFlatIP
    """All pieces, then all windows, each sorted by group."""
    _labels: NDArray[np.int64]
    _pieces: NDArray[np.int64]
    """First row of the pieces of each group."""
    _windows: NDArray[np.int64]
    """First row of the windows of each group, counted from the first window."""
    _first_window: int
    """Row of the first window."""

    @classmethod
    def build(cls, dimension: int, groups: Mapping[int, tuple[Vectors, Vectors]]) -> VectorIndex:
        """An index of group number to (pieces, windows), each of shape (rows, dimension), unit rows.

        A group without windows is scored by its pieces alone. Raises ValueError on a group without pieces, a row of
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
        flat = faiss.IndexFlatIP(dimension)
        if numbers:
            flat.add(np.ascontiguousarray(np.concatenate(pieces + windows), np.float32))
        return cls(
            dimension=dimension,
            numbers=np.array(numbers, np.int64),
            _flat=flat,
            _labels=np.arange(flat.ntotal),
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
        vectors = 4 * self.dimension * int(self._flat.ntotal)
        return vectors + sum(part.nbytes for part in (self.numbers, self._labels, self._pieces, self._windows))

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
        # Searches run on many request threads; theirs times FAISS's own would oversubscribe. OpenMP keeps this number
        # per thread, so that saying it once, at import, says it to one thread only.
        faiss.omp_set_num_threads(1)
        products = np.empty((len(asked), int(self._flat.ntotal)), np.float32)
        for first in range(0, products.shape[1], _BLOCK):
            labels = np.tile(self._labels[first : first + _BLOCK], (len(asked), 1))
            found = np.empty(labels.shape, np.float32)
            pointers = [faiss.swig_ptr(array) for array in (asked, found, labels)]
            self._flat.compute_distance_subset(  # type: ignore[attr-defined]  # missing in FAISS's type stubs
                len(asked), pointers[0], labels.shape[1], pointers[1], pointers[2]
            )
            products[:, first : first + _BLOCK] = found
        best_pieces: Scores = np.maximum.reduceat(products[:, : self._first_window], self._pieces, axis=1)
        best_windows: Scores = np.maximum.reduceat(products[:, self._first_window :], self._windows, axis=1)
        scores: Scores = (best_pieces + best_windows) / np.float32(2)
        return scores


def _starts(parts: Sequence[Vectors]) -> NDArray[np.int64]:
    return np.cumsum([0, *(len(part) for part in parts)])[:-1].astype(np.int64)
