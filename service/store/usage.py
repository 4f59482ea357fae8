"""How often entries are used: counters, and what each turn of a conversation has counted already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, bindparam, delete, func, select, tuple_, update

from service.lore.book import handle_of
from service.lore.usage import EntryUsage
from service.store.dialects import insert_unless_there
from service.store.keysets import in_order
from service.store.tables import counted_turns, entries, usage

WITH_USAGE = entries.outerjoin(usage)
"""Every entry, beside its counters if it has any."""
USES = func.coalesce(usage.c.uses, 0)
_FETCHES = func.coalesce(usage.c.fetches, 0)
NEVER_USED = USES + _FETCHES == 0
"""Neither used nor fetched."""
Sort = Literal["position", "-uses"]
EntryKey = tuple[str, int]
"""Book id and entry id."""
TurnKey = tuple[str, int]
"""Conversation and turn."""


@dataclass(frozen=True, kw_only=True)
class Count:
    """What is added to the counters of an entry."""

    uses: int = 0
    fetches: int = 0
    last_used_at: str | None = None


def newly_used(conn: Connection, owner: str, turns: Mapping[TurnKey, set[EntryKey]], now: str) -> list[set[EntryKey]]:
    """For each turn those of its entries that it has not counted yet; from now on it has."""
    keys = sorted(turns)  # everybody locks their rows in this order
    insert_unless_there(
        conn,
        counted_turns,
        [{"owner_id": owner, "conversation": talk, "turn": turn, "entries": {}, "at": now} for talk, turn in keys],
    )
    query = (
        select(counted_turns.c.conversation, counted_turns.c.turn, counted_turns.c.entries)
        .where(
            counted_turns.c.owner_id == owner,
            tuple_(counted_turns.c.conversation, counted_turns.c.turn).in_(keys),
        )
        .order_by(counted_turns.c.conversation, counted_turns.c.turn)
        .with_for_update()
    )
    found: list[set[EntryKey]] = []
    changed = []
    for talk, turn, counted in conn.execute(query):
        known = {(book, id_) for book, ids in counted.items() for id_ in ids}
        if new := turns[talk, turn] - known:
            found.append(new)
            changed.append({"talk": talk, "number": turn, "counted": _by_book(known | new), "now": now})
    if changed:
        statement = update(counted_turns).where(
            counted_turns.c.owner_id == owner,
            counted_turns.c.conversation == bindparam("talk"),
            counted_turns.c.turn == bindparam("number"),
        )
        conn.execute(statement.values(entries=bindparam("counted"), at=bindparam("now")), changed)
    return found


def _by_book(keys: Iterable[EntryKey]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for book, id_ in sorted(keys):
        found.setdefault(book, []).append(id_)
    return found


def forget_turns(conn: Connection, before: str) -> None:
    """Turns that counted nothing since then may count again."""
    conn.execute(delete(counted_turns).where(counted_turns.c.at < before))


def add(conn: Connection, counts: Mapping[EntryKey, Count]) -> None:
    """Add to the counters of those entries that exist."""
    there: dict[EntryKey, bool] = {}
    for book_id in sorted({book_id for book_id, _ in counts}):
        ids = [id_ for book, id_ in counts if book == book_id]
        # Their rows are kept from being deleted until the counters, which refer to them, are written.
        query = (
            select(entries.c.id, usage.c.uses)
            .select_from(WITH_USAGE)
            .where(entries.c.book_id == book_id, entries.c.id.in_(ids))
            .with_for_update(read=True, key_share=True, of=entries)
        )
        there |= {(book_id, id_): uses is not None for id_, uses in conn.execute(query)}
    fresh = [{"book_id": book, "entry_id": id_} for (book, id_), counted in sorted(there.items()) if not counted]
    insert_unless_there(conn, usage, [{**key, "uses": 0, "fetches": 0} for key in fresh])
    changes = [
        {"book": book, "entry": id_, "more": count.uses, "fetched": count.fetches, "last": count.last_used_at}
        for (book, id_), count in sorted(counts.items())
        if (book, id_) in there
    ]
    if changes:
        last = bindparam("last", type_=usage.c.last_used_at.type)
        statement = (
            update(usage)
            .where(usage.c.book_id == bindparam("book"), usage.c.entry_id == bindparam("entry"))
            .values(
                uses=usage.c.uses + bindparam("more"),
                fetches=usage.c.fetches + bindparam("fetched"),
                last_used_at=func.coalesce(last, usage.c.last_used_at),
            )
        )
        conn.execute(statement, changes)


def of_book(conn: Connection, book_id: str) -> dict[int, tuple[int, int]]:
    """Uses and fetches of the entries that have any."""
    query = select(usage.c.entry_id, usage.c.uses, usage.c.fetches).where(usage.c.book_id == book_id)
    return {id_: (uses, fetches) for id_, uses, fetches in conn.execute(query)}


def page(
    conn: Connection, book_id: str, *, never: bool, sort: Sort, after: tuple[int, int] | None, limit: int
) -> list[tuple[EntryUsage, int, int]]:
    """Up to `limit` entries with their counters behind the keyset `after`, each with its position and id.

    `never` leaves only those that were neither used nor fetched. The keyset is (position or uses, id) of the last entry
    of the page before.
    """
    query = (
        select(
            entries.c.id, entries.c.position, entries.c.title, entries.c.tier, entries.c.enabled,
            USES.label("uses"), _FETCHES.label("fetches"), usage.c.last_used_at,
        )
        .select_from(WITH_USAGE)
        .where(entries.c.book_id == book_id)
    )  # fmt: skip
    if never:
        query = query.where(NEVER_USED)
    most_first = sort == "-uses"
    by = USES if most_first else entries.c.position
    rows = conn.execute(in_order(query, by, entries.c.id, most_first=most_first, after=after, limit=limit))
    return [
        (
            EntryUsage(
                handle=handle_of(book_id, row.id),
                title=row.title,
                tier=row.tier,
                enabled=row.enabled,
                uses=row.uses,
                fetches=row.fetches,
                last_used_at=row.last_used_at,
            ),
            row.position,
            row.id,
        )
        for row in rows
    ]
