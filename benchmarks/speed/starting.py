"""From nothing to ready, the command's help, and the memory of the running service."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.server import Served, serving, wait_until_ready
from benchmarks.speed.library import fill
from benchmarks.speed.lore import attached_book, words
from benchmarks.speed.retrieving import tokenizer
from benchmarks.speed.size import Figures, Size
from benchmarks.speed.timing import alternate, median
from service.actions.loading import load_embedder
from service.settings import Settings

MESSAGE = "Then let us go before the tide."


def measure_start(size: Size) -> Figures:
    """Seconds from the start of the process until the model answers, and of `worldbook --help`."""
    load_embedder(Settings())  # unpacks what is unpacked once
    ready = alternate({"ready": _until_ready}, rounds=size.slow_rounds)["ready"]
    helped = alternate({"help": _help}, rounds=size.slow_rounds)["help"]
    return {"ready_seconds": median(ready), "help_seconds": median(helped)}


def _until_ready() -> None:
    with serving() as served:
        wait_until_ready(served.client)


def _help() -> None:
    subprocess.run([sys.executable, "-m", "service.cli", "--help"], check=True, capture_output=True)


def measure_memory(size: Size) -> Figures:
    """Megabytes resident with the model of the settings and ten open books, and of what a book of 1,000 is made."""
    space = load_embedder(Settings()).space
    with TemporaryDirectory() as folder:
        ids = fill(Path(folder), space, [size.entries] * size.memory_books)
        with serving({"WORLDBOOK_DATA_DIR": folder}) as served:
            wait_until_ready(served.client)
            _open(served, ids[:1])
            first = served.resident_mb
            _open(served, ids)
            whole = _settled(served)
    random = np.random.default_rng(19)
    book = attached_book(random, "bakiru", size.entries, words(random, 4000)).open
    letters = sum(len(entry.title) + len(entry.content) + sum(map(len, entry.aliases)) for entry in book.text.entries)
    book.text.sheet(tokenizer(), None)
    return {
        "resident_mb": whole,
        "model_and_one_book_mb": first,
        "a_book_more_mb": (whole - first) / max(1, size.memory_books - 1),
        "vectors_of_a_book_mb": book.index.nbytes / 1e6,
        "texts_of_a_book_mb": letters / 1e6,
        "vectors_and_texts_of_a_book_mb": (book.index.nbytes + letters) / 1e6,
        "lexical_index_of_a_book_mb": book.text.lexicon.nbytes / 1e6,
        "literal_index_of_a_book_mb": book.text.matcher.nbytes / 1e6,
    }


def _open(served: Served, ids: list[str]) -> None:
    for book_id in ids:
        body = {"books": [book_id], "messages": [{"role": "user", "content": MESSAGE}]}
        answer = served.client.post("/v1/retrieve", json=body)
        answer.raise_for_status()
        if answer.json()["degraded"]:
            raise RuntimeError(f"the books are not ready: {answer.json()['degraded']}")


def _settled(served: Served, seconds: float = 1.0) -> float:
    """Once it no longer falls."""
    least = served.resident_mb
    while True:
        time.sleep(seconds)
        if (now := served.resident_mb) >= least:
            return now
        least = now
