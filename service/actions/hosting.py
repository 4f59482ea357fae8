"""Hosts: what books are attached to, and what a retrieval reads through them.

A host is `kind:key`, and the key is the app's own id. One that nobody declared has no books, and exists from the
moment something is attached to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, cast

from annotated_types import MaxLen, MinLen
from sqlalchemy import Connection

from service.actions.limiting import check_host
from service.actions.paging import Page, after, checked_limit, page_of
from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.lore.book import HOST_KINDS, MAX_HOST_KEY, STRICT, HostKind, is_host_key
from service.lore.errors import FieldError, Invalid, NotFound
from service.lore.text import clean_line
from service.store import hosts as stored
from service.store import states
from service.store.engine import reading, writing
from service.store.hosts import HostId, StoredAttachment

_KEY_RULE = f"a key has 1 to {MAX_HOST_KEY} characters, no control characters"
_WITH_CAST_FIRST = ("story", "novel")


@dataclass(frozen=True, kw_only=True)
class HostBody:
    """What an app tells about a host."""

    __pydantic_config__ = STRICT

    name: Annotated[str, MaxLen(200)] = ""
    """How entries of its books are labelled in a group; "": its key."""
    cast: Annotated[tuple[str, ...], MaxLen(64)] = ()
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


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A book on a host."""

    __pydantic_config__ = STRICT

    book: Annotated[str, MaxLen(16)]
    """Id of the book."""
    label: Annotated[str, MaxLen(200)] | None = None
    """Speaks instead of the host's name when entries are labelled in a group."""


@dataclass(frozen=True, kw_only=True)
class Attached:
    """A book that a request reads."""

    __pydantic_config__ = STRICT

    book_id: str
    label: str | None
    """In a group: the characters that bring the book."""
    via: tuple[str, ...]
    """The hosts that bring it, or `request`."""


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
    lorebooks remember of it.
    """
    host = host_id(kind, key)
    with writing(rt.engine) as conn:
        if kind == "conversation":
            states.forget(conn, OWNER, key)
        if kind == "persona" and stored.attached(conn, [host]):
            stored.declare(conn, host, "", (), rt.now())
        elif not stored.remove(conn, host):
            raise _absent(host)
        conn.commit()


def read_attachments(rt: Runtime, kind: str, key: str) -> tuple[Attachment, ...]:
    """The host's books in order; none when nobody declared it."""
    host = host_id(kind, key)
    with reading(rt.engine) as conn:
        return _attachments(conn, stored.lineages(conn, [host])[host])


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


def resolve(rt: Runtime, hosts: Sequence[str], books: Sequence[str], conversation: str | None) -> tuple[Attached, ...]:
    """What a request reads, each book once, where it is met first.

    Order: stories and novels with their casts, other hosts in request order, `books`, the conversation. With two or
    more characters a book is labelled with the names of all that bring it, unless a story or novel brings it too.
    Raises `Invalid` for what is no host, `NotFound` for ids in `books` that are no books.
    """
    asked = [parse_host(text, f"#/hosts/{place}") for place, text in enumerate(hosts)]
    first = [host for host in asked if host.kind in _WITH_CAST_FIRST]
    then = [host for host in asked if host.kind not in _WITH_CAST_FIRST]
    last = [HostId("conversation", conversation)] if conversation is not None else []
    with reading(rt.engine) as conn:
        _known(conn, books)
        casts = _casts(conn, [*first, *then, *last])
        before = _expanded([*first, *then], casts)
        behind = [host for host in _expanded(last, casts) if host not in before]
        attached = _attached(conn, [*before, *behind])
        characters = [host for host in (*before, *behind) if host.kind == "character"]
        named = stored.read(conn, characters) if len(characters) > 1 else {}
    brought: dict[str, list[tuple[HostId | None, str | None]]] = {}
    for host in before:
        for one in attached.get(host, ()):
            brought.setdefault(one.book_id, []).append((host, one.label))
    for book_id in books:
        brought.setdefault(book_id, []).append((None, None))
    for host in behind:
        for one in attached.get(host, ()):
            brought.setdefault(one.book_id, []).append((host, one.label))
    names = {host: named[host].name if host in named and named[host].name else host.key for host in characters}
    return tuple(
        Attached(
            book_id=book_id,
            label=_label(by, names) if len(characters) > 1 else None,
            via=tuple(dict.fromkeys(str(host) if host else "request" for host, _ in by)),
        )
        for book_id, by in brought.items()
    )


def _attached(conn: Connection, wanted: Sequence[HostId]) -> dict[HostId, list[StoredAttachment]]:
    """The books of each host; those of a persona hang on its lineage."""
    if not wanted:
        return {}
    personas = [host for host in wanted if host.kind == "persona"]
    bearers = stored.lineages(conn, personas) if personas else {}
    found = stored.attached(conn, [bearers.get(host, host) for host in wanted])
    return {host: found.get(bearers.get(host, host), []) for host in wanted}


def _label(by: Sequence[tuple[HostId | None, str | None]], names: dict[HostId, str]) -> str | None:
    if any(host is not None and host.kind in _WITH_CAST_FIRST for host, _ in by):
        return None
    labels = [label or names[host] for host, label in by if host in names]
    return ", ".join(dict.fromkeys(labels)) or None


def _casts(conn: Connection, hosts: Sequence[HostId]) -> dict[HostId, list[HostId]]:
    """The casts of the hosts, of those in them, and so on; one query for each generation, and circles end."""
    casts: dict[HostId, list[HostId]] = {}
    seen, generation = set(hosts), list(dict.fromkeys(hosts))
    while generation:
        found = stored.casts(conn, generation)
        casts.update(found)
        generation = list(dict.fromkeys(member for cast_ in found.values() for member in cast_ if member not in seen))
        seen.update(generation)
    return casts


def _expanded(hosts: Sequence[HostId], casts: dict[HostId, list[HostId]]) -> list[HostId]:
    """Each host followed by its cast, depth first, each once."""
    found: dict[HostId, None] = {}
    waiting = list(reversed(hosts))
    while waiting:
        host = waiting.pop()
        if host not in found:
            found[host] = None
            waiting += reversed(casts.get(host, []))
    return list(found)


def _change(
    rt: Runtime, host: HostId, change: Callable[[list[StoredAttachment]], list[StoredAttachment]]
) -> tuple[Attachment, ...]:
    with writing(rt.engine) as conn:
        stored.ensure(conn, host, rt.now())
        host = stored.lineages(conn, [host])[host]
        stored.ensure(conn, host, rt.now())
        current = stored.attached(conn, [host]).get(host, [])
        new = change(current)
        before = {one.book_id for one in current}
        _known(conn, [one.book_id for one in new if one.book_id not in before])
        stored.replace_attached(conn, host, new)
        check_host(rt, conn, host)
        found = _attachments(conn, host)
        conn.commit()
    return found


def _attachments(conn: Connection, host: HostId) -> tuple[Attachment, ...]:
    return tuple(Attachment(book=one.book_id, label=one.label) for one in stored.attached(conn, [host]).get(host, ()))


def _cleaned(attachment: Attachment) -> StoredAttachment:
    return StoredAttachment(attachment.book, clean_line(attachment.label or "") or None)


def _known(conn: Connection, ids: Sequence[str]) -> None:
    missing = dict.fromkeys(ids) if ids else {}
    for id_ in stored.known_books(conn, OWNER, list(missing)) if missing else ():
        del missing[id_]
    if missing:
        raise NotFound(f"no book {', '.join(missing)}", remedy="List the books to see their ids.")


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
