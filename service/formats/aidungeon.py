"""World info and story cards of AI Dungeon, and prompts of aidg.club: keys are lists with commas.

`[{"keys": "a,b", "entry": …}]`, `[{"keys": "a,b", "value": …, "title": …}]` or `{"title": …, "worldInfos": […]}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.formats.format import Format
from service.formats.keys import patterns
from service.formats.names import aliases, book_name, keys_of, truth
from service.formats.part import part
from service.formats.report import FormatName, Reading, without_home
from service.formats.rows import Row, gather, kept, kept_of_file, reading
from service.formats.sillytavern_fields import is_enabled

NAME = "aidungeon"
_HOME = {
    *("keys", "keysecondary", "entry", "value", "title", "comment", "name", "constant"),
    *("enabled", "disable", "id", "createdAt", "updatedAt"),
}
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "hidden": (False,),
    "selective": (False,),
    "useForCharacterCreation": (True, False),
}
_ABOUT = {"title", "description"}


def recognise(value: object) -> bool:
    """The world info of a prompt, or a list of rows with typed keys and an entry or a value."""
    if isinstance(value, dict):
        return isinstance(value.get("worldInfos"), list)
    return isinstance(value, list) and any(
        isinstance(row, dict) and isinstance(row.get("keys"), str) and row.keys() & {"entry", "value"} for row in value
    )


def read(value: Any) -> Reading:
    """A world book: keys become aliases. Of a prompt nothing but world info, title and description is kept.

    Raises `LimitExceeded`.
    """
    rows, file, told = part(value, "worldInfos", _ABOUT)
    found = gather(rows, _row)
    return reading(
        FormatName(name=NAME),
        found,
        name=book_name(file.get("title")),
        description=file.get("description"),
        extensions={NAME: kept_of_file(file, "worldInfos", rows, found)},
        warnings=told,
    )


FORMAT = Format(name=NAME, recognise=recognise, telling=frozenset({"worldInfos"}), read=read)


def _row(_place: int, raw: dict[str, Any]) -> Row:
    keys, secondary = keys_of(raw.get("keys")), keys_of(raw.get("keysecondary"))
    content = "entry" if raw.get("entry") is not None else "value"
    unused = "selective" if not raw.get("keysecondary") else ""
    return Row(
        titles=(raw.get("title"), raw.get("comment"), raw.get("name")),
        content=raw.get(content),
        keys=keys,
        secondary=secondary,
        settings={"constant": raw.get("constant"), "selective": raw.get("selective", False)},
        canon=truth(raw.get("constant", False)),
        enabled=is_enabled(raw),
        extensions={NAME: kept(raw, content)},
        no_home=without_home(raw, _HOME | {unused}, _NEUTRAL),
        warnings=patterns(aliases([*keys, *secondary]), _is_for_a_script, "is meant for a script"),
    )


def _is_for_a_script(key: str) -> bool:
    """Whether a key has attributes or alternatives for a script to read."""
    return key.startswith("#[") or ("(" in key and "|" in key)
