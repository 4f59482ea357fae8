"""Entries: rows of one book in list order. Whoever changes them holds the version that `books.advance` gave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Text,
    bindparam,
    cast,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from service.lore.book import Entry, Tier, handle_of
from service.lore.errors import NotFound
from service.lore.recipe import text_hash
from service.lore.trigger import Trigger
from service.store.keysets import in_order
from service.store.tables import books, entries
from service.store.usage import NEVER_USED, USES, WITH_USAGE
from service.validation import validate

Sort = Literal["position", "title", "-uses"]


def of_books(conn: Connection, book_ids: Sequence[str]) -> dict[str, list[tuple[Entry, str]]]:
    """The entries of each book in list order, each with the hash of its embedding text."""
    query = (
        select(entries)
        .where(entries.c.book_id.in_(book_ids))
        .order_by(entries.c.book_id, entries.c.position, entries.c.id)
    )
    found: defaultdict[str, list[tuple[Entry, str]]] = defaultdict(list)
    for row in conn.execute(query):
        found[row.book_id].append((as_entry(row), row.text_hash))
    return found


def read(conn: Connection, book_id: str, ids: Sequence[int]) -> dict[int, Entry]:
    """Those of the entries that exist."""
    query = select(entries).where(entries.c.book_id == book_id, entries.c.id.in_(ids))
    return {row.id: as_entry(row) for row in conn.execute(query)}


def page(
    conn: Connection,
    book_id: str,
    *,
    enabled: bool | None,
    tier: Tier | None,
    q: str | None,
    never_used: bool = False,
    sort: Sort,
    after: tuple[int | str, int] | None,
    limit: int,
) -> tuple[list[tuple[Entry, int | str]], int]:
    """Up to `limit` entries behind the keyset `after`, each with what it is sorted by, and how many there are in all.

    `q` is looked for in title, aliases, gist and content, in any case; `never_used` leaves those that were neither used
    nor fetched. The keyset is (what it is sorted by, id) of the last entry of the page before.
    """
    wanted = _wanted(book_id, enabled, tier, q, never_used)
    total = conn.scalar(select(func.count()).select_from(WITH_USAGE).where(*wanted)) or 0
    by: ColumnElement[Any] = {"position": entries.c.position, "title": entries.c.title, "-uses": USES}[sort]
    query = select(entries, by.label("sorted_by")).select_from(WITH_USAGE).where(*wanted)
    query = in_order(query, by, entries.c.id, most_first=sort == "-uses", after=after, limit=limit)
    return [(as_entry(row), row.sorted_by) for row in conn.execute(query)], total


def order(conn: Connection, book_id: str) -> list[int]:
    """The ids of the book's entries in list order."""
    query = select(entries.c.id).where(entries.c.book_id == book_id).order_by(entries.c.position, entries.c.id)
    return list(conn.scalars(query))


def titles(conn: Connection, book_id: str) -> list[tuple[int, str]]:
    """Id and title of the book's enabled entries, in the order of their ids."""
    query = select(entries.c.id, entries.c.title).where(entries.c.book_id == book_id, entries.c.enabled.is_(True))
    return [(row.id, row.title) for row in conn.execute(query.order_by(entries.c.id))]


def add(conn: Connection, book_id: str, version: int, new: Sequence[Entry], now: str) -> tuple[Entry, ...]:
    """Append entries in one statement; answers them with their ids, positions, handles and version."""
    if not new:
        return ()
    counter = (
        update(books)
        .where(books.c.id == book_id)
        .values(next_entry_id=books.c.next_entry_id + len(new))
        .returning(books.c.next_entry_id)
    )
    first_id = conn.execute(counter).scalar_one() - len(new)
    count = select(func.count()).select_from(entries).where(entries.c.book_id == book_id)
    first_position = conn.execute(count).scalar_one()
    added = tuple(
        replace(
            entry,
            id=first_id + place,
            handle=handle_of(book_id, first_id + place),
            position=first_position + place,
            version=version,
            updated_at=now,
        )
        for place, entry in enumerate(new)
    )
    conn.execute(
        insert(entries),
        [
            {"book_id": book_id, "id": entry.id, "position": entry.position, **_values(entry, version, now)}
            for entry in added
        ],
    )
    return added


def copy(conn: Connection, source: str, target: str, now: str) -> None:
    """The entries of one book become, under their numbers, those of another that has none."""
    kept = [column for column in entries.columns if column.name not in ("book_id", "version", "updated_at")]
    names = ["book_id", "version", "updated_at", *(column.name for column in kept)]
    rows = select(literal(target), literal(1), literal(now), *kept).where(entries.c.book_id == source)
    conn.execute(insert(entries).from_select(names, rows))
    counter = select(books.c.next_entry_id).where(books.c.id == source).scalar_subquery()
    conn.execute(update(books).where(books.c.id == target).values(next_entry_id=counter))


