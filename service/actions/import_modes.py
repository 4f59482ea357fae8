"""The three ways of a file into the store: as a new book, in place of a book's entries, or behind them.

Each writes in the transaction of the caller, who commits what `changed`. All raise `LimitExceeded`, and what the store
raises.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Connection

from service.actions.limiting import at_most, check_servers, most_entries
from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.formats.report import ImportWarning, Reading, Skipped
from service.lore.book import Book, BookSettings, Entry, unread_settings
from service.lore.errors import NameTaken, UnreadableFile
from service.lore.trigger import EVERYWHERE
from service.store import books
from service.store import entries as stored

_fits = partial(
    at_most,
    before="the import would make ",
    remedy="Nothing was imported. Remove some, or raise the limit in the settings.",
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a mode did in its transaction."""

    book_id: str
    found: Reading
    """Of the file, with all that is to be told about it."""
    before: int = 0
    """Entries that were there and stay."""
    removed: int = 0
    changed: bool = True


def as_new(rt: Runtime, conn: Connection, found: Reading, book: Book, told: tuple[ImportWarning, ...]) -> Outcome:
    """A new book of the file, not living whatever it says; `told` are warnings about its name."""
    _fits(books.count(conn, OWNER) + 1, rt.settings.max_books, "books")
    entries = book.entries or ()
    _fits(len(entries), most_entries(rt, book.dialect), "entries in a book")
    now = rt.now()
    book, unread = _fitting(book)
    told = (*told, *unread)
    if book.settings.living:
        book = replace(book, settings=replace(book.settings, living=False))
        detail = "the file is of a living book; no model writes into this one until you set `living`"
        told = (*told, ImportWarning(kind="not_living", detail=detail))
    try:
        book_id = books.insert_book(conn, OWNER, book, now)
    except NameTaken as taken:
        remedy = "Send another `name` with the file, or import into the book that has it."
        raise NameTaken(taken.detail, remedy=remedy) from None
    stored.add(conn, book_id, 1, entries, now)
    return Outcome(book_id=book_id, found=replace(found, warnings=(*told, *found.warnings)))


def replaced(rt: Runtime, conn: Connection, book_id: str, found: Reading, book: Book, if_match: int | None) -> Outcome:
    """The entries of the file instead of those that were there.

    The book keeps its id, name and switch; what the file does not say of description, settings and channels stays
    too.
    """
    now = rt.now()
    version = books.advance(conn, OWNER, book_id, now, if_match)
    entries = book.entries or ()
    if found.skipped and not entries:
        raise UnreadableFile(
            f"none of the {len(found.skipped)} entries can be used, so the book keeps those that it has",
            fault="no_entries",
            remedy=f"The first: {found.skipped[0].detail}.",
        )
    _fits(len(entries), most_entries(rt, book.dialect), "entries in a book")
    book, unread = _fitting(book)
    removed = stored.clear(conn, book_id)
    books.update_book(conn, book_id, _becomes(books.read(conn, OWNER, book_id), book))
    stored.add(conn, book_id, version, entries, now)
    check_servers(rt, conn, book_id)
    return Outcome(book_id=book_id, found=replace(found, warnings=(*unread, *found.warnings)), removed=removed)


def appended(rt: Runtime, conn: Connection, book_id: str, found: Reading, book: Book, if_match: int | None) -> Outcome:
    """The book with those entries of the file behind its own that it does not have yet."""
    now = rt.now()
    version = books.advance(conn, OWNER, book_id, now, if_match)  # from here on nobody else adds the same entries
    present = books.load(conn, [book_id])[0].book.entries or ()
    known = {_fingerprint(entry): entry.handle for entry in present}
    fresh: list[Entry] = []
    skipped = list(found.skipped)
    for place, entry in zip(found.places, book.entries or (), strict=True):
        same = known.get(_fingerprint(entry))
        if same is None:
            fresh.append(entry)
        else:
            skipped.append(Skipped(index=place, title=entry.title, kind="duplicate", detail=f"same content as {same}"))
    _fits(len(present) + len(fresh), most_entries(rt, book.dialect), "entries in a book")
    if fresh:
        stored.add(conn, book_id, version, fresh, now)
        check_servers(rt, conn, book_id)
    else:
        conn.rollback()  # an import that adds nothing is no edit
    told = replace(found, skipped=tuple(sorted(skipped, key=lambda each: each.index)))
    return Outcome(book_id=book_id, found=told, before=len(present), changed=bool(fresh))


def _fitting(book: Book) -> tuple[Book, tuple[ImportWarning, ...]]:
    """The book without settings that its dialect does not read, and a warning for each."""
    unread = unread_settings(book)
    usual = BookSettings()
    detail = f"books of the dialect {book.dialect} do not read it; it was left out"
    return (
        replace(book, settings=replace(book.settings, **{name: getattr(usual, name) for name in unread})),
        tuple(ImportWarning(kind="unread_setting", detail=f"settings.{name}: {detail}") for name in unread),
    )


def _becomes(current: Book, file: Book) -> Book:
    # Whether models may write into a book is said by its owner, never by a file.
    settings = replace(file.settings, living=current.settings.living)
    silent = settings == BookSettings(living=current.settings.living)
    return replace(
        current,
        description=file.description or current.description,
        settings=current.settings if silent else settings,
        channels=current.channels if file.channels == EVERYWHERE else file.channels,
        extensions=file.extensions,
    )


def _fingerprint(entry: Entry) -> tuple[str, str, tuple[str, ...]]:
    """What makes two entries the same, whatever their book is called."""
    trigger = entry.trigger
    return entry.title, entry.content, entry.aliases if trigger is None else (*trigger.keys, *trigger.secondary_keys)
