"""Candidates for each parameter of the chain, measured on the choosing half of the data; a person decides.

python -m benchmarks.recall choose --data FOLDER [--only floor,spelling,directions,windows]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.recall import conversations, lore
from benchmarks.recall.ablation import lore_figures
from benchmarks.recall.bench import Bench, by_language, flat
from benchmarks.recall.claimed import SIZES, best_of, gold_scores, small_talk_trial
from benchmarks.recall.lab import average
from benchmarks.recall.measures import R1, R5, mean
from benchmarks.recall.systems import CHAIN, SERVED, System
from benchmarks.recall.trials import BOOKS, DRAWS, book_in, mixed_book

Row = dict[str, float | str]
SPELLINGS = (0.0, 0.15, 0.25, 0.35, 0.5, 0.75, 1.0)
DIRECTIONS = (0, 4, 8, 12, 16, 20)
WINDOWS = (32, 48, 64, 96, 128)
CLAIMED = (0.02, 0.03, 0.04, 0.05)
"""Shares of small talk that a floor may let through."""


def recall_figures(bench: Bench, system: System) -> Row:
    """The figures that a change of the chain must not spoil."""
    pairs = bench.pairs(system)
    same, cross = (flat(bench.pairs, system, same=same) for same in (True, False))
    own, other = (
        [result for found in by_language(bench, system, own=own).values() for result in found] for own in (True, False)
    )
    return {
        "same R@1": average(R1, same),
        "same R@5": average(R5, same),
        "cross R@1": average(R1, cross),
        "cross R@5": average(R5, cross),
        "worst R@5": min(average(R5, results) for results in pairs.values()),
        "own R@1": average(R1, own),
        "own R@5": average(R5, own),
        "other R@1": average(R1, other),
        "other R@5": average(R5, other),
    }


def spelling(bench: Bench) -> list[Row]:
    """Weights of the lexical leg."""
    without = bench.pairs(replace(CHAIN, spelling=0.0, name="spelling 0.0"))
    rows: list[Row] = []
    for weight in SPELLINGS:
        system = replace(CHAIN, spelling=weight, name=f"spelling {weight}")
        losses = [average(R5, without[pair]) - average(R5, results) for pair, results in bench.pairs(system).items()]
        names: Row = {}
        for wrong in (False, True):
            made = conversations.invented_names(bench.data, bench.part, wrong=wrong)
            found = [result for _, trial in made for result in bench.run(system, trial, 5)]
            names["misspelt R@5" if wrong else "names R@5"] = average(R5, found)
        served = replace(SERVED, spelling=weight)
        ours = lore_figures(bench.run(served, lore.trial(bench.part), 8))
        rows.append(
            {
                "spelling": str(weight),
                **recall_figures(bench, system),
                "worst loss": max(losses),
                **names,
                "lore R@1": ours["R@1"],
                "lore misspelt R@8": ours["misspelt R@8"],
            }
        )
    return rows


def floor(bench: Bench) -> list[Row]:
    """Straight lines in ln N through the quantiles of small talk's best scores, and what each claims and loses."""
    talk = _small_talk(bench)
    gold = gold_scores(bench, CHAIN)
    everything = np.concatenate(list(gold.values()))
    same = np.concatenate([rows for (chat, book), rows in gold.items() if chat == book])
    known = bench.lab.calibration.floor
    lines = [("in use", known.base, known.log)] if known else []
    for share in CLAIMED:
        lines.append((f"{share:.0%} single", *_line(talk["single"], share)))
        lines.append((f"{share:.0%} both", *_line(talk["single"] + talk["mixed"], share)))
    rows: list[Row] = []
    for name, base, slope in lines:
        at = {size: base + slope * math.log(size) for size in SIZES}
        line: Row = {"floor": name, "base": base, "log": slope}
        for size in SIZES:
            for kind, drawn in talk.items():
                line[f"{kind} {size}"] = mean(float((each[size] >= at[size]).mean()) for each in drawn)
        line["lost, worst N"] = max(float((everything < at[size]).mean()) for size in SIZES)
        line["same lost"] = max(float((same < at[size]).mean()) for size in SIZES)
        rows.append(line)
    return rows


_Drawn = Mapping[int, NDArray[np.float32]]


def _small_talk(bench: Bench) -> dict[str, list[_Drawn]]:
    """For each book, by its size, the best score of each line of small talk."""
    books = {
        "single": [book_in(bench.data, language) for language in BOOKS],
        "mixed": [mixed_book(bench.data, draw) for draw in range(DRAWS)],
    }
    drawn: dict[str, list[_Drawn]] = {}
    for kind, corpora in books.items():
        scores = [bench.scores(CHAIN, small_talk_trial(bench, corpus)) for corpus in corpora]
        drawn[kind] = [{size: best_of(each, size) for size in SIZES} for each in scores]
    return drawn


def _line(books: Sequence[_Drawn], share: float) -> tuple[float, float]:
    """(base, log) of the least-squares line through the score that `share` of the small talk reaches, in ln N."""
    wanted = [float(np.quantile(np.concatenate([book[size].ravel() for book in books]), 1 - share)) for size in SIZES]
    slope, base = np.polyfit(np.log(SIZES), wanted, 1)
    return float(base), float(slope)


def directions(bench: Bench) -> list[Row]:
    """Numbers of directions taken off."""
    rows: list[Row] = []
    for count in DIRECTIONS:
        calibration = replace(bench.lab.calibration, directions=bench.lab.calibration.directions[:count])
        other = Bench(bench.lab.with_calibration(calibration), bench.data, bench.part)
        rows.append({"directions": str(count), **recall_figures(other, CHAIN), "auc": _auc(other)})
    return rows


def _auc(bench: Bench) -> float:
    """Chance that a true match scores above the best score of a line of small talk, among 240."""
    talk = np.sort(np.concatenate([drawn[240].ravel() for drawn in _small_talk(bench)["single"]]))
    gold = np.concatenate(list(gold_scores(bench, CHAIN).values()))
    return float(np.searchsorted(talk, gold).mean() / len(talk))


def windows(bench: Bench) -> list[Row]:
    """Sizes of windows in tokens; the pairs alone, since each size embeds every book anew."""
    rows: list[Row] = []
    for tokens in WINDOWS:
        other = Bench(bench.lab.with_windows(tokens), bench.data, bench.part)
        same, cross = (flat(other.pairs, CHAIN, same=same) for same in (True, False))
        long = conversations.long_entries(bench.data, bench.part, bench.lab.store.embedder.count_tokens)
        rows.append(
            {
                "window": str(tokens),
                "same R@1": average(R1, same),
                "same R@5": average(R5, same),
                "cross R@1": average(R1, cross),
                "cross R@5": average(R5, cross),
                "worst R@5": min(average(R5, results) for results in other.pairs(CHAIN).values()),
                "long R@5": average(R5, [result for _, _, trial in long for result in other.run(CHAIN, trial, 5)]),
            }
        )
    return rows


CHOICES: Mapping[str, Callable[[Bench], list[Row]]] = {
    "floor": floor,
    "spelling": spelling,
    "directions": directions,
    "windows": windows,
}
