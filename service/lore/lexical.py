"""The lexical leg: how much of a query's spelling an entry shares, added to meaning where it stands out.

Character 4-grams inside words, bigrams in scripts without spaces, scored by BM25 (Robertson and Zaragoza 2009,
k1 = 1.2, b = 0.75) and divided by the best score the query could have, so that a query in another script than the lore
scores near nothing and cannot disturb. It finds invented names and their misspellings (docs/recall.md).
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
    kinds = _kinds().take(codes, mode="clip")
    spacing, spaceless = kinds == _SPACING, kinds == _SPACELESS
    words = _starts(spacing, 4)
    pairs = _starts(spaceless, 2)
    return np.concatenate(
        [
            _hashes(codes, words, 4),
            *(_hashes(codes, _short_runs(spacing, length), length) for length in (1, 2, 3)),
            _hashes(codes, pairs, 2),
            _hashes(codes, _short_runs(spaceless, 1), 1),
        ]
    )


def _starts(inside: NDArray[np.bool_], length: int) -> NDArray[np.intp]:
    """Where `length` characters in a row are inside."""
    if len(inside) < length:
        return np.zeros(0, np.intp)
    here = inside[: len(inside) - length + 1].copy()
    for step in range(1, length):
        here &= inside[step : len(inside) - length + 1 + step]
    return np.flatnonzero(here)


def _short_runs(inside: NDArray[np.bool_], length: int) -> NDArray[np.intp]:
    """Where runs of exactly `length` characters begin."""
    padded = np.concatenate([[False], inside, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    begins, ends = edges[::2], edges[1::2]
    short: NDArray[np.intp] = begins[ends - begins == length]
    return short


def _hashes(codes: NDArray[np.uint64], starts: NDArray[np.intp], length: int) -> NDArray[np.uint64]:
    value = np.full(len(starts), length, np.uint64)
    for step in range(length):
        value = (value ^ codes[starts + step]) * _MIX
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
