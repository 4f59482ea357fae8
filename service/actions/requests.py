"""The request log, read: which requests there were, what each gave to the model, and why it gave nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from service.actions.accounts import unpacked
from service.actions.owning import OWNER
from service.actions.paging import Page, after, checked_limit, page_of
from service.actions.runtime import Runtime, timestamp
from service.lore.answer import RetrieveAnswer
from service.lore.errors import NotFound
from service.lore.strict import STRICT
from service.store import requests as stored
from service.store.engine import reading, writing


@dataclass(frozen=True, kw_only=True)
class LoggedRequest:
    """A retrieval that was answered."""

    __pydantic_config__ = STRICT

    id: str
    """`run.request_id` of its answer."""
    at: str
    """RFC 3339, UTC, milliseconds."""
    conversation: str | None
    turn: int
    response_id: str | None
    entered: int
    """Entries that the model got to read."""


@dataclass(frozen=True, kw_only=True)
class OtherEntry:
    """An entry that the answer does not tell of, and why."""

    __pydantic_config__ = STRICT

    handle: str
    status: str
    reason: str
    """The `kind` of its reason."""


@dataclass(frozen=True, kw_only=True)
class WholeRequest(LoggedRequest):
    """A retrieval with what was answered, without the texts, and one reason for each entry that is not in it."""

    answer: RetrieveAnswer
    others: tuple[OtherEntry, ...]


def list_requests(
    rt: Runtime,
    *,
    conversation: str | None = None,
    turn: int | None = None,
    handle: str | None = None,
    since: datetime | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Page[LoggedRequest]:
    """Requests, the newest first: of a conversation, of a turn, that gave this entry to the model, since a time."""
    keys = after(cursor, "requests", int)
    rt.log.flush()
    with reading(rt.engine) as conn:
        found = stored.page(
            conn,
            OWNER,
            conversation=conversation,
            turn=turn,
            handle=handle,
            since=None if since is None else _stamp(since),
            after=keys[0] if keys else None,
            limit=checked_limit(limit) + 1,
        )
    page = page_of(found, limit, "requests", lambda one: (one.number,))
    return Page(items=tuple(LoggedRequest(**_about(one)) for one in page.items), next_cursor=page.next_cursor)


def read_request(rt: Runtime, id_: str) -> dict[str, Any]:
    """A `WholeRequest` as JSON values, as it was written: its answer may be that of an older version.

    Raises `NotFound`.
    """
    rt.log.flush()
    with reading(rt.engine) as conn:
        found = stored.read(conn, OWNER, id_)
    if found is None:
        raise _absent(id_)
    return {**_about(found), **unpacked(found.data)}


def delete_request(rt: Runtime, id_: str) -> None:
    """Forget the request. Raises `NotFound`."""
    rt.log.flush()
    with writing(rt.engine) as conn:
        if not stored.remove(conn, OWNER, id_):
            raise _absent(id_)
        conn.commit()


def _stamp(since: datetime) -> str:
    """The time as it is stored; one without a zone is UTC, and beyond these years there are no requests."""
    if not 1970 <= since.year < 9999:
        since = since.replace(year=1970 if since.year < 1970 else 9998, month=1, day=1)
    return timestamp(since if since.tzinfo else since.replace(tzinfo=UTC))


def _about(one: stored.StoredRequest) -> dict[str, Any]:
    return {
        "id": one.id,
        "at": one.created_at,
        "conversation": one.conversation,
        "turn": one.turn,
        "response_id": one.response_id,
        "entered": one.entered_count,
    }


def _absent(id_: str) -> NotFound:
    return NotFound(f"no request {id_[:80]} in the log", remedy="GET /v1/requests lists those that are kept.")
