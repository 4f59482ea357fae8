"""Counting tokens so that sums are exact.

A prompt is a row of blocks. A block starts with `#`, `-` or `<` and ends with a line break; between two such blocks
every tiktoken pattern splits (a run of white space or punctuation ends with its last line break, and none of the three
characters can continue one), so the tokens of a prompt are exactly the sum of the tokens of its blocks, and the count
of each block can be cached. `tests/lore/test_tokens.py` holds this over arbitrary blocks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

_SLICE = 100_000
_SHORT = 200
_IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def _counted(encode: Callable[[str], Sequence[int]], text: str) -> int:
    # One run of a million blanks overflows the stack of tiktoken's regular expressions, so long texts go in slices.
    return sum(len(encode(text[start : start + _SLICE])) for start in range(0, len(text), _SLICE))


_counted_once = lru_cache(maxsize=4096)(_counted)
"""For headings and frames, which come back in every prompt."""


@dataclass(frozen=True, kw_only=True)
class Tokenizer:
    """Counts the tokens of a text."""

    name: str
    encode: Callable[[str], Sequence[int]]
    """Text to token ids; special tokens are read as ordinary text."""
    exact: bool = True
    """False when the model's own tokenizer is not known and this one stands in."""
    detail: str | None = None
    """Why it is not exact."""
    margin: float = 1.0
    """Factor on the count, for a tokenizer that stands in."""

    def count(self, text: str) -> int:
        """Tokens of `text`; of a stand-in never fewer than its ideographs, syllables and kana."""
        tokens = _counted_once(self.encode, text) if len(text) <= _SHORT else _counted(self.encode, text)
        if self.exact:
            return tokens
        return max(math.ceil(tokens * self.margin), len(_IDEOGRAPHS.findall(text)))
