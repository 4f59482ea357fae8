"""Goals G1 to G14 as rows: what is measured, what others and the first study saw, and what must be reached.

Each goal is judged on data that chose no parameter (`trials`), beside the bare model: one vector an entry as the model
gives it, the last message alone. Where a goal is a loss or a false match, less is better.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.recall import conversations, lines, pool, trials
from benchmarks.recall.bench import Bench, by_language, flat
from benchmarks.recall.lab import Result, average
from benchmarks.recall.measures import Recall, mean
from benchmarks.recall.systems import BARE, CHAIN, System
from benchmarks.recall.trials import DRAWS, Ask, Corpus, Trial, book_in, mixed_book, said
from service.lore.ranking import STRONG

SIZES = (5, 20, 120, 240)
"""Entries of the books in which small talk may claim something."""
SUBSETS = 20
"""Draws of a smaller book."""


@dataclass(frozen=True)
class Figure:
    """One number of a goal: as the first study saw it with the model alone and with the chain, and the two targets."""

    name: str
    raw: float | None
    seen: float | None
    floor: float
    ambitious: float
    less: bool = False
    """Whether less is better."""

    def reached(self, value: float) -> str:
        """`no`, `floor` or `ambitious`; compared as printed, to a tenth of a percentage point."""
        value = round(value, 3)

        def holds(target: float) -> bool:
            return value <= target if self.less else value >= target

        return "ambitious" if holds(self.ambitious) else "floor" if holds(self.floor) else "no"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The figures of a goal, in the order of its row; nan where the bare model has none."""

    ours: tuple[float, ...]
    bare: tuple[float, ...]
    asks: int
    """Conversations that were asked."""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A row."""

    id: str
    what: str
    figures: tuple[Figure, ...]
    measure: Callable[[Bench], Measured]


R1, R5, R8 = Recall(1), Recall(5), Recall(8)
FLOORED = replace(CHAIN, name="with the floor", floor=True)


def _both(bench: Bench, same: bool) -> Measured:
    ours, bare = (flat(bench.pairs, system, same=same) for system in (CHAIN, BARE))
    return Measured(
        ours=(average(R1, ours), average(R5, ours)), bare=(average(R1, bare), average(R5, bare)), asks=len(ours)
    )


def _worst_pair(bench: Bench) -> Measured:
    tables = [
        {f"{chat} → {book}": average(R5, results) for (chat, book), results in bench.pairs(system).items()}
        for system in (CHAIN, BARE)
    ]
    ours, bare = (min(table.values()) for table in tables)
    weakest = sorted(tables[0].items(), key=lambda item: item[1])[:5]
    return Measured(ours=(ours,), bare=(bare,), asks=_asked(bench), detail={"weakest": dict(weakest)})


def _asked(bench: Bench) -> int:
    return sum(len(results) for results in bench.pairs(CHAIN).values())


def _mixed(bench: Bench, measures: Sequence[Recall], *, own: bool) -> Measured:
    ours, bare = (
        [result for results in by_language(bench, system, own=own).values() for result in results]
        for system in (CHAIN, BARE)
    )
    return Measured(
        ours=tuple(average(measure, ours) for measure in measures),
        bare=tuple(average(measure, bare) for measure in measures),
        asks=len(ours),
    )


def _over_pairs(bench: Bench, system: System, made: Sequence[tuple[str, str, Trial]], depth: int) -> list[Result]:
    return [result for _, _, trial in made for result in bench.run(system, trial, depth)]


def _long_entries(bench: Bench) -> Measured:
    made = conversations.long_entries(bench.data, bench.part, bench.lab.store.embedder.count_tokens)
    ours, bare = (_over_pairs(bench, system, made, 5) for system in (CHAIN, BARE))
    same = [result for chat, book, trial in made if chat == book for result in bench.run(CHAIN, trial, 5)]
    return Measured(
        ours=(average(R5, ours),), bare=(average(R5, bare),), asks=len(ours), detail={"same": average(R5, same)}
    )


ONE_TEXT = replace(BARE, name="one text", reading="joined")
"""What a retriever without a chain does with a conversation."""
EVERY = 10
"""A joined text is as long as the model reads, so the bare model and the details are asked a tenth only."""


def every(made: Sequence[tuple[str, str, Trial]], step: int) -> list[tuple[str, str, Trial]]:
    """The trials with one ask in `step`."""
    return [(chat, book, replace(trial, asks=trial.asks[::step])) for chat, book, trial in made]


def _conversation(bench: Bench, made: Sequence[Sequence[tuple[str, str, Trial]]]) -> Measured:
    ours, bare, asks = [], [], 0
    detail: dict[str, float] = {}
    for number, each in enumerate(made):
        found = _over_pairs(bench, CHAIN, each, 8)
        ours.append(average(R8, found))
        some = every(each, EVERY)
        bare.append(average(R8, _over_pairs(bench, ONE_TEXT, some, 8)))
        detail[f"{number}: among 5"] = average(R5, found)
        detail[f"{number}: with the floor"] = average(R8, _over_pairs(bench, FLOORED, some, 8))
        detail[f"{number}: last message only"] = average(
            R8, _over_pairs(bench, replace(CHAIN, name="last only", reading="last"), some, 8)
        )
        asks += len(found)
    return Measured(ours=tuple(ours), bare=tuple(bare), asks=asks, detail=detail)


def _after_replies(bench: Bench) -> Measured:
    count = bench.lab.store.embedder.count_tokens
    both = [
        conversations.after_replies(bench.data, bench.part, count, of_book=True),
        conversations.after_replies(bench.data, bench.part, count, of_book=False),
    ]
    each = _conversation(bench, both)
    return Measured(
        ours=(mean(each.ours),),
        bare=(mean(each.bare),),
        asks=each.asks,
        detail={"about other entries": each.ours[0], "about none": each.ours[1], **each.detail},
    )


def _topic(bench: Bench) -> Measured:
    return _conversation(
        bench,
        [
            conversations.topic_in_reply(bench.data, bench.part, diluted=False),
            conversations.topic_in_reply(bench.data, bench.part, diluted=True),
            conversations.topic_in_question(bench.data, bench.part),
        ],
    )


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


def _books(bench: Bench) -> list[Corpus]:
    return [book_in(bench.data, language) for language in trials.BOOKS]


def _mixed_books(bench: Bench) -> list[Corpus]:
    return [mixed_book(bench.data, draw) for draw in range(DRAWS)]


def _small_talk(bench: Bench) -> Measured:
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


def _among_240(bench: Bench, spoken: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Share of lines that claim one of 240 entries, and that claim one as a strong match."""
    floor = bench.lab.calibration.floor
    best = [bench.scores(CHAIN, _without_gold(spoken, corpus)).max(axis=1) for corpus in _books(bench)]
    least = floor(240) if floor else math.nan
    return {
        "any": mean(float((each >= least).mean()) for each in best),
        "strong": mean(float((each >= STRONG).mean()) for each in best),
    }


