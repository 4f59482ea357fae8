"""What the chain costs: time and memory of a retrieve with it and without, in one run over the same words.

Three books of 1,000 entries, six messages of 4 kB, vectors given, as `benchmarks.speed` builds them. Off: one vector an
entry, the last message alone, no lexical leg, no floor.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.recall.lab import read
from benchmarks.speed.lore import DIMENSION, attached_book, chat, unit, words
from benchmarks.speed.timing import alternate, median, percentile
from embeddings.calibration import Floor
from embeddings.index import VectorIndex
from service.lore.open_book import AttachedBook
from service.lore.ranking import Meaning
from service.lore.request import Message, RetrieveRequest
from service.lore.retrieval import Defaults, prepare, retrieve
from service.tokenizers import FALLBACK, tokenizer_for

Row = dict[str, float | str]
BOOKS = ("bakiru", "todane", "gomedi")
ENTRIES = 1000
ROUNDS = 60


def cost() -> list[Row]:
    """Milliseconds and megabytes, the chain off and on."""
    random = np.random.default_rng(7)
    vocabulary = words(random, 4000)
    tokenizer = tokenizer_for(tokenizer=FALLBACK, model=None, default="", margin=1.0)
    on = [attached_book(random, book_id, ENTRIES, vocabulary) for book_id in BOOKS]
    off = [_one_vector(random, book) for book in on]
    contents = chat(random, on, vocabulary)
    request = RetrieveRequest(
        messages=tuple(
            Message(role="user" if place % 2 else "assistant", content=content)
            for place, content in enumerate(contents)
        )
    )
    defaults = Defaults(budget_tokens=8000, places=8)
    rows = unit(random, len(read(request.messages, "places")))

    def ask(books: list[AttachedBook], *, whole: bool) -> object:
        prepared = prepare(books, request, tokenizer, defaults)
        queries = prepared.queries if whole else tuple(query for query in prepared.queries if query.voice == "last")
        meaning = Meaning(
            queries=queries,
            vectors=rows[: len(queries)],
            floor=Floor(-1.0, 0.0) if whole else None,  # compared, but keeps every random vector
            spelling=0.5 if whole else 0.0,
        )
        return retrieve(prepared, meaning)

    seconds = alternate(
        {"off": lambda: ask(off, whole=False), "on": lambda: ask(on, whole=True)},
        rounds=ROUNDS,
    )
    lexical = sum(book.open.text.lexicon.nbytes for book in on)
    return [
        {
            "chain": name,
            "p50 ms": 1000 * median(seconds[name]),
            "p95 ms": 1000 * percentile(seconds[name], 95),
            "queries": str(len(rows) if name == "on" else 1),
            "vectors MB": sum(book.open.index.nbytes for book in books) / 1e6,
            "lexical MB": lexical / 1e6 if name == "on" else 0.0,
        }
        for name, books in (("off", off), ("on", on))
    ]


def _one_vector(random: np.random.Generator, book: AttachedBook) -> AttachedBook:
    rows = unit(random, ENTRIES)
    none = np.zeros((0, DIMENSION), np.float32)
    index = VectorIndex.build(DIMENSION, {number: (rows[number][None], none) for number in range(ENTRIES)})
    return replace(book, open=replace(book.open, index=index))
