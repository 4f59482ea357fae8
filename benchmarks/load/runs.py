"""One run against a running server, and what it comes to."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event, Thread

import numpy as np

from benchmarks.load.generator import Result
from benchmarks.load.plan import Body, arrivals
from benchmarks.server import Served

_WARM = 50
"""First answers that are not counted in percentiles: caches fill."""
_NO_QUEUE = 16
"""Requests in the service. One that is busy nine tenths of the time holds about half as many, one that cannot keep up
holds more with every second."""


@dataclass(frozen=True)
class Run:
    """What came back, in the order of the plan, and memory over the run."""

    results: Sequence[Result]
    memory: Sequence[tuple[float, float]]
    """(seconds, MB)."""

    @property
    def latencies(self) -> np.ndarray:
        """Seconds of the answers that count."""
        ordered = sorted(self.results)[min(_WARM, len(self.results) // 10) :]
        return np.array([seconds for _, seconds, status, _ in ordered if status == 200])

    @property
    def errors(self) -> int:
        """Answers that are none: refused, failed, or without a model."""
        return sum(status != 200 or degraded for _, _, status, degraded in self.results)

    @property
    def refused(self) -> int:
        return sum(status == 503 for _, _, status, _ in self.results)

    @property
    def per_second(self) -> float:
        """Good answers a second, from the first request to the last answer."""
        ends = [at + seconds for at, seconds, _, _ in self.results]
        starts = [at for at, *_ in self.results]
        return (len(self.results) - self.errors) / (max(ends) - min(starts))

    def percentile(self, percent: float) -> float:
        """Milliseconds."""
        return float(1000 * np.percentile(self.latencies, percent)) if len(self.latencies) else float("inf")

    def holds(self) -> bool:
        """Whether the service kept up: no errors, and no queue at the end.

        How many requests are in the service is their rate times their mean time (Little's law).
        """
        last = sorted(self.results)[-max(2, len(self.results) // 5) :]
        times = sum(seconds for _, seconds, _, _ in last)
        return not self.errors and times <= _NO_QUEUE * (last[-1][0] - last[0][0])


def open_run(served: Served, bodies: Sequence[Body], rate: float, seed: int) -> Run:
    """At a fixed rate."""
    due = arrivals(rate, len(bodies), seed).tolist()
    return _run(served, [{"at": at, "body": body} for at, body in zip(due, bodies, strict=True)], None)


def closed_run(served: Served, bodies: Sequence[Body], callers: int) -> Run:
    """As fast as so many callers get answers."""
    return _run(served, [{"at": 0.0, "body": body} for body in bodies], callers)


def _run(served: Served, plan: Sequence[object], callers: int | None) -> Run:
    lines = "\n".join(json.dumps(line) for line in [{"callers": callers}, *plan])
    memory: list[tuple[float, float]] = []
    ended = Event()
    began = time.perf_counter()

    def watch() -> None:
        while not ended.wait(1.0):
            memory.append((time.perf_counter() - began, served.resident_mb))

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        command = [sys.executable, "-m", "benchmarks.load.generator", served.address]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    finally:
        ended.set()
        watcher.join()
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    memory.append((time.perf_counter() - began, served.resident_mb))
    return Run([tuple(json.loads(line)) for line in done.stdout.splitlines()], memory)
