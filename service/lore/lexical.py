"""The lexical leg: how much of a query's spelling an entry shares, added to meaning where it stands out.

Character 3-grams of words with their edges marked, bigrams in scripts without spaces, scored by BM25 (Robertson and
Zaragoza 2009, k1 = 1.2, b = 0.75) and divided by the best score the query could have, so that a query in another script
than the lore scores near nothing and cannot disturb. It finds invented names and their misspellings (docs/recall.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import regex
from numpy.typing import NDArray

from service.lore.text import fold

K1 = 1.2
B = 0.75
STANDING_OUT = 5
_MIX = np.uint64(0x9E3779B97F4A7C15)
_EDGE = np.uint64(ord(" "))
_SPACING, _SPACELESS = 1, 2
_WITHOUT_SPACES = (
    (0x0E00, 0x0F00),  # Thai, Lao
    (0x1000, 0x10A0),  # Burmese
    (0x1100, 0x1200),  # jamo
    (0x1780, 0x1800),  # Khmer
    (0x3040, 0x3100),  # kana
    (0x31F0, 0x3200),
    (0x3400, 0x4DC0),  # Han
    (0x4E00, 0xA000),
    (0xA960, 0xA980),
    (0xAC00, 0xD7FC),  # Hangul
    (0xF900, 0xFB00),
    (0x20000, 0x33480),
)
_CODES = 0x33480
"""Behind the last letter."""


@cache
def _kinds() -> NDArray[np.uint8]:
    """For each code point: part of a word with spaces around it, of one without, or of none."""
    kinds = np.zeros(_CODES + 1, np.uint8)
    for word in regex.finditer(r"[\p{L}\p{N}\p{M}]+", "".join(map(chr, range(_CODES)))):
        kinds[word.start() : word.end()] = _SPACING
    for first, behind in _WITHOUT_SPACES:
        span = kinds[first:behind]
        span[span == _SPACING] = _SPACELESS
    return kinds


def grams(text: str) -> NDArray[np.uint64]:
    """The grams of a text as hashes, with repetitions, in no particular order."""
    codes = np.frombuffer(fold(text).text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    edged = np.concatenate([[_EDGE], codes, [_EDGE]])
    kinds = _kinds().take(edged, mode="clip")
    in_word = np.where(kinds == _SPACING, edged, _EDGE)
    letters = np.flatnonzero(kinds == _SPACING)
    spaceless = kinds == _SPACELESS
    pairs = np.flatnonzero(spaceless[:-1] & spaceless[1:])
    alone = 1 + np.flatnonzero(spaceless[1:-1] & ~spaceless[:-2] & ~spaceless[2:])
    return np.concatenate(
        [
            _hashes(in_word[letters - 1], in_word[letters], in_word[letters + 1]),
            _hashes(edged[pairs], edged[pairs + 1]),
            _hashes(edged[alone]),
        ]
    )


def _hashes(*letters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    value = np.full(len(letters[0]), len(letters), np.uint64)
    for each in letters:
        value = (value ^ each) * _MIX
    return value


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """The postings of the entries of one book."""

    vocabulary: NDArray[np.uint64]
    """Sorted."""
    offsets: NDArray[np.int64]
    """Where the postings of each gram begin; one more at the end."""
    owners: NDArray[np.int32]
    weights: NDArray[np.float32]
    """The term-frequency part of BM25 of each posting."""
    texts: int

    @classmethod
    def build(cls, texts: Sequence[str]) -> Lexicon:
        """Owner ordinals are places in `texts`; an empty text owns nothing."""
        found = [np.unique(grams(text), return_counts=True) for text in texts]
        lengths = np.array([counts.sum() for _, counts in found], np.float64)
        average = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
        owners = np.repeat(np.arange(len(texts), dtype=np.int32), [len(terms) for terms, _ in found])
        terms = np.concatenate([terms for terms, _ in found]) if found else np.zeros(0, np.uint64)
        counts = np.concatenate([counts for _, counts in found]) if found else np.zeros(0, np.int64)
        order = np.argsort(terms, kind="stable")
        vocabulary, first = np.unique(terms[order], return_index=True)
        frequency = counts[order].astype(np.float64)
        norm = K1 * (1 - B + B * lengths[owners[order]] / average)
        return cls(
            vocabulary=vocabulary,
            offsets=np.append(first, len(terms)).astype(np.int64),
            owners=owners[order],
            weights=(frequency * (K1 + 1) / (frequency + norm)).astype(np.float32),
            texts=len(texts),
        )

    @property
    def nbytes(self) -> int:
        return self.vocabulary.nbytes + self.offsets.nbytes + self.owners.nbytes + self.weights.nbytes

    def coverage(self, query: NDArray[np.uint64]) -> NDArray[np.float64]:
        """BM25 of each text for the grams of a query, as a share of the best that the query allows."""
        covered = np.zeros(self.texts)
        terms = np.unique(query)
        if not len(terms) or not len(self.vocabulary):
            return covered
        where = np.minimum(np.searchsorted(self.vocabulary, terms), len(self.vocabulary) - 1)
        known = self.vocabulary[where] == terms
        begins = self.offsets[where[known]]
        holders = self.offsets[where[known] + 1] - begins
        held = np.zeros(len(terms))
        held[known] = holders
        rarity = np.log(1 + (self.texts - held + 0.5) / (held + 0.5))
        postings = np.repeat(begins - np.concatenate([[0], np.cumsum(holders)[:-1]]), holders) + np.arange(
            holders.sum()
        )
        shares = self.weights[postings] * np.repeat(rarity[known], holders)
        found = np.bincount(self.owners[postings], shares, self.texts).astype(np.float64)
        return found / float(rarity.sum() * (K1 + 1))


def standing_out(coverage: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each text covers beyond the fifth best: nothing for nearly all of them."""
    if not len(coverage):
        return coverage
    last = -min(STANDING_OUT, len(coverage))
    above: NDArray[np.float64] = np.maximum(coverage - np.partition(coverage, last)[last], 0.0)
    return above
