"""The rows of a file, one after another, as the entries of a world book; what cannot be one is told with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Any

from service.formats import names
from service.formats.decoding import Repeating
from service.formats.names import Keys
from service.formats.report import FormatName, ImportWarning, Reading, Rules, Skipped, SkippedKind, counted
from service.lore.book import Book, Entry
from service.lore.errors import FieldError, Invalid, LimitExceeded

MAX_ROWS = 100_000
MAX_CONTENT = 100_000
MAX_DESCRIPTION = 10_000


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one row of a file says, in the words of a world book (SPEC W14)."""

    titles: tuple[object, ...]
    """Fields that may hold the title; the first that is not blank does."""
    content: object
    keys: Keys
    secondary: Keys = ()
    """Keys that filter."""
    canon: bool = False
    enabled: bool = True
    rank: float = inf
    """Place in the list; rows of the same place follow each other as in the file."""
    extensions: Mapping[str, Any]
    no_home: Iterable[str] = ()
    """What it sets otherwise than by default and a world book has no use for."""
    warnings: Iterable[tuple[str, str]] = ()
    """Kind and detail of what is to be told beside what title and keys already tell."""
    settings: Mapping[str, Any]
    """What it says of when and where it is sent, under SillyTavern's names; what is missing is the default."""


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """The entries of a file in list order, and what is to be said about its rows."""

    entries: tuple[Entry, ...]
    places: tuple[int, ...]
    """Place in the file of each entry, from 0."""
    skipped: tuple[Skipped, ...]
    rules: tuple[Rules, ...]
    """Of each entry."""
    warnings: tuple[ImportWarning, ...]


def listed(value: Mapping[str, Any], name: str) -> list[Any]:
    """The rows in this field. Raises `Invalid` when it holds no list."""
    rows = value.get(name)
    if not isinstance(rows, list):
        raise Invalid([FieldError(pointer=f"#/{name}", detail="the entries are no list", remedy="a list")])
    return rows


def keyed(rows: object) -> list[tuple[str | None, Any]]:
    """Rows of a list, or of an object with their keys; two with one key are both there."""
    if isinstance(rows, Repeating):
        return list(rows.pairs)
    return list(rows.items()) if isinstance(rows, Mapping) else [(None, row) for row in rows]  # type: ignore[attr-defined]  # a list


def repeated(pairs: Sequence[tuple[str | None, Any]]) -> list[ImportWarning]:
    """A warning for each row whose key another had before it."""
    seen: set[str] = set()
    warnings: list[ImportWarning] = []
    for place, (key, _) in enumerate(pairs):
        if key in seen:
            detail = f"a second entry {key:.40}; both were read"
            warnings.append(ImportWarning(kind="duplicate_id", index=place, detail=detail))
        elif key is not None:
            seen.add(key)
    return warnings


def bounded(count: int) -> None:
    """Raises `LimitExceeded` beyond 100,000 rows, before work is done on any."""
    if count > MAX_ROWS:
        raise LimitExceeded(f"{count} entries in one file", limit=MAX_ROWS, actual=count)


def gather(rows: Sequence[object], row_of: Callable[[int, dict[str, Any]], Row | str]) -> Gathered:
    """Each row as an entry; `row_of` tells what an object says, or the reason why it is none.

    Raises `LimitExceeded`.
    """
    bounded(len(rows))
    entries: list[tuple[float, int, Entry, Rules]] = []
    skipped: list[Skipped] = []
    warnings: list[ImportWarning] = []
    for place, given in enumerate(rows):
        if not isinstance(given, dict):
            skipped.append(_skip(place, None, "not_an_entry", f"{_kind_of(given)} where an entry should stand"))
            continue
        row = row_of(place, given)
        if isinstance(row, str):
            skipped.append(_skip(place, None, "not_an_entry", row))
            continue
        keys = [*row.keys, *row.secondary]
        aliases = names.aliases(keys)
        content = names.text(row.content)
        shown = names.first_line((*row.titles, *aliases[:1]))[: names.MAX_TITLE] or None
        if content is None or not content.strip():
            skipped.append(_skip(place, shown, "no_content", _no_content(row.content)))
        elif len(content) > MAX_CONTENT:
            detail = f"{len(content)} characters, at most {MAX_CONTENT} fit"
            skipped.append(_skip(place, shown, "too_long", detail))
        else:
            rules = Rules(keys=row.keys, secondary=row.secondary, settings=row.settings, no_home=tuple(row.no_home))
            entries.append((row.rank, place, _entry(row, content, aliases), rules))
            told = (*names.key_warnings(keys), *names.title_warnings(row.titles), *row.warnings)
            warnings += [ImportWarning(kind=kind, index=place, detail=detail) for kind, detail in told]
    entries.sort(key=lambda each: each[:2])
    return Gathered(
        entries=tuple(entry for _, _, entry, _ in entries),
        places=tuple(place for _, place, _, _ in entries),
        skipped=tuple(skipped),
        rules=tuple(rules for _, _, _, rules in entries),
        warnings=tuple(warnings),
    )


