"""The cache of opened books: derived from the database, bounded by bytes, droppable at any time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock

from sqlalchemy import Connection

from embeddings.embedder import EmbeddingSpace
from embeddings.index import VectorIndex
from service.lore.errors import NotFound
from service.lore.open_book import BookText, OpenBook
from service.store import books, vectors
from service.store.books import Head, StoredBook


class OpenBooks:
    """Opened books by (id, version, vector counter, space), the least recently used leaving first.

    Arriving vectors rebuild the index of a book but not its words. A book that is being built is built once, whoever
    else asks for it meanwhile.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._books: OrderedDict[str, tuple[Head, str, OpenBook]] = OrderedDict()
        self._guard = Lock()
        self._building = Lock()

    def open(self, conn: Connection, owner: str, space: EmbeddingSpace | None, ids: Sequence[str]) -> list[OpenBook]:
        """The owner's books of these ids, in their order, as `conn` sees them.

        Without a space nothing can be found by meaning. Raises `NotFound` that names what is missing.
        """
        heads = books.heads(conn, owner, ids)
        missing = [id_ for id_ in ids if id_ not in heads]
        if missing:
            raise NotFound(f"no book {', '.join(missing)}", remedy="List the books to see their ids.")
        space_id = space.id if space else ""
        found = {id_: self._cached(heads[id_], space_id) for id_ in ids}
        if None in found.values():
            with self._building:
                found = {id_: book or self._cached(heads[id_], space_id) for id_, book in found.items()}
                stale = [heads[id_] for id_, book in found.items() if book is None]
                found |= self._build(conn, space, stale)
                self._shrink()
        return [book for id_ in ids if (book := found[id_]) is not None]

    def clear(self) -> None:
        """Forget everything."""
        with self._guard:
            self._books.clear()

    def _cached(self, head: Head, space_id: str) -> OpenBook | None:
        with self._guard:
            known = self._books.get(head.id)
            if known is None or known[:2] != (head, space_id):
                return None
            self._books.move_to_end(head.id)
            return known[2]

    def _build(self, conn: Connection, space: EmbeddingSpace | None, heads: Sequence[Head]) -> dict[str, OpenBook]:
        ids = [head.id for head in heads]
        loaded = {stored.book.id: stored for stored in books.load(conn, ids)}
        arrived = vectors.of_books(conn, space.id, ids) if space else {}
        built: dict[str, OpenBook] = {}
        for head in heads:
            built[head.id] = opened = self._opened(loaded[head.id], arrived, space)
            with self._guard:
                self._books[head.id] = (head, space.id if space else "", opened)
                self._books.move_to_end(head.id)
        return built

    def _opened(
        self, stored: StoredBook, arrived: dict[str, vectors.StoredVectors], space: EmbeddingSpace | None
    ) -> OpenBook:
        bare, entries = replace(stored.book, entries=None), stored.book.entries or ()
        with self._guard:
            known = self._books.get(stored.book.id)
        # The version alone is not enough: a book that was deleted and restored counts its versions from the backup on.
        if known is not None and (known[2].text.book, known[2].text.entries) == (bare, entries):
            text = known[2].text
        else:
            text = BookText.build(bare, entries)
        mine = [arrived.get(hash_) for hash_ in stored.hashes]
        groups = {
            ordinal: (found.pieces, found.windows)
            for ordinal, found in enumerate(mine)
            if found is not None and len(found.pieces) and text.enabled[ordinal]
        }
        enabled = int(text.enabled.sum()) if stored.book.dialect == "world" else 0
        failed = sum(
            found is not None and not len(found.pieces) and bool(text.enabled[ordinal])
            for ordinal, found in enumerate(mine)
        )
        return OpenBook(
            text=text,
            index=VectorIndex.build(space.dimension if space else 1, groups),
            pending=enabled - failed - len(groups),
            failed=failed,
        )

    def _shrink(self) -> None:
        with self._guard:
            total = sum(book.nbytes for _, _, book in self._books.values())
            while total > self._most_bytes and len(self._books) > 1:
                _, (_, _, dropped) = self._books.popitem(last=False)
                total -= dropped.nbytes
