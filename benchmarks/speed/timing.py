"""Timing two things side by side, so that a noisy machine slows both."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np


def alternate(candidates: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, Sequence[float]]:
    """Seconds of each call, the candidates taking turns; one round of each is thrown away as warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds + 1):
        for name, call in candidates.items():
            began = time.perf_counter()
            call()
            if number:
                seconds[name].append(time.perf_counter() - began)
    return dict(seconds)


def median(seconds: Sequence[float]) -> float:
    return float(np.median(seconds))


def percentile(seconds: Sequence[float], percent: float) -> float:
    return float(np.percentile(seconds, percent))
