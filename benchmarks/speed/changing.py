"""Importing a file, and copying a book; nothing is embedded."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.speed.library import StandIn, add_books, no_embedder, settings_for, wait_for_vectors
from benchmarks.speed.lore import called_entries, words
from benchmarks.speed.size import Figures, Size
from benchmarks.speed.timing import alternate, median
from embeddings.hashing import HashingEmbedder
from service.actions.copying import Copy, copy_book
from service.actions.importing import import_book
from service.actions.runtime import running


def measure_change(size: Size) -> Figures:
    """Seconds of an import of 1,100 entries and of a copy of a book of 5,000, and what the copy embedded."""
    return _importing(size) | _copying(size)


def _importing(size: Size) -> Figures:
    random = np.random.default_rng(13)
    entries = called_entries(random, "", size.imported, words(random, 2000))
    rows = [{"title": entry.title, "content": entry.content, "aliases": list(entry.aliases)} for entry in entries]
    with TemporaryDirectory() as folder, running(settings_for(Path(folder)), load=no_embedder) as rt:
        files = iter(
            json.dumps({"format": "worldbook", "version": 1, "book": {"name": f"Book {number}", "entries": rows}})
            for number in range(size.slow_rounds + 1)
        )
        seconds = alternate({"import": lambda: import_book(rt, next(files).encode())}, rounds=size.slow_rounds)
    return {"import_seconds": median(seconds["import"])}


def _copying(size: Size) -> Figures:
    embedder = StandIn(HashingEmbedder().space)
    with TemporaryDirectory() as folder, running(settings_for(Path(folder)), load=lambda: embedder) as rt:
        rt.encoder.embed_queries(["wait until it is up"])
        ids = add_books(rt, np.random.default_rng(17), [size.copied])
        wait_for_vectors(rt, ids)
        before = embedder.embedded
        wanted = iter(Copy(name=f"Copy {number}") for number in range(size.slow_rounds + 1))
        seconds = alternate({"copy": lambda: copy_book(rt, ids[0], next(wanted))}, rounds=size.slow_rounds)
        return {"copy_seconds": median(seconds["copy"]), "texts_embedded_by_copies": float(embedder.embedded - before)}
