"""Values of activation settings: as files write them, as the trigger dialects know them, and back.

A reader answers None for a value that says nothing or cannot be read; the default counts then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from service.formats.names import text, truth

Read = Callable[[object], Any]
Write = Callable[[Any], Any]

LOGICS: Mapping[int, str] = {0: "any", 1: "not_all", 2: "none", 3: "all"}
ROLES: Mapping[int, str] = {0: "system", 1: "user", 2: "assistant"}
PLACES: Mapping[int, str] = {
    0: "before",
    1: "after",
    2: "note_top",
    3: "note_bottom",
    4: "depth",
    5: "examples_top",
    6: "examples_bottom",
    7: "outlet",
}
"""SillyTavern's codes."""
PLACE_NAMES: Mapping[str, int] = {
    "before": 0, "before_char": 0, "after": 1, "after_char": 1, "an_top": 2, "before_an": 2, "an_bottom": 3,
    "after_an": 3, "at_depth": 4, "depth": 4, "em_top": 5, "em_bottom": 6, "outlet": 7,
}  # fmt: skip
"""Words that other programs write instead of a code."""
MAX_NAME = 200
MAX_NAMES = 1000


def number(value: object) -> float | None:
    """A number, also one that was written as text."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        found = float(text(value) or "")
    except ValueError:
        return None
    return found if isfinite(found) else None


def whole(low: int, high: int) -> Read:
    """A whole number within bounds."""

    def read(value: object) -> int | None:
        found = number(value)
        return None if found is None else min(max(round(found), low), high)

    return read


def whole_or_none(low: int, high: int) -> Read:
    """A whole number within bounds, of which 0 says nothing."""
    inside = whole(low, high)
    return lambda value: inside(value) or None


def within(low: float, high: float) -> Read:
    """A number within bounds."""

    def read(value: object) -> float | None:
        found = number(value)
        return None if found is None else min(max(found, low), high)

    return read


def switch(value: object) -> bool | None:
    """A switch, however it was written."""
    return None if value is None else truth(value)


def coded(codes: Mapping[int, str], words: Mapping[str, int] | None = None) -> Read:
    """What a code or a word stands for."""
    spelled = {**{name: code for code, name in codes.items()}, **(words or {})}

    def read(value: object) -> str | None:
        found = number(value)
        if found is not None:
            return codes.get(int(found)) if found == int(found) else None
        return codes.get(spelled.get(value.strip().lower(), -1)) if isinstance(value, str) else None

    return read


def code_of(codes: Mapping[int, str]) -> Write:
    """The code of a value."""
    return {name: code for code, name in codes.items()}.__getitem__


def level(value: object) -> int | None:
    """A level of delay: `true` is the first."""
    return int(value) if isinstance(value, bool) else whole(0, 1000)(value)


def names(value: object) -> tuple[str, ...]:
    """Names out of a list; texts alone, as they are, each once."""
    given = map(text, value) if isinstance(value, list) else ()
    found = dict.fromkeys(name for name in given if name is not None and name.strip() and len(name) <= MAX_NAME)
    return tuple(found)[:MAX_NAMES]


def groups(value: object) -> tuple[str, ...] | None:
    """Inclusion groups out of a list with commas."""
    return names([part.strip() for part in re.split(r",\s*", value)])[:64] if isinstance(value, str) else None


def name(value: object) -> str | None:
    """One name, as it is."""
    return value[:MAX_NAME] if isinstance(value, str) else None


def plain(value: float) -> int | float:
    """A number as JSON writes it shortest."""
    return int(value) if float(value).is_integer() else value
