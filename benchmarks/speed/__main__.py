"""Speed, as ratios within one run.

    python -m benchmarks.speed [retrieve] [match] [activation] [embed] [--json FILE]

retrieve: a warm retrieval over three books of 1,000 entries, six messages of 4 kB, no query embedding, beside a sketch
of the limit. match: 10,000 aliases in 20 kB, fold and spans included, beside the bare scan of the folded text.
activation: 100 lorebooks of 250 entries with three keys in 100 messages of 2 kB, beside a loop over every key with
`re`. embed: passages per second of the default model beside `SentenceTransformer.encode` in float32.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

Figures = dict[str, float]


def measure_retrieve() -> Figures:
    """Milliseconds of a retrieval and of the sketch, their ratio, the tail, and the cost of a full trace."""
    import numpy as np

    from benchmarks.speed import sketch
    from benchmarks.speed.lore import WINDOWS, attached_book, chat, unit, words
    from benchmarks.speed.timing import alternate, median, percentile
    from service.lore.ranking import Meaning
    from service.lore.request import Message, RetrieveRequest
    from service.lore.retrieval import Defaults, prepare, retrieve
    from service.tokenizers import tokenizer_for

    random = np.random.default_rng(7)
    vocabulary = words(random, 4000)
    tokenizer = tokenizer_for(tokenizer="cl100k_base", model=None, default="", margin=1.0)
    books = [attached_book(random, book_id, 1000, vocabulary) for book_id in ("bakiru", "todane", "gomedi")]
    messages = chat(random, books, vocabulary)
    defaults = Defaults(budget_tokens=8000, places=8)
    asked = tuple(
        Message(role="user" if place % 2 else "assistant", content=content) for place, content in enumerate(messages)
    )
    request = RetrieveRequest(messages=asked)
    full = RetrieveRequest(messages=asked, trace="full")
    queries = unit(random, len(prepare(books, request, tokenizer, defaults).queries))
    sketches = [
        sketch.SketchBook(book, unit(random, 1000 * (1 + WINDOWS)), np.repeat(np.arange(1000), 1 + WINDOWS), tokenizer)
        for book in books
    ]

    def ours(request: RetrieveRequest) -> object:
        prepared = prepare(books, request, tokenizer, defaults)
        return retrieve(prepared, Meaning(queries=prepared.queries, vectors=queries))

    seconds = alternate(
        {
            "ours": lambda: ours(request),
            "sketch": lambda: sketch.retrieve(sketches, messages, queries, 8000, 8),
            "full": lambda: ours(full),
        },
        rounds=60,
    )
    return {
        "retrieve_ms": 1000 * median(seconds["ours"]),
        "sketch_ms": 1000 * median(seconds["sketch"]),
        "times_the_sketch (goal <= 2)": median(seconds["ours"]) / median(seconds["sketch"]),
        "p95_over_p50 (goal <= 1.5)": percentile(seconds["ours"], 95) / median(seconds["ours"]),
        "full_trace_over_used (goal <= 4)": median(seconds["full"]) / median(seconds["ours"]),
        "queries": len(queries),
    }


def measure_match() -> Figures:
    """Milliseconds of fold, match and spans, and of the bare scan; and how they grow with the aliases."""
    import ahocorasick_rs
    import numpy as np

    from benchmarks.speed.lore import names, words
    from benchmarks.speed.timing import alternate, median
    from service.lore.matching import Matcher
    from service.lore.text import fold

    random = np.random.default_rng(11)
    called = names(random, 100_000)
    vocabulary = words(random, 4000)
    parts = [vocabulary[word] for word in random.integers(0, len(vocabulary), 3600)]
    for place in range(40, len(parts), 100):
        parts[place] = called[random.integers(1000)]
    text = " ".join(parts)[:20_000]
    figures: Figures = {}

    def compare(count: int) -> None:
        matcher = Matcher.build(list(enumerate(called[:count])))
        folded = fold(text).text
        bare = ahocorasick_rs.AhoCorasick([fold(name).text for name in called[:count]])
        seconds = alternate(
            {
                "ours": lambda: matcher.find(fold(text)),
                "bare": lambda: bare.find_matches_as_indexes(folded, overlapping=True),
            },
            rounds=100,
        )
        figures[f"match_{count}_ms"] = 1000 * median(seconds["ours"])
        figures[f"bare_{count}_ms"] = 1000 * median(seconds["bare"])

    for count in (1_000, 10_000, 100_000):
        compare(count)
    figures["times_the_bare_scan (goal <= 2.5)"] = figures["match_10000_ms"] / figures["bare_10000_ms"]
    figures["growth_1000_to_100000 (goal <= 2)"] = figures["match_100000_ms"] / figures["match_1000_ms"]
    return figures


def measure_embed() -> Figures:
    """Passages per second of the product's encoder and of plain sentence-transformers, on the sample world."""
    import torch  # before sentence_transformers, which is slow enough to import on its own
    from sentence_transformers import SentenceTransformer

    from benchmarks.speed.timing import alternate, median
    from embeddings.bundled import load, unpack
    from service.formats import read
    from service.lore.recipe import embedding_text
    from service.sample import world
    from service.settings import Settings

    folder = unpack(Settings().cache_dir)
    plain = SentenceTransformer(str(folder), device="cpu")
    ours = load(Settings().cache_dir)
    texts = [embedding_text(entry)[:600] for entry in read(world()).book.entries or ()][:64]
    seconds = alternate(
        {
            "ours": lambda: ours.embed_passages(texts),
            "plain": lambda: plain.encode(texts, prompt="passage: ", normalize_embeddings=True),
        },
        rounds=3,
    )
    return {
        "passages_per_second": len(texts) / median(seconds["ours"]),
        "plain_float32_per_second": len(texts) / median(seconds["plain"]),
        "times_plain (goal >= 3 with AMX, else >= 1)": median(seconds["plain"]) / median(seconds["ours"]),
        "threads": torch.get_num_threads(),
    }


def measure_activation() -> Figures:
    """Seconds of an activation and of a loop over every key."""
    from benchmarks.speed import activation

    return activation.measure_activation()


MEASURES: dict[str, Callable[[], Figures]] = {
    "retrieve": measure_retrieve,
    "match": measure_match,
    "activation": measure_activation,
    "embed": measure_embed,
}


def main() -> int:
    """Run the chosen measures and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measures", nargs="*", choices=[[], *MEASURES], help="default: all")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    results = {name: MEASURES[name]() for name in options.measures or MEASURES}
    for name, figures in results.items():
        table = Table(name, "")
        for label, value in figures.items():
            table.add_row(label, f"{value:.3g}")
        Console().print(table)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
