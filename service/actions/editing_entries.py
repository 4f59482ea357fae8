"""Entries of a book: add, list, read, change, order, delete.

Each write is one transaction that raises the book's version by exactly one. `if_match` is the version that the caller
read; another one stored means `VersionMismatch` and nothing changed; None: the last write wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from service.actions.cleaning import cleaned_entries, cleaned_entry
from service.actions.limiting import at_most, check_servers, most_entries
from service.actions.merging import patched, resolved
from service.actions.paging import Page, after, checked_limit, page_of
from service.actions.presenting import OWNER, canon_tokens, presented, presented_entries
from service.actions.runtime import Runtime
from service.lore.book import Book, Entry, Tier
from service.lore.errors import FieldError, Invalid, VersionMismatch
from service.lore.strict import STRICT
from service.store import books
from service.store import entries as stored
from service.store.engine import reading, writing
from service.validation import validate

_WRITABLE = ("title", "content", "aliases", "gist", "tier", "enabled", "trigger", "extensions")


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What can be set on many entries at once; null leaves it."""

    __pydantic_config__ = STRICT

    enabled: bool | None = None
    tier: Tier | None = None


@dataclass(frozen=True, kw_only=True)
class Ordered:
    """What an order did."""

    __pydantic_config__ = STRICT

    version: int
    """Of the book."""
    canon_tokens: int
    """What the book's canon costs every turn."""


def add_entries(rt: Runtime, book_id: str, entries: Sequence[Entry], if_match: int | None = None) -> tuple[Entry, ...]:
    """Append the entries, all or none; answers them as stored.

    Raises `NotFound`, `Invalid`, `LimitExceeded`, `VersionMismatch`.
    """
    if not entries:
        raise Invalid([FieldError(pointer="#", detail="no entries", remedy="send at least one")])
    at_most(len(entries), rt.settings.max_entries_a_call, "entries in one call")
    now = rt.now()
    with writing(rt.engine) as conn:
        version = books.advance(conn, OWNER, book_id, now, if_match)
        dialect = books.read(conn, OWNER, book_id).dialect
        new = cleaned_entries(entries, dialect, "#")
        at_most(len(stored.order(conn, book_id)) + len(new), most_entries(rt, dialect), "entries in a book")
        added = stored.add(conn, book_id, version, new, now)
        check_servers(rt, conn, book_id)
        conn.commit()
    rt.backlog.nudge(book_id)
    return presented_entries(rt, book_id, added)


def list_entries(
    rt: Runtime,
    book_id: str,
    *,
    enabled: bool | None = None,
    tier: Tier | None = None,
    q: str | None = None,
    never_used: bool = False,
    sort: stored.Sort = "position",
    content: bool = False,
    limit: int = 50,
    cursor: str | None = None,
) -> Page[Entry]:
    """Entries of the book, and how many there are in all. Without `content` the content of each is ""."""
    keys = after(cursor, sort, str if sort == "title" else int, int)
    if never_used or sort == "-uses":
        rt.usage.flush()
    with reading(rt.engine) as conn:
        books.read(conn, OWNER, book_id)
        found, total = stored.page(
            conn,
            book_id,
            enabled=enabled,
            tier=tier,
            q=q,
            never_used=never_used,
            sort=sort,
            after=keys,
            limit=checked_limit(limit) + 1,
        )
    page = page_of(found, limit, sort, lambda row: (row[1], row[0].id), total)
    shown = presented_entries(rt, book_id, [entry for entry, _ in page.items])
    items = shown if content else tuple(replace(entry, content="") for entry in shown)
    return Page(items=items, next_cursor=page.next_cursor, total=page.total)


def read_entry(rt: Runtime, book_id: str, entry_id: int) -> Entry:
    """One entry. Raises `NotFound`."""
    with reading(rt.engine) as conn:
        books.read(conn, OWNER, book_id)
        entry = _one(stored.read(conn, book_id, [entry_id]), book_id, entry_id)
    return presented_entries(rt, book_id, [entry])[0]


def replace_entry(rt: Runtime, book_id: str, entry_id: int, entry: Entry, if_match: int | None = None) -> Entry:
    """All fields of the entry become those given; its place stays. `if_match` is the version of the entry.

    Raises `NotFound`, `Invalid`, `VersionMismatch`.
    """
    return _put(rt, book_id, entry_id, lambda _: entry, if_match)


def change_entry(
    rt: Runtime, book_id: str, entry_id: int, patch: Mapping[str, Any], if_match: int | None = None
) -> Entry:
    """Merge the patch (RFC 7396) into the entry; members of `extensions` are replaced whole. `if_match` is the version
    of the entry.

    Raises `NotFound`, `Invalid`, `VersionMismatch`.
    """
    inner = patch.get("trigger")
    if isinstance(inner, Mapping):
        patch = {**patch, "trigger": resolved(inner)}
    return _put(rt, book_id, entry_id, lambda found: patched(found, patch, _WRITABLE), if_match)


