"""Timing things side by side, so that a noisy machine slows all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np


def alternate(
    candidates: Mapping[str, Callable[[], object]], *, rounds: int, pause: float = 0.0
) -> dict[str, Sequence[float]]:
    """Seconds of each call, the candidates taking turns; one round of each is thrown away as warm-up.

    `pause` seconds before each call let the threads of the one before, which spin for a while, go to sleep.
    """
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds + 1):
        for name, call in candidates.items():
            time.sleep(pause)
            began = time.perf_counter()
            call()
            if number:
                seconds[name].append(time.perf_counter() - began)
    return dict(seconds)


def median(seconds: Sequence[float]) -> float:
    return float(np.median(seconds))


def percentile(seconds: Sequence[float], percent: float) -> float:
    return float(np.percentile(seconds, percent))
