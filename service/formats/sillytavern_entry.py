"""One SillyTavern world-info entry as an entry of a world book, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from service.formats.keys import is_regex, split
from service.formats.sillytavern_fields import DEFAULTS, is_enabled, truth
from service.lore.book import Entry, Tier
from service.lore.text import clean_line, fold

MAX_TITLE = 200
MAX_ALIASES = 64
MAX_ALIAS = 200
MAX_KEYS = 1000
TITLE_FROM_CONTENT = 60
UNTITLED = "Untitled"


@dataclass(frozen=True)
class Fields:
    """What of an entry has a meaning in a world book (SPEC W14)."""

    title: str
    content: str
    aliases: tuple[str, ...]
    tier: Tier
    enabled: bool


def text(value: object) -> str | None:
    """A text, or a number or switch as JSON writes it; nothing else is text."""
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, (bool, int, float)) else None


def is_blank(value: str) -> bool:
    """Whether a reader would see nothing: blanks, control and zero-width characters."""
    seen = clean_line(value)
    return not seen or (not seen.isascii() and not fold(seen[:MAX_TITLE]).text.strip() and not fold(seen).text.strip())


def fields(raw: Mapping[str, Any], content: str) -> Fields:
    """What the entry says, with `content` for its own."""
    aliases = tuple(_aliases(raw))
    return Fields(
        title=_title(raw, aliases, content),
        content=content,
        aliases=aliases,
        tier="canon" if truth(raw.get("constant", False)) else "relevant",
        enabled=is_enabled(raw),
    )


def warnings(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and detail of what `fields` could not take as it stands."""
    keys = _both(raw)
    if blank := sum(name is None for _, name in keys):
        yield "blank_alias", f"{_keys_counted(blank)} without any text left out"
    names = list(dict.fromkeys(name for _, name in keys if name is not None))
    if long := sum(len(name) > MAX_ALIAS for name in names):
        yield "long_alias", f"{_keys_counted(long)} longer than {MAX_ALIAS} characters left out; kept for export"
    if len(names) - long > MAX_ALIASES or len(keys) >= MAX_KEYS:
        yield "too_many_aliases", f"only the first {MAX_ALIASES} keys became aliases; all are kept for export"
    for name in _aliases(raw):
        if is_regex(name):
            yield "literal_regex", f"{name} is kept as written and matches nothing else"
    if len(clean_line(text(raw.get("comment")) or "")) > MAX_TITLE:
        yield "long_title", f"the title is cut to {MAX_TITLE} characters; kept for export"


def written(raw: Mapping[str, Any], entry: Entry) -> dict[str, Any]:
    """`raw` with what the entry says otherwise; an entry that nobody edited comes out as it came in.

    Edited aliases replace all keys: those that were secondary keys stay so, new ones become primary keys.
    """
    result = dict(raw)
    if text(raw.get("content")) != entry.content:
        result["content"] = entry.content
    was = fields(raw, entry.content)
    if was.aliases != entry.aliases:
        _set_keys(result, entry.aliases)
    if was.tier != entry.tier:
        result["constant"] = entry.tier == "canon"
    if was.enabled != entry.enabled:
        result["disable"] = not entry.enabled
        if "enabled" in result:
            result["enabled"] = entry.enabled
    if fields(result, entry.content).title != entry.title:
        result["comment"] = entry.title
        if "name" in result:
            result["name"] = entry.title
    return result


def new(entry: Entry) -> dict[str, Any]:
    """An entry that SillyTavern has never seen, with all its fields.

    It may be found by meaning there too: without keys and without `vectorized` it never would be.
    """
    return {
        **DEFAULTS,
        "key": list(entry.aliases),
        "comment": entry.title,
        "content": entry.content,
        "constant": entry.tier == "canon",
        "vectorized": entry.tier == "relevant",
        "addMemo": True,
        "disable": not entry.enabled,
    }


def _title(raw: Mapping[str, Any], aliases: Sequence[str], content: str) -> str:
    for name in ("comment", "name"):
        title = text(raw.get(name)) or ""
        if not is_blank(title):
            return clean_line(title)[:MAX_TITLE].strip()
    return aliases[0] if aliases else clean_line(content)[:TITLE_FROM_CONTENT].strip() or UNTITLED


def _aliases(raw: Mapping[str, Any]) -> list[str]:
    """Primary, then secondary keys, each once, as far as they fit."""
    keys = _both(raw)
    names = dict.fromkeys(name for _, name in keys if name is not None and len(name) <= MAX_ALIAS)
    return list(names)[:MAX_ALIASES]


def _both(raw: Mapping[str, Any]) -> list[tuple[object, str | None]]:
    return [*_keys(raw.get("key")), *_keys(raw.get("keysecondary"))]


def _keys(value: object) -> list[tuple[object, str | None]]:
    """The first keys of a field as they stand there, each with the name that it is; None when it is none."""
    if value is None or value == "":
        return []
    keys = split(value) if isinstance(value, str) else value if isinstance(value, list) else [value]
    return [(key, _name(text(key))) for key in islice(keys, MAX_KEYS)]


def _name(key: str | None) -> str | None:
    return None if key is None or is_blank(key) else clean_line(key)


def _set_keys(result: dict[str, Any], aliases: Sequence[str]) -> None:
    primary = {name: key for key, name in reversed(_keys(result.get("key")))}
    secondary = {name: key for key, name in reversed(_keys(result.get("keysecondary")))}
    keys = [primary.get(alias, alias) for alias in aliases if alias in primary or alias not in secondary]
    filters = [secondary[alias] for alias in aliases if alias in secondary]
    if not keys:  # an entry with nothing but secondary keys never activates
        keys, filters = filters, []
    result |= {"key": keys, "keysecondary": filters}
    result |= {name: value for name, value in (("keys", keys), ("secondary_keys", filters)) if name in result}


def _keys_counted(count: int) -> str:
    return "one key" if count == 1 else f"{count} keys"