def delete_entry(rt: Runtime, book_id: str, entry_id: int, if_match: int | None = None) -> None:
    """Delete the entry; its number never comes back. `if_match` is the version of the entry."""
    with writing(rt.engine) as conn:
        books.advance(conn, OWNER, book_id, rt.now())
        found = _one(stored.read(conn, book_id, [entry_id]), book_id, entry_id)
        _compare(found, if_match)
        stored.remove(conn, book_id, [entry_id])
        conn.commit()


def set_entries(
    rt: Runtime, book_id: str, ids: Sequence[int], changes: Mapping[str, Any], if_match: int | None = None
) -> Book:
    """Enable, disable or change the tier of many entries, all or none.

    Raises `NotFound` that names the entries that do not exist, `Invalid`, `VersionMismatch`.
    """
    _some(ids)
    new = {name: value for name, value in asdict(validate(Changes, dict(changes))).items() if value is not None}
    if not new:
        raise Invalid([FieldError(pointer="#/set", detail="nothing to set", remedy="set enabled or tier")])
    now = rt.now()
    with writing(rt.engine) as conn:
        version = books.advance(conn, OWNER, book_id, now, if_match)
        stored.set_fields(conn, book_id, version, ids, new, now)
        found = books.read(conn, OWNER, book_id)
        if "tier" in new and found.dialect != "world":
            remedy = "change trigger.constant of its entries"
            raise Invalid([FieldError(pointer="#/set/tier", detail="a lorebook has no tiers", remedy=remedy)])
        conn.commit()
    return presented(rt, found)


def delete_entries(rt: Runtime, book_id: str, ids: Sequence[int], if_match: int | None = None) -> None:
    """Delete many entries, all or none. Raises `NotFound` that names those that do not exist, `VersionMismatch`."""
    _some(ids)
    with writing(rt.engine) as conn:
        books.advance(conn, OWNER, book_id, rt.now(), if_match)
        stored.remove(conn, book_id, ids)
        conn.commit()


def reorder(
    rt: Runtime, book_id: str, ids: Sequence[int], to: Literal["top", "bottom"] | int, if_match: int | None = None
) -> Ordered:
    """The entries stand together in the order of `ids`, the first of them at the position `to`, counted from 0.

    Raises `NotFound` that names the entries that do not exist, `Invalid`, `VersionMismatch`.
    """
    _some(ids)
    if len(set(ids)) < len(ids):
        raise Invalid([FieldError(pointer="#/ids", detail="an entry is named twice", remedy="name each once")])
    with writing(rt.engine) as conn:
        version = books.advance(conn, OWNER, book_id, rt.now(), if_match)
        current = stored.order(conn, book_id)
        missing = sorted(set(ids) - set(current))
        if missing:
            raise stored.absent(book_id, missing)
        moved = set(ids)
        rest = [id_ for id_ in current if id_ not in moved]
        at = _place(to, len(rest))
        stored.set_order(conn, book_id, [*rest[:at], *ids, *rest[at:]])
        conn.commit()
    return Ordered(version=version, canon_tokens=canon_tokens(rt, book_id))


def _put(rt: Runtime, book_id: str, entry_id: int, change: Any, if_match: int | None) -> Entry:
    now = rt.now()
    with writing(rt.engine) as conn:
        version = books.advance(conn, OWNER, book_id, now)
        dialect = books.read(conn, OWNER, book_id).dialect
        found = _one(stored.read(conn, book_id, [entry_id]), book_id, entry_id)
        _compare(found, if_match)
        new = replace(
            cleaned_entry(change(found), dialect), id=entry_id, position=found.position, version=version, updated_at=now
        )
        stored.put(conn, book_id, version, new, now)
        conn.commit()
    rt.backlog.nudge(book_id)
    return presented_entries(rt, book_id, [new])[0]


def _one(found: Mapping[int, Entry], book_id: str, entry_id: int) -> Entry:
    if entry_id not in found:
        raise stored.absent(book_id, [entry_id])
    return found[entry_id]


def _compare(entry: Entry, if_match: int | None) -> None:
    if if_match is not None and if_match != entry.version:
        raise VersionMismatch(f"the entry is at version {entry.version}, not {if_match}", current=entry.version)


def _some(ids: Sequence[int]) -> None:
    if not ids:
        raise Invalid([FieldError(pointer="#/ids", detail="no entries", remedy="name at least one")])


def _place(to: Literal["top", "bottom"] | int, most: int) -> int:
    if to == "top":
        return 0
    if to == "bottom":
        return most
    if not 0 <= to <= most:
        fault = FieldError(
            pointer="#/to", detail=f"no position {to} for them", remedy=f'send 0 to {most}, "top" or "bottom"'
        )
        raise Invalid([fault])
    return to
