"""How the goals of the floor are measured: small talk that claims an entry, and true matches that it costs."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.recall import lines, trials
from benchmarks.recall.bench import Bench
from benchmarks.recall.measures import Measured, mean
from benchmarks.recall.systems import BARE, CHAIN, System
from benchmarks.recall.trials import DRAWS, Ask, Corpus, Trial, book_in, mixed_book, said
from service.lore.ranking import STRONG

SIZES = (5, 20, 120, 240)
"""Entries of the books in which small talk may claim something."""
SUBSETS = 20
"""Draws of a smaller book."""


def small_talk(bench: Bench) -> Measured:
    """G9: small talk that claims an entry, at the size of book where it does so most."""
    single, mixed = _claimed(bench, _books(bench)), _claimed(bench, _mixed_books(bench))
    others = {
        "small talk": _among_240(bench, lines.small_talk(bench.part)),
        "everyday questions": _among_240(bench, lines.everyday()),
        "follow-ups": _among_240(bench, {chat: lines.follow_ups(chat) for chat in trials.CHATS}),
    }
    return Measured(
        ours=(max(single.values()), max(mixed.values())),
        bare=(math.nan, math.nan),
        asks=sum(map(len, lines.small_talk(bench.part).values())),
        detail={"single": single, "mixed": mixed, **others},
    )


def _claimed(bench: Bench, corpora: Sequence[Corpus]) -> dict[int, float]:
    """Share of small talk that claims an entry, by the size of the book."""
    floor = bench.lab.calibration.floor
    if floor is None:
        return dict.fromkeys(SIZES, math.nan)
    found: dict[int, list[float]] = {size: [] for size in SIZES}
    for corpus in corpora:
        scores = bench.scores(CHAIN, small_talk_trial(bench, corpus))
        for size in SIZES:
            found[size].append(float((best_of(scores, size) >= floor(size)).mean()))
    return {size: mean(shares) for size, shares in found.items()}


def _among_240(bench: Bench, spoken: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Share of lines that claim one of 240 entries, and that claim one as a strong match."""
    floor = bench.lab.calibration.floor
    best = [bench.scores(CHAIN, _without_gold(spoken, corpus)).max(axis=1) for corpus in _books(bench)]
    least = floor(240) if floor else math.nan
    return {
        "any": mean(float((each >= least).mean()) for each in best),
        "strong": mean(float((each >= STRONG).mean()) for each in best),
    }


def small_talk_trial(bench: Bench, corpus: Corpus) -> Trial:
    """Every line of small talk of the part, asked of one book."""
    return _without_gold(lines.small_talk(bench.part), corpus)


def _without_gold(spoken: Mapping[str, Sequence[str]], corpus: Corpus) -> Trial:
    asks = tuple(
        Ask(messages=said(line), gold=frozenset(), language=language)
        for language, said_in in spoken.items()
        for line in said_in
    )
    return Trial(name=f"without gold, {corpus.name}", corpus=corpus, asks=asks)


def best_of(scores: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """The best score of each ask in books of `size` of the entries, shape (draws, asks)."""
    entries = scores.shape[1]
    draws = 1 if size >= entries else SUBSETS
    drawn = [random.Random(f"subset {size} {draw}").sample(range(entries), min(size, entries)) for draw in range(draws)]
    return np.stack([scores[:, columns].max(axis=1) for columns in drawn])


def _books(bench: Bench) -> list[Corpus]:
    return [book_in(bench.data, language) for language in trials.BOOKS]


def _mixed_books(bench: Bench) -> list[Corpus]:
    return [mixed_book(bench.data, draw) for draw in range(DRAWS)]


def lost(bench: Bench) -> Measured:
    """G10: questions whose entry stays under the floor, at the size of book that loses most."""
    scores = gold_scores(bench, CHAIN)
    floor = bench.lab.calibration.floor
    lost: dict[str, dict[int, float]] = {"all": {}, "same": {}}
    for size in SIZES:
        below = {pair: float((rows < (floor(size) if floor else math.nan)).mean()) for pair, rows in scores.items()}
        lost["all"][size] = mean(below.values())
        lost["same"][size] = mean(share for (chat, book), share in below.items() if chat == book)
    return Measured(
        ours=(max(lost["all"].values()), max(lost["same"].values())),
        bare=_lost_raw(bench),
        asks=sum(map(len, scores.values())),
        detail=lost,
    )


def _lost_raw(bench: Bench) -> tuple[float, float]:
    """What the bare model loses by the cut-off at which 5 % of the small talk claims one of 240 entries."""
    talk = np.concatenate([bench.scores(BARE, small_talk_trial(bench, corpus)).max(axis=1) for corpus in _books(bench)])
    cut_off = float(np.quantile(talk, 0.95))
    below = {pair: float((rows < cut_off).mean()) for pair, rows in gold_scores(bench, BARE).items()}
    return mean(below.values()), mean(share for (chat, book), share in below.items() if chat == book)


def gold_scores(bench: Bench, system: System) -> dict[tuple[str, str], NDArray[np.float32]]:
    """The score by meaning of the gold entry of each question, by language pair."""
    return {
        (chat, book): np.array(
            [row[next(iter(ask.gold))] for row, ask in zip(bench.scores(system, trial), trial.asks, strict=True)]
        )
        for chat, book, trial in trials.pairs(bench.data, bench.part)
    }
