"""SillyTavern world info: `{"entries": {"0": {…}, …}}`, or with a list of entries.

An untouched file comes out as it came in. For this `extensions["sillytavern"]` keeps what was read. Of the file: all
but the entries; `entries` there gives their order, with null for one that is in the book, and one that was left out in
full. Of an entry: `key`, its key in the file, and `entry`, with null for a content that is the content of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from math import inf, isnan
from typing import Any

from service.formats.converting import CHARACTER_BOOK, as_world_info, lost_in_world_info, unheld
from service.formats.format import Format
from service.formats.names import as_object, book_name, text, whole
from service.formats.report import FormatName, ImportWarning, NoHome, Reading, counted
from service.formats.rows import Row, bounded, changed_names, gather, kept, keyed, reading
from service.formats.sillytavern_entry import is_constant, new, primary, secondary, titles, written
from service.formats.sillytavern_fields import from_book_entry, is_book_entry, is_enabled, without_home
from service.formats.triggering import changed_settings
from service.lore.book import Book, Entry

NAME = "sillytavern"
SPELLED = {"case_sensitive": "caseSensitive", "insertion_order": "order"}
_OTHERS = {"spec", "lorebookVersion", "storyContainerVersion", "scenarioVersion"}
_OTHER_NAMES = {"keywords", "secondaryKeys", "strategy", "search_range"}
_BOOK_HOME = {"entries", "name", "description", "originalData", "extensions"}
_ENTRY_FIELDS = {"key", "keys", "content", "comment"}


def recognise(value: object) -> bool:
    """Entries in an object or a list, with SillyTavern's names or those of a character book."""
    if not isinstance(value, dict) or _OTHERS & value.keys() or value.get("kind") == "memory":
        return False
    entries = value.get("entries")
    if not isinstance(entries, (dict, list)):
        return False
    rows = [row for _, row in keyed(entries)]
    return not rows or any(isinstance(row, dict) and _is_entry(row) for row in rows)


def read(value: Any) -> Reading:
    """A world book (SPEC W14): keys become aliases, constant becomes canon, the comment the title.

    Raises `LimitExceeded` beyond 100,000 entries.
    """
    own, rows, warned = _rows(value["entries"])
    found = gather(rows, lambda place, raw: _row(own[place], raw))
    inside = set(found.places)
    no_home = [name for name, each in value.items() if name not in _BOOK_HOME and each is not None]
    extensions = value.get("extensions")
    no_home += [f"extensions.{name}" for name in extensions] if isinstance(extensions, Mapping) else []
    left_out = {
        own[place]: None if place in inside else row for place, row in enumerate(rows) if isinstance(row, Mapping)
    }
    return reading(
        FormatName(name=NAME),
        found,
        name=book_name(value.get("name")),
        description=value.get("description"),
        extensions={NAME: {**value, "entries": left_out}},
        no_home=no_home,
        warnings=warned,
        settings=value,
    )


def write(book: Book) -> dict[str, Any]:
    """The file that the book was read from with what was edited since; new entries behind it, with all fields.

    `displayIndex` is rewritten only when the order of the book is another than the file says.
    """
    book = as_world_info(book)
    file = as_object(book.extensions.get(NAME))
    order = as_object(file.get("entries"))
    placed, added = _placed(order, book.entries or ())
    rows: dict[str, Any] = {
        key: written(*placed[key], book.dialect) if key in placed else left_out
        for key, left_out in order.items()
        if key in placed or isinstance(left_out, Mapping)
    }
    keys = {id(entry): key for key, (_, entry) in placed.items()}
    position = {id(entry): place for place, entry in enumerate(book.entries or ())}
    for number, (raw, entry) in zip(_free_numbers(rows), added, strict=False):
        row = (
            written(raw, entry, book.dialect)
            if raw
            else {**new(entry, book.dialect), "displayIndex": position[id(entry)]}
        )
        rows[str(number)] = row | {"uid": number}
        keys[id(entry)] = str(number)
    listed = [keys[id(entry)] for entry in book.entries or ()]
    ours = set(listed)
    if sorted((key for key in rows if key in ours), key=lambda key: _rank(rows[key])) != listed:
        for place, key in enumerate(listed):
            rows[key]["displayIndex"] = place
    return _file(file, book, rows)


