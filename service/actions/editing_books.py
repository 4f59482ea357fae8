"""Books: create, list, read, change, delete.

Each write is one transaction that raises the book's version by exactly one. `if_match` is the version that the caller
read; another one stored means `VersionMismatch` and nothing changed; None: the last write wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from service.actions.cleaning import cleaned_book, cleaned_entries
from service.actions.limiting import at_most, most_entries
from service.actions.merging import patched, resolved
from service.actions.paging import Page, after, checked_limit, page_of
from service.actions.presenting import OWNER, presented, with_counts
from service.actions.runtime import Runtime
from service.lore.book import Book, Dialect
from service.lore.errors import FieldError, Invalid
from service.store import books
from service.store import entries as stored
from service.store.engine import reading, writing

_WRITABLE = ("name", "description", "dialect", "enabled", "settings", "channels", "extensions")


def create_book(rt: Runtime, book: Book) -> Book:
    """A new book, with its entries when it has some.

    Raises `Invalid`, `NameTaken`, and `LimitExceeded` for too many books or entries.
    """
    new = cleaned_book(book)
    entries = cleaned_entries(book.entries or (), book.dialect, "#/entries")
    at_most(len(entries), most_entries(rt, book.dialect), "entries in a book")
    now = rt.now()
    with writing(rt.engine) as conn:
        at_most(books.count(conn, OWNER) + 1, rt.settings.max_books, "books")
        book_id = books.insert_book(conn, OWNER, new, now)
        added = stored.add(conn, book_id, 1, entries, now)
        found = books.read(conn, OWNER, book_id)
        conn.commit()
    rt.backlog.nudge(book_id)
    return presented(rt, replace(found, entries=None if book.entries is None else added))


def list_books(
    rt: Runtime,
    *,
    limit: int = 50,
    cursor: str | None = None,
    q: str | None = None,
    dialect: Dialect | None = None,
    sort: books.Sort = "name",
) -> Page[Book]:
    """Books whose name or description holds `q`, without entries; their token counts are zero, to keep it quick."""
    newest_first = sort == "-updated_at"
    with reading(rt.engine) as conn:
        found = books.page(
            conn,
            OWNER,
            q=q,
            dialect=dialect,
            sort=sort,
            after=after(cursor, sort, str, str),
            limit=checked_limit(limit) + 1,
        )
    page = page_of(found, limit, sort, lambda book: ((book.updated_at if newest_first else book.name), book.id))
    return replace(page, items=tuple(with_counts(rt, page.items)))


def read_book(rt: Runtime, book_id: str, *, entries: bool = False) -> Book:
    """The book, and its entries in list order when asked for. Raises `NotFound`."""
    with reading(rt.engine) as conn:
        book = books.read(conn, OWNER, book_id)
        if entries:
            book = books.load(conn, [book_id])[0].book
    return presented(rt, book)


def change_book(rt: Runtime, book_id: str, patch: Mapping[str, Any], if_match: int | None = None) -> Book:
    """Merge the patch (RFC 7396) into the book: what it does not name stays, null means the default, and members of
    `extensions` are replaced whole.

    Raises `NotFound`, `Invalid`, `NameTaken`, `VersionMismatch`.
    """
    if patch.get("entries") is not None:
        remedy = "change the entries themselves"
        raise Invalid([FieldError(pointer="#/entries", detail="not changed with the book", remedy=remedy)])
    with writing(rt.engine) as conn:
        books.advance(conn, OWNER, book_id, rt.now(), if_match)
        current = books.read(conn, OWNER, book_id)
        book = cleaned_book(patched(current, resolved(patch), _WRITABLE))
        if book.dialect != current.dialect:
            remedy = "export it, and import the file as a book of that dialect"
            raise Invalid([FieldError(pointer="#/dialect", detail="a book keeps its dialect", remedy=remedy)])
        books.update_book(conn, book_id, book)
        found = books.read(conn, OWNER, book_id)
        conn.commit()
    return presented(rt, found)


def delete_book(rt: Runtime, book_id: str, if_match: int | None = None) -> None:
    """Delete the book and detach it from every host; its id never comes back. Raises `NotFound`, `VersionMismatch`."""
    with writing(rt.engine) as conn:
        books.delete_book(conn, OWNER, book_id, if_match)
        conn.commit()
