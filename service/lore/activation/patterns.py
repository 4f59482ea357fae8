"""Regular-expression keys of SillyTavern, `/pattern/flags`, run so that no pattern can stall a request.

JavaScript's syntax is rewritten for RE2, whose time is linear. What RE2 does not have (looking around, back references)
goes to the `regex` module with a time limit; such a key does not match when the limit passes.
Shape of a key: `parseRegexFromString` of SillyTavern's `utils.js` (formats.md 6.3).
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final

import regex

_SHAPE: Final = re.compile(r"/(.+?)/([gimsuy]*)", re.DOTALL)
_UNESCAPED_SLASH: Final = re.compile(r"(?:^|[^\\])/")
_SPACES: Final = "\t\n\x0b\x0c\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
"""White space of JavaScript."""
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_REFERENCE: Final = re.compile(r"<([A-Za-z_]\w*)>", re.ASCII)
_GROUP: Final = re.compile(r"\(\?<([A-Za-z_]\w*)>", re.ASCII)
_PROPERTY: Final = re.compile(r"\{(?:Script(?:_Extensions)?=|scx?=|General_Category=|gc=)?(\w+)\}", re.ASCII)
_BEYOND_RE2: Final = re.compile(r"\(\?(?:<[=!]|[=!])|\\[1-9k]")
"""What RE2 does not have."""
SEARCH_SECONDS: Final = 0.02
REQUEST_SECONDS: Final = 1.0
MOST_STEPS: Final = 20_000_000
"""Instructions times characters up to which RE2 takes less than half a second whatever the pattern (measured)."""
_MEMORY: Final = 1 << 20
"""Bytes of the automaton that RE2 builds for one pattern."""
_END: Final = "(?:$)"
"""How `$` is written, so that it can be found again."""


@dataclass
class Patience:
    """The seconds that the patterns of one request may take together; afterwards none matches."""

    left: float = REQUEST_SECONDS


@dataclass(frozen=True)
class Pattern:
    """A regular-expression key; build it with `read_pattern`."""

    linear: Any = field(repr=False)
    """Of RE2; null when it does not take the pattern."""
    source: str
    """For `regex`, which is used when the other is not."""
    never: bool
    """Tied to the beginning of the text, where no message begins."""

    @cached_property
    def timed(self) -> Any:
        """Null when `regex` does not take the pattern."""
        try:
            return regex.compile(self.source, regex.ASCII)
        except (regex.error, ValueError, OverflowError, RecursionError):
            return None

    def search(self, text: str, patience: Patience) -> tuple[int, int] | None:
        """The [start, end) of the first match; None as well when it takes too long."""
        if self.never or patience.left <= 0:
            return None
        began = time.perf_counter()
        if self.linear is not None and self.linear.programsize * len(text) <= MOST_STEPS:
            found = self.linear.search(text)
        else:
            found = self._search_timed(text, min(SEARCH_SECONDS, patience.left))
        patience.left -= time.perf_counter() - began
        return None if found is None else found.span()

    def _search_timed(self, text: str, seconds: float) -> Any:
        try:
            return self.timed.search(text, timeout=seconds) if self.timed else None
        except TimeoutError:
            return None


@lru_cache(maxsize=4096)
def read_pattern(key: str) -> Pattern | None:
    """The regular expression of a key, None when the key is plain text, as is one whose pattern no engine takes."""
    shape = _SHAPE.fullmatch(key)
    if shape is None or _UNESCAPED_SLASH.search(shape[1]) or len(set(shape[2])) != len(shape[2]):
        return None
    flags = shape[2]
    kept = "".join(flag for flag in "ims" if flag in flags)
    try:
        source = (f"(?{kept})" if kept else "") + _rewritten(shape[1], unicode="u" in flags)
        slow = source if "m" in flags else source.replace(_END, r"\Z")
    except ValueError:
        return None
    linear = None if _BEYOND_RE2.search(shape[1]) else _linear(source)
    pattern = Pattern(linear, slow, never="y" in flags)
    return pattern if linear is not None or pattern.timed else None


def _linear(source: str) -> Any:
    """The pattern for RE2, null when it does not take it."""
    import re2  # when the first such key comes: few books have any

    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        return re2.compile(source, options)
    except re2.error:
        return None


def _rewritten(pattern: str, *, unicode: bool) -> str:
    """The pattern in the syntax that RE2 and `regex` share. Raises `ValueError` for one that is not sound."""
    out: list[str] = []
    at, in_class = 0, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            piece, at = _escape(pattern, at + 1, in_class=in_class, unicode=unicode)
            out.append(piece)
            continue
        if in_class:
            in_class = char != "]"
            out.append("\\" + char if char in "[&~|" else char)
        elif char == "[":
            empty = next((text for text in ("[^]", "[]") if pattern.startswith(text, at)), None)
            if empty is not None:
                out.append(r"[\s\S]" if empty == "[^]" else r"[^\s\S]")
                at += len(empty)
                continue
            in_class = True
            out.append("[")
            if pattern.startswith("^", at + 1):
                out.append("^")
                at += 1
        elif char == "$":
            out.append(_END)
        elif char == "(" and (group := _GROUP.match(pattern, at)):
            out.append(f"(?P<{group[1]}>")
            at = group.end()
            continue
        else:
            out.append(char)
        at += 1
    if in_class:
        raise ValueError("class without end")
    return "".join(out)


def _escape(pattern: str, at: int, *, in_class: bool, unicode: bool) -> tuple[str, int]:
    """What stands after a backslash, and where the pattern goes on."""
    if at >= len(pattern):
        raise ValueError("backslash at the end")
    char, after = pattern[at], at + 1
    if char == "u":
        end = pattern.find("}", after) if unicode and pattern.startswith("{", after) else after + 4
        digits = pattern[after:end].lstrip("{")
        if not _HEX.fullmatch(digits) or int(digits, 16) > 0x10FFFF:
            return "u", after
        return re.escape(chr(int(digits, 16))), end + pattern.startswith("{", after)
    if char in "sS":
        if in_class:
            return (_SPACES if char == "s" else r"\S"), after
        return f"[{'^' * (char == 'S')}{_SPACES}]", after
    if char in "pP":
        named = _PROPERTY.match(pattern, after) if unicode else None
        if unicode and named is None:
            raise ValueError("property without a name")
        return (f"\\{char}{{{named[1]}}}", named.end()) if named else (char, after)
    if char == "k" and (name := _REFERENCE.match(pattern, after)):
        return f"(?P={name[1]})", name.end()
    if char == "0":
        return r"\x00", after
    if char in "bB" and in_class:
        return (r"\x08" if char == "b" else "B"), after
    if char in "dDwWbBfnrtv" or char.isdigit():
        return "\\" + char, after
    if char == "x" and _HEX.fullmatch(pattern[after : after + 2]) and len(pattern) >= after + 2:
        return pattern[at - 1 : after + 2], after + 2
    return (char if char.isalnum() else re.escape(char)), after
