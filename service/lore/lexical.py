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

from embeddings.rows import RoundedRows
from service.lore.text import fold

K1 = 1.2
B = 0.75
STANDING_OUT = 5
_BYTES_OF_A_POSTING = 8
"""Against one byte of each text in a column."""
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


def query_grams(text: str) -> NDArray[np.uint64]:
    """The grams of a text, each once, ascending."""
    return np.unique(grams(text))


def _hashes(*letters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    value = np.full(len(letters[0]), len(letters), np.uint64)
    for each in letters:
        value = (value ^ each) * _MIX
    return value


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """Which grams the entries of one book hold, and what each is worth there.

    Grams that many texts hold are columns of a matrix, which is smaller than postings from an eighth of the texts on,
    and quicker: nearly all postings that a message of some length would visit are theirs.
    """

    vocabulary: NDArray[np.uint64]
    """Sorted."""
    rarity: NDArray[np.float64]
    """The inverse document frequency of each gram, and at the end that of a gram which no text holds."""
    columns: NDArray[np.int32]
    """Of each gram in `common`; -1 for those that have postings."""
    common: RoundedRows
    """The term-frequency part of BM25: a row per text, a column per common gram."""
    offsets: NDArray[np.int64]
    """Where the postings of each gram begin; one more at the end."""
    owners: NDArray[np.int32]
    weights: NDArray[np.float32]
    """Of each posting: its BM25."""
    texts: int

    @classmethod
    def build(cls, texts: Sequence[str]) -> Lexicon:
        """Owner ordinals are places in `texts`; an empty text owns nothing."""
        found = [np.unique(grams(text), return_counts=True) for text in texts]
        lengths = np.array([counts.sum() for _, counts in found], np.float64)
        average = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
        owners = np.repeat(np.arange(len(texts), dtype=np.int32), [len(terms) for terms, _ in found])
        terms = np.concatenate([np.zeros(0, np.uint64), *(terms for terms, _ in found)])
        counts = np.concatenate([np.zeros(0, np.int64), *(counts for _, counts in found)])
        vocabulary, gram, holders = np.unique(terms, return_inverse=True, return_counts=True)
        norm = K1 * (1 - B + B * lengths[owners] / average)
        weights = (counts * (K1 + 1) / (counts + norm)).astype(np.float32)
        rarity = _rarity(len(texts), np.append(holders, 0))
        is_common = holders * _BYTES_OF_A_POSTING >= len(texts)
        columns = np.where(is_common, np.cumsum(is_common) - 1, -1).astype(np.int32)
        matrix = np.zeros((len(texts), int(is_common.sum())), np.float32)
        dense = is_common[gram]
        matrix[owners[dense], columns[gram[dense]]] = weights[dense]
        order = np.flatnonzero(~dense)
        order = order[np.argsort(gram[order], kind="stable")]
        return cls(
            vocabulary=vocabulary,
            rarity=rarity,
            columns=columns,
            common=RoundedRows.of(matrix),
            offsets=np.cumsum(np.append(0, np.where(is_common, 0, holders))),
            owners=owners[order],
            weights=(weights[order] * rarity[gram[order]]).astype(np.float32),
            texts=len(texts),
        )

    @property
    def nbytes(self) -> int:
        parts = (self.vocabulary, self.rarity, self.columns, self.offsets, self.owners, self.weights)
        return self.common.nbytes + sum(part.nbytes for part in parts)

    def coverage(self, query: NDArray[np.uint64]) -> NDArray[np.float64]:
        """BM25 of each text for the `query_grams` of a query, as a share of the best that the query allows."""
        covered = np.zeros(self.texts)
        if not len(query) or not len(self.vocabulary):
            return covered
        where = np.minimum(np.searchsorted(self.vocabulary, query), len(self.vocabulary) - 1)
        where = where[self.vocabulary[where] == query]
        best = (self.rarity[where].sum() + self.rarity[-1] * (len(query) - len(where))) * (K1 + 1)
        columns = self.columns[where]
        common = columns >= 0
        if common.any():
            asked = np.zeros((1, self.common.dimension), np.float32)
            asked[0, columns[common]] = self.rarity[where[common]]
            covered += self.common.products(asked)[0]
        rare = where[~common]
        held = [slice(*span) for span in zip(self.offsets[rare].tolist(), self.offsets[rare + 1].tolist(), strict=True)]
        if held:
            owners = np.concatenate([self.owners[span] for span in held])
            covered += np.bincount(owners, np.concatenate([self.weights[span] for span in held]), self.texts)
        covered /= best
        return covered


def _rarity(texts: int, holders: NDArray[np.int64]) -> NDArray[np.float64]:
    rarity: NDArray[np.float64] = np.log(1 + (texts - holders + 0.5) / (holders + 0.5))
    return rarity


def standing_out(coverage: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each text covers beyond the fifth best: nothing for nearly all of them."""
    if not len(coverage):
        return coverage
    last = -min(STANDING_OUT, len(coverage))
    above: NDArray[np.float64] = np.maximum(coverage - np.partition(coverage, last)[last], 0.0)
    return above
