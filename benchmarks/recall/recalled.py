"""How the goals of finding are measured: how high the right entries stand, whatever the floor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.recall import conversations, pool
from benchmarks.recall.bench import Bench, by_language, flat
from benchmarks.recall.lab import Result, average
from benchmarks.recall.measures import R1, R5, R8, Measured, Recall, mean
from benchmarks.recall.systems import BARE, CHAIN, System
from benchmarks.recall.trials import Trial

FLOORED = replace(CHAIN, name="with the floor", floor=True)
ONE_TEXT = replace(BARE, name="one text", reading="joined")
"""What a retriever without a chain does with a conversation."""
EVERY = 10
"""A joined text is as long as the model reads, so the bare model and the details are asked a tenth only."""


def questions(bench: Bench, same: bool) -> Measured:
    """G1, G2: questions in the book's language, or in another."""
    ours, bare = (flat(bench.pairs, system, same=same) for system in (CHAIN, BARE))
    return Measured(
        ours=(average(R1, ours), average(R5, ours)), bare=(average(R1, bare), average(R5, bare)), asks=len(ours)
    )


def worst_pair(bench: Bench) -> Measured:
    """G3: the pair of chat and book language that finds least."""
    tables = [
        {f"{chat} → {book}": average(R5, results) for (chat, book), results in bench.pairs(system).items()}
        for system in (CHAIN, BARE)
    ]
    ours, bare = (min(table.values()) for table in tables)
    weakest = sorted(tables[0].items(), key=lambda item: item[1])[:5]
    return Measured(ours=(ours,), bare=(bare,), asks=_asked(bench), detail={"weakest": dict(weakest)})


def mixed_book_questions(bench: Bench, measures: Sequence[Recall], *, own: bool) -> Measured:
    """G4, G5: questions to a book of many languages whose entry is in the chat's `own`, or in another."""
    ours, bare = (
        [result for results in by_language(bench, system, own=own).values() for result in results]
        for system in (CHAIN, BARE)
    )
    return Measured(
        ours=tuple(average(measure, ours) for measure in measures),
        bare=tuple(average(measure, bare) for measure in measures),
        asks=len(ours),
    )


def long_entries(bench: Bench) -> Measured:
    """G6: facts far into a long entry."""
    made = conversations.long_entries(bench.data, bench.part, bench.lab.store.embedder.count_tokens)
    found = {(chat, book): bench.run(CHAIN, trial, 5) for chat, book, trial in made}
    ours = [result for results in found.values() for result in results]
    same = [result for (chat, book), results in found.items() if chat == book for result in results]
    bare = _over_pairs(bench, BARE, made, 5)
    return Measured(
        ours=(average(R5, ours),), bare=(average(R5, bare),), asks=len(ours), detail={"same": average(R5, same)}
    )


def after_replies(bench: Bench) -> Measured:
    """G7: a question after two long replies, about other entries or about none."""
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


def earlier_topic(bench: Bench) -> Measured:
    """G8: a follow-up whose topic only an earlier message has."""
    return _conversation(
        bench,
        [
            conversations.topic_in_reply(bench.data, bench.part, diluted=False),
            conversations.topic_in_reply(bench.data, bench.part, diluted=True),
            conversations.topic_in_question(bench.data, bench.part),
        ],
    )


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


def every(made: Sequence[tuple[str, str, Trial]], step: int) -> list[tuple[str, str, Trial]]:
    """The trials with one ask in `step`."""
    return [(chat, book, replace(trial, asks=trial.asks[::step])) for chat, book, trial in made]


def invented_names(bench: Bench) -> Measured:
    """G11: names that no model knows, as they are spelt and misspelt."""
    ours, bare, asks = [], [], 0
    for wrong in (False, True):
        made = conversations.invented_names(bench.data, bench.part, wrong=wrong)
        found = [[result for _, trial in made for result in bench.run(system, trial, 5)] for system in (CHAIN, BARE)]
        ours.append(average(R5, found[0]))
        bare.append(average(R5, found[1]))
        asks += len(found[0])
    return Measured(ours=tuple(ours), bare=tuple(bare), asks=asks)


def storage(bench: Bench) -> Measured:
    """G12: what rounding the vectors loses."""
    lost = mean(_losses(bench, replace(CHAIN, name="float32", storage="float32"), CHAIN).values())
    return Measured(ours=(max(lost, 0.0),), bare=(math.nan,), asks=_asked(bench), detail={"int8": lost})


def lexical_leg(bench: Bench) -> Measured:
    """G13: how many pairs the lexical leg costs something."""
    losses = _losses(bench, replace(CHAIN, name="no lexical leg", spelling=0.0), CHAIN)
    worst = max(losses, key=lambda pair: losses[pair])
    more = sum(round(loss, 4) > 0.005 for loss in losses.values())
    return Measured(
        ours=(float(more),),
        bare=(math.nan,),
        asks=_asked(bench),
        detail={"worst pair": f"{worst[0]} → {worst[1]}", "loses": losses[worst]},
    )


def _losses(bench: Bench, better: System, worse: System) -> dict[tuple[str, str], float]:
    """What each pair loses in R@5."""
    before, after = bench.pairs(better), bench.pairs(worse)
    return {pair: average(R5, before[pair]) - average(R5, after[pair]) for pair in before}


def published(bench: Bench) -> Measured:
    """G14: the public measure, by its own protocol."""
    result = pool.measure(bench.lab, bench.data)
    return Measured(ours=(result.calibrated,), bare=(result.raw,), asks=result.questions, detail=result.detail)


def _asked(bench: Bench) -> int:
    return sum(len(results) for results in bench.pairs(CHAIN).values())


def _over_pairs(bench: Bench, system: System, made: Sequence[tuple[str, str, Trial]], depth: int) -> list[Result]:
    return [result for _, _, trial in made for result in bench.run(system, trial, depth)]
