"""Agnai memory books: `{"kind": "memory", "name": …, "entries": [{"entry": …, "keywords": […], …}]}`; also no kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from service.formats.format import Format
from service.formats.keys import patterns
from service.formats.names import aliases, book_name, keys_of, truth
from service.formats.report import FormatName, Reading, without_home
from service.formats.rows import Row, gather, kept, kept_of_file, listed, reading

NAME = "agnai"
_HOME = {"name", "entry", "keywords", "secondaryKeys", "enabled", "constant", "comment", "id"}
_WILDCARD = re.compile("[*?]")
_BOOK_HOME = {"kind", "_id", "userId", "name", "description", "entries"}
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "priority": (0, "0"),
    "weight": (0, "0"),
    "selective": (False,),
    "selectiveLogic": (0,),
    "position": (0, "before_char"),
    "probability": (100,),
    "useProbability": (True, False),
    "excludeRecursion": (False,),
}
_BOOK_SPELLED = {"scan_depth": "scanDepth", "token_budget": "tokenBudget", "recursive_scanning": "recursiveScanning"}
_SPELLED = {"weight": "order", **{spelled: name for name, spelled in _BOOK_SPELLED.items()}}


def recognise(value: object) -> bool:
    """The file says so itself, or an entry in its list has keywords and is called `entry`."""
    if not isinstance(value, dict):
        return False
    if value.get("kind") == "memory":
        return True
    rows = value.get("entries")
    return isinstance(rows, list) and any(
        isinstance(row, dict) and {"keywords", "entry"} <= row.keys() and "content" not in row for row in rows
    )


def read(value: Any) -> Reading:
    """A world book: keywords become aliases, the name of an entry its title, what is constant canon.

    Raises `Invalid`, `LimitExceeded`.
    """
    rows = listed(value, "entries")
    found = gather(rows, _row)
    return reading(
        FormatName(name=NAME),
        found,
        name=book_name(value.get("name")),
        description=value.get("description"),
        extensions={NAME: kept_of_file(value, "entries", rows, found)},
        no_home=without_home(value, _BOOK_HOME, {"recursiveScanning": (False,)}),
        settings={name: value.get(spelled) for name, spelled in _BOOK_SPELLED.items()},
    )


FORMAT = Format(name=NAME, recognise=recognise, telling=frozenset({"kind"}), read=read, spelled=_SPELLED)


def _row(_place: int, raw: dict[str, Any]) -> Row:
    keys, secondary = keys_of(raw.get("keywords")), keys_of(raw.get("secondaryKeys"))
    return Row(
        titles=(raw.get("name"), raw.get("comment")),
        content=raw.get("entry"),
        keys=keys,
        secondary=secondary,
        settings={**raw, "order": raw.get("weight"), "selective": raw.get("selective", False)},
        canon=truth(raw.get("constant", False)),
        enabled=truth(raw.get("enabled", True)),
        extensions={NAME: kept(raw, "entry")},
        no_home=without_home(raw, _HOME, _NEUTRAL),
        warnings=patterns(aliases([*keys, *secondary]), _WILDCARD.search, "has a wildcard"),
    )
