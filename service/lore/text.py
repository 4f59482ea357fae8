"""Folding: texts and aliases are compared in a form that ignores what readers ignore, and hits map back.

The fold is defined cluster by cluster (`folding_table.fold_cluster`); this module finds the few clusters of a text
that need that, and takes everything else from a table in one step.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from service.lore.folding_table import (
    CARE,
    INVISIBLE,
    REGIONAL_INDICATORS,
    SPECIAL,
    VOWEL_AND_FINAL_JAMO,
    ZWJ,
    fold_cluster,
    folding_table,
    is_jamo_or_syllable,
    is_pictograph,
)

_ASCII = bytes(ord(" ") if chr(b).isspace() and b < 128 else ord(chr(b).lower()) if b < 128 else b for b in range(256))
_BLANKS = re.compile("  +")
_CACHED_LENGTH = 8
_fold_short_cluster = lru_cache(maxsize=8192)(fold_cluster)


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text and the way back to the original.

    Characters fold one to one, except in the clusters listed here, in order: cluster k covers
    `text[starts[k]:ends[k]]` and its last code point is `original[origins[k] - 1]`.
    """

    text: str
    original: str
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()
    origins: Sequence[int] = ()

    def splits_cluster(self, at: int) -> bool:
        """Whether this position of the folded text lies inside a listed cluster.

        A combining mark that folds to itself is not listed: it attaches to what stands before it all the same.
        """
        after = bisect_right(self.ends, at)
        return after < len(self.starts) and self.starts[after] < at

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The [start, end) of the original, in code points, for one of the folded text that splits no cluster."""
        return self._origin(start), self._origin(end)

    def _origin(self, at: int) -> int:
        before = bisect_right(self.ends, at) - 1
        return at if before < 0 else self.origins[before] + at - self.ends[before]


def fold(text: str) -> Folded:
    """Fold any text, lone surrogates included: compatibility forms, case, apostrophes, accents, blanks.

    Blanks become one blank but are not trimmed. A dotless ı folds to i; whoever cares looks at the original.
    """
    if text.isascii():
        plain = text.encode("ascii").translate(_ASCII).decode("ascii")
        if "  " not in plain:
            return Folded(plain, text)
        return _fold_clusters(text, plain, [run.start() + 1 for run in _BLANKS.finditer(plain)])

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4")
    folded = folding_table().folded.take(codes, mode="clip")
    care: list[int] = []
    widest = int(folded.max())
    if widest >= SPECIAL:
        special = np.flatnonzero(folded >= SPECIAL)
        # A character that is only watched is itself unless another special one stands before it.
        alone = (folded[special] < CARE) & ((folded[special - 1] < SPECIAL) | (special == 0))
        care = special[~alone].tolist()
        folded[special] = codes[special]
        folded[care] = 0
        widest = int(folded.max())
    if widest < 0x10000:  # numpy narrows and Python reads UTF-16 in half the time of reading UTF-32
        plain = folded.astype("<u2").tobytes().decode("utf-16-le")
    else:
        plain = folded.tobytes().decode("utf-32-le")
    if "  " in plain:
        care = sorted([*care, *(run.start() + 1 for run in _BLANKS.finditer(plain))])
    return _fold_clusters(text, plain, care) if care else Folded(plain, text)


def _fold_clusters(text: str, plain: str, care: list[int]) -> Folded:
    """Fold the clusters around the positions in `care`, and copy the rest from `plain`, which is as long as `text`."""
    pieces, starts, ends, origins = [], [], [], []
    done = length = 0
    for position in care:
        if position < done:
            continue
        start = _cluster_start(text, position, done)
        end = _cluster_end(text, start)
        cluster = text[start:end]
        out = _fold_short_cluster(cluster) if end - start <= _CACHED_LENGTH else fold_cluster(cluster)
        pieces.append(plain[done:start])
        pieces.append(out)
        length += start - done + len(out)
        starts.append(length - len(out))
        ends.append(length)
        origins.append(end)
        done = end
    pieces.append(plain[done:])
    return Folded("".join(pieces), text, starts, ends, origins)


def _cluster_start(text: str, position: int, lowest: int) -> int:
    start = position
    if text[start].isspace() and start > lowest and text[start - 1].isspace():
        start -= 1
    attached = folding_table().attached
    while start > lowest and (text[start] in attached or _continues_syllable(text, start)):
        start -= 1
    return start


def _cluster_end(text: str, start: int) -> int:
    end, length, first = start + 1, len(text), text[start]
    attached = folding_table().attached
    if first.isspace():
        while end < length and (text[end].isspace() or text[end] in INVISIBLE):
            end += 1
    elif first in REGIONAL_INDICATORS and end < length and text[end] in REGIONAL_INDICATORS:
        end += 1
    while end < length and (
        text[end] in attached
        or _continues_syllable(text, end)
        or (text[end - 1] == ZWJ and is_pictograph(text[end]) and is_pictograph(first))
    ):
        end += 1
    return end


def _continues_syllable(text: str, at: int) -> bool:
    return text[at] in VOWEL_AND_FINAL_JAMO and is_jamo_or_syllable(text[at - 1])


def clean_line(text: str) -> str:
    """A title, alias or name as one line: each run of control characters and line breaks is one blank, ends trimmed."""
    if text.isprintable():
        return text.strip()
    return _CONTROLS.sub(" ", text).strip()


_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
