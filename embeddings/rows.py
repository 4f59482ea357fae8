"""Rows of vectors, and their inner products with queries: one score a query and row, whatever else is asked.

Rounded rows are kept as int8 with one scale a row: a quarter of the memory of float32, for .02 points of R@5 (G12 of
docs/recall.md). Their products are sums of integers, which no order of summing changes: a score has the same bits alone
and in a crowd. NumKong multiplies integers with what the processor has for it (AMX, VNNI, NEON), several times
as fast as float32 rows are visited (docs/decisions/0037).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numkong
import numpy as np
from numpy.typing import NDArray

from embeddings.embedder import Vectors

Products = NDArray[np.float32]
"""Shape (queries, rows)."""

_STEPS = 127
"""From zero to the largest number of an int8."""
_FINER = 254
"""Steps of a second digit in one of the first, which is off by half a step at most."""
_LEAST = 1e-30
"""Stands for the largest coordinate of a row of zeros."""


class Rows(Protocol):
    """Vectors that are asked for their inner products."""

    @classmethod
    def of(cls, vectors: Vectors) -> Self:
        """From an array of shape (rows, dimension)."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""

    def products(self, queries: Vectors) -> Products:
        """Of each query, shape (queries, dimension), with each row."""


@dataclass(frozen=True, kw_only=True)
class RoundedRows:
    """int8 rows, each with the worth of one step."""

    _packed: numkong.PackedMatrix
    _scales: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: Vectors) -> RoundedRows:
        scales = _worth_of_a_step(vectors)
        steps = vectors / scales[:, None]
        np.rint(steps, out=steps)  # in place, since a large book takes much memory in float32
        return cls(_packed=numkong.dots_pack(steps.astype(np.int8)), _scales=scales)

    @property
    def dimension(self) -> int:
        return self._packed.depth

    @property
    def nbytes(self) -> int:
        return self._packed.nbytes + self._scales.nbytes

    def products(self, queries: Vectors) -> Products:
        # Two digits a coordinate, so that a query loses nothing that a float32 score would show.
        scales = _worth_of_a_step(queries)
        steps = queries / scales[:, None]
        first = np.rint(steps)
        digits = np.concatenate([first, np.rint((steps - first) * _FINER)]).astype(np.int8)
        sums = np.asarray(numkong.dots_packed(digits, self._packed))
        products = _times(sums[: len(queries)], self._scales)
        products += _times(sums[len(queries) :], self._scales / np.float32(_FINER))
        products *= scales[:, None]
        return products


@dataclass(frozen=True, kw_only=True)
class Float32Rows:
    """float32 rows, which FAISS multiplies: the reference that rounding is measured against."""

    _rows: Vectors

    @classmethod
    def of(cls, vectors: Vectors) -> Float32Rows:
        return cls(_rows=np.ascontiguousarray(vectors, np.float32))

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def products(self, queries: Vectors) -> Products:
        import faiss  # here, since no request needs it

        count, dimension = self._rows.shape
        products = np.empty((len(queries), count), np.float32)
        for query, found in zip(np.ascontiguousarray(queries, np.float32), products, strict=True):
            # product by product: a matrix product would sum in an order that depends on the number of queries
            faiss.fvec_inner_products_ny(  # type: ignore[attr-defined]  # missing in FAISS's type stubs
                *map(faiss.swig_ptr, (found, query, self._rows)), dimension, count
            )
        return products


def _worth_of_a_step(vectors: Vectors) -> NDArray[np.float32]:
    largest: NDArray[np.float32] = np.abs(vectors).max(axis=1, initial=_LEAST)
    return largest / np.float32(_STEPS)


def _times(sums: NDArray[np.int32], scales: NDArray[np.float32]) -> Products:
    scaled: Products = np.multiply(sums, scales, dtype=np.float32, casting="same_kind")
    return scaled
