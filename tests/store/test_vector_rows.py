"""Vectors under the hash of their text."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy import Connection, Engine, func, select

from embeddings.embedder import EmbeddingSpace
from service.lore.book import Book, Entry
from service.lore.recipe import text_hash
from service.store import books, entries, tables, vectors
from service.store.engine import writing
from service.store.vectors import StoredVectors, VectorCounts

NOW = "2026-11-30T17:24:05.120Z"
GATE = Entry(title="Gate", content="The gate opens")
TIDE = Entry(title="Tide", content="It rises")


def some(pieces: int = 1, windows: int = 2, dimension: int = 4) -> StoredVectors:
    rows = np.arange((pieces + windows) * dimension, dtype=np.float32).reshape(-1, dimension) / 64
    return StoredVectors(rows[:pieces], rows[pieces:])


def a_book(conn: Connection, name: str, *new: Entry) -> str:
    book = books.insert_book(conn, "local", Book(name=name), NOW)
    entries.add(conn, book, 1, new, NOW)
    return book


@pytest.mark.parametrize(("pieces", "windows"), [(1, 0), (1, 3), (4, 7)])
def test_vectors_round_trip(engine: Engine, pieces: int, windows: int) -> None:
    """The rows of pieces and windows come back apart, as float32, within float16."""
    with writing(engine) as conn:
        book = a_book(conn, "A", GATE, TIDE)
        vectors.put(conn, "s", {text_hash(GATE): some(pieces, windows)})
        found = vectors.of_books(conn, "s", [book])
    assert set(found) == {text_hash(GATE)}
    stored = found[text_hash(GATE)]
    assert stored.pieces.dtype == stored.windows.dtype == np.float32
    np.testing.assert_allclose(stored.pieces, some(pieces, windows).pieces, rtol=1e-3)
    np.testing.assert_allclose(stored.windows.reshape(-1, 4), some(pieces, windows).windows, rtol=1e-3)


def test_a_failed_text_has_no_rows(engine: Engine) -> None:
    """A text that cannot be embedded is stored without rows and counted as failed, not as pending."""
    with writing(engine) as conn:
        book = a_book(conn, "A", GATE, TIDE)
        vectors.put(conn, "s", {text_hash(GATE): None})
        assert len(vectors.of_books(conn, "s", [book])[text_hash(GATE)].pieces) == 0
        assert vectors.counts(conn, "s", [book]) == {book: VectorCounts(pending=1, failed=1)}
        assert vectors.states(conn, "s", book, [1, 2]) == {1: "failed", 2: "pending"}
        assert [one.entry.title for one in vectors.pending(conn, "s", 9)] == ["Tide"]


def test_the_first_vectors_stay(engine: Engine) -> None:
    """V12: A text embedded twice, by two processes, has one row."""
    with writing(engine) as conn:
        book = a_book(conn, "A", GATE)
        for dimension in (4, 8):
            vectors.put(conn, "s", {text_hash(GATE): some(dimension=dimension)})
        assert vectors.of_books(conn, "s", [book])[text_hash(GATE)].pieces.shape == (1, 4)
        assert conn.scalar(select(func.count()).select_from(tables.vectors)) == 1


def test_arriving_vectors_raise_the_counter(engine: Engine) -> None:
    """Vectors raise the counter of each book that holds the text, and no version."""
    with writing(engine) as conn:
        first, second, other = a_book(conn, "A", GATE), a_book(conn, "B", TIDE, GATE), a_book(conn, "C", TIDE)
        vectors.put(conn, "s", {text_hash(GATE): some()})
        heads = books.heads(conn, "local", [first, second, other])
        assert [heads[id_].vector_counter for id_ in (first, second, other)] == [1, 1, 0]
        assert {head.version for head in heads.values()} == {1}


def test_a_copy_embeds_nothing(engine: Engine) -> None:
    """V20: Two entries with the same text keep apart and share one embedding."""
    with writing(engine) as conn:
        a_book(conn, "A", GATE)
        vectors.put(conn, "s", {text_hash(GATE): some()})
        copy = a_book(conn, "B", GATE, GATE)
        assert vectors.pending(conn, "s", 9) == []
        assert vectors.states(conn, "s", copy, [1, 2]) == {1: "ready", 2: "ready"}


def test_another_space_stands_beside(engine: Engine) -> None:
    """V05, V06: In another space everything is pending again, and the vectors of the old one stay."""
    with writing(engine) as conn:
        book = a_book(conn, "A", GATE)
        vectors.put(conn, "old", {text_hash(GATE): some()})
        assert vectors.counts(conn, "new", [book]) == {book: VectorCounts(pending=1)}
        vectors.put(conn, "new", {text_hash(GATE): some(dimension=8)})
        assert vectors.of_books(conn, "old", [book])[text_hash(GATE)].pieces.shape == (1, 4)
        assert vectors.of_books(conn, "new", [book])[text_hash(GATE)].pieces.shape == (1, 8)


def test_pending_goes_on_behind(engine: Engine) -> None:
    """What is pending is found batch by batch, over all books or in one."""
    with writing(engine) as conn:
        whole = [Entry(title=str(n), content="x") for n in range(3)]
        ids = sorted([a_book(conn, "A", *whole), a_book(conn, "B", *whole)])
        first = vectors.pending(conn, "s", 4)
        then = vectors.pending(conn, "s", 4, after=(first[-1].book_id, first[-1].entry.id))
        one = vectors.pending(conn, "s", 9, book_id=ids[1])
        assert [(p.book_id, p.entry.id) for p in first + then] == [(id_, n) for id_ in ids for n in (1, 2, 3)]
        assert [(p.book_id, p.entry.id) for p in one] == [(ids[1], n) for n in (1, 2, 3)]


def test_an_edit_is_pending_again(engine: Engine) -> None:
    """V04: An edit of the text is pending at once; a switch or a move is not."""
    with writing(engine) as conn:
        book = a_book(conn, "A", GATE, TIDE)
        vectors.put(conn, "s", {text_hash(GATE): some(), text_hash(TIDE): some()})
        entries.set_fields(conn, book, 2, [1], {"enabled": False, "tier": "canon"}, NOW)
        entries.set_order(conn, book, [2, 1])
        assert vectors.pending(conn, "s", 9) == []
        entries.put(conn, book, 3, Entry(id=1, title="Gate", content="The gate is shut"), NOW)
        assert [one.entry.content for one in vectors.pending(conn, "s", 9)] == ["The gate is shut"]


def test_the_stamp_is_kept_once(engine: Engine) -> None:
    """The stamp of a space is stored once, however often the service starts."""
    space = EmbeddingSpace(
        model="m", revision="", dimension=4, query_prompt="", passage_prompt="", pooling="mean", normalised=True,
        recipe="1",
    )  # fmt: skip
    with writing(engine) as conn:
        vectors.record_space(conn, space, NOW)
        vectors.record_space(conn, space, NOW)
        (row,) = conn.execute(select(tables.spaces))
    assert (row.id, row.stamp["model"], row.stamp["dimension"]) == (space.id, "m", 4)