def put(conn: Connection, book_id: str, version: int, entry: Entry, now: str) -> None:
    """The entry of this id gets all the fields of `entry` but its position. Raises `NotFound`."""
    statement = update(entries).where(entries.c.book_id == book_id, entries.c.id == entry.id)
    if not conn.execute(statement.values(_values(entry, version, now))).rowcount:
        raise absent(book_id, [entry.id])


def set_fields(
    conn: Connection, book_id: str, version: int, ids: Sequence[int], changes: Mapping[str, Any], now: str
) -> None:
    """`changes` (enabled, tier) for all the entries. Raises `NotFound` that names those that do not exist."""
    statement = (
        update(entries)
        .where(entries.c.book_id == book_id, entries.c.id.in_(ids))
        .values(**changes, version=version, updated_at=now)
        .returning(entries.c.id)
    )
    _all_found(book_id, ids, conn.scalars(statement).all())


def remove(conn: Connection, book_id: str, ids: Sequence[int]) -> None:
    """Delete the entries and close the gaps. Raises `NotFound` that names those that do not exist."""
    statement = delete(entries).where(entries.c.book_id == book_id, entries.c.id.in_(ids)).returning(entries.c.id)
    _all_found(book_id, ids, conn.scalars(statement).all())
    set_order(conn, book_id, order(conn, book_id))


def clear(conn: Connection, book_id: str) -> int:
    """Delete all entries of the book; answers how many. Their ids stay used."""
    return conn.execute(delete(entries).where(entries.c.book_id == book_id)).rowcount


def set_order(conn: Connection, book_id: str, ids: Sequence[int]) -> None:
    """The book's entries, all of them, take the positions of `ids`; rows that stay in place are not written."""
    current = select(entries.c.id, entries.c.position).where(entries.c.book_id == book_id)
    positions = {row.id: row.position for row in conn.execute(current)}
    moved = [{"moved": id_, "place": place} for place, id_ in enumerate(ids) if positions[id_] != place]
    if moved:
        statement = update(entries).where(entries.c.book_id == book_id, entries.c.id == bindparam("moved"))
        conn.execute(statement.values(position=bindparam("place")), moved)


def absent(book_id: str, ids: Sequence[int]) -> NotFound:
    """The error for entries that do not exist."""
    names = ", ".join(handle_of(book_id, id_) for id_ in ids)
    return NotFound(
        f"no entry {names}" if len(ids) == 1 else f"no entries {names}",
        remedy="List the book's entries to see their ids.",
    )


def _all_found(book_id: str, wanted: Sequence[int], found: Sequence[int]) -> None:
    missing = sorted(set(wanted) - set(found))
    if missing:
        raise absent(book_id, missing)


def _wanted(
    book_id: str, enabled: bool | None, tier: Tier | None, q: str | None, never_used: bool
) -> list[ColumnElement[bool]]:
    wanted = [entries.c.book_id == book_id]
    if enabled is not None:
        wanted.append(entries.c.enabled.is_(enabled))
    if tier is not None:
        wanted.append(entries.c.tier == tier)
    if q:
        texts = (entries.c.title, cast(entries.c.aliases, Text), entries.c.gist, entries.c.content)
        wanted.append(or_(*(column.icontains(q, autoescape=True) for column in texts)))
    if never_used:
        wanted.append(NEVER_USED)
    return wanted


def _values(entry: Entry, version: int, now: str) -> dict[str, Any]:
    return {
        "version": version,
        "title": entry.title,
        "content": entry.content,
        "aliases": list(entry.aliases),
        "gist": entry.gist,
        "tier": entry.tier,
        "enabled": entry.enabled,
        "trigger": None if entry.trigger is None else asdict(entry.trigger),
        "extensions": dict(entry.extensions),
        "text_hash": text_hash(entry),
        "updated_at": now,
    }


def as_entry(row: Row[Any]) -> Entry:
    """A row of the table, all its columns, as the domain's value."""
    return Entry(
        id=row.id,
        handle=handle_of(row.book_id, row.id),
        position=row.position,
        version=row.version,
        title=row.title,
        content=row.content,
        aliases=tuple(row.aliases),
        gist=row.gist,
        tier=row.tier,
        enabled=row.enabled,
        trigger=None if row.trigger is None else validate(Trigger, row.trigger),
        extensions=row.extensions,
        updated_at=row.updated_at,
    )
