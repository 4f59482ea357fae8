"""The index scores every text, whatever the vectors look like, and refuses what would poison it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.embedder import Vectors
from embeddings.index import KEPT_QUERIES, VectorIndex

Groups = dict[int, tuple[Vectors, Vectors]]


def unit(random: np.random.Generator, rows: int, dimension: int) -> Vectors:
    vectors = random.normal(size=(rows, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def some_groups(seed: int, count: int) -> Groups:
    random = np.random.default_rng(seed)
    numbers = random.choice(10 * count + 1, count, replace=False)
    return {
        int(number): (
            unit(random, int(random.integers(1, 4)), 8),
            unit(random, int(random.integers(0, 6)), 8),
        )
        for number in numbers
    }


def by_hand(groups: Groups, query: Vectors) -> dict[int, float]:
    """Half the best window plus half the best piece of each group; without windows the piece alone."""
    return {
        number: 0.5 * float((pieces @ query).max()) + 0.5 * float(((windows if len(windows) else pieces) @ query).max())
        for number, (pieces, windows) in groups.items()
    }


@settings(max_examples=150)
@given(st.integers(0, 2**31), st.integers(0, 120), st.integers(1, 5), st.booleans())
def test_scores_agree_with_a_plain_loop(seed: int, count: int, asked: int, rounded: bool) -> None:
    """Every group is scored as a plain loop over its vectors scores it, but for rounding, in every query of a batch."""
    groups = some_groups(seed, count)
    queries = unit(np.random.default_rng(seed + 1), asked, 8)
    index = VectorIndex.build(8, groups, rounded=rounded)
    scores = index.scores(queries)
    assert scores.shape == (asked, count)
    for query, row in zip(queries, scores, strict=True):
        expected = by_hand(groups, query)
        assert np.allclose(row, [expected[number] for number in index.numbers.tolist()], atol=0.01 if rounded else 1e-5)


def test_a_score_has_the_same_bits_in_any_company() -> None:
    """B7: a query scores the same alone and among others, to the last bit."""
    index = VectorIndex.build(8, some_groups(5, 60))
    queries = unit(np.random.default_rng(6), 40, 8)
    together = index.scores(queries)
    assert all((index.scores(query[None])[0] == row).all() for query, row in zip(queries, together, strict=True))


@pytest.mark.parametrize(("count", "asked"), [(0, 1), (1, 1), (3, 0)])
def test_little_to_search(count: int, asked: int) -> None:
    """V01, D16: an empty index or no query answers nothing, never a sentinel."""
    scores = VectorIndex.build(8, some_groups(1, count)).scores(unit(np.random.default_rng(2), asked, 8))
    assert scores.shape == (asked, count)
    assert (abs(scores) <= 1.001).all()


@pytest.mark.parametrize("rows", [np.full((1, 8), np.nan), np.full((1, 8), np.inf), np.zeros((1, 7)), np.zeros(8)])
def test_a_broken_query_is_refused(rows: np.ndarray) -> None:
    """V13: a query that is not finite or has another dimension is a clear error."""
    with pytest.raises(ValueError, match="quer"):
        VectorIndex.build(8, some_groups(1, 3)).scores(rows.astype(np.float32))


@pytest.mark.parametrize(
    ("pieces", "why"),
    [(np.full((1, 8), np.nan), "not finite"), (np.zeros((1, 7)), "shape"), (np.zeros((0, 8)), "no piece")],
)
def test_a_broken_vector_is_refused(pieces: np.ndarray, why: str) -> None:
    """V13, V05: a vector that would never be found again, or of another model, is refused when the index is built."""
    good = unit(np.random.default_rng(0), 1, 8)
    with pytest.raises(ValueError, match=why):
        VectorIndex.build(8, {0: (good, good), 1: (pieces.astype(np.float32), good)})


def test_a_group_has_one_score() -> None:
    """V12: a text with many windows is one group, and its memory is told."""
    row = unit(np.random.default_rng(0), 1, 384)
    index = VectorIndex.build(384, {1: (row, np.repeat(row, 500, axis=0)), 2: (row, row)})
    assert index.groups == 2
    assert np.allclose(index.scores(row), 1.0, atol=0.01)
    assert 503 * 384 < index.nbytes < 503 * 384 * 1.5
    assert index.nbytes_of_scores == 4 * KEPT_QUERIES * (2 + 384)


def test_scores_that_are_kept_are_those_that_are_computed() -> None:
    """B7: asked again, alone, in another order, or after more queries than are kept, a query has the same bits."""
    groups = some_groups(8, 40)
    index = VectorIndex.build(8, groups)
    queries = unit(np.random.default_rng(9), 2 * KEPT_QUERIES, 8)
    fresh = VectorIndex.build(8, groups).scores(queries)
    assert np.array_equal(index.scores(queries), fresh)
    assert np.array_equal(index.scores(queries[::-1]), fresh[::-1])
    assert np.array_equal(index.scores(queries[[5, 5, -1]]), fresh[[5, 5, -1]])


def test_an_answer_is_the_callers_own() -> None:
    """What a caller does to scores does not reach those that are kept."""
    index = VectorIndex.build(8, some_groups(8, 40))
    queries = unit(np.random.default_rng(9), 2, 8)
    first = index.scores(queries)
    kept = first.copy()
    first[:] = 7
    assert np.array_equal(index.scores(queries), kept)


def test_queries_asked_from_many_threads() -> None:
    """More queries than are kept, from eight threads at once: each gets its own scores."""
    index = VectorIndex.build(8, some_groups(8, 40))
    queries = unit(np.random.default_rng(9), 3 * KEPT_QUERIES, 8)
    expected = VectorIndex.build(8, some_groups(8, 40)).scores(queries)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda place: index.scores(queries[place : place + 3]), [*range(0, 180, 2)] * 4))
    for place, scores in zip([*range(0, 180, 2)] * 4, found, strict=True):
        assert np.array_equal(scores, expected[place : place + 3])
