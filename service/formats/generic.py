"""Lists of lore of any origin: rows with keys and a text, under the names that programs and people give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from service.formats import names
from service.formats.format import Format
from service.formats.names import as_object, book_name, keys_of, truth
from service.formats.report import FormatName, Reading, without_home
from service.formats.rows import Row, gather, kept, kept_of_file, keyed, reading, repeated

NAME = "generic"
TITLE = ("comment", "name", "title", "displayName", "entry_id")
CONTENT = ("content", "entry", "text", "value", "description")
KEYS = ("key", "keys", "keywords", "triggers")
SECONDARY = ("keysecondary", "secondary_keys", "secondaryKeys", "secondkey", "filters")
CONSTANT = ("constant", "alwaysActive", "forceActivation")
DISABLED = ("disable", "disabled")
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "constant": CONSTANT,
    "selective": ("selective",),
    "order": ("order", "insertion_order", "insertionOrder", "insertorder", "weight", "contextConfig.budgetPriority"),
    "priority": ("priority",),
    "position": ("position",),
    "probability": ("probability", "activationPercent", "activation_chance"),
    "caseSensitive": ("case_sensitive", "caseSensitive"),
}
"""Names of one thing, the first that has a value counts; one with a dot stands in an inner object."""
_HOME = {*TITLE, *KEYS, *SECONDARY, *CONSTANT, *DISABLED, "enabled", "id", "uid"}
_BOOK_HOME = {"entries", "id", "name", "title", "description", "enabled"}
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "order": (100,),
    "insertion_order": (100,),
    "insertionOrder": (100,),
    "position": (0, "before_char"),
    "probability": (100,),
    "activationPercent": (100,),
    "activation_chance": (100,),
    "selective": (False,),
    "isGlobal": (False,),
    "case_sensitive": (False,),
    "caseSensitive": (False,),
}


def recognise(value: object) -> bool:
    """A list, or entries, of which at least half are objects with a text and keys."""
    rows = [row for _, row in _pairs(value)]
    return bool(rows) and 2 * sum(_is_lore(row) for row in rows) >= len(rows)


def read(value: Any) -> Reading:
    """A world book: keys become aliases, what is constant canon.

    Raises `LimitExceeded`.
    """
    file = value if isinstance(value, dict) else {}
    pairs = _pairs(value)
    rows = [row for _, row in pairs]
    found = gather(rows, partial(_row, [key for key, _ in pairs]))
    return reading(
        FormatName(name=NAME),
        found,
        name=book_name(file.get("name"), file.get("title")),
        description=file.get("description"),
        enabled=truth(file.get("enabled", True)),
        extensions={NAME: kept_of_file(file, "entries", rows, found)},
        no_home=without_home(file, _BOOK_HOME, _NEUTRAL),
        warnings=repeated(pairs),
    )


FORMAT = Format(
    name=NAME,
    recognise=recognise,
    read=read,
    spelled={each: name for name, spelled in SETTINGS.items() for each in spelled},
)


def _pairs(value: object) -> list[tuple[str | None, Any]]:
    entries = value.get("entries") if isinstance(value, dict) else value
    return keyed(entries) if isinstance(entries, (dict, list)) else []


def _is_lore(row: object) -> bool:
    if not isinstance(row, dict):
        return False
    keys = _first(row, KEYS)
    content = row.get(_named(row, CONTENT))
    named = isinstance(keys, str) or (isinstance(keys, list) and all(isinstance(key, str) for key in keys))
    return named and isinstance(content, str) and not names.is_blank(content)


def _row(labels: list[str | None], place: int, raw: dict[str, Any]) -> Row:
    content = _named(raw, CONTENT)
    secondary = _first(raw, SECONDARY)
    unused = "selective" if not secondary else ""
    return Row(
        titles=(*(raw.get(name) for name in TITLE), _label(labels[place])),
        content=raw.get(content),
        keys=keys_of(_first(raw, KEYS)),
        secondary=keys_of(secondary),
        settings={"useProbability": True, **{name: _first(raw, spelled) for name, spelled in SETTINGS.items()}},
        canon=truth(_first(raw, CONSTANT)),
        enabled=_is_enabled(raw),
        extensions={NAME: kept(raw, content)},
        no_home=without_home(raw, _HOME | {content, unused}, _NEUTRAL),
    )


def _is_enabled(raw: Mapping[str, Any]) -> bool:
    if raw.get("enabled") is not None:
        return truth(raw["enabled"])
    return not truth(_first(raw, DISABLED))


def _label(key: str | None) -> str | None:
    """The key of an entry in an object, unless it only counts."""
    return None if key is None or key.isdigit() else key


def _named(raw: Mapping[str, Any], names: Iterable[str]) -> str:
    """The first of these names that has a value."""
    return next((name for name in names if _under(raw, name) is not None), "")


def _first(raw: Mapping[str, Any], names: Iterable[str]) -> Any:
    return _under(raw, _named(raw, names))


def _under(raw: Mapping[str, Any], name: str) -> Any:
    outer, dot, inner = name.partition(".")
    return as_object(raw.get(outer)).get(inner) if dot else raw.get(name)
