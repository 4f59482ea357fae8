"""One entry of a character book (V2 or V3) under SillyTavern's names and back, and the decorators of its content.

Sources: `convertCharacterBook` and `convertWorldInfoToCharacterBook` of SillyTavern's `world-info.js`; the card
specifications V2 and V3. SillyTavern's names are the hub: whatever an entry was read from, it can be written as either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from service.formats import trigger_values as values
from service.formats.keys import is_regex, split
from service.formats.names import as_object, is_blank, text, truth
from service.formats.sillytavern_entry import written
from service.formats.sillytavern_fields import (
    DEFAULTS,
    EXTENSIONS,
    from_book_entry,
    is_enabled,
    is_neutral,
    without_home,
)
from service.lore.book import Dialect, Entry

_NONE_OF, _ALL_OF = 2, 3
"""Values of `selectiveLogic` for which card V3 has decorators."""
_SPELLED = {name: book_name for book_name, name in EXTENSIONS.items()}
_RENAMED = {"order": "insertion_order", "caseSensitive": "case_sensitive"}
_EDITED = {
    "key": "keys",
    "keysecondary": "secondary_keys",
    "constant": "constant",
    "selective": "selective",
    "order": "insertion_order",
    "priority": "priority",
    "comment": "comment",
    "name": "name",
}
"""Fields of the entry itself; other settings stand in its extensions."""
_SAID = {
    *DEFAULTS,
    *("displayIndex", "characterFilter", "extensions"),
    *("id", "keys", "secondary_keys", "insertion_order", "enabled"),
}
_PLACE = values.coded(values.PLACES, values.PLACE_NAMES)
_DECORATOR = re.compile(r"(@@@?[a-z_]*)[^\n]*(?:\n|$)", re.IGNORECASE)


_FOREIGN = {"keywords", "secondaryKeys", "insertionOrder", "search_range", "strategy"}


def is_foreign(row: Mapping[str, Any]) -> bool:
    """Whether an entry has fields that tell of another format, and not the `extensions` of a character book's."""
    return not _FOREIGN.isdisjoint(row) and "extensions" not in row


