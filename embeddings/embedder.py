"""What an embedder is, and the stamp that says which vectors may be compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Rows of unit length, shape (texts, dimension)."""


class EmbedderError(Exception):
    """The embedder cannot answer now: missing, failing, or answering nonsense.

    EmbedderError
    ├── EmbedderTimeout    not within the caller's limit
    └── TextError          this text cannot be embedded, others can
    """


class EmbedderTimeout(EmbedderError):
    """No vectors within the caller's time limit."""


class TextError(EmbedderError):
    """This text has no vector and will have none later: blank, or refused or answered with nonsense alone."""


@dataclass(frozen=True, kw_only=True)
class EmbeddingSpace:
    """The stamp of a vector space. Vectors of two different stamps are never compared."""

    model: str
    revision: str
    """Hash of the weights, or whatever the provider tells; "" when it tells nothing."""
    dimension: int
    query_prompt: str
    passage_prompt: str
    pooling: str
    normalised: bool
    recipe: str
    """Version of how a text is cut into pieces and windows and how its vectors are transformed."""

    @property
    def id(self) -> str:
        """16 hex digits that change when any field does."""
        stamp = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(stamp.encode()).hexdigest()[:16]


def checked(vectors: object, *, count: int, dimension: int | None = None) -> Vectors:
    """`vectors` as `count` unit rows in float32.

    Raises EmbedderError when there are more or fewer rows than texts or another dimension than expected, and TextError
    on a row that is not finite, or of zeros, which has no direction: it would be found by nothing or by everything.
    """
    try:
        rows = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as problem:
        raise EmbedderError("the embedder's answer is not a table of numbers") from problem
    if count == 0 and dimension is not None:
        return np.zeros((0, dimension), dtype=np.float32)
    if rows.ndim != 2 or len(rows) != count:
        raise EmbedderError(f"the embedder answered shape {rows.shape} for {count} texts")
    if rows.shape[1] == 0 or dimension not in (None, rows.shape[1]):
        raise EmbedderError(f"the embedder answered vectors of dimension {rows.shape[1]}, expected {dimension}")
    # row by row: a reduction over the table would let the last bit of a row depend on the number of rows
    norms = np.array([np.linalg.norm(row) for row in rows.astype(np.float64)])
    if not np.isfinite(norms).all() or (norms < 1e-12).any():
        raise TextError("the embedder answered a vector that is zero or not finite")
    unit: Vectors = (rows / norms[:, None]).astype(np.float32)
    return unit


class Embedder(Protocol):
    """Texts to vectors. Not safe from several threads: `encoding.Encoder` owns the one thread that calls it."""

    @property
    def space(self) -> EmbeddingSpace: ...

    @property
    def max_tokens(self) -> int:
        """Tokens of one text that the model reads; what lies behind is cut by the model."""
        ...

    def next_batch(self, queries: Sequence[str]) -> Sequence[int]:
        """Indices of the queries that are best embedded together now: the first, and what goes with it.

        All of them wait for the end of the batch, and the rest for their turn.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The model's own token count of each text, without prompts and special tokens."""
        ...
