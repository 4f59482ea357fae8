"""What a request reads: the books of its hosts and their casts, those that it names, and those of its conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from service.actions.attaching import check_known
from service.actions.hosting import parse_host
from service.actions.runtime import Runtime
from service.lore.strict import STRICT
from service.store import hosts as stored
from service.store.engine import reading
from service.store.hosts import HostId, StoredAttachment

_WITH_CAST_FIRST = ("story", "novel")


@dataclass(frozen=True, kw_only=True)
class Attached:
    """A book that a request reads."""

    __pydantic_config__ = STRICT

    book_id: str
    label: str | None
    """In a group: the characters that bring the book."""
    via: tuple[str, ...]
    """The hosts that bring it, or `request`."""


def resolve(rt: Runtime, hosts: Sequence[str], books: Sequence[str], conversation: str | None) -> tuple[Attached, ...]:
    """`resolved` on a connection of its own. Raises `NotFound` for ids in `books` that are no books too."""
    with reading(rt.engine) as conn:
        check_known(conn, books)
        return resolved(conn, hosts, books, conversation)


def resolved(
    conn: Connection, hosts: Sequence[str], books: Sequence[str], conversation: str | None
) -> tuple[Attached, ...]:
    """What a request reads, each book once, where it is met first.

    Order: stories and novels with their casts, other hosts in request order, `books`, the conversation. With two or
    more characters a book is labelled with the names of all that bring it, unless a story or novel brings it too.
    Raises `Invalid` for what is no host. Whether the ids in `books` are books is seen when they are opened.
    """
    asked = [parse_host(text, f"#/hosts/{place}") for place, text in enumerate(hosts)]
    first = [host for host in asked if host.kind in _WITH_CAST_FIRST]
    then = [host for host in asked if host.kind not in _WITH_CAST_FIRST]
    last = [HostId("conversation", conversation)] if conversation is not None else []
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
