"""Measures as values: each takes what was found, best first, and what should have been, and gives a number.

R@k, MRR@k, nDCG@k and AP as in ir_measures and the BEIR paper, with binary relevance. An ask without gold (small talk)
has no recall; `claims` tells whether anything was found for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

Measure = Callable[[Sequence[int], Set[int]], float]


@dataclass(frozen=True)
class Recall:
    """Share of the gold among the first k."""

    k: int

    def __str__(self) -> str:
        return f"R@{self.k}"

    def __call__(self, ranked: Sequence[int], gold: Set[int]) -> float:
        return len(gold & set(ranked[: self.k])) / len(gold)


@dataclass(frozen=True)
class ReciprocalRank:
    """One over the rank of the first gold among the first k, else 0."""

    k: int

    def __str__(self) -> str:
        return f"MRR@{self.k}"

    def __call__(self, ranked: Sequence[int], gold: Set[int]) -> float:
        return next((1 / rank for rank, place in enumerate(ranked[: self.k], start=1) if place in gold), 0.0)


@dataclass(frozen=True)
class NDCG:
    """Discounted gain of the first k, as a share of the best possible; a hit at rank r gains 1 / log2(r + 1)."""

    k: int

    def __str__(self) -> str:
        return f"nDCG@{self.k}"

    def __call__(self, ranked: Sequence[int], gold: Set[int]) -> float:
        gain = sum(1 / math.log2(rank + 1) for rank, place in enumerate(ranked[: self.k], start=1) if place in gold)
        return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(len(gold), self.k) + 1))


@dataclass(frozen=True)
class AveragePrecision:
    """Mean of the precision at the rank of each gold, over all that is ranked; gold that is not ranked counts 0."""

    def __str__(self) -> str:
        return "AP"

    def __call__(self, ranked: Sequence[int], gold: Set[int]) -> float:
        hits, total = 0, 0.0
        for rank, place in enumerate(ranked, start=1):
            if place in gold:
                hits += 1
                total += hits / rank
        return total / len(gold)


def claims(ranked: Sequence[int], gold: Set[int]) -> float:
    """1 when anything that is not gold was found: a false match, where there is no gold."""
    return float(any(place not in gold for place in ranked))


def mean(numbers: Iterable[float]) -> float:
    """The mean, or nan of nothing."""
    values = list(numbers)
    return sum(values) / len(values) if values else math.nan


R1, R5, R8 = Recall(1), Recall(5), Recall(8)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The figures of a goal, in the order of its row; nan where the bare model has none."""

    ours: tuple[float, ...]
    bare: tuple[float, ...]
    asks: int
    """Conversations that were asked."""
    detail: Mapping[str, Any] = field(default_factory=dict)
