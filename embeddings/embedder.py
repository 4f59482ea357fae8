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
    """The embedder cannot answer now: missing, failing, or answering nonsense."""


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


class Embedder(Protocol):
    """Texts to vectors. Not safe from several threads: `encoding.Encoder` owns the one thread that calls it."""

    @property
    def space(self) -> EmbeddingSpace: ...

    @property
    def max_tokens(self) -> int:
        """Tokens of one text that the model reads; what lies behind is cut by the model."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The model's own token count of each text, without prompts and special tokens."""
        ...
