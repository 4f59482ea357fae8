"""Rows of books and entries."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Connection, Engine, func, select

from service.lore.book import Book, BookSettings, Entry, EntryCounts
from service.lore.errors import NameTaken, NotFound, VersionMismatch
from service.lore.recipe import text_hash
from service.store import books, entries, ids, tables
from service.store.engine import reading, writing

NOW = "2026-11-30T17:24:05.120Z"
LATER = "2026-11-30T18:00:00.000Z"


def a_book(conn: Connection, name: str = "Salt Coast", count: int = 0, owner: str = "local") -> str:
    book_id = books.insert_book(conn, owner, Book(name=name), NOW)
    entries.add(conn, book_id, 1, [Entry(title=f"t{n}", content=f"c{n}") for n in range(count)], NOW)
    return book_id


def test_a_book_round_trips(engine: Engine) -> None:
    """W1, W2: A book and its entries come back as they were stored, in list order, with the hashes of their texts."""
    book = Book(
        name="Salt Coast",
        description="Küste\n塩",
        enabled=False,
        settings=BookSettings(places=3, floor=0.5),
        extensions={"z": [1, {"a": None}], "a": "\u2028"},
    )
    new = (
        Entry(title="The Salt Gate", content=" The gate.\r\n", aliases=("Porta de Sal", "塩の門"), gist="only way"),
        Entry(title="Wards", content="x", tier="canon", enabled=False, extensions={"depth": 4}),
    )
    with writing(engine) as conn:
        book_id = books.insert_book(conn, "local", book, NOW)
        added = entries.add(conn, book_id, 1, new, NOW)
        conn.commit()
    with reading(engine) as conn:
        (stored,) = books.load(conn, [book_id])
        alone = books.read(conn, "local", book_id)
    assert stored.book.entries == added
    assert stored.hashes == tuple(map(text_hash, new))
    assert replace(stored.book, entries=None) == alone
    assert alone == replace(book, id=book_id, version=1, created_at=NOW, updated_at=NOW)
    assert list(added) == [
        replace(entry, id=place + 1, handle=f"{book_id}-{place + 1}", position=place, version=1, updated_at=NOW)
        for place, entry in enumerate(new)
    ]


def test_load_keeps_the_order_asked_for(engine: Engine) -> None:
    """Whole books come in the order of the ids, each once, unknown ones left out."""
    with writing(engine) as conn:
        first, second = a_book(conn, "A", 2), a_book(conn, "B", 1)
        loaded = books.load(conn, [second, "absent", first, second])
        assert [(one.book.id, len(one.hashes)) for one in loaded] == [(second, 1), (first, 2)]


def test_ids_are_words() -> None:
    """A book id is a word of six letters, consonants and vowels in turn."""
    for _ in range(50):
        word = ids._word(3)
        assert len(word) == 6
        assert set(word[1::2]) <= set("aeiou")
        assert not set(word[::2]) & set("aeiou")


def test_ids_never_come_back(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The id of a deleted book is never given out again; a clash is drawn anew, and many clashes give longer words."""
    words = iter(["bakiru", "bakiru", "todane"])
    monkeypatch.setattr(ids, "_word", lambda _: next(words))
    with writing(engine) as conn:
        first = a_book(conn, "A")
        books.delete_book(conn, "local", first)
        assert (first, a_book(conn, "B")) == ("bakiru", "todane")
        monkeypatch.setattr(ids, "_word", lambda syllables: "bakiru" if syllables == 3 else "bakirudo")
        assert ids.issue(conn) == "bakirudo"


def test_names_are_unique_per_owner(engine: Engine) -> None:
    """Two books of one owner cannot share a name; books of two owners can."""
    with writing(engine) as conn:
        a_book(conn, "A")
        a_book(conn, "A", owner="other")
        b = a_book(conn, "B")
        conn.commit()
    for attempt in (lambda conn: a_book(conn, "A"), lambda conn: books.update_book(conn, b, Book(name="A"))):
        with writing(engine) as conn, pytest.raises(NameTaken):
            attempt(conn)


def test_foreign_books_are_absent(engine: Engine) -> None:
    """A book of another owner is not found, read, changed or deleted."""
    with writing(engine) as conn:
        book = a_book(conn, owner="other")
        assert books.heads(conn, "local", [book]) == {}
        for attempt in (
            lambda: books.read(conn, "local", book),
            lambda: books.advance(conn, "local", book, NOW),
            lambda: books.delete_book(conn, "local", book),
        ):
            with pytest.raises(NotFound):
                attempt()


def test_advance(engine: Engine) -> None:
    """A change raises the version by one and its time; a stale version is refused with the current one."""
    with writing(engine) as conn:
        book = a_book(conn)
        assert books.advance(conn, "local", book, LATER, if_match=1) == 2
        assert books.heads(conn, "local", [book]) == {book: books.Head(book, 2, 0)}
        assert books.read(conn, "local", book).updated_at == LATER
        with pytest.raises(VersionMismatch) as caught:
            books.advance(conn, "local", book, LATER, if_match=1)
        assert caught.value.current == 2


