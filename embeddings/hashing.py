"""Hashed character n-grams: no model, no download, instant and the same everywhere. For tests and as an offline floor.

Texts are near when they share spelling, so names and words of one language find each other; meaning and other
languages do not. Feature hashing with a sign, after Weinberger et al., "Feature Hashing for Large Scale Multitask
Learning", 2009; n-grams within words with their edges marked, as in fastText.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from embeddings.embedder import EmbeddingSpace, Vectors, checked

_SIZES = (2, 3, 4)


class HashingEmbedder:
    """Queries and passages alike. A text without any character still has a vector, near to no other."""

    def __init__(self, dimension: int = 256) -> None:
        self._space = EmbeddingSpace(
            model="hashing",
            revision="1",
            dimension=dimension,
            query_prompt="",
            passage_prompt="",
            pooling="sum",
            normalised=True,
            recipe="",
        )

    @property
    def space(self) -> EmbeddingSpace:
        return self._space

    @property
    def max_tokens(self) -> int:
        return 512

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """One token per four bytes of UTF-8, which is about what multilingual models see, and at least one a word."""
        return [max(len(text.split()), -(-len(text.encode("utf-8", "replace")) // 4)) for text in texts]

    def next_batch(self, queries: Sequence[str]) -> Sequence[int]:
        """All of them."""
        return range(len(queries))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        dimension = self._space.dimension
        vectors = np.zeros((len(texts), dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for gram, times in Counter(_grams(text)).items():
                # CRC-32 is the same in every process, unlike the hash of a str
                code = zlib.crc32(gram.encode("utf-8", "replace"))
                row[code % dimension] += (1.0 + np.log(times)) * (1 if code >> 31 else -1)
            if not row.any():
                row[0] = 1.0
        return checked(vectors, count=len(texts), dimension=dimension)


def _grams(text: str) -> list[str]:
    words = [f"<{word}>" for word in unicodedata.normalize("NFKC", text).casefold().split()] or ["<>"]
    grams = [word[i : i + size] for word in words for size in _SIZES for i in range(len(word) - size + 1)]
    return grams + words
