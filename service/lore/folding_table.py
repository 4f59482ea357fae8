"""What one cluster folds to, and the table that answers it for most characters at once.

A cluster is a base character with everything that attaches to it: combining marks, characters without width,
variation selectors, Hangul vowels and finals, the rest of an emoji sequence. It never folds apart, so a hit can only
begin and end between clusters. Normalisation follows UAX #15, the clusters follow UAX #29 where matching needs it.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

ZWJ: Final = "\u200d"
TAGS: Final = frozenset(map(chr, range(0xE0020, 0xE0080)))
EMOJI_MODIFIERS: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
REGIONAL_INDICATORS: Final = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
VOWEL_AND_FINAL_JAMO: Final = frozenset(map(chr, [*range(0x1160, 0x1200), *range(0xD7B0, 0xD7FC)]))

_ARABIC_MARKS = (
    *range(0x0610, 0x061B), 0x0640, *range(0x064B, 0x0653), *range(0x0656, 0x0660), 0x0670,
    *range(0x06D6, 0x06DD), *range(0x06DF, 0x06E5), 0x06E7, 0x06E8, *range(0x06EA, 0x06EE),
    *range(0x08CA, 0x08E2), *range(0x08E3, 0x0900),
)  # fmt: skip
_HEBREW_POINTS = (*range(0x0591, 0x05BE), 0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7)
_WITHOUT_WIDTH = (
    0x00AD, 0x034F, 0x061C, *range(0x180B, 0x1810), 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F),
    *range(0x2060, 0x2065), *range(0x2066, 0x2070), *range(0xFE00, 0xFE10), 0xFEFF, 0xE0001, *range(0xE0100, 0xE01F0),
)  # fmt: skip
REMOVED: Final = frozenset(map(chr, _ARABIC_MARKS + _HEBREW_POINTS + _WITHOUT_WIDTH))
INVISIBLE: Final = REMOVED | TAGS | {ZWJ, "\u200c"}
"""Folds to nothing, except that joiners and tags hold an emoji sequence together."""

_LETTERS = {ord(c): "'" for c in "‘’‛ʻʼ׳"} | {0x2010: "-", ord("ı"): "i", ord("ٱ"): "ا"}
_ALEF_MARKS = "\u0653\u0654\u0655"
_STRESS = "\u0301"
_LONGEST = 32
"""Code points of a cluster that count: the limit of Unicode's stream-safe format, since reordering is quadratic."""

_LETTERS_THAT_CHANGE = frozenset(map(chr, _LETTERS))
_ATTACHED_LETTERS = frozenset("\u0e33\u0eb3\uff9e\uff9f")  # Thai and Lao sara am, half-width voicing marks

PLAIN_PLANES: Final = 0x20000
_VARIED = ((0, 0x3400), (0xA000, 0xAC00), (0xD7A4, 0xD800), (0xF900, PLAIN_PLANES))
"""Where anything can fold or attach: not Han, Hangul syllables, surrogates, private use."""
SPECIAL: Final = 0x200000
CARE: Final = 0x400000
BASE, ATTACHED, JAMO, UNSURE = range(4)
"""Begins a cluster; continues it; continues it after Hangul; only its neighbours can tell."""


def is_pictograph(character: str) -> bool:
    """Whether a zero-width joiner can glue this character into an emoji sequence."""
    return "\U0001f000" <= character <= "\U0001faff" or character == "↔" or unicodedata.category(character) == "So"


def is_jamo_or_syllable(character: str) -> bool:
    return (
        "\u1100" <= character <= "\u11ff"
        or "\ua960" <= character <= "\ua97f"
        or "\uac00" <= character <= "\ud7fb"
    )  # fmt: skip


def fold_cluster(cluster: str) -> str:
    """The folded text of one cluster; the definition that the table and its callers only speed up."""
    seen = _without_invisible(cluster)[:_LONGEST]
    decomposed = unicodedata.normalize("NFD", seen)
    compatible = unicodedata.normalize("NFD", "".join(map(_compatible, decomposed)))
    bare = _without_accents(compatible.translate(_LETTERS)).casefold()
    composed = unicodedata.normalize("NFC", bare)
    if _STRESS in composed and _script_word(composed[0]) == "CYRILLIC":
        composed = composed.replace(_STRESS, "")
    return composed


def _without_invisible(cluster: str) -> str:
    if cluster[0].isspace():
        return " " + "".join(c for c in cluster if not c.isspace() and c not in INVISIBLE)
    if not is_pictograph(cluster[0]):
        return "".join(c for c in cluster if c not in INVISIBLE)
    kept = []
    for character, following in zip(cluster, cluster[1:] + " ", strict=True):
        joins = character == ZWJ and is_pictograph(following) and following not in EMOJI_MODIFIERS
        if joins or character in TAGS or character not in INVISIBLE:
            kept.append(character)
    return "".join(kept)


