"""The fields of a SillyTavern world-info entry: defaults, and the names that a character book has for them.

Source: `newWorldInfoEntryDefinition` and `convertCharacterBook` of SillyTavern's `world-info.js`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from service.formats.names import truth

DEFAULTS: Mapping[str, Any] = {
    "uid": 0,
    "key": [],
    "keysecondary": [],
    "comment": "",
    "content": "",
    "constant": False,
    "vectorized": False,
    "selective": True,
    "selectiveLogic": 0,
    "addMemo": False,
    "order": 100,
    "position": 0,
    "disable": False,
    "ignoreBudget": False,
    "excludeRecursion": False,
    "preventRecursion": False,
    "matchPersonaDescription": False,
    "matchCharacterDescription": False,
    "matchCharacterPersonality": False,
    "matchCharacterDepthPrompt": False,
    "matchScenario": False,
    "matchCreatorNotes": False,
    "delayUntilRecursion": 0,
    "probability": 100,
    "useProbability": True,
    "depth": 4,
    "outletName": "",
    "group": "",
    "groupOverride": False,
    "groupWeight": 100,
    "scanDepth": None,
    "caseSensitive": None,
    "matchWholeWords": None,
    "useGroupScoring": None,
    "automationId": "",
    "role": 0,
    "sticky": None,
    "cooldown": None,
    "delay": None,
    "triggers": [],
}
"""What a newly created entry holds, in the order in which it is written."""

_HAVE_A_HOME = {
    "uid", "key", "keysecondary", "comment", "content", "constant", "vectorized", "addMemo", "disable", "displayIndex",
}  # fmt: skip
_MIRRORS = {"id", "keys", "secondary_keys", "enabled", "insertion_order", "name", "use_regex"}
"""Fields with which a character book or a hub says again what a field of the entry says."""
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "characterFilter": ({}, {"isExclude": False, "names": [], "tags": []}),
    "role": (0,),
    "sticky": (0,),
    "cooldown": (0,),
    "delay": (0,),
    "extensions": ({},),
}
"""Values that mean the default without being it; null always does."""
EXTENSIONS = {
    "exclude_recursion": "excludeRecursion",
    "prevent_recursion": "preventRecursion",
    "delay_until_recursion": "delayUntilRecursion",
    "display_index": "displayIndex",
    "probability": "probability",
    "useProbability": "useProbability",
    "depth": "depth",
    "selectiveLogic": "selectiveLogic",
    "outlet_name": "outletName",
    "group": "group",
    "group_override": "groupOverride",
    "group_weight": "groupWeight",
    "vectorized": "vectorized",
    "ignore_budget": "ignoreBudget",
    "match_persona_description": "matchPersonaDescription",
    "match_character_description": "matchCharacterDescription",
    "match_character_personality": "matchCharacterPersonality",
    "match_character_depth_prompt": "matchCharacterDepthPrompt",
    "match_scenario": "matchScenario",
    "match_creator_notes": "matchCreatorNotes",
    "scan_depth": "scanDepth",
    "match_whole_words": "matchWholeWords",
    "case_sensitive": "caseSensitive",
    "sticky": "sticky",
    "cooldown": "cooldown",
    "delay": "delay",
    "use_group_scoring": "useGroupScoring",
    "automation_id": "automationId",
    "role": "role",
    "triggers": "triggers",
}
"""Names in the extensions of a character-book entry, and here."""
SPELLED_IN_BOOKS = {
    "insertion_order": "order",
    "case_sensitive": "caseSensitive",
    **{f"extensions.{book_name}": name for book_name, name in EXTENSIONS.items()},
    **{f"extensions.{name}": name for name in EXTENSIONS.values()},
    "extensions.position": "position",
}
"""The names under which the report tells of a character book's settings, and what they are here."""
_RENAMED = {"id", "keys", "secondary_keys", "insertion_order", "position", "enabled", "case_sensitive", "extensions"}


def is_enabled(raw: Mapping[str, Any]) -> bool:
    """`disable` decides where it stands, else `enabled`; with neither an entry is enabled."""
    if raw.get("disable") is not None:
        return not truth(raw["disable"])
    return raw.get("enabled") is None or truth(raw["enabled"])


def without_home(raw: Mapping[str, Any]) -> Iterator[str]:
    """The names of what an entry sets otherwise than by default and a world book has no use for."""
    for name, value in raw.items():
        if name in _HAVE_A_HOME or name in _MIRRORS or value is None or value == DEFAULTS.get(name):
            continue
        if name in {"selective", "selectiveLogic"} and not raw.get("keysecondary"):
            continue
        if name == "extensions" and isinstance(value, Mapping):
            said = {"position", *EXTENSIONS, *raw}
            yield from (f"extensions.{each}" for each in value if each not in said and value[each] is not None)
        elif not is_neutral(name, value):
            yield name


def is_neutral(name: str, value: object) -> bool:
    """Whether a value means the default without being it."""
    return value is None or value in _NEUTRAL.get(name, ())


def is_book_entry(raw: Mapping[str, Any]) -> bool:
    """Whether an entry has the names of a character book (V2, V3) instead of SillyTavern's own."""
    if "key" in raw or "disable" in raw:
        return False
    return not raw.keys().isdisjoint({"keys", "secondary_keys", "insertion_order", "enabled"})


def from_book_entry(raw: Mapping[str, Any], place: int) -> dict[str, Any]:
    """An entry of a character book as SillyTavern would store it, with what it would drop kept beside.

    Differs from the program on purpose: a missing `enabled` is true, a case rule of the entry itself counts, and both
    spellings of a setting are read (`exclude_recursion`, `excludeRecursion`).
    """
    extensions = raw["extensions"] if isinstance(raw.get("extensions"), Mapping) else {}
    number = raw.get("id")
    position = extensions.get("position")
    stated = {
        **{name: extensions.get(book_name, extensions.get(name)) for book_name, name in EXTENSIONS.items()},
        "uid": number if isinstance(number, int) and not isinstance(number, bool) else place,
        "key": raw.get("keys"),
        "keysecondary": raw.get("secondary_keys"),
        "order": raw.get("insertion_order"),
        "position": int(raw.get("position") != "before_char") if position is None else position,
        "disable": not is_enabled(raw),
        "addMemo": bool(raw.get("comment")),
        "extensions": extensions,
    }
    beside = {"selective": False, "caseSensitive": raw.get("case_sensitive"), "displayIndex": place}
    kept = {name: value for name, value in raw.items() if name not in _RENAMED}
    return {
        **DEFAULTS,
        **beside,
        **kept,
        **{name: value for name, value in stated.items() if value is not None},
    }
