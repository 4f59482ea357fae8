"""A file as a new book, or into one: all of it or nothing, in one transaction."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from sqlalchemy import Connection

from service.actions.attaching import change_attached
from service.actions.hosting import parse_host
from service.actions.import_modes import Outcome, appended, as_new, replaced
from service.actions.limiting import SCOPED
from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.formats import Limits, is_card_file, read
from service.formats.report import FormatName, ImportWarning, NoHome, Reading, Skipped
from service.lore.book import Book, Dialect
from service.lore.errors import FieldError, Invalid, TooLarge
from service.lore.strict import STRICT
from service.lore.text import clean_line
from service.store import books, vectors
from service.store.engine import reading, writing
from service.store.hosts import HostId, StoredAttachment
from service.validation import MAX_DEPTH, check_storable

Mode = Literal["append", "replace"]
DEFAULT_NAME = "Imported book"
MAX_NAME = 200
MAX_KEPT_DEPTH = MAX_DEPTH + 10
"""Between the depth of bodies and that of files: our own file has it in five more objects and lists."""
_ENDING = re.compile(r"((\.worldbook)?\.(json|lorebook|scenario|story)|\.png|\.charx|\.byaf|\.jpe?g)$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ImportedBook:
    """Where the entries went."""

    __pydantic_config__ = STRICT

    id: str | None
    """Null in a dry run of a new book."""
    version: int
    name: str
    dialect: Dialect


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
    """Settings without effect in the dialect of the book. Those of entries are kept for export; those of the file
    itself too, when the book is made of it or replaced by it."""
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
    if_match: int | None = None,
    format: str | None = None,
    host: str | None = None,
    dialect: Dialect | None = None,
    dry_run: bool = False,
    wait: bool = False,
) -> ImportReport:
    """Import a file as a new book, or `into` the book of this id, and attach the book to `host`, a `kind:key`.

    A new book is of this dialect; without one a world book, or what a file of our own says it is.

    A new book is named `name`, else as the file says inside, else after `file_name`. `append` skips entries whose
    title, content and aliases the book already has; `replace` takes all entries out first. `wait` waits for the vectors
    as long as the settings allow. A dry run makes the same transaction and does not commit it. A card without a book
    changes nothing, and the report has no book.

    Raises `TooLarge`, `UnreadableFile`, `Invalid`, `NotFound`, `NameTaken`, `LimitExceeded`, and `VersionMismatch` when
    the book is not at version `if_match`; nothing is written then.
    """
    target_dialect = dialect if into is None else _dialect(rt, into, dialect)
    _check_size(rt, data, target_dialect)
    if into is not None and name is not None:
        raise Invalid([FieldError(parameter="name", detail="a book that exists keeps its name", remedy="leave it out")])
    target = None if host is None else _host(host)
    limits = Limits(json=rt.settings.max_import_bytes, unpacked=rt.settings.max_unpacked_bytes)
    found = _titled(read(data, format, limits, target_dialect))
    book = found.book
    _check_depth(book)
    if book is None:
        return _nothing(rt, found, into, mode)
    with writing(rt.engine) as conn:
        if into is None:
            written = as_new(rt, conn, found, *_named(book, name, file_name))
        elif mode == "replace":
            written = replaced(rt, conn, into, found, book, if_match)
        else:
            written = appended(rt, conn, into, found, book, if_match)
        report = _report(rt, conn, written, "new" if into is None else mode, dry_run)
        attached = target is not None and change_attached(rt, conn, target, partial(_behind, written.book_id))
        if (written.changed or attached) and not dry_run:
            conn.commit()
    if dry_run:
        return report
    rt.backlog.nudge(written.book_id)
    if wait and report.pending_vectors:
        return replace(report, pending_vectors=rt.backlog.wait(written.book_id, rt.settings.max_import_wait))
    return report


def _titled(found: Reading) -> Reading:
    """The reading with the title of its entry in each warning."""
    entries = found.book.entries or () if found.book else ()
    titles: dict[int | None, str] = {place: entry.title for place, entry in zip(found.places, entries, strict=True)}
    return replace(found, warnings=tuple(replace(each, title=titles.get(each.index)) for each in found.warnings))


def _dialect(rt: Runtime, book_id: str, wanted: Dialect | None) -> Dialect:
    """That of the book to import into. Raises `NotFound`, and `Invalid` when another is wanted."""
    with reading(rt.engine) as conn:
        own = books.read(conn, OWNER, book_id).dialect
    if wanted not in (None, own):
        fault = f"the book has the dialect {own} and keeps it"
        raise Invalid([FieldError(parameter="dialect", detail=fault, remedy=f"leave it out, or send {own}")])
    return own


def _check_depth(book: Book | None) -> None:
    """What has no field here is kept in `extensions`, deeper than in the file, and is to come back from an export."""
    if book is not None:
        kept = [entry.extensions for entry in book.entries or ()]
        check_storable({"extensions": book.extensions, "entries": kept}, MAX_KEPT_DEPTH)


def _check_size(rt: Runtime, data: bytes, dialect: Dialect | None) -> None:
    of_json = rt.settings.max_server_import_bytes if dialect == SCOPED else rt.settings.max_import_bytes
    limit = rt.settings.max_card_bytes if is_card_file(data) else of_json
    if len(data) > limit:
        raise TooLarge("the file is too large", limit=limit, actual=len(data), remedy="Split the book.")


def _nothing(rt: Runtime, found: Reading, into: str | None, mode: Mode) -> ImportReport:
    """The report on a card without a book (SPEC T11). Raises `NotFound` for a book that is not there."""
    if into is not None:
        with reading(rt.engine) as conn:
            books.read(conn, OWNER, into)
    return ImportReport(
        book=None,
        format=found.format,
        mode="new" if into is None else mode,
        added=0,
        removed=0,
        warnings=(ImportWarning(kind="no_book", detail="the card has no book; nothing changed"), *found.warnings),
    )


def _host(text: str) -> HostId:
    try:
        return parse_host(text)
    except Invalid as error:
        raise Invalid([replace(each, pointer=None, parameter="host") for each in error.errors]) from None


def _behind(book_id: str, current: list[StoredAttachment]) -> list[StoredAttachment]:
    """The attachments with the book as the last, unless it is among them."""
    there = any(one.book_id == book_id for one in current)
    return current if there else [*current, StoredAttachment(book_id, None)]


def _report(
    rt: Runtime, conn: Connection, written: Outcome, mode: Literal["new", "append", "replace"], dry_run: bool
) -> ImportReport:
    """The report, with what is counted in the transaction itself."""
    book = books.read(conn, OWNER, written.book_id)
    counts = books.counts(conn, [book.id]).get(book.id)
    space = rt.encoder.space
    waiting = vectors.counts(conn, space.id if space else "", [book.id]).get(book.id)
    return ImportReport(
        book=ImportedBook(
            id=None if dry_run and mode == "new" else book.id,
            version=book.version,
            name=book.name,
            dialect=book.dialect,
        ),
        format=written.found.format,
        mode=mode,
        added=(counts.entries if counts else 0) - written.before,
        removed=written.removed,
        skipped=written.found.skipped,
        no_home=written.found.no_home,
        warnings=written.found.warnings,
        pending_vectors=waiting.pending if waiting else 0,
    )


def _named(book: Book, name: str | None, file_name: str | None) -> tuple[Book, tuple[ImportWarning, ...]]:
    """The book with a name, and a warning when nobody gave it one."""
    if name is not None:
        given = clean_line(name)
        if not given or len(given) > MAX_NAME:
            remedy = f"send 1 to {MAX_NAME} characters"
            raise Invalid([FieldError(parameter="name", detail="the name is blank or too long", remedy=remedy)])
        return replace(book, name=given), ()
    inside = book.name or _stem(file_name or "")
    if inside:
        return replace(book, name=inside), ()
    warning = ImportWarning(kind="no_name", detail=f"the file has no name; the book is called {DEFAULT_NAME}")
    return replace(book, name=DEFAULT_NAME), (warning,)


def _stem(file_name: str) -> str:
    last = re.split(r"[/\\]", file_name)[-1]
    return clean_line(_ENDING.sub("", last))[:MAX_NAME].strip()
