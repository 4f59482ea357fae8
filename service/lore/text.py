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
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from service.lore.folding_table import (
    ATTACHED,
    CARE,
    INVISIBLE,
    JAMO,
    REGIONAL_INDICATORS,
    SPECIAL,
    UNSURE,
    VOWEL_AND_FINAL_JAMO,
    ZWJ,
    fold_cluster,
    folding_table,
    is_jamo_or_syllable,
    is_pictograph,
)

_ASCII_BLANKS = "\n\t\r\v\f\x1c\x1d\x1e\x1f"
_BLANKS = re.compile("  +")
_CACHED_LENGTH = 8
_MANY = 64
"""Clusters of a text from which finding them with numpy costs less than one by one."""
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
        plain = text.lower()
        for blank in _ASCII_BLANKS:  # nine searches cost less than one translation of every character
            if blank in plain:
                plain = plain.replace(blank, " ")
        if "  " not in plain:
            return Folded(plain, text)
        runs = [run.span() for run in _BLANKS.finditer(plain)]
        return _replace(text, plain, runs, [" "] * len(runs))

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4")
    folded = folding_table().folded.take(codes, mode="clip")
    care = np.empty(0, dtype=np.int64)
    widest = int(folded.max())
    if widest >= SPECIAL:
        special = np.flatnonzero(folded >= SPECIAL)
        # A character that is only watched is itself unless another special one stands before it.
        alone = (folded[special] < CARE) & ((folded[special - 1] < SPECIAL) | (special == 0))
        care = special[~alone]
        folded[special] = codes[special]
        folded[care] = 0
        widest = int(folded.max())
    if widest < 0x10000:  # numpy narrows and Python reads UTF-16 in half the time of reading UTF-32
        plain = folded.astype("<u2").tobytes().decode("utf-16-le")
    else:
        plain = folded.tobytes().decode("utf-32-le")
    if "  " in plain:
        care = np.sort(np.append(care, [run.start() + 1 for run in _BLANKS.finditer(plain)]))
    if not care.size:
        return Folded(plain, text)
    spans = _few_clusters(text, care.tolist()) if care.size < _MANY else _many_clusters(text, codes, care)
    clusters = [text[start:end] for start, end in spans]
    folds = [_fold_short_cluster(c) if len(c) <= _CACHED_LENGTH else fold_cluster(c) for c in clusters]
    return _replace(text, plain, spans, folds)


def _replace(text: str, plain: str, spans: list[tuple[int, int]], folds: list[str]) -> Folded:
    """Put the folds of the clusters at these spans into `plain`, which is as long as `text` and right elsewhere."""
    origins = [end for _, end in spans]
    pieces = [""] * (2 * len(spans) + 1)
    pieces[1::2] = folds
    pieces[2::2] = [plain[end:start] for end, (start, _) in zip(origins, [*spans[1:], (len(plain), 0)], strict=True)]
    pieces[0] = plain[: spans[0][0]]
    growth = accumulate(len(out) - end + start for (start, end), out in zip(spans, folds, strict=True))
    ends = [end + grown for end, grown in zip(origins, growth, strict=True)]
    starts = [end - len(out) for end, out in zip(ends, folds, strict=True)]
    return Folded("".join(pieces), text, starts, ends, origins)


def _few_clusters(text: str, care: list[int]) -> list[tuple[int, int]]:
    """The [start, end) of the clusters around these positions, one by one."""
    spans = []
    done = 0
    for position in care:
        if position >= done:
            start = _cluster_start(text, position, done)
            done = _cluster_end(text, start)
            spans.append((start, done))
    return spans


def _many_clusters(text: str, codes: npt.NDArray[np.int32], care: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """The same for the many clusters of decomposed or pointed text: all at once, and the unsure ones one by one."""
    roles = folding_table().roles.take(codes, mode="clip")
    jamo = np.flatnonzero(roles == JAMO)
    before = codes[jamo - 1]
    hangul = ((before >= 0x1100) & (before < 0x1200)) | ((before >= 0xA960) & (before < 0xA980))
    hangul |= (before >= 0xAC00) & (before < 0xD7FC)
    begins = (roles != ATTACHED) & (codes != ord(ZWJ))
    begins[jamo[hangul]] = False
    begins[0] = True
    bases = np.flatnonzero(begins)
    cluster = np.searchsorted(bases, care, side="right") - 1
    unsure = (roles[care] == UNSURE) | (roles[bases[cluster]] == UNSURE)
    sure = np.unique(cluster[~unsure])
    starts, ends = bases[sure], np.append(bases, len(text))[sure + 1]
    if not unsure.any():
        return list(zip(starts.tolist(), ends.tolist(), strict=True))
    slow = _few_clusters(text, care[unsure].tolist())
    slow_starts, slow_ends = np.array(slow).T
    last = np.searchsorted(slow_starts, starts, side="right") - 1
    free = (last < 0) | (slow_ends[last] <= starts)
    return sorted([*slow, *zip(starts[free].tolist(), ends[free].tolist(), strict=True)])


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
