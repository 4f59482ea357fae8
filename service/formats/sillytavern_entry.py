"""One SillyTavern world-info entry as an entry of a book, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from service.formats import trigger_fields
from service.formats.names import Keys, aliases, keys_of, text, title, truth
from service.formats.sillytavern_fields import DEFAULTS, is_enabled
from service.lore.book import Dialect, Entry, Tier
from service.lore.trigger import Trigger

_NO_FILTER: Mapping[str, Any] = {"isExclude": False, "names": [], "tags": []}
_AGAIN = {"key": "keys", "keysecondary": "secondary_keys", "order": "insertion_order"}
"""Fields with which a hub says again what a field of the entry says."""


@dataclass(frozen=True)
class Fields:
    """What of an entry has a meaning in a world book (SPEC W14); title and switch have one in every book."""

    title: str
    content: str
    aliases: tuple[str, ...]
    tier: Tier
    enabled: bool


def titles(raw: Mapping[str, Any]) -> tuple[object, ...]:
    """The fields that may hold the title."""
    return raw.get("comment"), raw.get("name")


def primary(raw: Mapping[str, Any]) -> Keys:
    """The keys of an entry; a hub's other name for them counts where SillyTavern's own is missing."""
    return keys_of(raw.get("key", raw.get("keys")))


def secondary(raw: Mapping[str, Any]) -> Keys:
    """The keys that filter, likewise."""
    return keys_of(raw.get("keysecondary", raw.get("secondary_keys")))


def is_constant(raw: Mapping[str, Any]) -> bool:
    """Whether the entry needs no key."""
    return truth(raw.get("constant", False))


def fields(raw: Mapping[str, Any], content: str) -> Fields:
    """What the entry says, with `content` for its own."""
    found = aliases([*primary(raw), *secondary(raw)])
    return Fields(
        title=title(titles(raw), found, content),
        content=content,
        aliases=found,
        tier="canon" if is_constant(raw) else "relevant",
        enabled=is_enabled(raw),
    )


def written(raw: Mapping[str, Any], entry: Entry, dialect: Dialect) -> dict[str, Any]:
    """`raw` with what the entry says otherwise; an entry that nobody edited comes out as it came in.

    Edited aliases of a world book replace all keys: those that were secondary keys stay so, new ones become primary
    keys.
    """
    result = dict(raw)
    if text(raw.get("content")) != entry.content:
        result["content"] = entry.content
    was = fields(raw, entry.content)
    if entry.trigger is not None:
        set_trigger(result, entry.trigger, dialect)
    else:
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


def new(entry: Entry, dialect: Dialect) -> dict[str, Any]:
    """An entry that SillyTavern has never seen, with all its fields.

    One of a world book may be found by meaning there too: without keys and without `vectorized` it never would be.
    """
    row = {
        **DEFAULTS,
        "key": list(entry.aliases),
        "comment": entry.title,
        "content": entry.content,
        "constant": entry.tier == "canon",
        "vectorized": entry.tier == "relevant" and entry.trigger is None,
        "addMemo": True,
        "disable": not entry.enabled,
    }
    if entry.trigger is not None:
        set_trigger(row, _as_told(entry.trigger, dialect), dialect)
    return row


def set_trigger(row: dict[str, Any], trigger: Trigger, dialect: Dialect) -> None:
    """Let the row say what the trigger says otherwise. Keys that stay keep the form that they have in the file."""
    main, filters = primary(row), secondary(row)
    before = trigger_fields.trigger(row, main, filters, dialect)
    if trigger != before:
        trigger = _as_told(trigger, dialect)
    found = trigger_fields.changes(before, trigger, dialect)
    if trigger.keys != before.keys:
        found["key"] = _given(main, trigger.keys, dialect)
    if trigger.secondary_keys != before.secondary_keys:
        found["keysecondary"] = _given(filters, trigger.secondary_keys, dialect)
        found.setdefault("selective", True)
    if isinstance(found.get("characterFilter"), dict):
        old = row.get("characterFilter")
        found["characterFilter"] = {**(old if isinstance(old, Mapping) else _NO_FILTER), **found["characterFilter"]}
    row |= found | {again: found[name] for name, again in _AGAIN.items() if name in found and again in row}


def _as_told(trigger: Trigger, dialect: Dialect) -> Trigger:
    """The trigger for other programs: there an entry without a key, which a server lorebook needs none for, sleeps."""
    keyless = dialect == "server" and not any(key.strip() for key in trigger.keys)
    return replace(trigger, constant=True) if keyless else trigger


def _given(keys: Keys, wanted: Sequence[str], dialect: Dialect) -> list[Any]:
    was = {trigger_fields.key_text(given, name, dialect): given for given, name in reversed(keys)}
    return [was.get(key, key) for key in wanted]


def _set_keys(result: dict[str, Any], names: Sequence[str]) -> None:
    was, filtered = ({name: key for key, name in reversed(keys)} for keys in (primary(result), secondary(result)))
    keys = [was.get(name, name) for name in names if name in was or name not in filtered]
    filters = [filtered[name] for name in names if name in filtered]
    if not keys:  # an entry with nothing but secondary keys never activates
        keys, filters = filters, []
    result |= {"key": keys, "keysecondary": filters}
    result |= {name: value for name, value in (("keys", keys), ("secondary_keys", filters)) if name in result}
