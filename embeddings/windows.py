"""A text into pieces that a model can read whole, and into small windows that begin and end with a sentence.

A piece says what a text is about, a window what one passage of it says. Cuts fall, in this order of preference, between
sentences, at white space, between graphemes; nothing but white space is lost.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex

CountTokens = Callable[[Sequence[str]], list[int]]

WINDOW_TOKENS = 32
_CHARACTERS_PER_TOKEN = 16

# Every script's sentence terminals: the Unicode property STerm and the Tibetan shad. The European ones also occur
# inside words and numbers, so they end a sentence only before white space, and a full stop only when no lower-case
# letter follows and no initial or title stands before it. A run of them is met at its start alone and never given
# back in part: 20,000 dots must not be tried from each dot on.
_SENTENCE_END = regex.compile(
    r"""
      [\n\r\u2028\u2029]+
    | (?<! [.!?…] )
      (?: (?<! \b(?:\p{Lu}|Mr|Mrs|Ms|Dr|St|Prof|vs) ) \. (?! ["'”’»)\]]*+ [^\S\n\r]++ \p{Ll} )
        | [!?…] | \.[.!?…] )
      [.!?…]*+ ["'”’»)\]]*+ (?: \s+ | \Z )
    | [\p{STerm}．｡།༎--[.!?]]+ [\p{Pe}\p{Pf}"']* \s*
    """,
    regex.VERBOSE | regex.VERSION1,
)
_GRAPHEME = regex.compile(r"\X")


@dataclass(frozen=True)
class Cut:
    pieces: tuple[str, ...]
    """Each within what the model reads; an ordinary text is one piece, itself."""
    windows: tuple[str, ...]


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    tokens: int


def cut(text: str, count: CountTokens, *, piece_tokens: int, window_tokens: int = WINDOW_TOKENS) -> Cut:
    """Pieces of at most `piece_tokens` and windows of at most `window_tokens`; windows do not overlap or cross pieces.

    `count` is called with all sentences at once, and again only for what is too long. Tokens of a window are the sum
    of those of its sentences. A single grapheme is never cut, however many tokens it has.
    """
    windows = _windows(text, count, min(window_tokens, piece_tokens))
    pieces = _joined(windows, piece_tokens)
    return Cut(pieces=_texts(text, pieces), windows=_texts(text, windows))


def windows_of(text: str, count: CountTokens, tokens: int) -> list[str]:
    """The windows alone, of at most `tokens`; a text without anything but white space has none."""
    return list(_texts(text, _windows(text, count, tokens)))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text in any script, each with the white space behind it: joined they are the text."""
    return (text[start:end] for start, end in _sentence_bounds(text))


def _sentence_bounds(text: str) -> Iterator[tuple[int, int]]:
    start = blank = 0
    for match in _SENTENCE_END.finditer(text):
        if text[blank : match.end()].isspace():
            blank = match.end()
            continue
        yield start, match.end()
        start = blank = match.end()
    if start < len(text):
        yield start, len(text)


def _windows(text: str, count: CountTokens, limit: int) -> list[_Span]:
    if limit < 1:
        raise ValueError(f"a window of {limit} tokens holds nothing")
    bounds = [
        bound
        for start, end in _sentence_bounds(text)
        for bound in _divided(text, start, end, -(-(end - start) // (limit * _CHARACTERS_PER_TOKEN)))
    ]
    return _joined(_fitting(text, _written(text, bounds), count, limit), limit)


def _written(text: str, bounds: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those with more in them than white space."""
    return [(start, end) for start, end in bounds if not text[start:end].isspace()]


def _fitting(text: str, bounds: list[tuple[int, int]], count: CountTokens, limit: int) -> list[_Span]:
    """The spans with their tokens, those above the limit divided until they fit."""
    if not bounds:
        return []
    spans: list[_Span] = []
    tokens = count([text[start:end].strip() for start, end in bounds])
    for (start, end), number in zip(bounds, tokens, strict=True):
        parts = _divided(text, start, end, -(-number // limit))
        if len(parts) > 1:
            spans += _fitting(text, _written(text, parts), count, limit)
        else:
            spans.append(_Span(start, end, number))
    return spans


def _divided(text: str, start: int, end: int, parts: int) -> list[tuple[int, int]]:
    """`parts` parts of about equal length, or fewer; cut at white space if there is some near, else at a grapheme."""
    if parts <= 1:
        return [(start, end)]
    length = (end - start) / parts
    stops = [start + match.end() for match in _GRAPHEME.finditer(text[start:end])]
    blanks = [stop for stop in stops if text[stop - 1].isspace()]
    cuts = {start, end}
    for i in range(1, parts):
        wanted = start + length * i
        nearest = _nearest(blanks, wanted)
        if nearest is None or abs(nearest - wanted) > length / 3:
            nearest = _nearest(stops, wanted)
        cuts.add(end if nearest is None else nearest)
    return list(pairwise(sorted(cuts)))


def _nearest(stops: list[int], wanted: float) -> int | None:
    at = bisect_left(stops, wanted)
    return min(stops[max(at - 1, 0) : at + 1], key=lambda stop: abs(stop - wanted), default=None)


def _joined(spans: Sequence[_Span], limit: int) -> list[_Span]:
    """Neighbours put together as long as the sum of their tokens stays within the limit."""
    joined: list[_Span] = []
    for span in spans:
        if joined and joined[-1].tokens + span.tokens <= limit:
            joined[-1] = _Span(joined[-1].start, span.end, joined[-1].tokens + span.tokens)
        else:
            joined.append(span)
    return joined


def _texts(text: str, spans: Sequence[_Span]) -> tuple[str, ...]:
    return tuple(text[span.start : span.end].strip() for span in spans)
