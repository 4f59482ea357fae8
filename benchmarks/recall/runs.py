"""Data sets as rows: each asks the given systems and tells the same measures of each, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks import datasets
from benchmarks.recall import ablation, lore, pool
from benchmarks.recall.bench import Bench, by_language, flat
from benchmarks.recall.lab import Result, average
from benchmarks.recall.measures import NDCG, Measure, Recall, ReciprocalRank, claims
from benchmarks.recall.systems import BARE, CHAIN, LITERAL, SERVED, STEPS, System
from benchmarks.recall.trials import Ask, Trial, make_corpus, numbered, said

Row = dict[str, float | str]
MEASURES: tuple[Measure, ...] = (Recall(1), Recall(5), Recall(8), ReciprocalRank(10), NDCG(10))
SINGLE = tuple(step for step in STEPS if "places" not in step.name)
"""The steps that differ where a conversation is one message."""
TATOEBA_LINES = 200
"""Lines read of each language."""


def row(data: str, system: str, results: Sequence[Result]) -> Row:
    """Every measure over the results that have gold."""
    golden = [result for result in results if result.ask.gold]
    return {
        "data": data,
        "system": system,
        "asks": str(len(golden)),
        **{str(measure): average(measure, golden) for measure in MEASURES},
    }


def xquad(bench: Bench) -> list[Row]:
    """44 pairs of chat and book language, those of one language and those of two apart."""
    return [
        row(f"XQuAD, {name}", system.name, flat(bench.pairs, system, same=same))
        for name, same in (("same language", True), ("cross-language", False))
        for system in SINGLE
    ]


def english(bench: Bench) -> list[Row]:
    """English questions to the English book, for models that know nothing else."""
    return [row("XQuAD, en → en", system.name, bench.english(system)) for system in SINGLE]


def mixed(bench: Bench) -> list[Row]:
    """Five books of many languages; gold in the chat's own language and in another apart."""
    rows = []
    for name, own in (("own language", True), ("another language", False)):
        for system in SINGLE:
            results = [result for found in by_language(bench, system, own=own).values() for result in found]
            rows.append(row(f"mixed book, {name}", system.name, results))
    return rows


def lore_set(bench: Bench) -> list[Row]:
    """Our lore set: all that has gold, and the false matches of what has none."""
    trial = lore.trial(bench.part)
    rows = []
    for system in (LITERAL, *STEPS, SERVED):
        results = bench.run(system, trial)
        false = {
            f"{kind} claims": average(claims, [result for result in results if result.ask.kind == kind])
            for kind in sorted(lore.WITHOUT_GOLD)
        }
        rows.append({**row("lore", system.name, results), **false})
    return rows


def lore_kinds(bench: Bench) -> list[Row]:
    """Our lore set, kind by kind."""
    return ablation.lore_rows(bench, (LITERAL, *STEPS, SERVED))


def tatoeba(bench: Bench) -> list[Row]:
    """The English translation of a sentence among 200, and the other way round (accuracy is R@1)."""
    rows = []
    for code in datasets.tatoeba_languages(bench.data):
        lines = datasets.tatoeba(bench.data, code)[:TATOEBA_LINES]
        for asked, kept in ((0, 1), (1, 0)):
            languages = (code, "eng")[asked], (code, "eng")[kept]
            corpus = numbered(f"tatoeba {code} {kept}", [line[kept] for line in lines], [languages[1]] * len(lines))
            asks = tuple(
                Ask(messages=said(line[asked]), gold=frozenset({place}), language=languages[0])
                for place, line in enumerate(lines)
            )
            trial = Trial(name=f"{languages[0]} → {languages[1]}", corpus=corpus, asks=asks)
            rows += [row(f"Tatoeba {trial.name}", system.name, bench.run(system, trial)) for system in SINGLE[:4]]
    return rows


def pooled(bench: Bench) -> list[Row]:
    """XQuAD-R by its published protocol."""
    result = pool.measure(bench.lab, bench.data)
    return [
        {"data": "XQuAD-R pool", "system": name, "asks": str(result.questions), "mAP": value}
        for name, value in ((BARE.name, result.raw), ("directions off", result.calibrated))
    ]


def beir(folder: Path) -> Callable[[Bench], list[Row]]:
    """Any folder in BEIR's layout: documents are entries, queries are messages."""

    def measured(bench: Bench) -> list[Row]:
        data = datasets.beir(folder)
        places = {document: place for place, document in enumerate(data.documents)}
        texts = [(title or f"Document {key}", text or title, ()) for key, (title, text) in data.documents.items()]
        corpus = make_corpus(f"beir {folder}", texts, [""] * len(texts))
        asks = tuple(
            Ask(
                messages=said(text),
                gold=frozenset(places[document] for document in data.relevant[query] if document in places),
                language="",
            )
            for query, text in data.queries.items()
        )
        trial = Trial(name=folder.name, corpus=corpus, asks=asks)
        return [row(folder.name, system.name, bench.run(system, trial)) for system in SINGLE]

    return measured


DATA_SETS: Mapping[str, Callable[[Bench], list[Row]]] = {
    "lore": lore_set,
    "kinds": lore_kinds,
    "xquad": xquad,
    "english": english,
    "mixed": mixed,
    "tatoeba": tatoeba,
    "pool": pooled,
}


def heat_map(bench: Bench, system: System = CHAIN) -> Row:
    """R@5 by `chat → book`, the columns of mixed books meaning entries in any other language."""
    table: Row = {
        f"{chat} → {book}": average(Recall(5), results) for (chat, book), results in bench.pairs(system).items()
    }
    for chat, results in by_language(bench, system, own=False).items():
        table[f"{chat} → mixed"] = average(Recall(5), results)
    return table


def lore_pairs(bench: Bench, system: System = SERVED) -> Row:
    """R@5 on our lore set by `chat → entry` language, where at least three messages tell."""
    languages = lore.corpus().languages
    by_pair: dict[tuple[str, str], list[float]] = {}
    for result in bench.run(system, lore.trial(bench.part)):
        for place in result.ask.gold:
            by_pair.setdefault((result.ask.language, languages[place]), []).append(float(place in result.places[:5]))
    return {
        f"{chat} → {book}": float(np.mean(hits)) for (chat, book), hits in sorted(by_pair.items()) if len(hits) >= 3
    }
