"""Vectors, stored under the hash of the text they belong to: a copy, a re-import or a move embeds nothing.

A blob holds float16 rows, those of the text's pieces first, then those of its windows. float16 is the simplest type
that keeps the ranking; the rows go back to float32 when read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, and_, case, func, select, tuple_, update

from embeddings.embedder import EmbeddingSpace
from service.lore.book import Entry
from service.store.dialects import insert_new
from service.store.entries import as_entry
from service.store.tables import books, entries, spaces, vectors

_HASHES_A_QUERY = 1000


@dataclass(frozen=True)
class StoredVectors:
    """The vectors of one text; no rows at all when the text cannot be embedded."""

    pieces: NDArray[np.float32]
    """Shape (pieces, dimension)."""
    windows: NDArray[np.float32]
    """Shape (windows, dimension)."""


@dataclass(frozen=True)
class VectorCounts:
    """Entries of a book that have no vectors: not yet, or never, since their text cannot be embedded."""

    pending: int = 0
    failed: int = 0


@dataclass(frozen=True)
class PendingText:
    """An entry whose embedding text has no vectors in the space."""

    text_hash: str
    book_id: str
    entry: Entry


def record_space(conn: Connection, space: EmbeddingSpace, now: str) -> None:
    """Keep the stamp of a space, so that its vectors can be told from those of others later."""
    insert_new(conn, spaces, [{"id": space.id, "stamp": asdict(space), "created_at": now}])


def of_books(conn: Connection, space_id: str, book_ids: Sequence[str]) -> dict[str, StoredVectors]:
    """The vectors of the books' texts by text hash; a text that waits for its vectors is absent."""
    in_books = select(entries.c.text_hash).where(entries.c.book_id.in_(book_ids)).distinct()
    hashes = conn.scalars(in_books).all()
    query = select(vectors.c.text_hash, vectors.c.pieces, vectors.c.windows, vectors.c.data)
    found: dict[str, StoredVectors] = {}
    # Named one by one: PostgreSQL plans a join on rows that arrived since its last ANALYZE a thousand times too slow.
    for first in range(0, len(hashes), _HASHES_A_QUERY):
        part = hashes[first : first + _HASHES_A_QUERY]
        rows = conn.execute(query.where(vectors.c.space_id == space_id, vectors.c.text_hash.in_(part)))
        found.update((hash_, _unpack(data, pieces, windows)) for hash_, pieces, windows, data in rows)
    return found


def counts(conn: Connection, space_id: str, book_ids: Sequence[str]) -> dict[str, VectorCounts]:
    """How many entries of each book have no vectors in the space; books without entries are absent."""
    pending = func.sum(case((and_(vectors.c.text_hash.is_(None), entries.c.text_hash != ""), 1), else_=0))
    failed = func.sum(case((vectors.c.pieces == 0, 1), else_=0))
    query = (
        select(entries.c.book_id, pending, failed)
        .select_from(entries.outerjoin(vectors, _vectors_in(space_id)))
        .where(entries.c.book_id.in_(book_ids))
        .group_by(entries.c.book_id)
    )
    return {id_: VectorCounts(waiting, broken) for id_, waiting, broken in conn.execute(query)}


def states(conn: Connection, space_id: str, book_id: str, ids: Sequence[int]) -> dict[int, str]:
    """`ready`, `pending`, `failed` or `none` for each of the entries."""
    state = case(
        (entries.c.text_hash == "", "none"),
        (vectors.c.text_hash.is_(None), "pending"),
        (vectors.c.pieces == 0, "failed"),
        else_="ready",
    )
    query = (
        select(entries.c.id, state.label("state"))
        .select_from(entries.outerjoin(vectors, _vectors_in(space_id)))
        .where(entries.c.book_id == book_id, entries.c.id.in_(ids))
    )
    return {row.id: row.state for row in conn.execute(query)}


def pending(
    conn: Connection,
    space_id: str,
    limit: int,
    *,
    after: tuple[str, int] = ("", 0),
    book_id: str | None = None,
) -> list[PendingText]:
    """Up to `limit` entries without vectors in the space, by (book, entry id) behind `after`, or those of one book."""
    query = (
        select(entries)
        .select_from(entries.outerjoin(vectors, _vectors_in(space_id)))
        .where(
            vectors.c.text_hash.is_(None), entries.c.text_hash != "", tuple_(entries.c.book_id, entries.c.id) > after
        )
        .order_by(entries.c.book_id, entries.c.id)
        .limit(limit)
    )
    if book_id is not None:
        query = query.where(entries.c.book_id == book_id)
    return [PendingText(row.text_hash, row.book_id, as_entry(row)) for row in conn.execute(query)]


def put(conn: Connection, space_id: str, embedded: Mapping[str, StoredVectors | None]) -> None:
    """Store the vectors of texts by their hash, None for a text that cannot be embedded.

    What is stored already stays, so that two processes may embed the same text. The vector counter grows of every book
    that holds one of the texts.
    """
    rows = [{"space_id": space_id, "text_hash": hash_, **_pack(found)} for hash_, found in embedded.items()]
    insert_new(conn, vectors, rows)
    holders = select(entries.c.book_id).where(entries.c.text_hash.in_(list(embedded)))
    conn.execute(update(books).where(books.c.id.in_(holders)).values(vector_counter=books.c.vector_counter + 1))


def _vectors_in(space_id: str) -> ColumnElement[bool]:
    return and_(vectors.c.space_id == space_id, vectors.c.text_hash == entries.c.text_hash)


def _pack(found: StoredVectors | None) -> dict[str, Any]:
    if found is None:
        return {"pieces": 0, "windows": 0, "data": None}
    rows = np.concatenate([found.pieces, found.windows]).astype("<f2")
    return {"pieces": len(found.pieces), "windows": len(found.windows), "data": rows.tobytes()}


def _unpack(data: bytes | None, pieces: int, windows: int) -> StoredVectors:
    if not data:
        none = np.empty((0, 0), np.float32)
        return StoredVectors(none, none)
    rows = np.frombuffer(data, dtype="<f2").reshape(pieces + windows, -1).astype(np.float32)
    return StoredVectors(rows[:pieces], rows[pieces:])
