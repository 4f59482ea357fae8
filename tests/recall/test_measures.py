"""Measures against numbers that a person can check."""

import math

import pytest

from benchmarks.recall.measures import NDCG, AveragePrecision, Recall, ReciprocalRank, claims, mean

LOG3, LOG4 = math.log2(3), math.log2(4)

CASES = [
    (Recall(1), [7, 3], {7}, 1.0),
    (Recall(1), [3, 7], {7}, 0.0),
    (Recall(2), [3, 7], {7}, 1.0),
    (Recall(2), [3, 7, 8], {7, 8}, 0.5),
    (Recall(5), [], {7}, 0.0),
    (ReciprocalRank(10), [3, 7], {7}, 1 / 2),
    (ReciprocalRank(10), [3, 7, 8], {8, 7}, 1 / 2),
    (ReciprocalRank(1), [3, 7], {7}, 0.0),
    (ReciprocalRank(10), [], {7}, 0.0),
    (NDCG(10), [7], {7}, 1.0),
    (NDCG(10), [3, 7], {7}, 1 / LOG3),
    (NDCG(10), [7, 3, 8], {7, 8}, (1 + 1 / LOG4) / (1 + 1 / LOG3)),
    (NDCG(1), [7], {7, 8}, 1.0),
    (NDCG(10), [3], {7}, 0.0),
    (AveragePrecision(), [7, 3, 8], {7, 8}, (1 / 1 + 2 / 3) / 2),
    (AveragePrecision(), [3, 7], {7, 8}, (1 / 2) / 2),
    (AveragePrecision(), [], {7}, 0.0),
    (claims, [], set(), 0.0),
    (claims, [3], set(), 1.0),
    (claims, [7], {7}, 0.0),
]


@pytest.mark.parametrize(("measure", "ranked", "gold", "expected"), CASES)
def test_a_measure_gives_the_number_worked_out_by_hand(measure, ranked, gold, expected):
    """Every measure gives the number worked out by hand."""
    assert measure(ranked, gold) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("measure", "name"),
    [(Recall(5), "R@5"), (ReciprocalRank(10), "MRR@10"), (NDCG(10), "nDCG@10"), (AveragePrecision(), "AP")],
)
def test_a_measure_has_the_name_that_the_field_gives_it(measure, name):
    """A measure prints as the field writes it."""
    assert str(measure) == name


def test_the_mean_of_nothing_is_no_number():
    """The mean of no results is nan, which no goal is met by."""
    assert math.isnan(mean([]))
    assert mean([1, 0, 0.5]) == 0.5
