"""Hosts: what books are attached to, and who belongs to the cast of a story."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Table,
    and_,
    bindparam,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)

from service.store.dialects import insert_new
from service.store.tables import attachments, books, cast_members, entries, hosts


def _among(table: Table) -> ColumnElement[bool]:
    return tuple_(table.c.kind, table.c.key).in_(bindparam("hosts", expanding=True))


# Built once, since each retrieval runs them and building costs as much as running.
_HOSTS = select(hosts).where(_among(hosts))
_CASTS = (
    select(cast_members.c.kind, cast_members.c.key, cast_members.c.member_kind, cast_members.c.member_key)
    .where(_among(cast_members))
    .order_by(cast_members.c.kind, cast_members.c.key, cast_members.c.position)
)
_ATTACHED = (
    select(attachments.c.kind, attachments.c.key, attachments.c.book_id, attachments.c.label)
    .where(_among(attachments))
    .order_by(attachments.c.kind, attachments.c.key, attachments.c.position, attachments.c.book_id)
)
_KNOWN_BOOKS = select(books.c.id).where(
    books.c.owner_id == bindparam("owner"), books.c.id.in_(bindparam("ids", expanding=True))
)


class HostId(NamedTuple):
    """Kind and the app's own key: `character`, `ilse`."""

    kind: str
    key: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.key}"


@dataclass(frozen=True)
class StoredHost:
    """A host that was declared, or that had a book attached."""

    id: HostId
    name: str
    lineage: str | None
    """Of a persona: the key that its books hang on."""
    created_at: str


@dataclass(frozen=True)
class StoredAttachment:
    """A book on a host; the label, when there is one, speaks instead of the host's name."""

    book_id: str
    label: str | None


def declare(
    conn: Connection, host: HostId, name: str, cast: Sequence[HostId], now: str, lineage: str | None = None
) -> None:
    """Create the host or replace its name, cast and lineage."""
    ensure(conn, host, now)
    conn.execute(update(hosts).where(_is(hosts, host)).values(name=name, lineage=lineage))
    conn.execute(delete(cast_members).where(_is(cast_members, host)))
    if cast:
        conn.execute(
            insert(cast_members),
            [
                {"kind": host.kind, "key": host.key, "position": place, "member_kind": kind, "member_key": key}
                for place, (kind, key) in enumerate(cast)
            ],
        )


def ensure(conn: Connection, host: HostId, now: str) -> None:
    """Make sure that the host exists and that no other writer changes it until the transaction ends."""
    insert_new(conn, hosts, [{"kind": host.kind, "key": host.key, "name": "", "created_at": now}])
    conn.execute(select(hosts.c.kind).where(_is(hosts, host)).with_for_update())


def read(conn: Connection, wanted: Sequence[HostId]) -> dict[HostId, StoredHost]:
    """Those of the hosts that exist."""
    return {host.id: host for host in map(_host, conn.execute(_HOSTS, {"hosts": list(wanted)}))}


def page(conn: Connection, *, kind: str | None, after: tuple[str, str] | None, limit: int) -> list[StoredHost]:
    """Up to `limit` hosts by (kind, key), behind `after`."""
    query = select(hosts).order_by(hosts.c.kind, hosts.c.key).limit(limit)
    if kind is not None:
        query = query.where(hosts.c.kind == kind)
    if after is not None:
        query = query.where(tuple_(hosts.c.kind, hosts.c.key) > after)
    return [_host(row) for row in conn.execute(query)]


def remove(conn: Connection, host: HostId) -> bool:
    """Delete the host with its cast and attachments; answers whether it was there."""
    return bool(conn.execute(delete(hosts).where(_is(hosts, host))).rowcount)


def casts(conn: Connection, wanted: Iterable[HostId]) -> dict[HostId, list[HostId]]:
    """The cast of each of the hosts that has one, in order."""
    found: defaultdict[HostId, list[HostId]] = defaultdict(list)
    for kind, key, member_kind, member_key in conn.execute(_CASTS, {"hosts": list(wanted)}):
        found[HostId(kind, key)].append(HostId(member_kind, member_key))
    return found


def attached(conn: Connection, wanted: Iterable[HostId]) -> dict[HostId, list[StoredAttachment]]:
    """The books of each of the hosts that has some, in order."""
    found: defaultdict[HostId, list[StoredAttachment]] = defaultdict(list)
    for kind, key, book_id, label in conn.execute(_ATTACHED, {"hosts": list(wanted)}):
        found[HostId(kind, key)].append(StoredAttachment(book_id, label))
    return found


def replace_attached(conn: Connection, host: HostId, new: Sequence[StoredAttachment]) -> None:
    """The host's books become these, in this order."""
    conn.execute(delete(attachments).where(_is(attachments, host)))
    if new:
        conn.execute(
            insert(attachments),
            [
                {"kind": host.kind, "key": host.key, "book_id": one.book_id, "position": place, "label": one.label}
                for place, one in enumerate(new)
            ],
        )


def bearing(conn: Connection, book_id: str, kind: str) -> list[HostId]:
    """The hosts of this kind that the book is attached to."""
    query = select(attachments.c.kind, attachments.c.key).where(
        attachments.c.book_id == book_id, attachments.c.kind == kind
    )
    return [HostId(kind, key) for kind, key in conn.execute(query.order_by(attachments.c.key))]


def sizes(conn: Connection, host: HostId, dialect: str) -> dict[str, int]:
    """Entries of each of the host's books of this dialect, in order; nobody changes the host until the end."""
    conn.execute(select(hosts.c.kind).where(_is(hosts, host)).with_for_update())
    count = select(func.count()).where(entries.c.book_id == books.c.id).scalar_subquery()
    query = (
        select(books.c.id, count.label("size"))
        .join(attachments, attachments.c.book_id == books.c.id)
        .where(_is(attachments, host), books.c.dialect == dialect)
        .order_by(attachments.c.position, books.c.id)
    )
    return {row.id: row.size for row in conn.execute(query)}


def lineages(conn: Connection, wanted: Sequence[HostId]) -> dict[HostId, HostId]:
    """Where the books of each of these personas hang: on its own key, or on that of its lineage."""
    found = {HostId(row.kind, row.key): row.lineage for row in conn.execute(_HOSTS, {"hosts": list(wanted)})}
    return {host: HostId(host.kind, found.get(host) or host.key) for host in wanted}


def known_books(conn: Connection, owner: str, ids: Sequence[str]) -> set[str]:
    """Those of the ids that are books of the owner."""
    return set(conn.scalars(_KNOWN_BOOKS, {"owner": owner, "ids": list(ids)}))


def _host(row: Row[Any]) -> StoredHost:
    return StoredHost(HostId(row.kind, row.key), row.name, row.lineage, row.created_at)


def _is(table: Table, host: HostId) -> ColumnElement[bool]:
    return and_(table.c.kind == host.kind, table.c.key == host.key)
