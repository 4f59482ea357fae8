"""An immutable, exact FAISS index: windows and pieces of texts in, one score per text out.

A group is the set of vectors of one text, known by the caller's number. Its score is half its best window plus half
its best piece (docs/recall.md: windows find the sentence, pieces keep the context).

Exact without scoring every group: the best K pieces and the best K windows are found first. A group in neither list
scores at most half the Kth piece plus half the Kth window, so when k of the groups seen score more than that, no other
can be among the best k (the threshold argument of Fagin, Lotem and Naor 2003). Where scores are so flat that this
proves nothing, every group is scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import faiss
import numpy as np
from numpy.typing import NDArray

from embeddings.embedder import Vectors

GroupNumbers = NDArray[np.int64]
Scores = NDArray[np.float32]
Neighbours = tuple[GroupNumbers, Scores]
"""Group numbers and their scores, best first."""
_LOOK = 4
"""K is so many times k."""

faiss.omp_set_num_threads(1)  # searches run on many request threads; theirs times FAISS's own would oversubscribe


@dataclass(frozen=True, kw_only=True)
class _Side:
    """All pieces, or all windows: a flat index whose rows are sorted by group."""

    flat: faiss.IndexFlatIP
    rows: Vectors
    """The index's own memory."""
    owners: GroupNumbers
    """Place of each row's group in `VectorIndex.numbers`."""
    starts: GroupNumbers
    """First row of each group; one more at the end."""

    @classmethod
    def build(cls, dimension: int, parts: Sequence[Vectors]) -> _Side:
        flat = faiss.IndexFlatIP(dimension)
        sizes = [len(part) for part in parts]
        rows = np.concatenate(parts) if parts else np.zeros((0, dimension), np.float32)
        if len(rows):
            flat.add(np.ascontiguousarray(rows, np.float32))
            rows = faiss.rev_swig_ptr(flat.get_xb(), len(rows) * dimension).reshape(-1, dimension)
        owners = np.repeat(np.arange(len(parts)), sizes)
        return cls(flat=flat, rows=rows, owners=owners, starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))

    def nearest(self, queries: Vectors, most: int) -> tuple[Scores, GroupNumbers]:
        """Scores and rows of the `most` nearest rows of each query, of all rows when there are fewer."""
        scores, rows = self.flat.search(queries, min(most, len(self.rows)))
        return scores, rows

    def best(self, query: Vectors, groups: GroupNumbers) -> Scores:
        """The best row of each of the groups for one query, in ascending order of groups."""
        if len(groups) == len(self.starts) - 1:
            every: Scores = np.maximum.reduceat(self.rows @ query, self.starts[:-1])
            return every
        lengths = self.starts[groups + 1] - self.starts[groups]
        firsts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        rows = np.repeat(self.starts[groups] - firsts, lengths) + np.arange(lengths.sum())
        best: Scores = np.maximum.reduceat(self.rows[rows] @ query, firsts)
        return best


class VectorIndex:
    """Exact nearest groups. Build it once, search it from any thread, drop it."""

    def __init__(self, dimension: int, numbers: GroupNumbers, pieces: _Side, windows: _Side) -> None:
        self.dimension = dimension
        self.numbers = numbers
        self._pieces = pieces
        self._windows = windows

    @classmethod
    def build(cls, dimension: int, groups: Mapping[int, tuple[Vectors, Vectors]]) -> VectorIndex:
        """An index of group number to (pieces, windows), each of shape (rows, dimension), unit rows.

        A group without windows is searched by its pieces alone. Raises ValueError on a group without pieces, a row of
        another dimension, or a row that is not finite.
        """
        numbers = sorted(groups)
        pieces = [groups[number][0] for number in numbers]
        windows = [groups[number][1] if len(groups[number][1]) else groups[number][0] for number in numbers]
        for number, rows in zip(numbers, pieces, strict=True):
            if not len(rows):
                raise ValueError(f"group {number} has no piece")
        for number, rows in zip(numbers * 2, pieces + windows, strict=True):
            if rows.ndim != 2 or rows.shape[1] != dimension:
                raise ValueError(f"group {number} has rows of shape {rows.shape}, not (rows, {dimension})")
            if not np.isfinite(rows).all():
                raise ValueError(f"group {number} has a vector that is not finite")
        return cls(
            dimension, np.array(numbers, np.int64), _Side.build(dimension, pieces), _Side.build(dimension, windows)
        )

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.numbers)

    @property
    def nbytes(self) -> int:
        """Bytes of the vectors and what leads from them to their groups."""
        return sum(side.rows.nbytes + side.owners.nbytes + side.starts.nbytes for side in (self._pieces, self._windows))

    def search(self, queries: Vectors, k: int) -> list[Neighbours]:
        """The best `k` groups of each query, fewer when there are fewer; ties by the lower number.

        Raises ValueError when a query has another dimension or is not finite.
        """
        queries = self._checked(queries)
        k = min(k, self.groups)
        if k <= 0 or not len(queries):
            return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in queries]
        found = self._look(queries, _LOOK * k, k)
        return [
            result if result is not None else self._best(query, np.arange(self.groups), k)
            for query, result in zip(queries, found, strict=True)
        ]

    def score(self, queries: Vectors, numbers: Sequence[int]) -> Scores:
        """Scores of the named groups, shape (queries, numbers). Raises KeyError on a number that is no group."""
        queries = self._checked(queries)
        order = np.argsort(numbers, kind="stable")
        wanted = np.asarray(numbers, np.int64)[order]
        places = np.searchsorted(self.numbers, wanted)
        if len(wanted) and (places.max() >= self.groups or (self.numbers[places] != wanted).any()):
            raise KeyError("not every number is a group")
        scores = np.zeros((len(queries), len(wanted)), np.float32)
        if len(wanted):
            for row, query in zip(scores, queries, strict=True):
                row[order] = self._scored(query, places)
        return scores

    def _checked(self, queries: Vectors) -> Vectors:
        rows = np.ascontiguousarray(queries, np.float32)
        if rows.ndim != 2 or rows.shape[1] != self.dimension:
            raise ValueError(f"queries have shape {rows.shape}, not (queries, {self.dimension})")
        if not np.isfinite(rows).all():
            raise ValueError("a query vector is not finite")
        return rows

    def _scored(self, query: Vectors, places: GroupNumbers) -> Scores:
        scored: Scores = 0.5 * self._pieces.best(query, places) + 0.5 * self._windows.best(query, places)
        return scored

    def _best(self, query: Vectors, places: GroupNumbers, k: int) -> Neighbours:
        scores = self._scored(query, places)
        best = np.lexsort((places, -scores))[:k]
        return self.numbers[places[best]], scores[best]

    def _look(self, queries: Vectors, look: int, k: int) -> list[Neighbours | None]:
        """The best `k` of each query, or None where `look` rows of each side do not prove them."""
        piece_scores, piece_rows = self._pieces.nearest(queries, look)
        window_scores, window_rows = self._windows.nearest(queries, look)
        everything = look >= min(len(self._pieces.rows), len(self._windows.rows))
        found: list[Neighbours | None] = []
        for place, query in enumerate(queries):
            seen = np.union1d(self._pieces.owners[piece_rows[place]], self._windows.owners[window_rows[place]])
            numbers, scores = self._best(query, seen, k)
            bound = 0.5 * piece_scores[place, -1] + 0.5 * window_scores[place, -1]
            found.append((numbers, scores) if everything or (len(scores) == k and scores[-1] > bound) else None)
        return found
