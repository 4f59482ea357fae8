"""The keys of a lorebook as automata: one pass over a strip finds the first place of every key in it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from ahocorasick_rs import AhoCorasick

from service.lore.activation.strips import Strip
from service.lore.matching import Matcher, unusable

JS_SPACES: Final = (
    "\t\n\x0b\x0c\r \xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""White space of JavaScript, which trims and splits by it."""
_JS_SPACE: Final = re.compile(f"[{JS_SPACES}]")
_ASCII_WORD: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")

Spans = dict[int, tuple[int, int]]
"""Key number to the first `[start, end)` of the strip's text in which it stands."""


class Key(NamedTuple):
    """A key of a lorebook, as one of its entries reads it."""

    written: str
    """As the book writes it."""
    text: str
    """What is searched: with macros replaced and ends trimmed."""
    whole_words: bool
    case_sensitive: bool


class KeyIndex(Protocol):
    """The keys of one lorebook; a key's number is its place in the list that built the index."""

    def first(self, strip: Strip) -> Spans: ...


@dataclass(frozen=True)
class FoldedKeys:
    """Keys compared as names are (`service.lore.matching`): folded, with boundaries in every script."""

    whole: Matcher
    anywhere: Matcher

    @staticmethod
    def usable(text: str) -> bool:
        return not unusable(text)

    @classmethod
    def build(cls, keys: Sequence[tuple[int, Key]]) -> FoldedKeys:
        whole = Matcher.build([(number, key.text) for number, key in keys if key.whole_words])
        anywhere = Matcher.build([(number, key.text) for number, key in keys if not key.whole_words], whole_words=False)
        return cls(whole, anywhere)

    def first(self, strip: Strip) -> Spans:
        spans: Spans = {}
        for matcher in (self.whole, self.anywhere):
            if matcher.automaton is not None:
                for owner, _, start, end in matcher.find(strip.folded):
                    if owner not in spans:  # hits come by their start
                        spans[owner] = (start, end)
        return spans


class _Needle(NamedTuple):
    length: int
    free: tuple[int, ...]
    """Keys that are found anywhere."""
    bounded: tuple[int, ...]
    """Keys that want no ASCII word character beside them."""


@dataclass(frozen=True)
class JavaScriptKeys:
    """Keys compared as SillyTavern does (formats.md 6.3): lower case or not at all, one word between ASCII non-word
    characters, several words anywhere."""

    lowered: AhoCorasick | None
    lowered_needles: tuple[_Needle, ...]
    exact: AhoCorasick | None
    exact_needles: tuple[_Needle, ...]

    @staticmethod
    def usable(text: str) -> bool:
        return bool(text.strip(JS_SPACES))

    @classmethod
    def build(cls, keys: Sequence[tuple[int, Key]]) -> JavaScriptKeys:
        lowered = _automaton((number, key, key.text.lower()) for number, key in keys if not key.case_sensitive)
        exact = _automaton((number, key, key.text) for number, key in keys if key.case_sensitive)
        return cls(*lowered, *exact)

    def first(self, strip: Strip) -> Spans:
        spans: Spans = {}
        if self.exact is not None:
            _find(self.exact, self.exact_needles, strip.text, spans)
        if self.lowered is not None:
            found: Spans = {}
            _find(self.lowered, self.lowered_needles, strip.lowered, found)
            origins = strip.lowered_origins
            spans |= {key: (origins[start], origins[end - 1] + 1) for key, (start, end) in found.items()}
        return spans


def _automaton(keys: Iterable[tuple[int, Key, str]]) -> tuple[AhoCorasick | None, tuple[_Needle, ...]]:
    free: dict[str, list[int]] = defaultdict(list)
    bounded: dict[str, list[int]] = defaultdict(list)
    for number, key, text in keys:
        one_word = key.whole_words and not _JS_SPACE.search(text)
        (bounded if one_word else free)[text].append(number)
    texts = list(dict.fromkeys([*free, *bounded]))
    needles = tuple(_Needle(len(text), tuple(free.get(text, ())), tuple(bounded.get(text, ()))) for text in texts)
    return (AhoCorasick(texts) if texts else None), needles


def _find(automaton: AhoCorasick, needles: Sequence[_Needle], text: str, spans: Spans) -> None:
    last = len(text)
    for number, start, end in automaton.find_matches_as_indexes(text, overlapping=True):
        needle = needles[number]
        keys = needle.free
        if needle.bounded and not (
            (start and text[start - 1] in _ASCII_WORD) or (end < last and text[end] in _ASCII_WORD)
        ):
            keys += needle.bounded
        for key in keys:
            spans.setdefault(key, (start, end))  # a key's places come in their order, since all are as long as it
