"""The log of what models wrote, and the replies they wrote for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, func, insert, select, update

from service.lore.book import handle_of
from service.lore.errors import NotFound
from service.lore.living import EntryText, Write, WriteState
from service.store.dialects import insert_new
from service.store.tables import responses, writes


def lock_response(conn: Connection, owner: str, conversation: str, response_id: str) -> bool:
    """Be alone with this reply until the transaction ends; answers whether it was discarded."""
    key = {"owner_id": owner, "conversation": conversation, "response_id": response_id}
    query = select(responses.c.discarded_at).filter_by(**key).with_for_update()
    while True:
        insert_new(conn, responses, [key])
        row = conn.execute(query).one_or_none()
        if row is not None:  # else it was old, and forgotten in this moment
            return row.discarded_at is not None


def mark_discarded(conn: Connection, owner: str, conversation: str, response_id: str, now: str) -> None:
    """The reply, whose row is locked, was discarded; nothing may be written for it from now on."""
    key = {"owner_id": owner, "conversation": conversation, "response_id": response_id}
    conn.execute(update(responses).filter_by(**key).values(discarded_at=now))


def forget_discarded(conn: Connection, before: str) -> None:
    """Replies discarded before this time may be written for again; those that were not discarded stay."""
    conn.execute(delete(responses).where(responses.c.discarded_at < before))


def add(conn: Connection, owner: str, book_id: str, entry_id: int, write: Write, call_id: str | None) -> None:
    """Log a write."""
    conn.execute(
        insert(writes).values(
            book_id=book_id,
            id=write.id,
            owner_id=owner,
            entry_id=entry_id,
            version=write.version,
            action=write.action,
            before=asdict(write.before) if write.before else None,
            after=asdict(write.after),
            conversation=write.conversation,
            turn=write.turn,
            response_id=write.response_id,
            call_id=call_id,
            at=write.at,
            state=write.state,
        )
    )


def read(conn: Connection, book_id: str, write_id: str) -> Write:
    """One write. Raises `NotFound`."""
    row = conn.execute(select(writes).filter_by(book_id=book_id, id=write_id)).one_or_none()
    if row is None:
        raise NotFound(f"no write {write_id} in {book_id}", remedy="List the book's writes to see their ids.")
    return _write(row)


def of_call(conn: Connection, owner: str, conversation: str, response_id: str, call_id: str) -> Write | None:
    """The write that this tool call made before."""
    query = select(writes).filter_by(
        owner_id=owner, conversation=conversation, response_id=response_id, call_id=call_id
    )
    row = conn.execute(query).one_or_none()
    return None if row is None else _write(row)


def count_in_turn(conn: Connection, owner: str, conversation: str, turn: int) -> int:
    """How many writes the turn made, without those of discarded replies."""
    query = select(func.count()).select_from(writes).filter_by(owner_id=owner, conversation=conversation, turn=turn)
    return conn.execute(query.where(writes.c.state != "discarded")).scalar_one()


def books_of_response(conn: Connection, owner: str, conversation: str, response_id: str) -> list[str]:
    """The books that a reply wrote into."""
    query = select(writes.c.book_id).distinct()
    return list(conn.scalars(query.filter_by(owner_id=owner, conversation=conversation, response_id=response_id)))


def live_of_response(conn: Connection, owner: str, conversation: str, response_id: str) -> list[Write]:
    """The live writes of a reply, book by book, in each the newest first."""
    query = select(writes).filter_by(owner_id=owner, conversation=conversation, response_id=response_id, state="live")
    return [_write(row) for row in conn.execute(query.order_by(writes.c.book_id, writes.c.version.desc()))]


def newest_live(conn: Connection, book_id: str, entry_id: int) -> str | None:
    """The id of the newest live write of an entry."""
    query = select(writes.c.id).filter_by(book_id=book_id, entry_id=entry_id, state="live")
    return conn.scalar(query.order_by(writes.c.version.desc()).limit(1))


def newest_discarded(conn: Connection, owner: str, book_id: str, entry_id: int) -> Write | None:
    """The newest live write of an entry when its reply was discarded, so that it only waits to be taken back."""
    theirs = and_(
        responses.c.owner_id == owner,
        responses.c.conversation == writes.c.conversation,
        responses.c.response_id == writes.c.response_id,
    )
    query = select(writes, responses.c.discarded_at).outerjoin(responses, theirs)
    query = query.where(writes.c.book_id == book_id, writes.c.entry_id == entry_id, writes.c.state == "live")
    row = conn.execute(query.order_by(writes.c.version.desc()).limit(1)).one_or_none()
    return None if row is None or row.discarded_at is None else _write(row)


def set_state(conn: Connection, book_id: str, write_id: str, state: WriteState) -> None:
    """The write was taken back."""
    conn.execute(update(writes).filter_by(book_id=book_id, id=write_id).values(state=state))


def page(
    conn: Connection,
    book_id: str,
    *,
    entry_id: int | None,
    conversation: str | None,
    response_id: str | None,
    before: int | None,
    limit: int,
) -> list[Write]:
    """Up to `limit` writes of the book, the newest first, of versions below `before`."""
    wanted = {"entry_id": entry_id, "conversation": conversation, "response_id": response_id}
    query = select(writes).filter_by(
        book_id=book_id, **{name: value for name, value in wanted.items() if value is not None}
    )
    if before is not None:
        query = query.where(writes.c.version < before)
    return [_write(row) for row in conn.execute(query.order_by(writes.c.version.desc()).limit(limit))]


def _write(row: Row[Any]) -> Write:
    return Write(
        id=row.id,
        handle=handle_of(row.book_id, row.entry_id),
        version=row.version,
        action=row.action,
        before=None if row.before is None else _text(row.before),
        after=_text(row.after),
        conversation=row.conversation,
        turn=row.turn,
        response_id=row.response_id,
        at=row.at,
        state=row.state,
    )


def _text(stored: dict[str, Any]) -> EntryText:
    return EntryText(**{**stored, "aliases": tuple(stored["aliases"])})
