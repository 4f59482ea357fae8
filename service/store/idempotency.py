"""Answers kept under the caller's Idempotency-Key, so that a repeated create does not create twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, and_, delete, or_, select, update

from service.store.dialects import insert_new
from service.store.tables import idempotency


@dataclass(frozen=True)
class KeptAnswer:
    """What an earlier call with the same key asked and was answered."""

    route: str
    body_hash: str
    status: int | None
    """Null while that call is still running."""
    headers: Mapping[str, str]
    body: bytes


def reserve(
    conn: Connection, owner: str, key: str, *, route: str, body_hash: str, now: str, forget: str, abandoned: str
) -> KeptAnswer | None:
    """Take the key for a call that begins now, or answer what an earlier call with it left.

    Answers older than `forget` and calls that began before `abandoned` and never ended count no more; both are times
    like `now`. None: the key is the caller's, who then calls `keep` or `release`.
    """
    conn.execute(
        delete(idempotency).where(
            or_(
                idempotency.c.created_at < forget,
                and_(idempotency.c.status.is_(None), idempotency.c.created_at < abandoned),
            )
        )
    )
    row = {"owner_id": owner, "key": key, "route": route, "body_hash": body_hash, "created_at": now}
    if insert_new(conn, idempotency, [row]):
        return None
    query = select(idempotency).where(idempotency.c.owner_id == owner, idempotency.c.key == key)
    found = conn.execute(query).one()
    return KeptAnswer(found.route, found.body_hash, found.status, found.headers or {}, found.body or b"")


def keep(conn: Connection, owner: str, key: str, *, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Store the answer of the call that reserved the key."""
    conn.execute(
        update(idempotency)
        .where(idempotency.c.owner_id == owner, idempotency.c.key == key)
        .values(status=status, headers=dict(headers), body=body)
    )


def release(conn: Connection, owner: str, key: str) -> None:
    """Give the key back: the call failed and may be tried again."""
    conn.execute(delete(idempotency).where(idempotency.c.owner_id == owner, idempotency.c.key == key))
