"""Finding every alias of a book in a text: one pass of an Aho-Corasick automaton, then boundaries at the hits only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, Self

from ahocorasick_rs import BytesAhoCorasick, Implementation

from service.lore.text import Folded, clean_line, fold

_DFA_ALIASES: Final = 500
"""Up to here a DFA, which scans in half the time and builds in a few milliseconds; beyond, it takes 4 kB an alias."""
_DFA_BYTES, _NFA_BYTES, _NAME_BYTES = 400, 50, 200
"""Measured memory of the automata per byte of folded alias, and of the Python values of one name."""

_UNSPACED: Final = frozenset(
    {
        *("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HENTAIGANA", "BOPOMOFO", "HANGUL"),
        *("YI", "TANGUT", "NUSHU", "KHITAN"),
        *("THAI", "LAO", "KHMER", "MYANMAR", "TAI", "NEW", "JAVANESE", "BALINESE"),
    }
)
"""Scripts (first words of character names) that do not part words by blanks, or glue particles to them. TAI and NEW
are Tai Le, Tai Tham, Tai Viet and New Tai Lue."""
_EVERY_SCRIPT: Final = ""
_STACKERS: Final = frozenset("\u1039\u17d2\u1a60")
"""Signs that put the next letter under the last one: Burmese, Khmer, Tai Tham."""
_PROCLITIC: Final = re.compile("[وف]|[وف]?(?:[بكل]|[بكل]?ال|لل)")
"""And, so, in, like, to, the: written together with the Arabic word that follows; ل and ال join to لل."""
_LONGEST_PROCLITIC: Final = 4


class Hit(NamedTuple):
    """One alias in one place; a named tuple because a long text has thousands."""

    owner: int
    alias: str
    """As written in the book."""
    start: int
    end: int
    """[start, end) in code points of the original text."""


class _Pattern(NamedTuple):
    length: int
    dotless: bool
    names: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Matcher:
    """All aliases of a book as one immutable automaton over folded UTF-8; build it with `Matcher.build`."""

    automaton: BytesAhoCorasick | None
    patterns: tuple[_Pattern, ...]
    nbytes: int
    """Estimated memory, for whoever caches it."""
    whole_words: bool = True
    """Whether a hit must begin and end where a word does."""

    @classmethod
    def build(cls, names: Sequence[tuple[int, str]], *, whole_words: bool = True) -> Self:
        """Build from (owner, alias) pairs; unusable aliases are left out (`unusable` lets a caller report them)."""
        owners: dict[str, dict[tuple[int, str], None]] = {}
        # Folded as one text, since every call has a fixed price; no line holds the separator.
        joined = fold("\0".join(clean_line(alias) for _, alias in names)).text
        for name, folded in zip(names, joined.split("\0"), strict=False):
            if key := folded.strip(" "):
                owners.setdefault(key, {})[name] = None
        if not owners:
            return cls(None, (), 0, whole_words)
        keys = [key.encode() for key in owners]
        small = len(keys) <= _DFA_ALIASES
        automaton = BytesAhoCorasick(keys, implementation=Implementation.DFA if small else None)
        patterns = tuple(
            _Pattern(len(key), any("ı" in alias for _, alias in named), tuple(named)) for key, named in owners.items()
        )
        nbytes = sum(map(len, keys)) * (_DFA_BYTES if small else _NFA_BYTES) + len(names) * _NAME_BYTES
        return cls(automaton, patterns, nbytes, whole_words)

    def find(self, folded: Folded) -> list[Hit]:
        """Every hit of every alias, overlapping ones too, by start, then longest first, then order in the book."""
        if self.automaton is None:
            return []
        text, data = folded.text, folded.text.encode()
        found = self.automaton.find_matches_as_indexes(data, overlapping=True)
        if len(data) != len(text):
            found = self._in_code_points(found, data)
        if self.whole_words:
            kept = _whole_words(text, found)
        else:
            kept = [(start, -end, pattern) for pattern, start, end in found]
        if folded.ends:
            kept = [hit for hit in kept if not (folded.splits_cluster(hit[0]) or folded.splits_cluster(-hit[1]))]
        kept.sort()
        return self._hits(folded, kept)

    def _in_code_points(self, found: list[tuple[int, int, int]], data: bytes) -> list[tuple[int, int, int]]:
        """The same matches, which come in order of their ends, in code points instead of bytes."""
        converted = []
        at = points = 0
        for pattern, _, end in found:
            if end != at:
                points += len(data[at:end].decode())
                at = end
            converted.append((pattern, points - self.patterns[pattern].length, points))
        return converted

    def _hits(self, folded: Folded, kept: list[tuple[int, int, int]]) -> list[Hit]:
        dotless = "ı" in folded.original
        hits = []
        for folded_start, minus_end, pattern in kept:
            start, end = folded_start, -minus_end
            if folded.ends:
                start, end = folded.span(start, end)
            _, careful, names = self.patterns[pattern]
            for owner, alias in names:
                if (careful or dotless) and _dots_differ(alias, folded.original[start:end]):
                    continue
                hits.append(Hit(owner, alias, start, end))
        return hits


def _whole_words(text: str, found: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """(start, -end, pattern) of the matches that begin and end where a word does."""
    last = len(text)
    kept = []
    for pattern, start, end in found:
        if end < last and _same_word(text[end - 1 : end + 1]) and not _emphasised(text, end - 1, 1):
            continue
        if start and _same_word(text[start - 1 : start + 1]) and not _may_begin(text, start):
            continue
        kept.append((start, -end, pattern))
    return kept


def unusable(alias: str) -> bool:
    """Whether nothing of this alias is left to look for: only blanks, zero-width characters, optional marks."""
    return not fold(clean_line(alias)).text.strip(" ")


@lru_cache(maxsize=1 << 16)
def _same_word(pair: str) -> bool:
    """Whether no alias may begin or end between these two neighbours of a folded text."""
    before, after = pair[0], pair[1]
    category = unicodedata.category(after)
    if category[0] == "M" or (before in _STACKERS and category[0] == "L"):
        return True
    left, right = _script(before), _script(after)
    if left is None or right is None or left in _UNSPACED or right in _UNSPACED:
        return False
    return left == right or _EVERY_SCRIPT in (left, right)


def _script(character: str) -> str | None:
    """The script of a word character, None for any other; digits, underscore, accents belong to every spaced script."""
    category = unicodedata.category(character)
    if category == "Nd" or character == "_":
        return _EVERY_SCRIPT
    if category[0] not in "LM":
        return None
    name = unicodedata.name(character, "")
    script = name.removeprefix("COMBINING ").partition(" ")[0]
    inherited = script != name.partition(" ")[0] and script not in _UNSPACED
    return _EVERY_SCRIPT if inherited else script


def _may_begin(text: str, start: int) -> bool:
    """Whether an alias may begin inside a word here."""
    return _after_proclitic(text, start) or _emphasised(text, start, -1)


def _emphasised(text: str, edge: int, step: int) -> bool:
    """Whether nothing but underscores stands between the outermost letter of an alias and where the word ends there.

    Markdown writes emphasis so: `_Elara_`.
    """
    at = edge + step
    # An alias that ends with underscores itself would have them counted at each of its hits in a long line of them.
    if text[at] != "_" or text[edge] == "_":
        return False
    while 0 <= at < len(text) and text[at] == "_":
        at += step
    return not 0 <= at < len(text) or not _same_word(f"_{text[at]}" if step > 0 else f"{text[at]}_")


def _after_proclitic(text: str, start: int) -> bool:
    """Whether the word in which an alias begins has before it nothing but Arabic proclitics."""
    if text[start - 1] not in "وفبكل":
        return False
    first = start - 1
    while first > 0 and _same_word(text[first - 1 : first + 1]):
        first -= 1
        if start - first > _LONGEST_PROCLITIC:
            return False
    return _PROCLITIC.fullmatch(text, first, start) is not None


def _dots_differ(alias: str, text: str) -> bool:
    """Whether a small ı meets a small i or İ; a capital I is either of them. Both fold to the same text."""
    return any({left, right} == {"i", "ı"} for left, right in zip(_dots(alias), _dots(text), strict=False))


def _dots(text: str) -> list[str]:
    """Of each letter that folds to i: "i" with a dot, "ı" without one, "I" when its case hides it."""
    return ["i" if found == "I\u0307" else found for found in _I.findall(unicodedata.normalize("NFKD", text))]


_I = re.compile("I\u0307|[Iiı]")
