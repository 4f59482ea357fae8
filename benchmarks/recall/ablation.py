"""Each step of the chain off in turn: what it costs where it is meant to help, and elsewhere.

One column a purpose: questions in the book's language and in others, a book of many languages, long entries, a topic
that only an earlier message has, invented names, small talk and its price. The floor acts in the last two alone, as in
the goals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.recall import conversations, lore
from benchmarks.recall.bench import Bench, by_language, flat
from benchmarks.recall.claimed import best_of, gold_scores, small_talk_trial
from benchmarks.recall.lab import Result, average
from benchmarks.recall.measures import R1, R5, R8, claims, mean
from benchmarks.recall.recalled import EVERY, every
from benchmarks.recall.systems import CHAIN, System
from benchmarks.recall.trials import BOOKS, Trial, book_in

Row = dict[str, float | str]


@dataclass(frozen=True)
class Off:
    """A step that is off."""

    name: str
    system: System
    floor: bool = True


STEPS_OFF = (
    Off("whole chain", CHAIN),
    Off("no directions off", replace(CHAIN, name="no directions off", directions=False)),
    Off("no windows", replace(CHAIN, name="no windows", windows=False)),
    Off("no lexical leg", replace(CHAIN, name="no lexical leg", spelling=0.0)),
    Off("last message only", replace(CHAIN, name="last message only", reading="last")),
    Off("messages as one text", replace(CHAIN, name="messages as one text", reading="joined")),
    Off("best score, no places", replace(CHAIN, name="best score, no places", reading="equal")),
    Off("no floor", CHAIN, floor=False),
)


def ablation(bench: Bench) -> list[Row]:
    """One row a step."""
    count = bench.lab.store.embedder.count_tokens
    long = conversations.long_entries(bench.data, bench.part, count)
    in_reply = every(conversations.topic_in_reply(bench.data, bench.part, diluted=True), EVERY)
    in_question = every(conversations.topic_in_question(bench.data, bench.part), EVERY)
    after = every(conversations.after_replies(bench.data, bench.part, count, of_book=True), EVERY)
    rows: list[Row] = []
    known: dict[System, Row] = {}
    for step in STEPS_OFF:
        system = step.system
        if system not in known:
            same, cross = (flat(bench.pairs, system, same=same) for same in (True, False))
            own, other = (
                [result for found in by_language(bench, system, own=own).values() for result in found]
                for own in (True, False)
            )
            known[system] = {
                "same R@1": average(R1, same),
                "cross R@1": average(R1, cross),
                "cross R@5": average(R5, cross),
                "mixed own R@1": average(R1, own),
                "mixed other R@1": average(R1, other),
                "mixed other R@5": average(R5, other),
                "long R@5": _over(bench, system, long, 5),
                "after replies R@8": _over(bench, system, after, 8),
                "in reply R@8": _over(bench, system, in_reply, 8),
                "in question R@8": _over(bench, system, in_question, 8),
                "names R@5": _names(bench, system, wrong=False),
                "misspelt R@5": _names(bench, system, wrong=True),
            }
        rows.append({"step off": step.name, **known[system], **_floor(bench, system, floor=step.floor)})
    return rows


def _over(bench: Bench, system: System, made: Sequence[tuple[str, str, Trial]], depth: int) -> float:
    results = [result for _, _, trial in made for result in bench.run(system, trial, depth)]
    return average(R8 if depth == 8 else R5, results)


def _names(bench: Bench, system: System, *, wrong: bool) -> float:
    made = conversations.invented_names(bench.data, bench.part, wrong=wrong)
    return average(R5, [result for _, trial in made for result in bench.run(system, trial, 5)])


def _floor(bench: Bench, system: System, *, floor: bool) -> Row:
    """Small talk that claims one of 240 entries, and true matches lost."""
    of = bench.lab.calibration.floor
    if not floor or of is None:
        return {"small talk claims": 1.0, "true matches lost": 0.0}
    scores = [bench.scores(system, small_talk_trial(bench, book_in(bench.data, language))) for language in BOOKS]
    claimed = mean(float((best_of(each, 240) >= of(240)).mean()) for each in scores)
    gold = np.concatenate(list(gold_scores(bench, system).values()))
    return {"small talk claims": claimed, "true matches lost": float((gold < of(240)).mean())}


def lore_rows(bench: Bench, systems: Sequence[System]) -> list[Row]:
    """Our lore set, kind by kind: R@1 and R@8 where there is gold, claims where there is none."""
    trial = lore.trial(bench.part)
    return [{"system": system.name, **lore_figures(bench.run(system, trial, 8))} for system in systems]


def lore_figures(results: Sequence[Result]) -> Row:
    """The figures of one system on the lore set."""
    figures: Row = {}
    golden = [result for result in results if result.ask.gold]
    languages = lore.corpus().languages
    figures["R@1"] = average(R1, golden)
    figures["R@5"] = average(R5, golden)
    figures["R@8"] = average(R8, golden)
    cross = [result for result in golden if lore.is_cross(result.ask, languages)]
    figures["cross R@5"] = average(R5, cross)
    by_kind: Mapping[str, list[Result]] = {
        kind: [result for result in results if result.ask.kind == kind] for kind in lore.KINDS
    }
    for kind, found in by_kind.items():
        if kind in lore.WITHOUT_GOLD:
            figures[f"{kind} claims"] = average(claims, found)
        else:
            figures[f"{kind} R@8"] = average(R8, found)
    return figures
