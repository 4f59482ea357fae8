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
from service.formats.decoding import Repeating
from service.formats.format import Format
from service.formats.report import FormatName, ImportWarning, NoHome, Reading, Skipped, SkippedKind, counted
from service.formats.sillytavern_entry import fields, is_blank, new, text, warnings, written
from service.formats.sillytavern_fields import from_book_entry, is_book_entry, without_home
from service.lore.book import Book, Entry
from service.lore.errors import LimitExceeded
from service.lore.text import clean_line

NAME = "sillytavern"
MAX_ROWS = 100_000
MAX_CONTENT = 100_000
MAX_NAME = 200
MAX_DESCRIPTION = 10_000
_OTHERS = {"spec", "lorebookVersion", "storyContainerVersion", "scenarioVersion"}
_BOOK_HOME = {"entries", "name", "description", "originalData", "extensions"}
_ENTRY_FIELDS = {"key", "keys", "content", "comment"}


def recognise(value: object) -> bool:
    """Entries in an object or a list, with SillyTavern's names or those of a character book."""
    if not isinstance(value, dict) or _OTHERS & value.keys() or value.get("kind") == "memory":
        return False
    entries = value.get("entries")
    if not isinstance(entries, (dict, list)):
        return False
    rows = entries.values() if isinstance(entries, dict) else entries
    objects = [row for row in rows if isinstance(row, dict)]
    if any("strategy" in row for row in objects[:1]):
        return False  # Tavern-Helper
    return not rows or any(_ENTRY_FIELDS & row.keys() for row in objects)


def read(value: Any) -> Reading:
    """A world book (SPEC W14): keys become aliases, constant becomes canon, the comment the title.

    Raises `LimitExceeded` beyond 100,000 entries.
    """
    rows = _rows(value["entries"])
    left_out: dict[str, Any] = {}
    entries: list[tuple[float, int, Entry]] = []
    skipped: list[Skipped] = []
    warned: list[ImportWarning] = []
    no_home = [name for name, each in value.items() if name not in _BOOK_HOME and each is not None]
    extensions = value.get("extensions")
    no_home += [f"extensions.{name}" for name in extensions] if isinstance(extensions, Mapping) else []

    for place, (key, given, clash) in enumerate(rows):
        if not isinstance(given, dict):
            skipped.append(_skip(place, None, "not_an_entry", f"{_kind_of(given)} where an entry should stand"))
            continue
        raw = from_book_entry(given, place) if is_book_entry(given) else dict(given)
        if clash is not None:
            raw["uid"] = int(key)
            warned.append(_warning("duplicate_id", place, f"a second entry {clash}; it is {key} now"))
        content = text(raw.get("content"))
        title = clean_line(text(raw.get("comment")) or "")[:MAX_NAME] or None
        if content is None or not content.strip():
            left_out[key] = raw
            skipped.append(_skip(place, title, "no_content", "an entry without content"))
        elif len(content) > MAX_CONTENT:
            left_out[key] = raw
            skipped.append(_skip(place, title, "too_long", f"{len(content)} characters, at most {MAX_CONTENT} fit"))
        else:
            left_out[key] = None
            entries.append((_rank(raw), place, _entry(key, raw, content)))
            warned += [_warning(kind, place, detail) for kind, detail in warnings(raw)]
            no_home += without_home(raw)

    entries.sort(key=lambda each: each[:2])
    description = text(value.get("description")) or ""
    if len(description) > MAX_DESCRIPTION:
        warned.append(_warning("long_description", None, f"cut to {MAX_DESCRIPTION} characters; kept for export"))
    book = Book(
        name=_name(value),
        description=description[:MAX_DESCRIPTION],
        entries=tuple(entry for _, _, entry in entries),
        extensions={NAME: {**value, "entries": left_out}},
    )
    return Reading(
        book=book,
        places=tuple(place for _, place, _ in entries),
        format=FormatName(name=NAME),
        skipped=tuple(skipped),
        no_home=counted(no_home),
        warnings=tuple(warned),
    )