def test_deleting_takes_everything_along(engine: Engine) -> None:
    """D22: With a book go its entries and attachments."""
    from service.store import hosts

    with writing(engine) as conn:
        book, kept = a_book(conn, "A", 3), a_book(conn, "B", 1)
        host = hosts.HostId("character", "ilse")
        hosts.ensure(conn, host, NOW)
        hosts.replace_attached(conn, host, [hosts.StoredAttachment(book, None), hosts.StoredAttachment(kept, "I")])
        books.delete_book(conn, "local", book)
        assert hosts.attached(conn, [host]) == {host: [hosts.StoredAttachment(kept, "I")]}
        assert conn.scalar(select(func.count()).select_from(tables.entries)) == 1


def test_counts(engine: Engine) -> None:
    """Counts are of all entries, the enabled ones, and the enabled canon."""
    with writing(engine) as conn:
        book, empty = a_book(conn, "A", 4), a_book(conn, "B")
        entries.set_fields(conn, book, 2, [1, 2], {"tier": "canon"}, NOW)
        entries.set_fields(conn, book, 2, [2], {"enabled": False}, NOW)
        assert books.counts(conn, [book, empty]) == {book: EntryCounts(entries=4, enabled=3, canon=1)}


@pytest.mark.parametrize("sort", ["name", "-updated_at"])
def test_pages_of_books(engine: Engine, sort: books.Sort) -> None:
    """Pages cover all books once, in order, also where the sort keys are alike."""
    names = ["b", "A", "ä", "塩", "c"]
    with writing(engine) as conn:
        for place, name in enumerate(names):
            book = a_book(conn, name)
            books.advance(conn, "local", book, LATER if place % 2 else NOW)
        whole = books.page(conn, "local", q=None, sort=sort, after=None, limit=10)
        seen: list[Book] = []
        after = None
        while page := books.page(conn, "local", q=None, sort=sort, after=after, limit=2):
            seen += page
            last = page[-1]
            after = (last.name if sort == "name" else last.updated_at or "", last.id)
        assert seen == whole
        assert sorted(book.name for book in seen) == sorted(names)
        if sort == "-updated_at":
            assert [book.updated_at for book in seen] == sorted((book.updated_at for book in seen), reverse=True)  # type: ignore[type-var]


@pytest.mark.parametrize(("q", "found"), [("СОЛЬ", ["Соль"]), ("100%", ["100% salt"]), ("%", ["100% salt"]), ("_", [])])
def test_search_in_names(engine: Engine, q: str, found: list[str]) -> None:
    """`q` finds in any script and case, and its wildcards are letters like others."""
    with writing(engine) as conn:
        for name in ("Соль", "100% salt", "Sea"):
            a_book(conn, name)
        assert [book.name for book in books.page(conn, "local", q=q, sort="name", after=None, limit=9)] == found


@pytest.mark.parametrize("q", ["PORTA", "塩の", "ЖИЛА", 'say "ah"', "кей"])
def test_search_in_entries(engine: Engine, q: str) -> None:
    """`q` looks into title, aliases, gist and content."""
    new = [
        Entry(title="Gate кей", content="Там жила вдова", aliases=("Porta de Sal", "塩の門"), gist='they say "ah"'),
        Entry(title="Other", content="nothing"),
    ]
    with writing(engine) as conn:
        book = a_book(conn)
        entries.add(conn, book, 1, new, NOW)
        found, total = entries.page(conn, book, enabled=None, tier=None, q=q, sort="position", after=None, limit=9)
        assert ([entry.title for entry, _ in found], total) == (["Gate кей"], 1)


def test_removing_closes_the_gaps(engine: Engine) -> None:
    """After a removal positions are contiguous, and the numbers of removed entries are not given out again."""
    with writing(engine) as conn:
        book = a_book(conn, count=5)
        entries.remove(conn, book, [5, 2])
        (added,) = entries.add(conn, book, 2, [Entry(title="new", content="x")], NOW)
        whole = entries.of_books(conn, [book])[book]
        assert added.id == 6
        assert [(entry.id, entry.position) for entry, _ in whole] == [(1, 0), (3, 1), (4, 2), (6, 3)]


def test_missing_entries_are_named(engine: Engine) -> None:
    """A batch with unknown entries names them all."""
    with writing(engine) as conn:
        book = a_book(conn, count=2)
        for attempt in (
            lambda: entries.remove(conn, book, [1, 8, 7]),
            lambda: entries.set_fields(conn, book, 2, [1, 8, 7], {"enabled": False}, NOW),
        ):
            with pytest.raises(NotFound, match=f"{book}-7, {book}-8"):
                attempt()
