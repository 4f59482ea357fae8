"""The request log: one row per answered retrieval, kept by age and by size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from service.store.tables import request_entries, requests

MAX_HANDLES = 1000
"""Entries of one request that it can be found by."""


@dataclass(frozen=True, kw_only=True)
class StoredRequest:
    """A retrieval, with its account as bytes."""

    number: int = 0
    """Grows from request to request."""
    id: str
    once: str | None
    """A request with the same replaces this one."""
    conversation: str | None
    turn: int
    response_id: str | None
    entered: tuple[str, ...] = ()
    """Handles of the entries that the model got to read; empty when read back."""
    entered_count: int = 0
    created_at: str
    data: bytes = b""


def add(conn: Connection, owner: str, new: Sequence[StoredRequest]) -> None:
    """Store these, each in the place of one that counts as the same.

    One that another process stores at the same moment is left to it.
    """
    for one in new:
        try:
            with conn.begin_nested():
                _add(conn, owner, one)
        except IntegrityError:
            continue


def _add(conn: Connection, owner: str, one: StoredRequest) -> None:
    if one.once is not None:
        conn.execute(delete(requests).where(requests.c.owner_id == owner, requests.c.once == one.once))
    handles = tuple(dict.fromkeys(one.entered))
    values = {
        "owner_id": owner,
        "id": one.id,
        "once": one.once,
        "conversation": one.conversation,
        "turn": one.turn,
        "response_id": one.response_id,
        "entered": len(handles),
        "size": len(one.data) + 40 * min(len(handles), MAX_HANDLES),
        "data": one.data,
        "created_at": one.created_at,
    }
    number = conn.execute(insert(requests).values(values).returning(requests.c.number)).scalar_one()
    if handles:
        rows = [{"number": number, "handle": handle} for handle in handles[:MAX_HANDLES]]
        conn.execute(insert(request_entries), rows)


def page(
    conn: Connection,
    owner: str,
    *,
    conversation: str | None,
    turn: int | None,
    handle: str | None,
    since: str | None,
    after: int | None,
    limit: int,
) -> list[StoredRequest]:
    """Up to `limit` requests without their accounts, the newest first, below the number `after`."""
    query = select(*(column for column in requests.c if column.name != "data")).where(requests.c.owner_id == owner)
    if conversation is not None:
        query = query.where(requests.c.conversation == conversation)
    if turn is not None:
        query = query.where(requests.c.turn == turn)
    if since is not None:
        query = query.where(requests.c.created_at >= since)
    if handle is not None:
        query = query.join(request_entries).where(request_entries.c.handle == handle)
    if after is not None:
        query = query.where(requests.c.number < after)
    return [_request(row, b"") for row in conn.execute(query.order_by(requests.c.number.desc()).limit(limit))]


def read(conn: Connection, owner: str, id_: str) -> StoredRequest | None:
    """The newest request of this id, whole."""
    query = select(requests).where(requests.c.owner_id == owner, requests.c.id == id_)
    row = conn.execute(query.order_by(requests.c.number.desc()).limit(1)).one_or_none()
    return None if row is None else _request(row, row.data)


def remove(conn: Connection, owner: str, id_: str) -> bool:
    """Delete the requests of this id; whether there was one."""
    return bool(conn.execute(delete(requests).where(requests.c.owner_id == owner, requests.c.id == id_)).rowcount)


def expire(conn: Connection, owner: str, *, before: str, most_bytes: int) -> None:
    """Delete what is older than `before`, and the oldest until all together take no more than `most_bytes`."""
    conn.execute(delete(requests).where(requests.c.owner_id == owner, requests.c.created_at < before))
    total = func.sum(requests.c.size).over(order_by=requests.c.number.desc())
    sums = select(requests.c.number, total.label("total")).where(requests.c.owner_id == owner).subquery()
    last: int | None = conn.scalar(select(func.max(sums.c.number)).where(sums.c.total > most_bytes))
    if last is not None:
        conn.execute(delete(requests).where(requests.c.owner_id == owner, requests.c.number <= last))


def _request(row: Row[Any], data: bytes) -> StoredRequest:
    return StoredRequest(
        number=row.number,
        id=row.id,
        once=row.once,
        conversation=row.conversation,
        turn=row.turn,
        response_id=row.response_id,
        entered_count=row.entered,
        created_at=row.created_at,
        data=data,
    )
