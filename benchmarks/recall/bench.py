"""What the goals share: a lab, the data folder, and runs over all language pairs, each done once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.recall import trials
from benchmarks.recall.lab import Lab, Result
from benchmarks.recall.systems import System
from benchmarks.recall.trials import Part, Trial

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Bench:
    """A lab on a folder of public data; `part` is the half of the data that is read."""

    lab: Lab
    data: Path
    part: Part = "judging"
    _pairs: dict[System, dict[Pair, list[Result]]] = field(default_factory=dict)
    _mixed: dict[System, dict[tuple[str, int], list[Result]]] = field(default_factory=dict)

    def pairs(self, system: System) -> dict[Pair, list[Result]]:
        """Results by (chat language, book language)."""
        if system not in self._pairs:
            self._pairs[system] = {
                (chat, book): self.run(system, trial) for chat, book, trial in trials.pairs(self.data, self.part)
            }
        return self._pairs[system]

    def english(self, system: System) -> list[Result]:
        """Results of the English book alone, for English."""
        chats = trials.pairs(self.data, self.part)
        return next(self.run(system, trial) for chat, book, trial in chats if (chat, book) == ("en", "en"))

    def mixed(self, system: System) -> dict[tuple[str, int], list[Result]]:
        """Results by (chat language, draw of the mixed book)."""
        if system not in self._mixed:
            self._mixed[system] = {
                (chat, draw): self.run(system, trial) for chat, draw, trial in trials.mixed(self.data, self.part)
            }
        return self._mixed[system]

    def run(self, system: System, trial: Trial, depth: int = 10) -> list[Result]:
        """One trial, told on the terminal when there is one."""
        if sys.stderr.isatty():
            print(f"\r\033[K{system.name}: {trial.name}", end="", file=sys.stderr, flush=True)
        return self.lab.run(system, trial, depth)

    def scores(self, system: System, trial: Trial) -> NDArray[np.float32]:
        """The score by meaning of every entry for every ask, shape (asks, entries)."""
        return np.stack([ranking.scores for ranking in self.lab.scores(system, trial)])


def by_language(bench: Bench, system: System, *, own: bool) -> dict[str, list[Result]]:
    """Results on the mixed books by chat language: those whose gold is in the chat's own language, or in another."""
    found: dict[str, list[Result]] = {}
    for (chat, draw), results in bench.mixed(system).items():
        languages = trials.mixed_book(bench.data, draw).languages
        found.setdefault(chat, []).extend(
            result for result in results if all((languages[place] == chat) == own for place in result.ask.gold)
        )
    return found


def flat(runs: Callable[[System], dict[Pair, list[Result]]], system: System, *, same: bool) -> list[Result]:
    """All results of the pairs whose chat and book have the same language, or another."""
    return [result for (chat, book), results in runs(system).items() if (chat == book) == same for result in results]
