"""The one kind of statement that SQLAlchemy Core spells differently for SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_new(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert the rows whose primary key is not there yet; answers how many that were.

    Other constraints still raise `IntegrityError`.
    """
    if not rows:
        return 0
    insert = postgresql.insert if conn.dialect.name == "postgresql" else sqlite.insert
    key = list(table.primary_key)
    # The rows returned are counted, since the row count of an insert is -1 with psycopg.
    statement = insert(table).on_conflict_do_nothing(index_elements=key).returning(*key)
    return sum(conn.execute(statement, row).first() is not None for row in rows)


def insert_unless_there(conn: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """The same for many rows at once, uncounted."""
    if rows:
        insert = postgresql.insert if conn.dialect.name == "postgresql" else sqlite.insert
        conn.execute(insert(table).on_conflict_do_nothing(index_elements=list(table.primary_key)), list(rows))
