"""Other retrievers beside the product, with the same vectors: three books of 1,000 entries, a chat of six messages.

Same work: a peer holds every vector that the product holds, each as a document that names its entry (one of the whole
text, six of its windows), and answers every query of the request (the pieces of six messages) with the best eight
documents, all in one call where it has such a call; of these the best eight entries are taken. A leg of words is asked
each query too, since that is how the retriever works. Least work: one vector an entry, one question.

Either way a peer does less than the product: no aliases in the chat, no packing, no reasons. Install the peers with
`pip install --group peers -c constraints.txt`, best in an environment of their own; one that is not there is left out.
"""

from __future__ import annotations

import ctypes
import gc
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from benchmarks.server import resident_mb
from benchmarks.speed.lore import WINDOWS, asked, book_of, called_entries, chat, letters, unit, words
from benchmarks.speed.retrievers import RETRIEVERS, Task
from benchmarks.speed.retrieving import DEFAULTS, NAMES, asking, tokenizer
from benchmarks.speed.size import Figures, Size
from benchmarks.speed.timing import alternate, median
from service.lore.book import Entry
from service.lore.open_book import AttachedBook
from service.lore.request import RetrieveRequest
from service.lore.retrieval import prepare

WORKS = ("same_work", "least_work")
_SECONDS = 15.0
"""Of rounds with one peer; a slow one gets fewer of them, and two at least."""
_OURS = 10
"""Calls of the product at least, more than one a round beside a peer that has few, so that it has a median."""
_PAUSE = 0.1
"""Seconds before each call, in which threads that spin go to sleep."""
_FEW = 8
"""Entries of a book that is built before memory is looked at, so that what is imported and begun counts as nobody's."""


@dataclass(frozen=True, kw_only=True)
class _Common:
    """What the product and the peers get."""

    books: list[AttachedBook]
    vectors: list[np.ndarray]
    """Of each book, shape (entries, 1 + WINDOWS, 384)."""
    request: RetrieveRequest
    queries: np.ndarray

    @classmethod
    def made(cls, entries: int) -> _Common:
        """The same for the same number of entries of a book."""
        random = np.random.default_rng(7)
        vocabulary = words(random, 4000)
        vectors = [unit(random, entries * (1 + WINDOWS)).reshape(entries, 1 + WINDOWS, -1) for _ in NAMES]
        books = [
            book_of(book_id, called_entries(random, book_id, entries, vocabulary), held)
            for book_id, held in zip(NAMES, vectors, strict=True)
        ]
        request = asked(chat(random, books, vocabulary))
        queries = unit(random, len(prepare(books, request, tokenizer(), DEFAULTS).queries))
        return cls(books=books, vectors=vectors, request=request, queries=queries)

    def task(self, *, least: bool, entries: int | None = None) -> Task:
        """That of a peer, of all entries or of the first few of each book."""
        each = 1 if least else 1 + WINDOWS
        questions = [query.text for query in prepare(self.books, self.request, tokenizer(), DEFAULTS).queries]
        message = self.request.messages[-1].content
        return Task(
            texts=[
                [text for entry in book.open.text.entries[:entries] for text in _documents(entry)[:each]]
                for book in self.books
            ],
            vectors=[held[:entries, :each].reshape(-1, held.shape[-1]).copy() for held in self.vectors],
            documents_an_entry=each,
            questions=[message] if least else questions,
            queries=self.queries[:1] if least else self.queries,
            named=message.split()[:8],
        )


def _documents(entry: Entry) -> list[str]:
    """The whole text and its windows."""
    parts = np.array_split(np.array(entry.content.split(), object), WINDOWS)
    return [f"{entry.title}\n{entry.content}", *(" ".join(part) for part in parts)]


def measure_peers(size: Size) -> Figures:
    """Milliseconds of each beside the product in the same rounds, and the memory that each took for a book.

    Each peer has a process of its own for each kind of work, in which it takes turns with the product, so that it
    neither hides behind the memory of another nor shares its threads.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")
    book = _Common.made(size.entries).books[0].open
    held = (book.index.nbytes + letters(book.text.entries)) / 1e6
    figures: Figures = {"vectors_an_entry_of_worldbook": 1.0 + WINDOWS, "vectors_and_texts_of_worldbook_mb": held}
    for name in RETRIEVERS:
        for work in WORKS:
            # spawned, not forked: a fork would begin with the memory and the threads of this process
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                try:
                    found = process.submit(beside, name, size, least=work == "least_work").result()
                except ImportError as missing:
                    print(f"{name}: not installed, left out ({missing})")
                    break
            figures |= {f"{name}_{work}_{figure}": value for figure, value in found.items()}
    least = [value for figure, value in figures.items() if figure.endswith("_least_work_mb_a_book")]
    if least:
        figures["leanest_peer_mb"] = min(least)
        figures["vectors_and_texts_over_the_leanest_peer"] = held / min(least)
    return figures


def beside(name: str, size: Size, *, least: bool) -> Figures:
    """One peer in this process. Raises ImportError when it is not installed."""
    common = _Common.made(size.entries)
    build = RETRIEVERS[name]
    build(common.task(least=least, entries=min(_FEW, size.entries)))()
    task = common.task(least=least)
    before = _resident()
    peer = build(task.copied())
    began = time.perf_counter()
    peer()
    rounds = int(_SECONDS / (time.perf_counter() - began))
    held = _resident() - before
    ours = asking(np.random.default_rng(3), common.books, common.request, tokenizer())
    turns = max(2, min(rounds, size.rounds // 3))
    repeated = {f"ours {number}": ours for number in range(max(1, _OURS // turns))}
    seconds = alternate({"peer": peer, **repeated}, rounds=turns, pause=_PAUSE)
    theirs = median(seconds.pop("peer"))
    our = median([second for found in seconds.values() for second in found])
    return {
        "ms": 1000 * theirs,
        "times_worldbook": theirs / our,
        "worldbook_beside_it_ms": 1000 * our,
        "mb_a_book": held / len(NAMES),
    }


def _resident() -> float:
    """Megabytes that are in use, without those that were freed and not yet given back."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return resident_mb(os.getpid())
