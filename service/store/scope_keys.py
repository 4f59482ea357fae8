"""The key that scopes are signed with: one row, shared by all processes."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select

from service.lore.scope import SigningKey
from service.store.dialects import insert_new
from service.store.tables import scope_keys

_PLACE = 1
# Built once, since each retrieval runs it and building costs as much as running.
_CURRENT = select(scope_keys.c.key_id, scope_keys.c.secret)


def current(conn: Connection) -> SigningKey | None:
    """The key in use; None before the first."""
    row = conn.execute(_CURRENT).first()
    return SigningKey(id=row.key_id, secret=row.secret) if row else None


def offer(conn: Connection, key: SigningKey, now: str) -> None:
    """Use this key, unless another process has been quicker."""
    row = {"place": _PLACE, "key_id": key.id, "secret": key.secret, "created_at": now}
    insert_new(conn, scope_keys, [row])


def forget(conn: Connection) -> None:
    """Give up the key in use."""
    conn.execute(delete(scope_keys))
