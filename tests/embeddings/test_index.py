"""The index is exact, whatever the vectors look like, and refuses what would poison it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.embedder import Vectors
from embeddings.index import VectorIndex

Groups = dict[int, tuple[Vectors, Vectors]]


def unit(random: np.random.Generator, rows: int, dimension: int, flatness: float = 1.0) -> Vectors:
    """Rows around a common direction: the smaller `flatness`, the more alike."""
    vectors = np.ones(dimension) + flatness * random.normal(size=(rows, dimension)) * dimension**0.5
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def some_groups(seed: int, count: int, flatness: float) -> Groups:
    random = np.random.default_rng(seed)
    numbers = random.choice(10 * count + 1, count, replace=False)
    return {
        int(number): (
            unit(random, int(random.integers(1, 4)), 8, flatness),
            unit(random, int(random.integers(0, 6)), 8, flatness),
        )
        for number in numbers
    }


def by_hand(groups: Groups, query: Vectors) -> dict[int, float]:
    """Half the best window plus half the best piece of each group; without windows the piece alone."""
    return {
        number: 0.5 * float((pieces @ query).max()) + 0.5 * float(((windows if len(windows) else pieces) @ query).max())
        for number, (pieces, windows) in groups.items()
    }


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**31), st.integers(0, 120), st.integers(0, 15), st.sampled_from([0.001, 0.1, 1.0]))
def test_search_agrees_with_scoring_by_hand(seed: int, count: int, k: int, flatness: float) -> None:
    """The best k groups are those of a plain loop over every vector, in every query of a batch."""
    groups = some_groups(seed, count, flatness)
    queries = unit(np.random.default_rng(seed + 1), 3, 8, flatness)
    found = VectorIndex.build(8, groups).search(queries, k)
    assert len(found) == 3
    for query, (numbers, scores) in zip(queries, found, strict=True):
        expected = by_hand(groups, query)
        best = sorted(expected.values(), reverse=True)[:k]
        assert np.allclose(scores, best, atol=1e-5)
        assert np.allclose([expected[number] for number in numbers.tolist()], scores, atol=1e-5)
        assert len(set(numbers.tolist())) == len(numbers) == min(k, count)


def test_scores_of_named_groups_keep_their_order() -> None:
    """Named groups are scored in the order in which they were named."""
    groups = some_groups(3, 20, 1.0)
    query = unit(np.random.default_rng(9), 1, 8)
    numbers = list(groups)[::-1]
    expected = by_hand(groups, query[0])
    assert np.allclose(VectorIndex.build(8, groups).score(query, numbers)[0], [expected[n] for n in numbers], atol=1e-5)
    with pytest.raises(KeyError):
        VectorIndex.build(8, groups).score(query, [-1])


def test_equal_scores_go_to_the_lower_number() -> None:
    """B7: ties are broken by the group's number, not by chance."""
    row = unit(np.random.default_rng(0), 1, 8)
    index = VectorIndex.build(8, {number: (row, row) for number in (9, 4, 7, 1)})
    assert index.search(row, 3)[0][0].tolist() == [1, 4, 7]


@pytest.mark.parametrize(("count", "k", "found"), [(0, 10, 0), (1, 10, 1), (3, 10, 3), (3, 0, 0)])
def test_asking_for_more_than_there_is(count: int, k: int, found: int) -> None:
    """V01, D16: a short or empty index answers what it has, never a sentinel."""
    numbers, scores = VectorIndex.build(8, some_groups(1, count, 1.0)).search(unit(np.random.default_rng(2), 1, 8), k)[
        0
    ]
    assert len(numbers) == len(scores) == found
    assert (numbers >= 0).all()
    assert (scores > -2).all()


@pytest.mark.parametrize("rows", [np.full((1, 8), np.nan), np.full((1, 8), np.inf), np.zeros((1, 7)), np.zeros(8)])
def test_a_broken_query_is_refused(rows: np.ndarray) -> None:
    """V13: a query that is not finite or has another dimension is a clear error."""
    with pytest.raises(ValueError, match="quer"):
        VectorIndex.build(8, some_groups(1, 3, 1.0)).search(rows.astype(np.float32), 2)


@pytest.mark.parametrize(
    ("pieces", "why"),
    [(np.full((1, 8), np.nan), "not finite"), (np.zeros((1, 7)), "shape"), (np.zeros((0, 8)), "no piece")],
)
def test_a_broken_vector_is_refused(pieces: np.ndarray, why: str) -> None:
    """V13, V05: a vector that would never be found again, or of another model, is refused when the index is built."""
    good = unit(np.random.default_rng(0), 1, 8)
    with pytest.raises(ValueError, match=why):
        VectorIndex.build(8, {0: (good, good), 1: (pieces.astype(np.float32), good)})


def test_a_group_has_one_row_in_the_answer() -> None:
    """V12: a text with many windows comes once."""
    row = unit(np.random.default_rng(0), 1, 8)
    index = VectorIndex.build(8, {1: (row, np.repeat(row, 50, axis=0)), 2: (row, row)})
    assert index.search(row, 10)[0][0].tolist() == [1, 2]
    assert index.groups == 2
    assert index.nbytes > 53 * 8 * 4