def gold_scores(bench: Bench, system: System) -> dict[tuple[str, str], NDArray[np.float32]]:
    """The score by meaning of the gold entry of each question, by language pair."""
    return {
        (chat, book): np.array(
            [row[next(iter(ask.gold))] for row, ask in zip(bench.scores(system, trial), trial.asks, strict=True)]
        )
        for chat, book, trial in trials.pairs(bench.data, bench.part)
    }


def _lost(bench: Bench) -> Measured:
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


def _invented(bench: Bench) -> Measured:
    ours, bare, asks = [], [], 0
    for wrong in (False, True):
        made = conversations.invented_names(bench.data, bench.part, wrong=wrong)
        found = [[result for _, trial in made for result in bench.run(system, trial, 5)] for system in (CHAIN, BARE)]
        ours.append(average(R5, found[0]))
        bare.append(average(R5, found[1]))
        asks += len(found[0])
    return Measured(ours=tuple(ours), bare=tuple(bare), asks=asks)


def _losses(bench: Bench, better: System, worse: System) -> dict[tuple[str, str], float]:
    """What each pair loses in R@5."""
    before, after = bench.pairs(better), bench.pairs(worse)
    return {pair: average(R5, before[pair]) - average(R5, after[pair]) for pair in before}


def _storage(bench: Bench) -> Measured:
    lost = mean(_losses(bench, replace(CHAIN, name="float32", storage="float32"), CHAIN).values())
    return Measured(ours=(max(lost, 0.0),), bare=(math.nan,), asks=_asked(bench), detail={"int8": lost})


