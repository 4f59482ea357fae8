"""Embedders that fail, dawdle or change, around the hashing one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from embeddings.embedder import Embedder, EmbedderError, EmbeddingSpace, Vectors, checked
from embeddings.hashing import HashingEmbedder

Load = Callable[[], Embedder]
LONG = 30.0
"""Seconds, far more than anything takes; whoever waits so long has hung."""


class Scripted:
    """The hashing embedder, whose calls can be watched, held up and made to fail."""

    max_tokens = 512

    def __init__(self, dimension: int = 256) -> None:
        self._inner = HashingEmbedder(dimension)
        self.passages: list[str] = []
        self.queries: list[str] = []
        self.holds: Callable[[str], bool] = lambda _: False
        """Passages that wait for `release`."""
        self.held = threading.Event()
        self.release = threading.Event()
        self.fault: Callable[[str], EmbedderError | None] = lambda _: None
        """What is raised for a passage."""
        self.failed = threading.Event()
        self.answers: Callable[[Vectors], object] = lambda vectors: vectors
        """What becomes of the vectors of queries."""

    @property
    def space(self) -> EmbeddingSpace:
        return self._inner.space

    def next_batch(self, queries: Sequence[str]) -> Sequence[int]:
        return self._inner.next_batch(queries)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.queries += texts
        answer = self.answers(self._inner.embed_queries(texts))
        return checked(answer, count=len(texts), dimension=self.space.dimension)  # as every real embedder does

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.passages += texts
        if any(map(self.holds, texts)):
            self.held.set()
            assert self.release.wait(LONG)
        for fault in filter(None, map(self.fault, texts)):
            self.failed.set()
            raise fault
        return self._inner.embed_passages(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)


def refuse(_: object = None) -> Vectors:
    """An embedder that is out of order."""
    raise EmbedderError("out of order")


def nothing(_: Vectors) -> list[object]:
    """An endpoint that answers an empty list."""
    return []


def no_numbers(vectors: Vectors) -> Vectors:
    """A model that answers NaN."""
    return np.full_like(vectors, np.nan)
