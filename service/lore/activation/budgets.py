"""How the activated entries of a dialect share a budget: three rules, each a function over what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Cost(NamedTuple):
    """What an activated entry would take."""

    place: int
    size: int
    exempt: bool
    """Goes in all the same, and counts."""


class Cut(NamedTuple):
    """What does not fit."""

    left: dict[int, int]
    """Place of each entry that is cut to what was left when its turn came."""
    used: int
    spent: bool
    """Nothing more goes in, in later passes either."""


CutRule = Callable[[Sequence[Cost], int, int, bool], Cut]
"""(costs in the order in which they are considered, limit, used before, spent before) to what is cut."""


def skip_and_continue(costs: Sequence[Cost], limit: int, used: int = 0, spent: bool = False) -> Cut:
    """One that would exceed the limit is skipped, and later ones may still fit."""
    left = {}
    for cost in costs:
        if used + cost.size > limit:
            left[cost.place] = limit - used
        else:
            used += cost.size
    return Cut(left, used, spent)


def lowest_falls(costs: Sequence[Cost], limit: int, used: int = 0, spent: bool = False) -> Cut:
    """They fall one by one, the first considered first, until the rest fits.

    What was left for one is what all after it leave.
    """
    used += sum(cost.size for cost in costs)
    left = {}
    for cost in costs:
        if used <= limit:
            break
        used -= cost.size
        left[cost.place] = limit - used
    return Cut(left, used, spent)


def stops_at_the_limit(costs: Sequence[Cost], limit: int, used: int = 0, spent: bool = False) -> Cut:
    """The first that reaches the limit is cut with all after it that are not exempt (formats.md 6.6)."""
    left = {}
    for cost in costs:
        if not cost.exempt and (spent or used + cost.size >= limit):
            spent = True
            left[cost.place] = max(0, limit - used)
        else:
            used += cost.size
    return Cut(left, used, spent)
