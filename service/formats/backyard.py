"""Characters of Backyard: a JSON with `loreItems`, which its BYAF archives hold.

The items are read as the entries of a V2 character book, as SillyTavern's importer does; the character itself is no
lore. Fields that only Backyard knows stay in the extensions of the entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from service.formats import character_book
from service.formats.format import Format
from service.formats.names import book_name, text
from service.formats.report import FormatName, Reading
from service.formats.sillytavern_fields import SPELLED_IN_BOOKS

NAME = "backyard"
_SPEAKER = re.compile(r"#\{user\}:")
_NAMES = {"{character}": "{{char}}", "{user}": "{{user}}"}
_NAME = re.compile(r"(?<!\{)\{(?:character|user)\}(?!\})")


def recognise(value: object) -> bool:
    """A character with lore items."""
    return isinstance(value, dict) and isinstance(value.get("loreItems"), list)


def read(value: Any) -> Reading:
    """Keys are split at commas; `{character}` and `{user}` become macros. Raises `LimitExceeded`."""
    version = text(value.get("schemaVersion"))
    format = FormatName(name=NAME, version=version[:20] if version else None)
    items = value["loreItems"]
    if not items:
        return Reading(book=None, format=format)
    owner = book_name(value.get("displayName"), value.get("name"))
    book = {"entries": [_entry(item) for item in items], "extensions": {}}
    return character_book.read_as(book, 2, format, f"{owner[:180]}'s Lorebook" if owner else None)


FORMAT = Format(name=NAME, recognise=recognise, telling=frozenset({"loreItems"}), read=read, spelled=SPELLED_IN_BOOKS)


def _entry(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    keys = [key.strip() for key in (text(item.get("key")) or "").split(",")]
    rest = {name: value for name, value in item.items() if name not in {"key", "value"}}
    return {
        "keys": [key for key in keys if key],
        "content": _with_macros(text(item.get("value"))),
        "enabled": True,
        "insertion_order": 100,
        "extensions": {NAME: rest} if rest else {},
    }


def _with_macros(content: str | None) -> str | None:
    if content is None:
        return None
    return _NAME.sub(lambda found: _NAMES[found[0]], _SPEAKER.sub("{{user}}:", content))
