"""A database of made-up books with made-up vectors, filled in seconds and read by a real service."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.speed.lore import called_entries, words
from embeddings.embedder import EmbedderError, EmbeddingSpace, Vectors
from service.actions.presenting import OWNER
from service.actions.runtime import Runtime, running
from service.lore.book import Book
from service.settings import Settings
from service.store import books
from service.store import entries as stored
from service.store.engine import writing

_BOOKS_AT_ONCE = 200


class StandIn:
    """Vectors of no meaning under the stamp of a real model: for a book that must have vectors, whichever."""

    def __init__(self, space: EmbeddingSpace) -> None:
        self.space = space
        self.embedded = 0
        """Texts so far."""

    @property
    def max_tokens(self) -> int:
        return 500

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [1 + len(text.encode()) // 4 for text in texts]

    def next_batch(self, queries: Sequence[str]) -> Sequence[int]:
        return range(len(queries))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        rows = [np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.space.dimension) for text in texts]
        vectors = np.array(rows, np.float32).reshape(len(texts), self.space.dimension)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def no_embedder() -> StandIn:
    """For a measure in which nothing may be embedded."""
    raise EmbedderError("this benchmark embeds nothing")


def settings_for(folder: Path, **changes: object) -> Settings:
    """A database of its own in `folder`; what is unpacked stays in the user's cache."""
    known = Settings(model="hashing")
    return known.model_copy(update={"data_dir": folder, "database_url": "", "max_books": 100_000, **changes})


def add_books(rt: Runtime, random: np.random.Generator, sizes: Sequence[int]) -> list[str]:
    """New books of so many entries of about a hundred tokens; their ids."""
    vocabulary = words(random, 2000)
    ids: list[str] = []
    for start in range(0, len(sizes), _BOOKS_AT_ONCE):
        # straight into the tables: the action also opens each book, to count its tokens
        with writing(rt.engine) as conn:
            for number, size in enumerate(sizes[start : start + _BOOKS_AT_ONCE], start):
                called = called_entries(random, "", size, vocabulary)
                named = Book(name=f"Book {number} {random.integers(10**9)}")
                ids.append(books.insert_book(conn, OWNER, named, rt.now()))
                stored.add(conn, ids[-1], 1, [replace(entry, id=0, handle="") for entry in called], rt.now())
            conn.commit()
    rt.backlog.nudge()
    return ids


def fill(folder: Path, space: EmbeddingSpace, sizes: Sequence[int]) -> list[str]:
    """Books with vectors of that space in the database of `folder`; their ids."""
    with running(settings_for(folder), load=lambda: StandIn(space)) as rt:
        rt.encoder.embed_queries(["wait until it is up"])
        ids = add_books(rt, np.random.default_rng(5), sizes)
        wait_for_vectors(rt, ids)
    return ids


def wait_for_vectors(rt: Runtime, ids: Sequence[str], seconds: float = 600.0) -> None:
    """Until every entry has its vectors. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        left = rt.backlog.pending(ids)
        now = time.monotonic()
        if not left:
            return
        if now > end:
            raise TimeoutError(f"{left} entries have no vectors")
        time.sleep(max(0.05, 10 * (now - began)))  # counting thousands of books must not hold up the embedding
