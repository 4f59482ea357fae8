"""Our book as a character book of version 2 or 3: what was read, with what was edited since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from service.formats.book_entry import decorators, edited, is_foreign, logic_decorators, means_regex, to_book_entry
from service.formats.converting import CHARACTER_BOOK as KEPT
from service.formats.converting import as_character_book
from service.formats.names import as_object, text
from service.formats.rows import changed_names
from service.formats.sillytavern_entry import new
from service.formats.sillytavern_fields import is_book_entry
from service.formats.triggering import changed_settings
from service.lore.book import Book, Dialect, Entry


@dataclass(frozen=True)
class _Written:
    """An entry of the file."""

    row: dict[str, Any]
    number: int | None
    """Place in our list; None for one that our book could not take."""


def write(book: Book, version: int) -> dict[str, Any]:
    """The book as a character book; new entries stand behind those that were read.

    Only when the order of our book is another than what the file says, the entries stand in the order of our book.
    """
    book = as_character_book(book)
    file = as_object(book.extensions.get(KEPT))
    written = _rows(file, book, version)
    ranked = sorted(range(len(written)), key=lambda place: (rank(written[place].row, place), place))
    listed = [written[place].number for place in ranked if written[place].number is not None]
    if listed != list(range(len(listed))):
        written = _in_order(written)
    return _file(file, book, [each.row for each in written])


def rank(row: Mapping[str, Any], place: int) -> float:
    """Where an entry stands in the list: SillyTavern's `display_index`, else its place in the file."""
    stated = text(as_object(row.get("extensions")).get("display_index")) or ""
    try:
        return float(stated) if isfinite(float(stated)) else place
    except ValueError:
        return place


def logic_in_content(row: Mapping[str, Any], place: int) -> str:
    """The lines at the top of a V3 content that only repeat its `selectiveLogic`; "" when there are none."""
    lines, content = logic_decorators(row, place), row.get("content")
    if not lines or not isinstance(content, str) or not content.startswith(lines):
        return ""
    return lines if content[len(lines) :].strip() else ""


def _rows(file: Mapping[str, Any], book: Book, version: int) -> list[_Written]:
    slots = file.get("entries")
    slots = slots if isinstance(slots, list) else []
    placed: dict[int, _Written] = {}
    added: list[_Written] = []
    for number, entry in enumerate(book.entries or ()):
        kept = as_object(entry.extensions.get(KEPT))
        place, raw = kept.get("place"), as_object(kept.get("entry"))
        place = place if isinstance(place, int) and 0 <= place < len(slots) else None
        if raw:
            row = _written(
                edited(raw, entry, place or 0, book.dialect), raw, entry, place or 0, kept.get("version"), version
            )
        else:
            row = _new(entry, version, book.dialect)
        if place is None or slots[place] is not None or place in placed or not raw:
            added.append(_Written(row, number))
        else:
            placed[place] = _Written(row, number)
    found = [
        placed[place] if place in placed else _Written(_completed(dict(slot), version), None)
        for place, slot in enumerate(slots)
        if place in placed or isinstance(slot, Mapping)
    ]
    return [*found, *_with_free_ids(added, {_shown(each.row.get("id")) for each in found})]


def _written(
    row: dict[str, Any], raw: Mapping[str, Any], entry: Entry, place: int, was: object, version: int
) -> dict[str, Any]:
    """`row`, which is `raw` of version `was` edited, as one of `version` with the content of the entry."""
    content = entry.content
    if version == 2 and was == 3:
        content = decorators(content)[1]
    elif version == 3 and (was != 3 or logic_in_content(raw, place)):
        content = logic_decorators(row, place) + content
    if text(raw.get("content")) != content:
        row["content"] = content
    return _completed(row, version)


def _new(entry: Entry, version: int, dialect: Dialect) -> dict[str, Any]:
    made = {**new(entry, dialect), "uid": None, "name": entry.title}
    return _completed(to_book_entry(made if entry.trigger is not None else {**made, "selective": False}), version)


def _completed(row: dict[str, Any], version: int) -> dict[str, Any]:
    """With what the version asks for, and keys at least, without which it would be no entry of a character book."""
    if "keys" not in row and not is_book_entry(row):
        row = {**row, "keys": []}
    if is_foreign(row):
        row = {**row, "extensions": {}}
    return {**row, "use_regex": means_regex(row)} if version == 3 and "use_regex" not in row else row


def _with_free_ids(added: Sequence[_Written], used: set[str]) -> list[_Written]:
    """Rows from elsewhere, each with an id that no other has."""
    given = {*used, *(_shown(each.row.get("id")) for each in added)}
    highest = max(
        (int(shown) for shown in given if shown.isascii() and shown.isdigit() and len(shown) < 15), default=-1
    )
    rows: list[_Written] = []
    for each in added:
        own: object = each.row.get("id")
        if not _shown(own) or _shown(own) in used:
            own = highest = highest + 1
        used.add(_shown(own))
        rows.append(replace(each, row={"id": None, **each.row} | {"id": own}))
    return rows


def _in_order(written: Sequence[_Written]) -> list[_Written]:
    """The entries in the order of our book, those it could not take last; a `display_index` tells the new place."""
    ours = sorted((each for each in written if each.number is not None), key=lambda each: each.number or 0)
    others = [each for each in written if each.number is None]
    return [replace(each, row=_at(each.row, place)) for place, each in enumerate([*ours, *others])]


def _at(row: dict[str, Any], place: int) -> dict[str, Any]:
    extensions = as_object(row.get("extensions"))
    if extensions.get("display_index") is None:
        return row
    return {**row, "extensions": {**extensions, "display_index": place}}


def _file(file: Mapping[str, Any], book: Book, rows: list[dict[str, Any]]) -> dict[str, Any]:
    if not file:
        described = {"description": book.description} if book.description else {}
        return {"name": book.name, **described, **changed_settings({}, book), "extensions": {}, "entries": rows}
    return {**file, "entries": rows, **changed_settings(file, book), **changed_names(file, book)}


def _shown(given: object) -> str:
    return str(given) if isinstance(given, (int, str)) and not isinstance(given, bool) else ""
