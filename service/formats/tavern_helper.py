"""Tavern-Helper world books: `{"entries": {"Oru": {"name": "Oru", "content": …, "strategy": {…}, …}}}`, or a list."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from service.formats.format import Format
from service.formats.names import as_object, book_name, keys_of, truth
from service.formats.report import Reading, without_home
from service.formats.rows import Row, gather, kept, kept_of_file, keyed, named, reading, repeated

NAME = "tavern_helper"
_HOME = {
    "uid", "name", "content", "content_hash", "enabled", "strategy.type", "strategy.keys", "strategy.keys_secondary",
}  # fmt: skip
_BOOK_HOME = {"version", "name", "description", "entries"}
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "strategy.scan_depth": ("same_as_global",),
    "strategy.keys_secondary.logic": ("and_any",),
    "position.type": ("before_character_definition",),
    "position.role": ("system",),
    "position.depth": (0, 4),
    "position.order": (100,),
    "recursion.prevent_incoming": (False,),
    "recursion.prevent_outgoing": (False,),
    "recursion.delay_until": (0, False),
    "probability": (100,),
}
_LOGICS = {"and_any": 0, "not_all": 1, "not_any": 2, "and_all": 3}
_PLACES = {
    "before_character_definition": 0,
    "after_character_definition": 1,
    "before_author_note": 2,
    "after_author_note": 3,
    "at_depth": 4,
    "before_example_messages": 5,
    "after_example_messages": 6,
    "outlet": 7,
}
_SPELLED = {
    "strategy.keys_secondary.logic": "selectiveLogic",
    "strategy.scan_depth": "scanDepth",
    "position.type": "position",
    "position.role": "role",
    "position.depth": "depth",
    "position.order": "order",
    "recursion.prevent_incoming": "excludeRecursion",
    "recursion.prevent_outgoing": "preventRecursion",
    "recursion.delay_until": "delayUntilRecursion",
    "effect.sticky": "sticky",
    "effect.cooldown": "cooldown",
    "effect.delay": "delay",
}


def recognise(value: object) -> bool:
    """An entry that has a strategy for its activation."""
    entries = value.get("entries") if isinstance(value, dict) else None
    if not isinstance(entries, (dict, list)):
        return False
    return any(
        isinstance(row, dict) and isinstance(row.get("strategy"), dict) and row.keys().isdisjoint({"key", "keys"})
        for _, row in keyed(entries)
    )


def read(value: Any) -> Reading:
    """A world book: keys become aliases, the constant strategy canon, names of entries titles.

    Raises `LimitExceeded`.
    """
    pairs = keyed(value["entries"])
    rows = [row for _, row in pairs]
    found = gather(rows, partial(_row, [key for key, _ in pairs]))
    return reading(
        named(NAME, value.get("version")),
        found,
        name=book_name(value.get("name")),
        description=value.get("description"),
        extensions={NAME: kept_of_file(value, "entries", rows, found)},
        no_home=without_home(value, _BOOK_HOME, {}),
        warnings=repeated(pairs),
    )


FORMAT = Format(name=NAME, recognise=recognise, read=read, spelled=_SPELLED)


def _row(keys: list[str | None], place: int, raw: dict[str, Any]) -> Row:
    strategy = as_object(raw.get("strategy"))
    secondary = strategy.get("keys_secondary")
    filters = as_object(secondary).get("keys") if isinstance(secondary, Mapping) else secondary
    logic = {**strategy, "keys_secondary.logic": as_object(secondary).get("logic") if filters else None}
    return Row(
        titles=(raw.get("name"), keys[place]),
        content=raw.get("content"),
        keys=keys_of(strategy.get("keys")),
        secondary=keys_of(filters),
        canon=strategy.get("type") == "constant",
        settings=_settings(raw, strategy, as_object(secondary).get("logic")),
        enabled=truth(raw.get("enabled", True)),
        extensions={NAME: kept(raw, "content")},
        no_home=without_home({**raw, "strategy": logic}, _HOME, _NEUTRAL),
    )


def _settings(raw: Mapping[str, Any], strategy: Mapping[str, Any], logic: object) -> dict[str, Any]:
    position, recursion, effect = (as_object(raw.get(name)) for name in ("position", "recursion", "effect"))
    return {
        "constant": strategy.get("type") == "constant",
        "selectiveLogic": _LOGICS.get(logic) if isinstance(logic, str) else None,
        "scanDepth": strategy.get("scan_depth"),
        "position": _PLACES.get(str(position.get("type"))),
        "role": position.get("role"),
        "depth": position.get("depth"),
        "order": position.get("order"),
        "excludeRecursion": recursion.get("prevent_incoming"),
        "preventRecursion": recursion.get("prevent_outgoing"),
        "delayUntilRecursion": recursion.get("delay_until"),
        "probability": raw.get("probability"),
        "useProbability": True,
        "sticky": effect.get("sticky"),
        "cooldown": effect.get("cooldown"),
        "delay": effect.get("delay"),
    }
