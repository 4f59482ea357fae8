"""Saved games of KoboldAI and KoboldAI Lite, and lists of their world info: keys are lists with commas.

`{"worldinfo": [{"key": "a, b", "content": …}], "wifolders_d": {…}, …}` or `[{"key": …, "content": …}]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.formats.format import Format
from service.formats.names import keys_of, truth
from service.formats.part import part
from service.formats.report import FormatName, Reading, without_home
from service.formats.rows import Row, gather, kept, kept_of_file, reading
from service.formats.sillytavern_fields import is_enabled

NAME = "kobold"
_HOME = {
    *("key", "keysecondary", "content", "comment", "name", "title", "constant"),
    *("widisabled", "enabled", "disable", "num", "uid", "init"),
}
_FOLDERS = {"wifolders_d", "wifolders_l", "wifolders_u"}
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {"selective": (False,), "probability": (100, "100")}


def recognise(value: object) -> bool:
    """World info inside a saved game, or a list of rows with a typed key and content."""
    if isinstance(value, dict):
        return isinstance(value.get("worldinfo"), list)
    return isinstance(value, list) and any(
        isinstance(row, dict) and isinstance(row.get("key"), str) and "content" in row for row in value
    )


def read(value: Any) -> Reading:
    """A world book: keys become aliases, what is constant canon. Of a saved game nothing but its world info is kept.

    Raises `LimitExceeded`.
    """
    rows, file, told = part(value, "worldinfo", _FOLDERS)
    found = gather(rows, _row)
    return reading(
        FormatName(name=NAME),
        found,
        extensions={NAME: kept_of_file(file, "worldinfo", rows, found)},
        no_home=(name for name, each in file.items() if each),
        warnings=told,
    )


FORMAT = Format(name=NAME, recognise=recognise, telling=frozenset({"worldinfo"}), read=read)


def _row(_place: int, raw: dict[str, Any]) -> Row:
    unused = "selective" if not raw.get("keysecondary") else ""
    return Row(
        titles=(raw.get("comment"), raw.get("name"), raw.get("title")),
        content=raw.get("content"),
        keys=keys_of(raw.get("key")),
        secondary=keys_of(raw.get("keysecondary")),
        settings={**raw, "useProbability": True, "selective": raw.get("selective", False)},
        canon=truth(raw.get("constant", False)),
        enabled=is_enabled(raw) and not truth(raw.get("widisabled", False)),
        extensions={NAME: kept(raw, "content")},
        no_home=without_home(raw, _HOME | {unused}, _NEUTRAL),
    )
