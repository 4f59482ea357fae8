"""Rows of a full backup out of the tables, and into them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, Connection, Table, func, insert, select, tuple_
from sqlalchemy.exc import IntegrityError

from service.lore.errors import RestoreConflict
from service.store.carried import Carried, Plain
from service.store.dialects import insert_unless_there
from service.store.tables import books, entries, issued_ids
from service.validation import dump, validate

ROWS_AT_ONCE = 500
Key = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Met:
    """How rows of one table met what was stored before."""

    added: int = 0
    present: int = 0
    """Rows that were there already, with the same content."""
    parts: Counter[str] = field(default_factory=Counter)
    """By table, the rows that were there already as parts of these."""

    def plus(self, other: Met) -> Met:
        """The two together."""
        return Met(added=self.added + other.added, present=self.present + other.present, parts=self.parts + other.parts)


def rows(conn: Connection, carried: Carried, owner: str) -> Iterator[Plain]:
    """The owner's rows as plain values in the order of their keys, a few of them in memory at a time."""
    query = select(*carried.columns).order_by(*carried.key)
    if carried.mine is not None:
        query = query.where(carried.mine(owner))
    for row in conn.execute(query, execution_options={"yield_per": ROWS_AT_ONCE}):
        yield carried.told(row._asdict())


def plain(row: Any, carried: Carried) -> Plain:
    """The carried columns of a row that was read from a backup, as plain values."""
    values = dump(row)
    return {column.name: values[column.name] for column in carried.columns}


def put(conn: Connection, carried: Carried, given: Sequence[Any], parts: Sequence[Carried], owner: str) -> Met:
    """Write those of the rows that are not there yet; `parts` are the tables of what is part of them.

    Raises `RestoreConflict` that names the rows whose key belongs to something else, and for rows that contradict each
    other or are parts of nothing.
    """
    told = [plain(row, carried) for row in given]
    values = [carried.stored(row, each, owner) for row, each in zip(given, told, strict=True)]
    keys = [_key(carried, each) for each in told]
    if carried.shared:
        present = _count(conn, carried.table, carried.key, keys)
        insert_unless_there(conn, carried.table, values)
        return Met(added=len(set(keys)) - present, present=present)
    known = _stored(conn, carried, keys, owner)
    differing = [key for key, each in zip(keys, told, strict=True) if _differs(carried, each, known.get(key))]
    if differing:
        raise _conflict(carried.table, differing)
    missing = [place for place, key in enumerate(keys) if key not in known]
    inside = Counter(
        {
            part.table.name: _count(conn, part.table, _references(part.table, carried.table), list(known))
            for part in parts
        }
    )
    if missing:
        try:
            conn.execute(insert(carried.table), [values[place] for place in missing])
        except IntegrityError:
            raise RestoreConflict(
                f"{carried.table.name} from {_named(keys[missing[0]])} to {_named(keys[missing[-1]])}: a name is "
                "taken, a row stands twice, or what it belongs to is neither in the backup nor in the database",
                remedy="Rename or delete what stands in the way, or restore into an empty database.",
            ) from None
    return Met(added=len(missing), present=len(told) - len(missing), parts=inside)


def settle(conn: Connection) -> None:
    """Once all rows are there: no id of a book may be given out again, nor one of an entry.

    Raises `RestoreConflict` for a book whose counter stands below its entries.
    """
    unissued = select(books.c.id).where(books.c.id.not_in(select(issued_ids.c.book_id)))
    insert_unless_there(conn, issued_ids, [{"book_id": id_} for id_ in conn.scalars(unissued).all()])
    behind = select(entries.c.book_id).join(books).where(entries.c.id >= books.c.next_entry_id).limit(1)
    book = conn.scalar(behind)
    if book is not None:
        raise RestoreConflict(f"the counter of book {book} stands below its entries", remedy="The file is damaged.")


def largest_book(conn: Connection) -> int:
    """Entries of the book that has the most."""
    sizes = select(func.count()).select_from(entries).group_by(entries.c.book_id)
    return conn.scalar(sizes.order_by(func.count().desc()).limit(1)) or 0


def _stored(conn: Connection, carried: Carried, keys: Sequence[Key], owner: str) -> dict[Key, Plain]:
    """Those of the rows whose key is taken, as they are stored."""
    query = select(*carried.columns).where(tuple_(*carried.key).in_(keys))
    if "owner_id" in carried.table.primary_key:
        query = query.where(carried.table.c.owner_id == owner)
    found = (plain(validate(carried.row, carried.told(row._asdict())), carried) for row in conn.execute(query))
    return {_key(carried, each): each for each in found}


def _count(conn: Connection, table: Table, columns: Sequence[Column[Any]], keys: Sequence[Key]) -> int:
    if not keys:
        return 0
    return conn.scalar(select(func.count()).select_from(table).where(tuple_(*columns).in_(keys))) or 0


def _references(part: Table, whole: Table) -> list[Column[Any]]:
    """The columns of the part that hold the key of what it is a part of."""
    return [next(column for column in part.columns if column.references(each)) for each in whole.primary_key.columns]


def _differs(carried: Carried, given: Mapping[str, Any], stored: Mapping[str, Any] | None) -> bool:
    return stored is not None and any(given[name] != stored[name] for name in given if name not in carried.aside)


def _key(carried: Carried, row: Mapping[str, Any]) -> Key:
    return tuple(row[column.name] for column in carried.key)


def _named(key: Key) -> str:
    return ":".join(map(str, key))


def _conflict(table: Table, keys: Sequence[Key]) -> RestoreConflict:
    more = f" and {len(keys) - 5} more" if len(keys) > 5 else ""
    return RestoreConflict(
        f"stored already with other content: {table.name} {', '.join(map(_named, keys[:5]))}{more}",
        remedy="Delete what stands in the way, or restore into an empty database.",
    )
