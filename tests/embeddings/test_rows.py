"""Products of rows and queries: as exact as they claim to be, on this processor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.embedder import Vectors
from embeddings.rows import Float32Rows, RoundedRows, Rows


def vectors(seed: int, rows: int, dimension: int) -> Vectors:
    random = np.random.default_rng(seed)
    return (random.normal(size=(rows, dimension)) * random.exponential(size=(rows, 1))).astype(np.float32)


@settings(max_examples=150)
@given(st.integers(0, 2**31), st.integers(1, 70), st.integers(1, 20), st.integers(1, 900))
def test_rounding_costs_half_a_step_of_the_row(seed: int, rows: int, queries: int, dimension: int) -> None:
    """G12: only the rows are rounded: a product is off by half a step of its row in each coordinate, no more."""
    kept, asked = vectors(seed, rows, dimension), vectors(seed + 1, queries, dimension)
    exact = asked.astype(np.float64) @ kept.T.astype(np.float64)
    half_steps = np.abs(asked).sum(axis=1)[:, None] * np.abs(kept).max(axis=1)[None] / 127 / 2
    found = RoundedRows.of(kept).products(asked)
    assert found.dtype == np.float32
    assert (np.abs(found - exact) <= half_steps * 1.02 + 1e-6).all()


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.integers(1, 20))
def test_a_query_is_not_rounded(seed: int, queries: int) -> None:
    """Rows that int8 holds exactly give the products of float32."""
    random = np.random.default_rng(seed)
    kept = random.integers(-127, 128, (30, 384)).astype(np.float32)
    kept[:, 0] = 127
    asked = vectors(seed, queries, 384)
    exact = asked.astype(np.float64) @ kept.T.astype(np.float64)
    lengths = np.linalg.norm(asked, axis=1)[:, None] * np.linalg.norm(kept, axis=1)[None]
    assert (np.abs(RoundedRows.of(kept).products(asked) - exact) <= 3e-5 * lengths).all()


@pytest.mark.parametrize("kind", [RoundedRows, Float32Rows])
def test_a_product_has_the_same_bits_in_any_company(kind: type[Rows]) -> None:
    """B7: alone, among others, and from several threads at once."""
    rows = kind.of(vectors(3, 500, 384))
    asked = vectors(4, 33, 384)
    together = rows.products(asked)
    assert all(np.array_equal(rows.products(query[None])[0], row) for query, row in zip(asked, together, strict=True))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: rows.products(asked), range(12)))
    assert all(np.array_equal(products, together) for products in found)


def test_zeros_are_no_fault() -> None:
    """A row or a query of zeros has the product 0 with everything."""
    kept = np.zeros((2, 5), np.float32)
    kept[1] = 1
    assert RoundedRows.of(kept).products(np.zeros((1, 5), np.float32)).tolist() == [[0.0, 0.0]]
    assert np.allclose(RoundedRows.of(kept).products(np.ones((1, 5), np.float32)), [[0.0, 5.0]], atol=1e-4)