def reading(
    format: FormatName,
    found: Gathered,
    *,
    name: str = "",
    description: object = None,
    enabled: bool = True,
    extensions: Mapping[str, Any],
    no_home: Iterable[str] = (),
    warnings: Sequence[ImportWarning] = (),
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> Reading:
    """The book of these entries, with what is to be said about the file itself.

    `settings`: what the file says of scan depth, token budget and recursion, under the names of a character book.
    """
    of_file = tuple(no_home)
    told = names.text(description) or ""
    cut = f"cut to {MAX_DESCRIPTION} characters; kept for export"
    long = [ImportWarning(kind="long_description", detail=cut)] if len(told) > MAX_DESCRIPTION else []
    book = Book(
        name=name,
        description=told[:MAX_DESCRIPTION],
        enabled=enabled,
        entries=found.entries,
        extensions=extensions,
    )
    return Reading(
        book=book,
        places=found.places,
        format=format,
        skipped=found.skipped,
        no_home=counted((*of_file, *(name for rules in found.rules for name in rules.no_home))),
        warnings=(*warnings, *found.warnings, *long),
        rules=found.rules,
        book_rules=Rules(settings=settings, no_home=of_file),
    )


def named(format: str, version: object) -> FormatName:
    """What a file was recognised as, with the version that it states."""
    stated = names.text(version)
    return FormatName(name=format, version=None if stated is None else stated[:40])


def kept(raw: Mapping[str, Any], content: str) -> Mapping[str, Any]:
    """A row as it was read, with null for the field whose text is the content of the entry."""
    return {**raw, content: None} if isinstance(raw.get(content), str) else raw


def kept_of_file(file: Mapping[str, Any], field: str, rows: Sequence[Any], found: Gathered) -> dict[str, Any]:
    """A file as it was read, with only those of its rows, by their place, that are in no entry."""
    inside = set(found.places)
    return {**file, field: {str(place): row for place, row in enumerate(rows) if place not in inside}}


def changed_names(file: Mapping[str, Any], book: Book) -> dict[str, Any]:
    """Name and description of the book, as far as they are others than those that the file was read with.

    The name of a file that has none is known only where the book was named after its character.
    """
    found: dict[str, Any] = {}
    if names.book_name(file.get("name"), book.extensions.get(names.NAMED_AFTER)) not in ("", book.name):
        found["name"] = book.name
    if (names.text(file.get("description")) or "")[:MAX_DESCRIPTION] != book.description:
        found["description"] = book.description
    return found


def _entry(row: Row, content: str, aliases: tuple[str, ...]) -> Entry:
    return Entry(
        title=names.title(row.titles, aliases, content),
        content=content,
        aliases=aliases,
        tier="canon" if row.canon else "relevant",
        enabled=row.enabled,
        extensions=row.extensions,
    )


def _no_content(given: object) -> str:
    what = "a list" if isinstance(given, list) else "an object" if isinstance(given, dict) else ""
    return f"an entry with {what} for its content" if what else "an entry without content"


def _kind_of(value: object) -> str:
    return "null" if value is None else "a list" if isinstance(value, list) else f"{names.text(value)!s:.40}"


def _skip(index: int, title: str | None, kind: SkippedKind, detail: str) -> Skipped:
    return Skipped(index=index, title=title, kind=kind, detail=detail)
