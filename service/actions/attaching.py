"""Books attached to hosts, in order. Those of a persona hang on its lineage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen
from sqlalchemy import Connection

from service.actions.hosting import host_id
from service.actions.limiting import check_host
from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.lore.errors import FieldError, Invalid, NotFound
from service.lore.strict import STRICT
from service.lore.text import clean_line
from service.store import hosts as stored
from service.store.engine import reading, writing
from service.store.hosts import HostId, StoredAttachment

Change = Callable[[list[StoredAttachment]], list[StoredAttachment]]


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A book on a host."""

    __pydantic_config__ = STRICT

    book: Annotated[str, MaxLen(16)]
    """Id of the book."""
    label: Annotated[str, MaxLen(200)] | None = None
    """Speaks instead of the host's name when entries are labelled in a group."""


def read_attachments(rt: Runtime, kind: str, key: str) -> tuple[Attachment, ...]:
    """The host's books in order; none when nobody declared it."""
    host = host_id(kind, key)
    with reading(rt.engine) as conn:
        return _attachments(conn, host)


def replace_attachments(rt: Runtime, kind: str, key: str, attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """The host's books become these, in this order. Raises `NotFound` for unknown books, `Invalid` for one twice."""
    ids = [one.book for one in attachments]
    if len(set(ids)) < len(ids):
        raise Invalid([FieldError(pointer="#", detail="a book is named twice", remedy="name each book once")])
    new = [_cleaned(one) for one in attachments]
    return _change(rt, host_id(kind, key), lambda _: new)


def attach(rt: Runtime, kind: str, key: str, attachment: Attachment) -> tuple[Attachment, ...]:
    """Attach one book behind the others, or change its label where it is. Raises `NotFound`."""
    new = _cleaned(attachment)

    def added(current: list[StoredAttachment]) -> list[StoredAttachment]:
        if any(one.book_id == new.book_id for one in current):
            return [new if one.book_id == new.book_id else one for one in current]
        return [*current, new]

    return _change(rt, host_id(kind, key), added)


def detach(rt: Runtime, kind: str, key: str, book_id: str) -> tuple[Attachment, ...]:
    """Detach one book. Raises `NotFound` when it was not attached."""
    host = host_id(kind, key)

    def without(current: list[StoredAttachment]) -> list[StoredAttachment]:
        rest = [one for one in current if one.book_id != book_id]
        if len(rest) == len(current):
            raise NotFound(f"book {book_id} is not attached to {host}", remedy="List the host's attachments.")
        return rest

    return _change(rt, host, without)


def change_attached(rt: Runtime, conn: Connection, host: HostId, change: Change) -> bool:
    """The host's books become what `change` makes of them; whether they are others now, or in another order.

    The host exists from then on. Raises `NotFound` for new ones that are no books, `LimitExceeded`, `Conflict`.
    """
    stored.ensure(conn, host, rt.now())
    bearer = stored.lineages(conn, [host])[host]
    stored.ensure(conn, bearer, rt.now())
    current = stored.attached(conn, [bearer]).get(bearer, [])
    new = change(current)
    if new == current:
        return False
    before = {one.book_id for one in current}
    check_known(conn, [one.book_id for one in new if one.book_id not in before])
    stored.replace_attached(conn, bearer, new)
    check_host(rt, conn, bearer)
    return True


def check_known(conn: Connection, ids: Sequence[str]) -> None:
    """Raises `NotFound` that names those of the ids that are no books."""
    missing = dict.fromkeys(ids) if ids else {}
    for id_ in stored.known_books(conn, OWNER, list(missing)) if missing else ():
        del missing[id_]
    if missing:
        raise NotFound(f"no book {', '.join(missing)}", remedy="List the books to see their ids.")


def _change(rt: Runtime, host: HostId, change: Change) -> tuple[Attachment, ...]:
    with writing(rt.engine) as conn:
        change_attached(rt, conn, host, change)
        found = _attachments(conn, host)
        conn.commit()
    return found


def _attachments(conn: Connection, host: HostId) -> tuple[Attachment, ...]:
    bearer = stored.lineages(conn, [host])[host]
    found = stored.attached(conn, [bearer]).get(bearer, ())
    return tuple(Attachment(book=one.book_id, label=one.label) for one in found)


def _cleaned(attachment: Attachment) -> StoredAttachment:
    return StoredAttachment(attachment.book, clean_line(attachment.label or "") or None)