@cache
def _compatible(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"  # the automaton reads UTF-8, which has no lone surrogates
    folded = unicodedata.normalize("NFKD", character)
    # A spacing accent is written there as a blank and a mark, and would begin a word that nobody sees.
    if _is_enclosed_number(character) or (" " in folded and not character.isspace()):
        return character
    return folded


def _is_enclosed_number(character: str) -> bool:
    enclosed = "\u2460" <= character <= "\u24ff" or "\u3200" <= character <= "\u32ff" or "🄀" <= character <= "🄏"
    return enclosed and unicodedata.category(character) == "No"


def _without_accents(decomposed: str) -> str:
    base, kept = "", []
    for character in decomposed:
        if unicodedata.category(character)[0] != "M":
            base = character
        elif (base == "ا" and character in _ALEF_MARKS) or (_is_accent(character) and _loses_accents(base)):
            continue
        if character in REMOVED:  # it came out of a presentation form
            continue
        kept.append(character)
    return "".join(kept)


@cache
def _is_accent(mark: str) -> bool:
    return unicodedata.category(mark) == "Mn" and _name(mark).startswith("COMBINING")


def _loses_accents(base: str) -> bool:
    return bool(base) and unicodedata.category(base) in {"Lu", "Ll", "Lo"} and _script_word(base) in {"LATIN", "GREEK"}


def _name(character: str) -> str:
    return unicodedata.name(character, "")


def _script_word(character: str) -> str:
    return _name(character).partition(" ")[0]


@dataclass(frozen=True, eq=False)
class FoldingTable:
    """What the fast fold looks up."""

    folded: npt.NDArray[np.int32]
    """By code point, for planes 0 and 1 and one last row for all others: the folded code point of a character that
    folds to one, whatever stands beside it; SPECIAL + itself when only another special neighbour can change it; CARE
    when its cluster must be looked at."""
    roles: npt.NDArray[np.uint8]
    """By code point, in the same rows: how a character takes part in clusters (BASE, ATTACHED, JAMO, UNSURE)."""
    attached: frozenset[str]
    """The characters that belong to the cluster of whatever stands before them."""


@cache
def folding_table() -> FoldingTable:
    """Build the table (tens of milliseconds), once, at the first text that is not ASCII."""
    characters = [chr(point) for first, end in _VARIED for point in range(first, end)]
    decompositions = {c: found for c in characters if (found := unicodedata.decomposition(c))}
    marks = [c for c in characters if unicodedata.category(c)[0] == "M"]
    attached = INVISIBLE | EMOJI_MODIFIERS | _ATTACHED_LETTERS | frozenset(marks)
    care = attached | REGIONAL_INDICATORS | VOWEL_AND_FINAL_JAMO

    folded = np.arange(PLAIN_PLANES + 1, dtype=np.int32)
    folded[PLAIN_PLANES] = CARE
    folded[[ord(c) for c in care if ord(c) < PLAIN_PLANES]] = CARE
    cased = {c for c in characters if c.casefold() != c or c.isspace()}
    for character in (decompositions.keys() | _LETTERS_THAT_CHANGE | cased) - care:
        out = fold_cluster(character)
        folded[ord(character)] = ord(out) if len(out) == 1 else CARE
    folded[0xD800:0xE000] = 0xFFFD
    for character, watched in _steady(marks, decompositions).items():
        folded[ord(character)] = ord(character) + SPECIAL * watched

    roles = np.full(PLAIN_PLANES + 1, BASE, dtype=np.uint8)
    roles[[ord(c) for c in attached if ord(c) < PLAIN_PLANES]] = ATTACHED
    roles[[ord(c) for c in VOWEL_AND_FINAL_JAMO]] = JAMO
    roles[[ord(c) for c in characters if c.isspace() or c == ZWJ or c in REGIONAL_INDICATORS]] = UNSURE
    roles[PLAIN_PLANES] = UNSURE
    return FoldingTable(folded, roles, attached)


def _steady(marks: list[str], decompositions: dict[str, str]) -> dict[str, bool]:
    """Marks that fold to themselves, and what some of them compose with; True when two of them in a row need care.

    Two marks with combining classes may have to change places, and a few vowel signs (Bengali, Tamil, …) compose with
    the sign or letter before them. Marks that fold together with common letters (accents, nuktas) are not steady.
    """
    partners: dict[str, list[str]] = {}
    for decomposition in decompositions.values():
        points = decomposition.split()
        if len(points) == 2 and points[0][0] != "<":
            first, second = (chr(int(point, 16)) for point in points)
            partners.setdefault(second, []).append(first)
    steady: dict[str, bool] = {}
    for mark in marks:
        if mark in REMOVED or _name(mark).startswith("COMBINING") or mark in decompositions:
            continue
        before = partners.get(mark, [])
        orders = unicodedata.combining(mark) > 0
        if orders and any(unicodedata.category(c)[0] == "L" for c in before):
            continue
        steady[mark] = steady.get(mark, False) or orders or bool(before)
        steady.update((c, True) for c in before if fold_cluster(c) == c)
    return steady
