"""Hosts: what books are attached to.

A host is `kind:key`, and the key is the app's own id. One that nobody declared has no books, and exists from the
moment something is attached to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, cast

from annotated_types import MaxLen, MinLen
from sqlalchemy import Connection

from service.actions.paging import Page, after, checked_limit, page_of
from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.lore.at_most import AtMost
from service.lore.book import HOST_KINDS, MAX_HOST_KEY, HostKind, is_host_key
from service.lore.errors import FieldError, Invalid, NotFound
from service.lore.strict import STRICT
from service.lore.text import clean_line
from service.store import hosts as stored
from service.store import states
from service.store.engine import reading, writing
from service.store.hosts import HostId

_KEY_RULE = f"a key has 1 to {MAX_HOST_KEY} characters, no control characters"


@dataclass(frozen=True, kw_only=True)
class HostBody:
    """What an app tells about a host."""

    __pydantic_config__ = STRICT

    name: Annotated[str, MaxLen(200)] = ""
    """How entries of its books are labelled in a group; "": its key."""
    cast: Annotated[tuple[str, ...], AtMost(64)] = ()
    """`kind:key` of those who appear in a story or novel; their books join its own, in this order."""
    lineage: Annotated[str, MinLen(1), MaxLen(200)] | None = None
    """Of a persona: where its books hang, so that it may vanish and return, and share them with others of its lineage.
    Null: under its own key."""


@dataclass(frozen=True, kw_only=True)
class Host(HostBody):
    """A host as stored."""

    kind: HostKind
    key: str
    created_at: str
    """RFC 3339, UTC, milliseconds."""


def parse_host(text: str, pointer: str = "#/hosts") -> HostId:
    """`kind:key` taken apart. Raises `Invalid` for the field at `pointer`."""
    kind, colon, key = text.partition(":")
    if not colon or kind not in HOST_KINDS or not is_host_key(key):
        fault = FieldError(
            pointer=pointer,
            detail=f"{text[:80]!r} is no host",
            remedy=f"send kind:key, kind one of {', '.join(HOST_KINDS)}; {_KEY_RULE}",
        )
        raise Invalid([fault])
    return HostId(kind, key)


def host_id(kind: str, key: str) -> HostId:
    """The host of a path. Raises `Invalid` for a kind that is none and for a bad key."""
    faults = []
    if kind not in HOST_KINDS:
        remedy = f"one of {', '.join(HOST_KINDS)}"
        faults.append(FieldError(parameter="kind", detail=f"{kind[:80]!r} is no kind of host", remedy=remedy))
    if not is_host_key(key):
        faults.append(FieldError(parameter="key", detail=f"{key[:80]!r} is no key", remedy=_KEY_RULE))
    if faults:
        raise Invalid(faults)
    return HostId(kind, key)


def declare_host(rt: Runtime, kind: str, key: str, body: HostBody) -> Host:
    """Create the host or replace its name and cast; its attachments stay. Raises `Invalid`."""
    host = host_id(kind, key)
    if body.lineage is not None and (kind != "persona" or not is_host_key(body.lineage)):
        detail = "only a persona has a lineage" if kind != "persona" else f"{body.lineage[:80]!r} is no key"
        raise Invalid([FieldError(pointer="#/lineage", detail=detail, remedy=f"leave it out, or: {_KEY_RULE}")])
    cast_ids = [parse_host(member, f"#/cast/{place}") for place, member in enumerate(body.cast)]
    with writing(rt.engine) as conn:
        stored.declare(conn, host, clean_line(body.name), list(dict.fromkeys(cast_ids)), rt.now(), body.lineage)
        found = _read(conn, host)
        conn.commit()
    return found


def read_host(rt: Runtime, kind: str, key: str) -> Host:
    """The host. Raises `NotFound` when it was never declared and nothing was ever attached to it."""
    with reading(rt.engine) as conn:
        return _read(conn, host_id(kind, key))


def list_hosts(rt: Runtime, *, kind: HostKind | None = None, limit: int = 50, cursor: str | None = None) -> Page[Host]:
    """Hosts by kind and key."""
    with reading(rt.engine) as conn:
        keys = after(cursor, "host", str, str)
        found = stored.page(conn, kind=kind, after=keys, limit=checked_limit(limit) + 1)
        casts = stored.casts(conn, [host.id for host in found])
    hosts = [_host(host, casts.get(host.id, ())) for host in found]
    return page_of(hosts, limit, "host", lambda host: (host.kind, host.key))


def delete_host(rt: Runtime, kind: str, key: str) -> None:
    """Delete the host with its cast and attachments; the books stay. Raises `NotFound`.

    What hangs on the lineage of a persona stays attached to it, for when it returns. With a conversation goes what
    lorebooks remember of it, which may be all that there is: a retrieval names a conversation that nobody declared.
    """
    host = host_id(kind, key)
    with writing(rt.engine) as conn:
        remembered = kind == "conversation" and states.forget(conn, OWNER, key)
        if kind == "persona" and stored.attached(conn, [host]):
            stored.declare(conn, host, "", (), rt.now())
        elif not stored.remove(conn, host) and not remembered:
            raise _absent(host)
        conn.commit()


def _read(conn: Connection, host: HostId) -> Host:
    found = stored.read(conn, [host]).get(host)
    if found is None:
        raise _absent(host)
    return _host(found, stored.casts(conn, [host]).get(host, ()))


def _host(host: stored.StoredHost, members: Sequence[HostId]) -> Host:
    return Host(
        kind=cast(HostKind, host.id.kind),
        key=host.id.key,
        name=host.name,
        cast=tuple(map(str, members)),
        lineage=host.lineage,
        created_at=host.created_at,
    )


def _absent(host: HostId) -> NotFound:
    return NotFound(f"no host {host}", remedy="Declare it, or attach a book to it.")