def losses(book: Book) -> tuple[NoHome, ...]:
    """Gists, settings and the switch of the book, and what other programs keep in the extensions."""
    lost = list(unheld(book, NAME, CHARACTER_BOOK))
    for entry in book.entries or ():
        lost += lost_in_world_info(entry)
    return counted(lost)


FORMAT = Format(name=NAME, recognise=recognise, read=read, write=write, losses=losses, spelled=SPELLED, indent=4)


def _is_entry(row: Mapping[str, Any]) -> bool:
    """Whether a row has our names, and none with which another program says what ours has another name for."""
    return "key" in row or not (_ENTRY_FIELDS.isdisjoint(row) or row.keys() & _OTHER_NAMES)


def _rows(entries: Any) -> tuple[list[str], list[Any], list[ImportWarning]]:
    """In file order the key that each entry gets, the entry under SillyTavern's names, and which keys were taken."""
    given = keyed(entries)
    bounded(len(given))
    wanted = [_number(row) if key is None else key for key, row in given]
    unused = _unused({key for key in wanted if key is not None})
    own: list[str] = []
    rows: list[Any] = []
    warned: list[ImportWarning] = []
    taken: set[str] = set()
    for place, (key, (_, row)) in enumerate(zip(wanted, given, strict=True)):
        clash = key in taken
        own.append(next(unused) if key is None or clash else key)
        taken.add(own[-1])
        if not isinstance(row, dict):
            rows.append(row)
            continue
        rows.append(from_book_entry(row, place) if is_book_entry(row) else dict(row))
        if is_book_entry(row) and not isinstance(row.get("id"), int) and (number := whole(own[-1])) is not None:
            rows[-1]["uid"] = number  # SillyTavern edits by key what it activates by uid
        if clash:
            rows[-1]["uid"] = int(own[-1])
            detail = f"a second entry {key}; it is {own[-1]} now"
            warned.append(ImportWarning(kind="duplicate_id", index=place, detail=detail))
    return own, rows, warned


def _number(row: object) -> str | None:
    """The id that an entry in a list gives itself."""
    given = row.get("uid", row.get("id")) if isinstance(row, dict) else None
    shown = str(given) if isinstance(given, (int, str)) and not isinstance(given, bool) else ""
    return shown if shown.isascii() and shown.isdigit() else None


def _unused(used: set[str]) -> Iterator[str]:
    return (str(number) for number in count() if str(number) not in used)


def _free_numbers(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[int]:
    """Numbers above every key and uid: JavaScript lists numeric keys in ascending order, so new entries come last."""
    used = [*rows, *(str(row.get("uid")) for row in rows.values())]
    return count(1 + max((int(key) for key in used if key.isascii() and key.isdigit() and len(key) < 16), default=-1))


def _rank(raw: Mapping[str, Any]) -> float:
    """Place in the list; entries that state none come last, in file order."""
    try:
        place = float(text(raw.get("displayIndex")) or "inf")
    except ValueError:
        return inf
    return inf if isnan(place) else place


def _row(key: str, raw: dict[str, Any]) -> Row:
    return Row(
        titles=titles(raw),
        content=raw.get("content"),
        keys=primary(raw),
        secondary=secondary(raw),
        settings=raw,
        canon=is_constant(raw),
        enabled=is_enabled(raw),
        rank=_rank(raw),
        extensions={NAME: {"key": key, "entry": kept(raw, "content")}},
        no_home=without_home(raw),
    )


def _placed(
    order: Mapping[str, Any], entries: Sequence[Entry]
) -> tuple[dict[str, tuple[Mapping[str, Any], Entry]], list[tuple[Mapping[str, Any], Entry]]]:
    """Entries that stand in the file under their key, and the others, each with what was read of it."""
    placed: dict[str, tuple[Mapping[str, Any], Entry]] = {}
    added: list[tuple[Mapping[str, Any], Entry]] = []
    for entry in entries:
        kept = as_object(entry.extensions.get(NAME))
        key, raw = kept.get("key"), as_object(kept.get("entry"))
        if isinstance(key, str) and key in order and order[key] is None and key not in placed and raw:
            placed[key] = (raw, entry)
        else:
            added.append((raw, entry))
    return placed, added


def _file(file: Mapping[str, Any], book: Book, rows: dict[str, Any]) -> dict[str, Any]:
    if not file:
        described = {"description": book.description} if book.description else {}
        return {"entries": rows, "name": book.name, **described, **changed_settings({}, book)}
    return {**file, "entries": rows, **changed_settings(file, book), **changed_names(file, book)}
