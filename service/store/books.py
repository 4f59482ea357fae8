"""Books: their rows, their versions, and whole books as the domain reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from sqlalchemy import Connection, Row, and_, bindparam, case, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from service.lore.book import Book, BookSettings, EntryCounts
from service.lore.errors import NameTaken, NotFound, VersionMismatch
from service.lore.trigger import EVERYWHERE, Channels
from service.store import entries as stored_entries
from service.store import ids as book_ids
from service.store.keysets import in_order
from service.store.tables import books, entries
from service.validation import validate

Sort = Literal["name", "-updated_at"]

# Built once, since each retrieval runs it and building costs as much as running.
_HEADS = select(books.c.id, books.c.version, books.c.vector_counter).where(
    books.c.owner_id == bindparam("owner"), books.c.id.in_(bindparam("ids", expanding=True))
)


@dataclass(frozen=True)
class Head:
    """What a cache of opened books compares: an edit raises the version, arriving vectors the counter."""

    id: str
    version: int
    vector_counter: int


@dataclass(frozen=True)
class StoredBook:
    """A book with its entries in list order, and the hash of each entry's embedding text beside it."""

    book: Book
    hashes: tuple[str, ...]


def heads(conn: Connection, owner: str, ids: Sequence[str]) -> dict[str, Head]:
    """The heads of those of the owner's books that exist."""
    found = conn.execute(_HEADS, {"owner": owner, "ids": list(ids)})
    return {id_: Head(id_, version, vector_counter) for id_, version, vector_counter in found}


def load(conn: Connection, ids: Sequence[str]) -> list[StoredBook]:
    """Those of the books that exist, whole, in the order of `ids`."""
    found = {row.id: _book(row) for row in conn.execute(select(books).where(books.c.id.in_(ids)))}
    whole = stored_entries.of_books(conn, list(found))
    return [
        StoredBook(replace(found[id_], entries=tuple(entry for entry, _ in rows)), tuple(hash_ for _, hash_ in rows))
        for id_ in dict.fromkeys(ids)
        if id_ in found
        for rows in (whole.get(id_, ()),)
    ]


def read(conn: Connection, owner: str, book_id: str) -> Book:
    """The book without its entries. Raises `NotFound`."""
    row = conn.execute(select(books).where(books.c.id == book_id, books.c.owner_id == owner)).one_or_none()
    if row is None:
        raise _absent(book_id)
    return _book(row)


def read_some(conn: Connection, owner: str, ids: Sequence[str]) -> dict[str, Book]:
    """Those of the owner's books that exist, without their entries."""
    query = select(books).where(books.c.owner_id == owner, books.c.id.in_(ids))
    return {row.id: _book(row) for row in conn.execute(query)}


def lock(conn: Connection, owner: str, ids: Sequence[str]) -> None:
    """Nobody else changes these books until the transaction ends; to be called before they are read."""
    query = select(books.c.id).where(books.c.owner_id == owner, books.c.id.in_(ids))
    conn.execute(query.order_by(books.c.id).with_for_update())


def page(
    conn: Connection,
    owner: str,
    *,
    q: str | None,
    dialect: str | None = None,
    sort: Sort,
    after: tuple[str, str] | None,
    limit: int,
) -> list[Book]:
    """Up to `limit` books, without entries, whose name or description holds `q`, of a dialect, behind `after`.

    The keyset is (name or updated_at, id) of the last book of the page before.
    """
    query = select(books).where(books.c.owner_id == owner)
    if q:
        query = query.where(
            or_(books.c.name.icontains(q, autoescape=True), books.c.description.icontains(q, autoescape=True))
        )
    if dialect is not None:
        query = query.where(books.c.dialect == dialect)
    by, newest_first = (books.c.name, False) if sort == "name" else (books.c.updated_at, True)
    query = in_order(query, by, books.c.id, most_first=newest_first, after=after, limit=limit)
    return [_book(row) for row in conn.execute(query)]


