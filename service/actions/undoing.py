"""What models wrote into living books: the log of it, and how it is taken back (SPEC W21).

Locks are taken in the order that `model_writing` tells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from service.actions.hosting import host_id
from service.actions.paging import Page, after, checked_limit, page_of
from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.lore.book import Entry, parts_of
from service.lore.errors import UndoRefused
from service.lore.living import Obstacle, Write, WriteState, as_written, with_text
from service.lore.strict import STRICT
from service.store import books
from service.store import entries as stored
from service.store import writes as log
from service.store.engine import reading, writing


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A write that the discard of its reply left standing."""

    __pydantic_config__ = STRICT

    write: Write
    why: str


@dataclass(frozen=True, kw_only=True)
class Discarded:
    """What the discard of a reply did; once all is taken back, both are empty."""

    __pydantic_config__ = STRICT

    reverted: tuple[Write, ...] = ()
    """Of an entry the newest first; with writes of replies discarded before, which those of this one kept standing."""
    kept: tuple[Kept, ...] = ()


def undo(rt: Runtime, book_id: str, write_id: str, if_match: int | None = None) -> Write:
    """Take a write back: an edit restores the text before it, a create removes the entry.

    Raises `NotFound`, `VersionMismatch` when the book is not at version `if_match`, and `UndoRefused` that names what
    stands in the way: writes of an entry are undone from the newest to the oldest, and only while its text is as the
    write left it.
    """
    at = rt.now()
    with writing(rt.engine) as conn:
        version = books.advance(conn, OWNER, book_id, at, if_match)
        found = log.read(conn, book_id, write_id)
        entry = _as_written(conn, book_id, found)
        if isinstance(entry, Obstacle):
            raise UndoRefused(entry.detail, remedy=entry.remedy)
        _take_back(conn, book_id, version, found, entry, "undone", at)
        conn.commit()
    rt.backlog.nudge(book_id)
    return replace(found, state="undone")


def discard(rt: Runtime, conversation: str, response_id: str) -> Discarded:
    """Take back all that was written for a reply, because another takes its place.

    A write whose entry was written or edited again since is kept, with the reason, until what was written since is
    discarded too, or this reply once more. What comes for this reply later is refused. Raises `Invalid`.
    """
    key = host_id("conversation", conversation).key
    at = rt.now()
    reverted: list[Write] = []
    kept: list[Kept] = []
    versions: dict[str, int] = {}
    with writing(rt.engine) as conn:
        if not log.lock_response(conn, OWNER, key, response_id):
            log.mark_discarded(conn, OWNER, key, response_id, at)
        books.lock(conn, OWNER, log.books_of_response(conn, OWNER, key, response_id))
        for found in log.live_of_response(conn, OWNER, key, response_id):
            if any(found.id == one.id for one in reverted):
                continue
            book_id, number = parts_of(found.handle)
            entry = _as_written(conn, book_id, found)
            if isinstance(entry, Obstacle):
                kept.append(Kept(write=found, why=entry.detail))
                continue
            if book_id not in versions:
                versions[book_id] = books.advance(conn, OWNER, book_id, at)
            newest: Write | None = found
            while newest is not None and not isinstance(entry, Obstacle):
                _take_back(conn, book_id, versions[book_id], newest, entry, "discarded", at)
                reverted.append(replace(newest, state="discarded"))
                newest = log.newest_discarded(conn, OWNER, book_id, number)
                entry = entry if newest is None else _as_written(conn, book_id, newest)
        conn.commit()
    for book_id in versions:
        rt.backlog.nudge(book_id)
    return Discarded(reverted=tuple(reverted), kept=tuple(kept))


def writes(
    rt: Runtime,
    book_id: str,
    *,
    entry: int | None = None,
    conversation: str | None = None,
    response_id: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Page[Write]:
    """The log of a book, the newest write first: all of it, or of one entry, conversation or reply."""
    keys = after(cursor, "writes", int)
    with reading(rt.engine) as conn:
        books.read(conn, OWNER, book_id)
        found = log.page(
            conn,
            book_id,
            entry_id=entry,
            conversation=conversation,
            response_id=response_id,
            before=keys[0] if keys else None,
            limit=checked_limit(limit) + 1,
        )
    return page_of(found, limit, "writes", lambda one: (one.version,))


def _as_written(conn: Connection, book_id: str, found: Write) -> Entry | Obstacle:
    """The entry as the write left it, or what keeps the write from being taken back."""
    _, number = parts_of(found.handle)
    entry = stored.read(conn, book_id, [number]).get(number)
    return as_written(found, log.newest_live(conn, book_id, number), entry)


def _take_back(
    conn: Connection, book_id: str, version: int, found: Write, entry: Entry, state: WriteState, at: str
) -> None:
    if found.before is None:
        stored.remove(conn, book_id, [entry.id])
    else:
        stored.put(conn, book_id, version, with_text(entry, found.before), at)
    log.set_state(conn, book_id, found.id, state)
