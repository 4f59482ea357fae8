"""A file as a new book, or into one: all of it or nothing, in one transaction."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from sqlalchemy import Connection

from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.formats import read
from service.formats.report import FormatName, ImportWarning, NoHome, Reading, Skipped
from service.lore.book import STRICT, Book, BookSettings, Entry
from service.lore.errors import FieldError, Invalid, LimitExceeded, TooLarge, UnreadableFile
from service.lore.text import clean_line
from service.store import books, vectors
from service.store import entries as stored
from service.store.engine import writing

Mode = Literal["append", "replace"]
DEFAULT_NAME = "Imported book"
MAX_NAME = 200
_ENDING = re.compile(r"(\.worldbook)?\.(json|lorebook|scenario|story)$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ImportedBook:
    """Where the entries went."""

    __pydantic_config__ = STRICT

    id: str | None
    """Null in a dry run of a new book."""
    version: int
    name: str


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """What an import did; in a dry run, what it would have done."""

    __pydantic_config__ = STRICT

    book: ImportedBook | None
    """Null when the file holds no book, and nothing changed."""
    format: FormatName
    mode: Literal["new", "append", "replace"]
    added: int
    """Entries, counted in the database before the commit."""
    removed: int
    skipped: tuple[Skipped, ...] = ()
    no_home: tuple[NoHome, ...] = ()
    """Settings without effect in a world book. They are kept for export."""
    warnings: tuple[ImportWarning, ...] = ()
    pending_vectors: int = 0
    """Entries of the book that cannot be found by meaning yet."""


def import_book(
    rt: Runtime,
    data: bytes,
    *,
    name: str | None = None,
    file_name: str | None = None,
    into: str | None = None,
    mode: Mode = "append",
    format: str | None = None,
    dry_run: bool = False,
    wait: bool = False,
) -> ImportReport:
    """Import a file as a new book, or `into` the book of this id.

    A new book is named `name`, else as the file says inside, else after `file_name`. `append` skips entries whose
    title, content and aliases the book already has; `replace` takes all entries out first. `wait` waits for the vectors
    as long as the settings allow. A dry run makes the same transaction and does not commit it.

    Raises `TooLarge`, `UnreadableFile`, `Invalid`, `NotFound`, `NameTaken`, `LimitExceeded`; nothing is written then.
    """
    limit = rt.settings.max_import_bytes
    if len(data) > limit:
        raise TooLarge("the file is too large", limit=limit, actual=len(data), remedy="Split the book.")
    if into is not None and name is not None:
        raise Invalid([FieldError(parameter="name", detail="a book that exists keeps its name", remedy="leave it out")])
    found = read(data, format)
    with writing(rt.engine) as conn:
        if into is None:
            written = _new(rt, conn, _named(found, name, file_name))
        elif mode == "replace":
            written = _replaced(rt, conn, into, found)
        else:
            written = _appended(rt, conn, into, found)
        report = _report(rt, conn, written, "new" if into is None else mode, dry_run)
        if written.changed and not dry_run:
            conn.commit()
    if dry_run:
        return report
    rt.backlog.nudge(written.book_id)
    if wait and report.pending_vectors:
        return replace(report, pending_vectors=rt.backlog.wait(written.book_id, rt.settings.max_import_wait))
    return report


@dataclass(frozen=True, kw_only=True)
class _Written:
    """What a transaction did so far."""

    book_id: str
    found: Reading
    before: int = 0
    """Entries that were there and stay."""
    removed: int = 0
    changed: bool = True


def _new(rt: Runtime, conn: Connection, found: Reading) -> _Written:
    _at_most(books.count(conn, OWNER) + 1, rt.settings.max_books, "books")
    entries = found.book.entries or ()
    _at_most(len(entries), rt.settings.max_entries, "entries in a book")
    now = rt.now()
    book_id = books.insert_book(conn, OWNER, found.book, now)
    stored.add(conn, book_id, 1, entries, now)
    return _Written(book_id=book_id, found=found)


def _replaced(rt: Runtime, conn: Connection, book_id: str, found: Reading) -> _Written:
    """The book keeps its id, name and switch; what the file does not say of description and settings stays too."""
    now = rt.now()
    version = books.advance(conn, OWNER, book_id, now)
    entries = found.book.entries or ()
    if found.skipped and not entries:
        raise UnreadableFile(
            f"none of the {len(found.skipped)} entries can be used, so the book keeps those that it has",
            fault="no_entries",
            remedy=f"The first: {found.skipped[0].detail}.",
        )
    _at_most(len(entries), rt.settings.max_entries, "entries in a book")
    removed = stored.clear(conn, book_id)
    books.update_book(conn, book_id, _becomes(books.read(conn, OWNER, book_id), found.book))
    stored.add(conn, book_id, version, entries, now)
    return _Written(book_id=book_id, found=found, removed=removed)


def _becomes(current: Book, file: Book) -> Book:
    return replace(
        current,
        description=file.description or current.description,
        settings=current.settings if file.settings == BookSettings() else file.settings,
        extensions=file.extensions,
    )


def _appended(rt: Runtime, conn: Connection, book_id: str, found: Reading) -> _Written:
    now = rt.now()
    version = books.advance(conn, OWNER, book_id, now)  # from here on nobody else adds the same entries
    present = books.load(conn, [book_id])[0].book.entries or ()
    known = {_fingerprint(entry): entry.handle for entry in present}
    fresh: list[Entry] = []
    skipped = list(found.skipped)
    for place, entry in zip(found.places, found.book.entries or (), strict=True):
        same = known.get(_fingerprint(entry))
        if same is None:
            fresh.append(entry)
        else:
            skipped.append(Skipped(index=place, title=entry.title, kind="duplicate", detail=f"same content as {same}"))
    _at_most(len(present) + len(fresh), rt.settings.max_entries, "entries in a book")
    if fresh:
        stored.add(conn, book_id, version, fresh, now)
    else:
        conn.rollback()  # an import that adds nothing is no edit
    told = replace(found, skipped=tuple(sorted(skipped, key=lambda each: each.index)))
    return _Written(book_id=book_id, found=told, before=len(present), changed=bool(fresh))


def _fingerprint(entry: Entry) -> tuple[str, str, tuple[str, ...]]:
    """What makes two entries the same, whatever their book is called."""
    return entry.title, entry.content, entry.aliases


def _report(
    rt: Runtime, conn: Connection, written: _Written, mode: Literal["new", "append", "replace"], dry_run: bool
) -> ImportReport:
    """The report, with what is counted in the transaction itself."""
    book = books.read(conn, OWNER, written.book_id)
    counts = books.counts(conn, [book.id]).get(book.id)
    space = rt.encoder.space
    waiting = vectors.counts(conn, space.id if space else "", [book.id]).get(book.id)
    return ImportReport(
        book=ImportedBook(id=None if dry_run and mode == "new" else book.id, version=book.version, name=book.name),
        format=written.found.format,
        mode=mode,
        added=(counts.entries if counts else 0) - written.before,
        removed=written.removed,
        skipped=written.found.skipped,
        no_home=written.found.no_home,
        warnings=written.found.warnings,
        pending_vectors=waiting.pending if waiting else 0,
    )


def _named(found: Reading, name: str | None, file_name: str | None) -> Reading:
    """The reading with a name for the book, and a warning when nobody gave one."""
    if name is not None:
        given = clean_line(name)
        if not given or len(given) > MAX_NAME:
            remedy = f"send 1 to {MAX_NAME} characters"
            raise Invalid([FieldError(parameter="name", detail="the name is blank or too long", remedy=remedy)])
        return replace(found, book=replace(found.book, name=given))
    inside = found.book.name or _stem(file_name or "")
    if inside:
        return replace(found, book=replace(found.book, name=inside))
    warning = ImportWarning(kind="no_name", detail=f"the file has no name; the book is called {DEFAULT_NAME}")
    return replace(found, book=replace(found.book, name=DEFAULT_NAME), warnings=(warning, *found.warnings))


def _stem(file_name: str) -> str:
    last = re.split(r"[/\\]", file_name)[-1]
    return clean_line(_ENDING.sub("", last))[:MAX_NAME].strip()


def _at_most(count: int, limit: int, what: str) -> None:
    if count > limit:
        raise LimitExceeded(
            f"the import would make {count:,} {what}; at most {limit:,} are allowed",
            limit=limit,
            actual=count,
            remedy="Nothing was imported. Remove some, or raise the limit in the settings.",
        )
