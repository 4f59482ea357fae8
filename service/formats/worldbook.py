"""Our own JSON: `{"format": "worldbook", "version": 1, "book": {…}}`, every authored field of a book.

What the service sets (ids, versions, counts) is not written and not read. Fields that this version does not know, from
a later one or from a hand, are kept in `extensions["worldbook"]` and reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from math import inf
from typing import Any

from service.formats.book_entry import edited
from service.formats.converting import CHARACTER_BOOK, WORLD_INFO
from service.formats.format import Format
from service.formats.names import as_object
from service.formats.report import FormatName, ImportWarning, NoHome, Reading, Rules, Skipped, counted
from service.formats.sillytavern_entry import primary, secondary, written
from service.formats.sillytavern_fields import from_book_entry, without_home
from service.formats.triggering import fitted, told_of
from service.lore.book import MAX_ROWS, Book, Entry
from service.lore.errors import FieldError, Invalid, LimitExceeded, UnreadableFile
from service.lore.limits import MAX_CONTENT
from service.lore.text import clean_line
from service.validation import dump, validate

NAME = "worldbook"
VERSION = 1
_ENTRY = ("title", "content", "aliases", "gist", "tier", "enabled", "trigger", "extensions")
_BOOK = ("name", "description", "dialect", "enabled", "settings", "channels", "extensions")
_MOST = {str(dialect): most for dialect, most in MAX_CONTENT.items()}
_KNOWN = {field.name for kind in (Book, Entry) for field in fields(kind)}


def recognise(value: object) -> bool:
    """The file says so itself."""
    return isinstance(value, dict) and value.get("format") == NAME


def read(value: Any) -> Reading:
    """The book as it was written; an entry that is not valid is skipped with the reason.

    What the dialect of a lorebook does not know of its entries is left out or brought within bounds, with a warning.

    Raises `UnreadableFile` (fault `newer_version`) for a later version, `Invalid` when the book itself is wrong.
    """
    version = value.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise Invalid([FieldError(pointer="#/version", detail="the version is missing or wrong", remedy="1")])
    if version > VERSION:
        raise UnreadableFile(
            f"version {version} of the worldbook format; this service reads up to {VERSION}",
            fault="newer_version",
            remedy="Update the service, or export the book in another format.",
        )
    body = value.get("book")
    if not isinstance(body, dict):
        raise Invalid([FieldError(pointer="#/book", detail="the book is missing", remedy="an object")])
    rows = [] if body.get("entries") is None else body["entries"]
    if not isinstance(rows, list):
        raise Invalid([FieldError(pointer="#/book/entries", detail="the entries are no list", remedy="a list")])
    if len(rows) > MAX_ROWS:
        raise LimitExceeded(f"{len(rows)} entries in one file", limit=MAX_ROWS, actual=len(rows))

    unknown: list[str] = []
    found = [_entry(row, index, body.get("dialect", "world"), unknown) for index, row in enumerate(rows)]
    entries = {index: entry for index, entry in enumerate(found) if isinstance(entry, Entry)}
    try:
        book = validate(Book, {**_cleaned(body, _BOOK, unknown), "entries": tuple(entries.values())})
    except Invalid as error:
        raise Invalid([replace(each, pointer=f"#/book{(each.pointer or '#')[1:]}") for each in error.errors]) from None
    return Reading(
        book=replace(book, entries=tuple(fitted(entry, book.dialect) for entry in entries.values())),
        places=tuple(entries),
        rules=tuple(map(_rules, entries.values())),
        book_rules=Rules(settings=as_object(book.extensions.get(WORLD_INFO, book.extensions.get(CHARACTER_BOOK)))),
        format=FormatName(name=NAME, version=str(version)),
        skipped=tuple(each for each in found if isinstance(each, Skipped)),
        no_home=counted(unknown),
        warnings=(
            *(
                ImportWarning(kind="blank_alias", index=index, detail="blank aliases left out")
                for index in entries
                if _blank_aliases(rows[index])
            ),
            *(
                ImportWarning(kind=kind, index=index, detail=detail)
                for index, entry in entries.items()
                for kind, detail in told_of(entry, book.dialect)
            ),
        ),
    )


def write(book: Book) -> dict[str, Any]:
    """Every authored field, defaults included."""
    plain = dump(book)
    entries = [{name: entry[name] for name in _ENTRY} for entry in plain["entries"] or ()]
    return {"format": NAME, "version": VERSION, "book": {**{name: plain[name] for name in _BOOK}, "entries": entries}}


def losses(_book: Book) -> tuple[NoHome, ...]:
    """Nothing that an author wrote."""
    return ()


FORMAT = Format(
    name=NAME, recognise=recognise, telling=frozenset({"format"}), read=read, write=write, losses=losses, indent=2
)


def _rules(entry: Entry) -> Rules:
    """What an entry of a world book says to a lorebook: its aliases are keys, canon needs none.

    One that was read from SillyTavern or from a character book says what it said there, and what was edited since.
    """
    row = _row(entry)
    if row:
        return Rules(keys=primary(row), secondary=secondary(row), settings=row, no_home=tuple(without_home(row)))
    keys = [(alias, alias) for alias in entry.aliases]
    return Rules(keys=keys, settings={"constant": entry.tier == "canon", "selective": True})


def _row(entry: Entry) -> Mapping[str, Any]:
    """The entry of SillyTavern that the kept one is now; empty when there is none, or when a trigger says it all."""
    if entry.trigger is not None:
        return {}
    if raw := as_object(as_object(entry.extensions.get(WORLD_INFO)).get("entry")):
        return written(raw, entry, "world")
    if raw := as_object(as_object(entry.extensions.get(CHARACTER_BOOK)).get("entry")):
        return from_book_entry(edited(raw, entry, 0, "world"), 0)
    return {}


def _entry(row: object, index: int, dialect: object, unknown: list[str]) -> Entry | Skipped:
    if not isinstance(row, dict):
        return Skipped(index=index, title=None, kind="not_an_entry", detail="not an object")
    found = _cleaned(row, _ENTRY, unknown)
    title = found.get("title")
    title = title[:200] if isinstance(title, str) else None
    content = found.get("content")
    if isinstance(content, str) and not content.strip():
        return Skipped(index=index, title=title, kind="no_content", detail="an entry without content")
    most = _MOST.get(dialect, inf) if isinstance(dialect, str) else inf
    if isinstance(content, str) and len(content) > most:
        detail = f"{len(content)} characters, at most {most} fit"
        return Skipped(index=index, title=title, kind="too_long", detail=detail)
    try:
        entry = validate(Entry, found)
        if (entry.trigger is None) != (dialect == "world"):
            detail = "a world book has no triggers" if entry.trigger else "an entry of a lorebook needs a trigger"
            return Skipped(index=index, title=title, kind="invalid", detail=detail)
        return entry
    except Invalid as error:
        wrong = "; ".join(f"{each.pointer}: {each.detail}" for each in error.errors[:3])
        return Skipped(index=index, title=title, kind="invalid", detail=wrong)


def _cleaned(value: Mapping[str, Any], authored: tuple[str, ...], unknown: list[str]) -> dict[str, Any]:
    """The authored fields, titles and names on one line, and what is not known moved to the extensions."""
    found = {name: each for name, each in value.items() if name in authored}
    strange = {name: each for name, each in value.items() if name not in _KNOWN}
    for name in ("title", "name"):
        if isinstance(found.get(name), str):
            found[name] = clean_line(found[name])
    if isinstance(found.get("aliases"), list):
        lines = [clean_line(each) if isinstance(each, str) else each for each in found["aliases"]]
        found["aliases"] = [line for line in lines if line != ""]
    if strange:
        unknown += strange
        extensions = found.get("extensions", {})
        if isinstance(extensions, dict):
            found["extensions"] = {**extensions, NAME: {**as_object(extensions.get(NAME)), **strange}}
    return found


def _blank_aliases(row: Mapping[str, Any]) -> bool:
    return any(isinstance(alias, str) and not clean_line(alias) for alias in row.get("aliases", ()))