def to_book_entry(raw: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of SillyTavern as it stands in a character book, with the fields that nobody knows beside.

    Without a `uid` it has no id. Differs from the program on purpose: null stays null, and a rule for the case is told
    to other readers too.
    """
    extensions = dict(as_object(raw.get("extensions")))
    extensions |= {book_name: raw[name] for book_name, name in EXTENSIONS.items() if name in raw}
    position = raw.get("position", 0)
    place = _PLACE(position) or "before"
    extensions["position"] = values.code_of(values.PLACES)(place) if isinstance(position, str) else position
    if "probability" in raw and "useProbability" not in raw:
        extensions["useProbability"] = False  # what SillyTavern takes it for; in a card, missing means true
    row = {
        **({} if raw.get("uid") is None else {"id": raw["uid"]}),
        "keys": _strings(raw.get("key", raw.get("keys"))),
        "secondary_keys": _strings(raw.get("keysecondary", raw.get("secondary_keys"))),
        "comment": text(raw.get("comment")) or "",
        "content": raw.get("content"),
        "constant": truth(raw.get("constant", False)),
        "selective": truth(raw.get("selective", True)),
        "insertion_order": _number(raw.get("order")),
        "enabled": is_enabled(raw),
        "position": "before_char" if place == "before" else "after_char",
        **{name: value for name, value in raw.items() if name not in _SAID},
        "extensions": extensions,
    }
    if isinstance(raw.get("caseSensitive"), bool):
        row["case_sensitive"] = raw["caseSensitive"]
    return row


def lost_in_book_entry(raw: Mapping[str, Any]) -> Iterator[str]:
    """The names of what an entry of SillyTavern says and a character book cannot."""
    if not is_neutral("characterFilter", raw.get("characterFilter")):
        yield "characterFilter"
    if raw.get("addMemo") is not None and truth(raw["addMemo"]) != bool(raw.get("comment")):
        yield "addMemo"


def edited(raw: Mapping[str, Any], entry: Entry, place: int, dialect: Dialect) -> dict[str, Any]:
    """`raw` with what the entry says otherwise, but for the content."""
    before = from_book_entry(raw, place)
    after = written(before, entry, dialect)
    changed = {name: value for name, value in after.items() if value != before.get(name)}
    row = {**raw, **{book_name: changed[name] for name, book_name in _EDITED.items() if name in changed}}
    within = {book_name: changed[name] for name, book_name in _SPELLED.items() if name in changed}
    if "position" in changed:
        row["position"] = "before_char" if changed["position"] == 0 else "after_char"
        within["position"] = changed["position"]
    if "caseSensitive" in changed:
        row["case_sensitive"] = changed["caseSensitive"]
    if within:
        row["extensions"] = {**as_object(raw.get("extensions")), **within}
    if after["disable"] != before["disable"]:
        row |= {"enabled": not after["disable"]} | ({"disable": after["disable"]} if "disable" in row else {})
    return row


def settings_without_home(raw: Mapping[str, Any], place: int) -> Iterator[str]:
    """The names, as they stand in the file, of what an entry sets and a world book has no use for."""
    extensions = as_object(raw.get("extensions"))
    for name in without_home(from_book_entry(raw, place)):
        if name.startswith("extensions."):
            if name.removeprefix("extensions.") not in _SPELLED:
                yield name
        elif _RENAMED.get(name, name) in raw:
            yield _RENAMED.get(name, name)
        elif not extensions.keys().isdisjoint({name, _SPELLED.get(name, name)}):
            yield f"extensions.{_SPELLED.get(name, name)}"


def decorators(content: str) -> tuple[list[str], str]:
    """The names of the decorators at the top of a content (`@@depth`), and what follows them.

    Source: card V3, "Decorators". A content of nothing but decorators has none: it would say nothing without them.
    """
    names: list[str] = []
    at = len(content) - len(content.lstrip())
    while match := _DECORATOR.match(content, at):
        names.append(match[1].lower())
        at = match.end()
    rest = content[at:].lstrip("\r\n") if names else content
    return (names, rest) if rest.strip() else ([], content)


def logic_decorators(raw: Mapping[str, Any], place: int) -> str:
    """The lines with which V3 says what `selectiveLogic` says of the secondary keys; "" when it cannot or need not.

    A list of values cannot hold a comma, and with regular expressions `@@exclude_keys` does not count. "Not all" has no
    decorator.
    """
    row = from_book_entry(raw, place)
    keys = _strings(row["keysecondary"])
    logic = row["selectiveLogic"]
    if not truth(row["selective"]) or truth(raw.get("use_regex", False)):
        return ""
    if any("," in key or key != key.strip() or not key.isprintable() or is_regex(key) for key in keys):
        return ""
    if logic == _NONE_OF and keys:
        return f"@@exclude_keys {','.join(keys)}\n"
    return "".join(f"@@additional_keys {key}\n" for key in keys) if logic == _ALL_OF else ""


def means_regex(row: Mapping[str, Any]) -> bool:
    """What V3's `use_regex` has to say: every key is a regular expression, and the entry needs its keys."""
    keys = _strings(row.get("keys"))
    return bool(keys) and not truth(row.get("constant", False)) and all(map(is_regex, keys))


def _strings(value: object) -> list[str]:
    """Keys as a character book has them: a list of texts, none of them blank."""
    if isinstance(value, str):
        return [key for key in split(value) if not is_blank(key)]
    keys = map(text, value) if isinstance(value, list) else [text(value)]
    return [key for key in keys if key is not None and not is_blank(key)]


def _number(value: object) -> object:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    shown = (text(value) or "").strip()
    return int(shown) if re.fullmatch(r"-?[0-9]{1,15}", shown) else DEFAULTS["order"]