def _fusion(bench: Bench) -> Measured:
    losses = _losses(bench, replace(CHAIN, name="no lexical leg", spelling=0.0), CHAIN)
    worst = max(losses, key=lambda pair: losses[pair])
    more = sum(round(loss, 4) > 0.005 for loss in losses.values())
    return Measured(
        ours=(float(more),),
        bare=(math.nan,),
        asks=_asked(bench),
        detail={"worst pair": f"{worst[0]} → {worst[1]}", "loses": losses[worst]},
    )


def _published(bench: Bench) -> Measured:
    result = pool.measure(bench.lab, bench.data)
    return Measured(ours=(result.calibrated,), bare=(result.raw,), asks=result.questions, detail=result.detail)


GOALS = (
    Goal(
        id="G1",
        what="same-language question → entry",
        figures=(Figure("R@1", 0.899, 0.953, 0.94, 0.96), Figure("R@5", 0.988, 0.994, 0.99, 0.995)),
        measure=lambda bench: _both(bench, same=True),
    ),
    Goal(
        id="G2",
        what="cross-language question → entry",
        figures=(Figure("R@1", 0.709, 0.784, 0.77, 0.80), Figure("R@5", 0.913, 0.940, 0.93, 0.95)),
        measure=lambda bench: _both(bench, same=False),
    ),
    Goal(id="G3", what="worst language pair", figures=(Figure("R@5", 0.80, 0.85, 0.84, 0.90),), measure=_worst_pair),
    Goal(
        id="G4",
        what="mixed-language book, entry in another language",
        figures=(Figure("R@1", 0.354, 0.660, 0.64, 0.72), Figure("R@5", 0.661, 0.918, 0.90, 0.94)),
        measure=lambda bench: _mixed(bench, (R1, R5), own=False),
    ),
    Goal(
        id="G5",
        what="mixed-language book, entry in the chat's language",
        figures=(Figure("R@5", 0.998, 0.998, 0.995, 0.998),),
        measure=lambda bench: _mixed(bench, (R5,), own=True),
    ),
    Goal(
        id="G6",
        what="fact past token 500 of an entry of 800-1,000",
        figures=(Figure("R@5", 0.690, 0.966, 0.95, 0.98),),
        measure=_long_entries,
    ),
    Goal(
        id="G7",
        what="question after two long replies",
        figures=(Figure("among 8", 0.21, 0.90, 0.88, 0.94),),
        measure=_after_replies,
    ),
    Goal(
        id="G8",
        what="topic only in an earlier message",
        figures=(
            Figure("in the reply", 0.04, 1.00, 0.95, 0.98),
            Figure("in the reply, diluted", 0.04, 0.96, 0.95, 0.98),
            Figure("in the user's message", 0.04, 0.83, 0.80, 0.88),
        ),
        measure=_topic,
    ),
    Goal(
        id="G9",
        what="small talk claims an entry",
        figures=(
            Figure("share", None, 0.043, 0.05, 0.02, less=True),
            Figure("mixed book", None, 0.060, 0.06, 0.02, less=True),
        ),
        measure=_small_talk,
    ),
    Goal(
        id="G10",
        what="true matches under the floor",
        figures=(
            Figure("all pairs", 0.55, 0.029, 0.03, 0.015, less=True),
            Figure("same language", None, 0.002, 0.005, 0.0, less=True),
        ),
        measure=_lost,
    ),
    Goal(
        id="G11",
        what="invented name in a short message, by meaning and spelling alone",
        figures=(Figure("R@5 exact", 0.747, 0.951, 0.95, 0.99), Figure("R@5 misspelt", 0.597, 0.857, 0.85, 0.93)),
        measure=_invented,
    ),
    Goal(
        id="G12",
        what="loss of R@5 by storage in int8",
        figures=(Figure("loss", None, 0.0, 0.001, 0.0, less=True),),
        measure=_storage,
    ),
    Goal(
        id="G13",
        what="pairs that lose more than .5 pt R@5 by the lexical leg",
        figures=(Figure("pairs", None, 0.0, 0.0, 0.0, less=True),),
        measure=_fusion,
    ),
    Goal(
        id="G14",
        what="XQuAD-R, published protocol",
        figures=(Figure("mAP", 0.299, 0.511, 0.50, 0.66),),
        measure=_published,
    ),
)