def write(book: Book) -> dict[str, Any]:
    """The file that the book was read from with what was edited since; new entries behind it, with all fields.

    `displayIndex` is rewritten only when the order of the book is another than the file says.
    """
    book = as_world_info(book)
    file = _object(book.extensions.get(NAME))
    order = _object(file.get("entries"))
    placed, added = _placed(order, book.entries or ())
    rows: dict[str, Any] = {
        key: written(*placed[key]) if key in placed else left_out
        for key, left_out in order.items()
        if key in placed or isinstance(left_out, Mapping)
    }
    keys = {id(entry): key for key, (_, entry) in placed.items()}
    position = {id(entry): place for place, entry in enumerate(book.entries or ())}
    for number, (raw, entry) in zip(_free_numbers(rows), added, strict=False):
        row = written(raw, entry) if raw else {**new(entry), "displayIndex": position[id(entry)]}
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


FORMAT = Format(name=NAME, recognise=recognise, read=read, write=write, losses=losses, indent=4)


def _rows(entries: Any) -> list[tuple[str, Any, str | None]]:
    """Key, entry, and the key that the entry wanted when another has it already; in file order."""
    if isinstance(entries, list):
        wanted = [_number(row) for row in entries]
        given: Sequence[Any] = entries
    else:
        pairs = entries.pairs if isinstance(entries, Repeating) else list(entries.items())
        wanted = [key for key, _ in pairs]
        given = [row for _, row in pairs]
    if len(given) > MAX_ROWS:
        raise LimitExceeded(f"{len(given)} entries in one file", limit=MAX_ROWS, actual=len(given))
    unused = _unused({key for key in wanted if key is not None})
    taken: set[str] = set()
    rows: list[tuple[str, Any, str | None]] = []
    for key, row in zip(wanted, given, strict=True):
        clash = key if key in taken else None
        own = next(unused) if key is None or clash is not None else key
        taken.add(own)
        rows.append((own, row, clash))
    return rows


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


def _entry(key: str, raw: dict[str, Any], content: str) -> Entry:
    found = fields(raw, content)
    kept = {**raw, "content": None} if raw["content"] == content else raw
    return Entry(
        title=found.title,
        content=content,
        aliases=found.aliases,
        tier=found.tier,
        enabled=found.enabled,
        extensions={NAME: {"key": key, "entry": kept}},
    )


def _placed(
    order: Mapping[str, Any], entries: Sequence[Entry]
) -> tuple[dict[str, tuple[Mapping[str, Any], Entry]], list[tuple[Mapping[str, Any], Entry]]]:
    """Entries that stand in the file under their key, and the others, each with what was read of it."""
    placed: dict[str, tuple[Mapping[str, Any], Entry]] = {}
    added: list[tuple[Mapping[str, Any], Entry]] = []
    for entry in entries:
        kept = _object(entry.extensions.get(NAME))
        key, raw = kept.get("key"), _object(kept.get("entry"))
        if isinstance(key, str) and key in order and order[key] is None and key not in placed and raw:
            placed[key] = (raw, entry)
        else:
            added.append((raw, entry))
    return placed, added


def _file(file: Mapping[str, Any], book: Book, rows: dict[str, Any]) -> dict[str, Any]:
    if not file:
        described = {"description": book.description} if book.description else {}
        return {"entries": rows, "name": book.name, **described}
    result = {**file, "entries": rows}
    if _name(file) and _name(file) != book.name:
        result["name"] = book.name
    if (text(file.get("description")) or "")[:MAX_DESCRIPTION] != book.description:
        result["description"] = book.description
    return result


def _name(file: Mapping[str, Any]) -> str:
    name = text(file.get("name")) or ""
    return "" if is_blank(name) else clean_line(name)[:MAX_NAME].strip()


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _kind_of(value: object) -> str:
    return "null" if value is None else "a list" if isinstance(value, list) else f"{text(value)!s:.40}"


def _skip(index: int, title: str | None, kind: SkippedKind, detail: str) -> Skipped:
    return Skipped(index=index, title=title, kind=kind, detail=detail)


def _warning(kind: str, index: int | None, detail: str) -> ImportWarning:
    return ImportWarning(kind=kind, index=index, detail=detail)
