"""A warm retrieval in process beside a sketch of the limit, its parts, and how it grows with entries and with books."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.speed import sketch
from benchmarks.speed.library import StandIn, add_books, settings_for, wait_for_vectors
from benchmarks.speed.lore import WINDOWS, asked, attached_book, chat, unit, words
from benchmarks.speed.size import Figures, Size
from benchmarks.speed.timing import alternate, median, percentile
from embeddings.hashing import HashingEmbedder
from embeddings.index import KEPT_QUERIES
from service.actions.retrieving import retrieve as retrieve_action
from service.actions.runtime import running
from service.lore.lexical import query_grams
from service.lore.naming import find_named
from service.lore.open_book import AttachedBook
from service.lore.packing import pack_stable, pack_volatile
from service.lore.ranking import Meaning
from service.lore.request import RetrieveRequest
from service.lore.retrieval import Defaults, prepare, retrieve
from service.lore.tokens import Tokenizer
from service.tokenizers import tokenizer_for

BUDGET, PLACES = 8000, 8
NAMES = ("bakiru", "todane", "gomedi")
DEFAULTS = Defaults(budget_tokens=BUDGET, places=PLACES)
MOST_IN_A_BOOK = 10_000


def tokenizer() -> Tokenizer:
    return tokenizer_for(tokenizer="cl100k_base", model=None, default="", margin=1.0)


def asking(
    random: np.random.Generator,
    books: Sequence[AttachedBook],
    request: RetrieveRequest,
    counted: Tokenizer,
    *,
    turn: bool = False,
) -> Callable[[], object]:
    """A whole retrieval but for opening the books and embedding the queries.

    An index keeps the scores of its latest queries. So each call asks queries that are new, all of them, or those of
    the last message only, as in the next `turn` of a chat.
    """
    queries = prepare(books, request, counted, DEFAULTS).queries
    first = unit(random, len(queries))
    is_new = np.array([query.voice == "last" or not turn for query in queries], np.bool_)[:, None]
    rounds = -(-2 * KEPT_QUERIES // max(1, int(is_new.sum())))
    vectors = cycle([np.where(is_new, unit(random, len(queries)), first) for _ in range(rounds)])

    def ask() -> object:
        prepared = prepare(books, request, counted, DEFAULTS)
        return retrieve(prepared, Meaning(queries=prepared.queries, vectors=next(vectors)))

    return ask


def measure_retrieve(size: Size) -> Figures:
    """Three books, six messages of 4 kB: the product, the sketch, a full trace, and the parts of which it is made."""
    random = np.random.default_rng(7)
    vocabulary = words(random, 4000)
    counted = tokenizer()
    books = [attached_book(random, book_id, size.entries, vocabulary) for book_id in NAMES]
    messages = chat(random, books, vocabulary)
    request, full = asked(messages), asked(messages, trace="full")
    prepared = prepare(books, request, counted, DEFAULTS)
    queries = unit(random, len(prepared.queries))
    owners = np.repeat(np.arange(size.entries), 1 + WINDOWS)
    sketches = [sketch.SketchBook(book, unit(random, len(owners)), owners, counted) for book in books]
    shelf = prepared.shelf
    named = find_named(shelf.books, shelf.starts, request.messages)
    nearest = random.permutation(len(shelf.full))

    def pack() -> object:
        stable = pack_stable(shelf, budget=BUDGET, canon_limit=BUDGET // 2, index="rest", tools=True)
        return pack_volatile(
            shelf,
            stable,
            budget=BUDGET,
            named=list(named),
            matched=nearest[:PLACES].tolist(),
            nearest=nearest,
            index="rest",
            tools=True,
        )

    last = [query_grams(query.text) for query in prepared.queries if query.voice == "last"]
    many = cycle([unit(random, len(queries)) for _ in range(2 * KEPT_QUERIES)])
    seconds = alternate(
        {
            "names": lambda: find_named(shelf.books, shelf.starts, request.messages),
            "vectors": lambda: [book.open.index.scores(next(many)) for book in books],
            "spelling": lambda: [book.open.text.lexicon.coverage(asks) for book in books for asks in last],
            "ours": asking(random, books, request, counted),
            "turn": asking(random, books, request, counted, turn=True),
            "sketch": lambda: sketch.retrieve(sketches, messages, queries, BUDGET, PLACES),
            "full": asking(random, books, full, counted),
            "pack": pack,
        },
        rounds=size.rounds,
    )
    ours = median(seconds["ours"])
    return {
        "retrieve_ms": 1000 * ours,
        "retrieve_one_new_message_ms": 1000 * median(seconds["turn"]),
        "sketch_ms": 1000 * median(seconds["sketch"]),
        "times_the_sketch": ours / median(seconds["sketch"]),
        "p95_over_p50": percentile(seconds["ours"], 95) / ours,
        "full_trace_ms": 1000 * median(seconds["full"]),
        "full_trace_over_used": median(seconds["full"]) / ours,
        "names_ms": 1000 * median(seconds["names"]),
        "vectors_ms": 1000 * median(seconds["vectors"]),
        "spelling_ms": 1000 * median(seconds["spelling"]),
        "packing_ms": 1000 * median(seconds["pack"]),
        "queries": len(queries),
        "vectors": 3 * len(owners),
    }


def measure_shelf(size: Size) -> Figures:
    """The same retrieval over more and more entries, in books of at most 10,000."""
    random = np.random.default_rng(9)
    vocabulary = words(random, 4000)
    counted = tokenizer()
    figures: Figures = {}
    for entries in size.shelf:
        parts = [min(MOST_IN_A_BOOK, entries - start) for start in range(0, entries, MOST_IN_A_BOOK)]
        books = [attached_book(random, f"book{number}", part, vocabulary) for number, part in enumerate(parts)]
        request = asked(chat(random, books, vocabulary))
        seconds = alternate({"ours": asking(random, books, request, counted)}, rounds=max(1, size.rounds // 3))
        figures[f"retrieve_{entries}_entries_ms"] = 1000 * median(seconds["ours"])
    return figures


def measure_library(size: Size) -> Figures:
    """Three attached books while the store grows: the cost of a retrieval whose books are open, and of a cold one.

    A store that stays small beside the one that grows: the growth is that of the same work in the same rounds.
    """
    few, many = min(size.library), max(size.library)
    figures: Figures = {}
    with _Store() as small, _Store() as growing:
        for store in (small, growing):
            store.begin(size.entries)
        small.grow(few)
        for books in size.library:
            growing.grow(books)
            seconds = alternate({"small": small.retrieve, "grown": growing.retrieve}, rounds=size.rounds)
            figures[f"hot_{books}_books_ms"] = 1000 * median(seconds["grown"])
            figures[f"hot_{books}_over_{few}_books"] = median(seconds["grown"]) / median(seconds["small"])
            opened = alternate({"cold": growing.retrieve_cold}, rounds=size.slow_rounds)
            figures[f"cold_{books}_books_ms"] = 1000 * median(opened["cold"])
    figures["growth_of_hot"] = figures[f"hot_{many}_over_{few}_books"]
    figures["cold_open_a_book_ms"] = (figures[f"cold_{few}_books_ms"] - figures[f"hot_{few}_books_ms"]) / 3
    return figures


def _made_up() -> StandIn:
    return StandIn(HashingEmbedder().space)


class _Store(ExitStack):
    """A database with three books that a chat reads, and others."""

    def begin(self, entries: int) -> None:
        self._random = np.random.default_rng(11)
        folder = self.enter_context(TemporaryDirectory())
        self._rt = self.enter_context(running(settings_for(Path(folder)), load=_made_up))
        self._rt.encoder.embed_queries(["wait until it is up"])
        self._books = add_books(self._rt, self._random, [entries] * 3)
        self._attached = tuple(self._books)
        wait_for_vectors(self._rt, self._attached)
        self._request = asked([" ".join(words(self._random, 80)) for _ in range(6)], books=self._attached)

    def grow(self, books: int) -> None:
        """To so many books, the others of one entry each, all embedded."""
        self._books += add_books(self._rt, self._random, [1] * (books - len(self._books)))
        wait_for_vectors(self._rt, self._books)
        self.retrieve()

    def retrieve(self) -> object:
        return retrieve_action(self._rt, self._request)

    def retrieve_cold(self) -> object:
        self._rt.opened.clear()
        return self.retrieve()