def count(conn: Connection, owner: str) -> int:
    """How many books the owner has."""
    return conn.scalar(select(func.count()).select_from(books).where(books.c.owner_id == owner)) or 0


def counts(conn: Connection, ids: Sequence[str]) -> dict[str, EntryCounts]:
    """Entries, enabled ones and enabled canon of each book that has any; vectors are not counted here."""
    enabled = func.sum(case((entries.c.enabled, 1), else_=0))
    canon = func.sum(case((and_(entries.c.enabled, entries.c.tier == "canon"), 1), else_=0))
    query = (
        select(entries.c.book_id, func.count(), enabled, canon)
        .where(entries.c.book_id.in_(ids))
        .group_by(entries.c.book_id)
    )
    return {id_: EntryCounts(entries=total, enabled=on, canon=first) for id_, total, on, first in conn.execute(query)}


def insert_book(conn: Connection, owner: str, book: Book, now: str) -> str:
    """Store the book at version 1, without its entries; answers its new id. Raises `NameTaken`."""
    id_ = book_ids.issue(conn)
    values = {
        "id": id_,
        "owner_id": owner,
        "version": 1,
        "vector_counter": 0,
        "next_entry_id": 1,
        "created_at": now,
        "updated_at": now,
        **_values(book),
    }
    try:
        conn.execute(insert(books).values(values))
    except IntegrityError:
        raise _taken(book.name) from None
    return id_


def advance(conn: Connection, owner: str, book_id: str, now: str, if_match: int | None = None) -> int:
    """Begin a change: the book's next version, which is its own from now until the transaction ends.

    Raises `NotFound`; `VersionMismatch` when the stored version is not `if_match`.
    """
    statement = (
        update(books)
        .where(books.c.id == book_id, books.c.owner_id == owner)
        .values(version=books.c.version + 1, updated_at=now)
        .returning(books.c.version)
    )
    version: int | None = conn.scalar(statement)
    if version is None:
        raise _absent(book_id)
    _compare(if_match, version - 1)
    return version


def update_book(conn: Connection, book_id: str, book: Book) -> None:
    """Name, description, dialect, switch, settings and extensions become those of `book`. Raises `NameTaken`."""
    try:
        conn.execute(update(books).where(books.c.id == book_id).values(_values(book)))
    except IntegrityError:
        raise _taken(book.name) from None


def delete_book(conn: Connection, owner: str, book_id: str, if_match: int | None = None) -> None:
    """Delete the book, its entries and its attachments. Raises `NotFound`, `VersionMismatch`."""
    statement = delete(books).where(books.c.id == book_id, books.c.owner_id == owner).returning(books.c.version)
    version = conn.scalar(statement)
    if version is None:
        raise _absent(book_id)
    _compare(if_match, version)


def _compare(if_match: int | None, current: int) -> None:
    if if_match is not None and if_match != current:
        raise VersionMismatch(f"the book is at version {current}, not {if_match}", current=current)


def _absent(book_id: str) -> NotFound:
    return NotFound(f"no book {book_id}", remedy="List the books to see their ids.")


def _taken(name: str) -> NameTaken:
    return NameTaken(f"another book is named {name!r}", remedy="Choose another name, or change the book that has it.")


def _values(book: Book) -> dict[str, Any]:
    return {
        "name": book.name,
        "description": book.description,
        "dialect": book.dialect,
        "enabled": book.enabled,
        "settings": asdict(book.settings),
        "channels": None if book.channels == EVERYWHERE else asdict(book.channels),
        "extensions": dict(book.extensions),
    }


def _book(row: Row[Any]) -> Book:
    return Book(
        id=row.id,
        version=row.version,
        name=row.name,
        description=row.description,
        dialect=row.dialect,
        enabled=row.enabled,
        settings=BookSettings(**row.settings),
        channels=EVERYWHERE if row.channels is None else validate(Channels, row.channels),
        extensions=row.extensions,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
