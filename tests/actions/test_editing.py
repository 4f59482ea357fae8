"""Books and entries through the actions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from service.actions import editing_books, editing_entries
from service.actions.runtime import Runtime
from service.lore.book import Book, BookSettings, Entry
from service.lore.errors import Invalid, LimitExceeded, NameTaken, NotFound, VersionMismatch


def entry(title: str = "Gate", content: str = "The gate opens", **fields: object) -> Entry:
    return replace(Entry(title=title, content=content), **fields)  # type: ignore[arg-type]


def a_book(rt: Runtime, *titles: str, name: str = "Salt Coast") -> Book:
    return editing_books.create_book(rt, Book(name=name, entries=tuple(map(entry, titles)) or None))


def titles(rt: Runtime, book: Book) -> list[str]:
    return [one.title for one in editing_books.read_book(rt, book.id, entries=True).entries or ()]


def faults(attempt: Callable[[], object]) -> list[tuple[str | None, str | None]]:
    with pytest.raises(Invalid) as caught:
        attempt()
    return [(fault.pointer, fault.parameter) for fault in caught.value.errors]


def test_what_was_created_is_read(rt: Runtime) -> None:
    """W1, W2: A book comes back as it was created, with what the service knows about it."""
    made = editing_books.create_book(
        rt,
        Book(
            name="Salt\nCoast ",
            description=" kept as sent\n",
            settings=BookSettings(places=3),
            extensions={"a": [1, None]},
            entries=(
                entry("The  Gate\t", " content \r\n", aliases=("Porta\nde Sal",), gist="a way", tier="canon"),
                entry(extensions={"depth": 4}, enabled=False),
            ),
        ),
    )
    read = editing_books.read_book(rt, made.id, entries=True)
    assert (read.name, read.description, read.version) == ("Salt Coast", " kept as sent\n", 1)
    assert (read.settings, read.extensions) == (BookSettings(places=3), {"a": [1, None]})
    first, second = read.entries or ()
    assert (first.title, first.content, first.aliases) == ("The  Gate", " content \r\n", ("Porta de Sal",))
    assert (first.gist, first.tier, second.extensions, second.enabled) == ("a way", "canon", {"depth": 4}, False)
    assert [one.handle for one in (first, second)] == [f"{made.id}-1", f"{made.id}-2"]
    assert (read.counts.entries, read.counts.enabled, read.tokens.canon > 0) == (2, 1, True)
    assert made.entries is not None
    ready = [[replace(one, vectors="ready") for one in book.entries or ()] for book in (made, read)]
    assert ready[0] == ready[1]
    assert editing_books.read_book(rt, made.id).entries is None


def test_what_was_read_can_be_sent_back(rt: Runtime) -> None:
    """Fields of the service are ignored when sent, so that what was read can be edited and sent."""
    book = a_book(rt, "Gate")
    (read,) = editing_books.read_book(rt, book.id, entries=True).entries or ()
    sent = replace(read, id=99, version=99, position=99, handle="x", tokens=99)
    assert editing_entries.replace_entry(rt, book.id, 1, sent).version == 2
    (again,) = editing_entries.add_entries(rt, book.id, [sent])
    assert (again.id, again.position, again.handle, again.version) == (2, 1, f"{book.id}-2", 3)


def test_blank_aliases_are_dropped_with_a_warning(rt: Runtime) -> None:
    """An alias of which nothing is left is dropped, and the answer says so."""
    book = a_book(rt)
    (added,) = editing_entries.add_entries(rt, book.id, [entry(aliases=("Porta", " \n", ""))])
    assert added.aliases == ("Porta",)
    assert [warning.kind for warning in added.warnings] == ["blank_alias", "blank_alias"]
    assert editing_entries.read_entry(rt, book.id, added.id).warnings == ()


@pytest.mark.parametrize(
    ("bad", "pointers"),
    [
        (entry(title="\u2028 "), ["title"]),
        (entry(content=" \n\u3000"), ["content"]),
        (entry(title=" ", content=" "), ["title", "content"]),
    ],
)
def test_nothing_left_is_invalid(rt: Runtime, bad: Entry, pointers: list[str]) -> None:
    """A blank title and content that is only white space are refused, each with a pointer to it."""
    book = a_book(rt, "Gate")
    assert faults(lambda: editing_entries.add_entries(rt, book.id, [entry(), bad])) == [
        (f"#/1/{p}", None) for p in pointers
    ]
    assert faults(lambda: editing_entries.replace_entry(rt, book.id, 1, bad)) == [(f"#/{p}", None) for p in pointers]
    create = Book(name="B", entries=(entry(), bad))
    assert faults(lambda: editing_books.create_book(rt, create)) == [(f"#/entries/1/{p}", None) for p in pointers]
    assert (editing_books.read_book(rt, book.id).version, titles(rt, book)) == (1, ["Gate"])


def test_names_are_unique(rt: Runtime) -> None:
    """A name that another book has is refused at creation and at a change; a book keeps its own."""
    book, other = a_book(rt, name="A"), a_book(rt, name="B")
    for attempt in (
        lambda: a_book(rt, name=" A\n"),
        lambda: editing_books.change_book(rt, other.id, {"name": "A"}),
    ):
        with pytest.raises(NameTaken):
            attempt()
    assert editing_books.change_book(rt, book.id, {"name": "A"}).name == "A"
    assert editing_books.read_book(rt, other.id).version == 1


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ({}, {}),
        ({"name": "New"}, {"name": "New"}),
        ({"description": None}, {"description": ""}),
        ({"enabled": False}, {"enabled": False}),
        ({"settings": {"floor": 0.4}}, {"settings": BookSettings(places=3, floor=0.4)}),
        ({"settings": {"places": None}}, {"settings": BookSettings()}),
        ({"settings": None}, {"settings": BookSettings()}),
        ({"extensions": {"b": 2, "a": None}}, {"extensions": {"b": 2}}),
        ({"id": "x", "version": 9, "counts": {}, "tokens": None, "entries": None}, {}),
    ],
)
def test_patches_of_a_book(rt: Runtime, patch: dict[str, object], expected: dict[str, object]) -> None:
    """A patch changes what it names: null is the default, objects merge, the service's fields are ignored."""
    book = editing_books.create_book(
        rt, Book(name="A", description="d", settings=BookSettings(places=3), extensions={"a": 1})
    )
    changed = editing_books.change_book(rt, book.id, patch)
    assert changed == replace(book, version=2, updated_at=changed.updated_at, **expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("patch", "pointer"),
    [
        ({"name": None}, "#/name"),
        ({"name": " "}, "#/name"),
        ({"nam": "x"}, "#/nam"),
        ({"dialect": "chat"}, "#/dialect"),
        ({"settings": {"places": 101}}, "#/settings/places"),
        ({"settings": {"palces": 1}}, "#/settings/palces"),
        ({"entries": []}, "#/entries"),
    ],
)
def test_wrong_patches_of_a_book(rt: Runtime, patch: dict[str, object], pointer: str) -> None:
    """A patch that makes no valid book is refused at the field, and nothing changes."""
    book = a_book(rt)
    assert faults(lambda: editing_books.change_book(rt, book.id, patch)) == [(pointer, None)]
    assert editing_books.read_book(rt, book.id) == book


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ({"content": "new"}, {"content": "new"}),
        ({"aliases": ["Tor", " "]}, {"aliases": ("Tor",)}),
        ({"aliases": None, "gist": None, "tier": None}, {"aliases": (), "gist": None, "tier": "relevant"}),
        ({"extensions": {"b": {"c": 1}}}, {"extensions": {"a": 1, "b": {"c": 1}}}),
        ({"extensions": {"b": {"c": None}}}, {"extensions": {"a": 1, "b": {"c": None}}}),
        ({"id": 9, "position": 3, "tokens": "?"}, {}),
    ],
)
def test_patches_of_an_entry(rt: Runtime, patch: dict[str, object], expected: dict[str, object]) -> None:
    """A patch of an entry changes what it names and keeps its place."""
    original = entry(aliases=("Porta",), gist="g", tier="canon", extensions={"a": 1})
    book = editing_books.create_book(rt, Book(name="A", entries=(entry("first"), original)))
    editing_entries.change_entry(rt, book.id, 2, patch)
    read = editing_entries.read_entry(rt, book.id, 2)
    own = {
        name: getattr(read, name) for name in ("title", "content", "aliases", "gist", "tier", "enabled", "extensions")
    }
    assert own == {name: expected.get(name, getattr(original, name)) for name in own}
    assert (read.id, read.position, read.version) == (2, 1, 2)


@pytest.mark.parametrize(("patch", "pointer"), [({"title": None}, "#/title"), ({"tilte": "x"}, "#/tilte")])
def test_wrong_patches_of_an_entry(rt: Runtime, patch: dict[str, object], pointer: str) -> None:
    """A patch that makes no valid entry is refused at the field."""
    book = a_book(rt, "Gate")
    assert faults(lambda: editing_entries.change_entry(rt, book.id, 1, patch)) == [(pointer, None)]


def test_a_stale_book_version(rt: Runtime) -> None:
    """A change of the book that names an older version is refused with the current one, and nothing changes."""
    book = a_book(rt, "A", "B")
    editing_books.change_book(rt, book.id, {"description": "x"}, 1)
    for attempt in (
        lambda: editing_books.change_book(rt, book.id, {"description": "y"}, 1),
        lambda: editing_entries.add_entries(rt, book.id, [entry()], 1),
        lambda: editing_entries.set_entries(rt, book.id, [1], {"enabled": False}, 1),
        lambda: editing_entries.delete_entries(rt, book.id, [1], 1),
        lambda: editing_entries.reorder(rt, book.id, [2], "top", 1),
        lambda: editing_books.delete_book(rt, book.id, 1),
    ):
        with pytest.raises(VersionMismatch) as caught:
            attempt()
        assert caught.value.current == 2
    assert editing_books.read_book(rt, book.id).version == 2
    assert titles(rt, book) == ["A", "B"]
    editing_books.delete_book(rt, book.id, 2)


def test_two_authors_of_two_entries_do_not_collide(rt: Runtime) -> None:
    """Editing an entry compares the version of the entry, not of the book."""
    book = a_book(rt, "A", "B", "C")
    editing_entries.change_entry(rt, book.id, 1, {"content": "x"}, 1)
    editing_entries.reorder(rt, book.id, [2], "top")
    assert editing_entries.replace_entry(rt, book.id, 2, entry("B2"), 1).version == 4
    for attempt in (
        lambda: editing_entries.change_entry(rt, book.id, 1, {"content": "y"}, 1),
        lambda: editing_entries.replace_entry(rt, book.id, 1, entry(), 1),
        lambda: editing_entries.delete_entry(rt, book.id, 1, 1),
    ):
        with pytest.raises(VersionMismatch) as caught:
            attempt()
        assert caught.value.current == 2
    editing_entries.delete_entry(rt, book.id, 1, 2)
    assert titles(rt, book) == ["B2", "C"]


def test_unknown_books_and_entries(rt: Runtime) -> None:
    """Whatever does not exist is not found, and a batch with one such entry names it and changes nothing."""
    book = a_book(rt, "A", "B")
    for attempt in (
        lambda: editing_books.read_book(rt, "absent"),
        lambda: editing_books.change_book(rt, "absent", {}),
        lambda: editing_books.delete_book(rt, "absent"),
        lambda: editing_entries.list_entries(rt, "absent"),
        lambda: editing_entries.add_entries(rt, "absent", [entry()]),
        lambda: editing_entries.read_entry(rt, "absent", 1),
    ):
        with pytest.raises(NotFound, match="absent"):
            attempt()
    for attempt in (
        lambda: editing_entries.read_entry(rt, book.id, 7),
        lambda: editing_entries.replace_entry(rt, book.id, 7, entry()),
        lambda: editing_entries.change_entry(rt, book.id, 7, {}),
        lambda: editing_entries.delete_entry(rt, book.id, 7),
        lambda: editing_entries.set_entries(rt, book.id, [1, 7], {"enabled": False}),
        lambda: editing_entries.delete_entries(rt, book.id, [1, 7]),
        lambda: editing_entries.reorder(rt, book.id, [2, 7], "top"),
    ):
        with pytest.raises(NotFound, match=f"{book.id}-7"):
            attempt()
    read = editing_books.read_book(rt, book.id, entries=True)
    assert (read.version, [one.enabled for one in read.entries or ()]) == (1, [True, True])


@pytest.mark.parametrize(
    ("ids", "to", "expected"),
    [
        ([4, 2], "top", "DBACE"),
        ([4, 2], "bottom", "ACEDB"),
        ([4, 2], 0, "DBACE"),
        ([4, 2], 1, "ADBCE"),
        ([4, 2], 3, "ACEDB"),
        ([1], 4, "BCDEA"),
        ([5], 2, "ABECD"),
        ([1], 0, "ABCDE"),
        ([5, 4, 3, 2, 1], "top", "EDCBA"),
    ],
)
def test_reorder(rt: Runtime, ids: list[int], to: object, expected: str) -> None:
    """W4: Entries move to the top, the bottom or a position, many at once, in the order named; one version."""
    book = a_book(rt, *"ABCDE")
    assert editing_entries.reorder(rt, book.id, ids, to).version == 2  # type: ignore[arg-type]
    read = editing_books.read_book(rt, book.id, entries=True)
    assert "".join(titles(rt, book)) == expected
    assert [one.position for one in read.entries or ()] == [0, 1, 2, 3, 4]
    assert {one.version for one in read.entries or ()} == {1}


@pytest.mark.parametrize(
    ("ids", "to", "pointer"),
    [([], "top", "#/ids"), ([1, 1], "top", "#/ids"), ([1], 5, "#/to"), ([1, 2], 4, "#/to"), ([1], -1, "#/to")],
)
def test_wrong_orders(rt: Runtime, ids: list[int], to: object, pointer: str) -> None:
    """An order that names nothing, an entry twice or a place that does not exist is refused."""
    book = a_book(rt, *"ABCDE")
    assert faults(lambda: editing_entries.reorder(rt, book.id, ids, to)) == [(pointer, None)]  # type: ignore[arg-type]
    assert editing_books.read_book(rt, book.id).version == 1


def test_reorder_tells_what_canon_costs(rt: Runtime) -> None:
    """W4: The answer of an order says what the book's canon costs every turn."""
    book = editing_books.create_book(rt, Book(name="A", entries=(entry(tier="canon"), entry("B"))))
    ordered = editing_entries.reorder(rt, book.id, [2], "top")
    assert ordered.canon_tokens == editing_books.read_book(rt, book.id).tokens.canon > 0


def test_batches(rt: Runtime) -> None:
    """W10: Many entries are switched or deleted at once, in one version, and listed by their switch."""
    book = a_book(rt, *"ABCD")
    assert editing_entries.set_entries(rt, book.id, [1, 3, 3], {"enabled": False}).counts.enabled == 2
    assert editing_entries.set_entries(rt, book.id, [2], {"enabled": False, "tier": "canon"}).version == 3
    page = editing_entries.list_entries(rt, book.id, enabled=False)
    assert ([(one.title, one.tier, one.version) for one in page.items], page.total) == (
        [("A", "relevant", 2), ("B", "canon", 3), ("C", "relevant", 2)],
        3,
    )
    editing_entries.delete_entries(rt, book.id, [2, 1])
    assert (titles(rt, book), editing_books.read_book(rt, book.id).version) == (["C", "D"], 4)


@pytest.mark.parametrize(
    ("ids", "changes", "pointer"),
    [
        ([], {"enabled": True}, "#/ids"),
        ([1], {}, "#/set"),
        ([1], {"title": "x"}, "#/title"),
        ([1], {"tier": "x"}, "#/tier"),
    ],
)
def test_wrong_batches(rt: Runtime, ids: list[int], changes: dict[str, object], pointer: str) -> None:
    """A batch that names nothing, sets nothing or sets something else is refused."""
    book = a_book(rt, "A")
    assert faults(lambda: editing_entries.set_entries(rt, book.id, ids, changes)) == [(pointer, None)]


def test_limits(rt: Runtime) -> None:
    """Counts above a limit are refused whole, with the limit and the count."""
    book = a_book(rt)
    for attempt, limit, actual in (
        (lambda: editing_entries.add_entries(rt, book.id, [entry()] * 21), 20, 21),
        (lambda: editing_books.create_book(rt, Book(name="B", entries=(entry(),) * 1501)), 1500, 1501),
    ):
        with pytest.raises(LimitExceeded) as caught:
            attempt()
        assert (caught.value.limit, caught.value.actual) == (limit, actual)
    full = editing_books.create_book(rt, Book(name="B", entries=(entry(),) * 1499))
    with pytest.raises(LimitExceeded, match="1,501 entries in a book"):
        editing_entries.add_entries(rt, full.id, [entry()] * 2)
    assert editing_entries.add_entries(rt, full.id, [entry()])[0].position == 1499
    for name in "CDE":
        a_book(rt, name=name)
    with pytest.raises(LimitExceeded, match="6 books"):
        a_book(rt, name="F")


def test_a_big_book_is_quick(rt: Runtime) -> None:
    """1,100 entries are stored in well under a second."""
    entries = tuple(entry(f"Entry {n}", "lore " * 80, aliases=(f"alias {n}",)) for n in range(1100))
    from service.store import books
    from service.store import entries as stored
    from service.store.engine import writing

    began = time.perf_counter()
    with writing(rt.engine) as conn:
        book_id = books.insert_book(conn, "local", Book(name="Big"), rt.now())
        stored.add(conn, book_id, 1, entries, rt.now())
        conn.commit()
    assert time.perf_counter() - began < 1
    assert editing_entries.list_entries(rt, book_id, limit=1).total == 1100


@pytest.mark.parametrize("sort", ["position", "title"])
def test_pages_of_entries(rt: Runtime, sort: str) -> None:
    """Pages cover all entries once, in order, also where titles are alike, and tell the total."""
    book = a_book(rt, "B", "A", "B", "塩", "a")
    seen: list[Entry] = []
    cursor = None
    while True:
        page = editing_entries.list_entries(rt, book.id, sort=sort, limit=2, cursor=cursor)  # type: ignore[arg-type]
        assert page.total == 5
        seen += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    keys = [(one.position if sort == "position" else one.title, one.id) for one in seen]
    assert len(keys) == 5
    assert keys == sorted(keys)  # type: ignore[type-var]


def test_listed_entries_come_without_content(rt: Runtime) -> None:
    """Lists leave out the content unless asked, and tell its tokens all the same."""
    book = a_book(rt, "A")
    (bare,) = editing_entries.list_entries(rt, book.id).items
    (full,) = editing_entries.list_entries(rt, book.id, content=True).items
    assert (bare.content, full.content) == ("", "The gate opens")
    assert replace(bare, vectors="ready") == replace(full, content="", vectors="ready")
    assert bare.tokens > 0


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"enabled": True}, ["A", "C"]),
        ({"enabled": False}, ["B"]),
        ({"tier": "canon"}, ["A"]),
        ({"q": "SEE"}, ["B", "C"]),
        ({"q": "see", "enabled": True}, ["C"]),
        ({"q": "absent"}, []),
    ],
)
def test_filters_of_entries(rt: Runtime, filters: dict[str, object], expected: list[str]) -> None:
    """W10: Entries are filtered by switch, tier and words, and the total counts the filtered ones."""
    made = (entry("A", tier="canon"), entry("B", "Die See", enabled=False), entry("C", aliases=("Nordsee",)))
    book = editing_books.create_book(rt, Book(name="A", entries=made))
    page = editing_entries.list_entries(rt, book.id, **filters)  # type: ignore[arg-type]
    assert ([one.title for one in page.items], page.total) == (expected, len(expected))


def test_pages_of_books(rt: Runtime) -> None:
    """Books are listed by name or the last changed first, page by page, with their counts."""
    made = {name: a_book(rt, "x", name=name) for name in "CAB"}
    editing_entries.set_entries(rt, made["A"].id, [1], {"enabled": False})
    first = editing_books.list_books(rt, limit=2)
    assert [(book.name, book.counts.enabled) for book in first.items] == [("A", 0), ("B", 1)]
    rest = editing_books.list_books(rt, limit=2, cursor=first.next_cursor)
    assert ([book.name for book in rest.items], rest.next_cursor) == (["C"], None)
    assert editing_books.list_books(rt, sort="-updated_at").items[0].name == "A"
    assert [book.name for book in editing_books.list_books(rt, q="b").items] == ["B"]


@pytest.mark.parametrize(
    "cursor", ["", "!", "bm90IGpzb24=", "W10=", "WyJuYW1lIl0=", "WyJuYW1lIiwgMSwgMl0=", "IntuYW1lIn0=", "é", "WyJuYW1l"]
)
def test_broken_cursors(rt: Runtime, cursor: str) -> None:
    """A cursor that is none is refused as the parameter that it is."""
    assert faults(lambda: editing_books.list_books(rt, cursor=cursor)) == [(None, "cursor")]


def test_a_cursor_of_another_sort(rt: Runtime) -> None:
    """A cursor of one sort is refused by another."""
    for name in "AB":
        a_book(rt, "x", "y", name=name)
    cursor = editing_books.list_books(rt, limit=1).next_cursor
    assert faults(lambda: editing_books.list_books(rt, cursor=cursor, sort="-updated_at")) == [(None, "cursor")]
    book = editing_books.list_books(rt).items[0]
    assert faults(lambda: editing_entries.list_entries(rt, book.id, cursor=cursor)) == [(None, "cursor")]


@pytest.mark.parametrize("limit", [0, 201, -1])
def test_limits_of_a_page(rt: Runtime, limit: int) -> None:
    """A page has 1 to 200 items."""
    assert faults(lambda: editing_books.list_books(rt, limit=limit)) == [(None, "limit")]


def test_deleted_ids_do_not_come_back(rt: Runtime) -> None:
    """V02: A deleted book and a deleted entry are gone at once, and their ids name nothing else later."""
    book = a_book(rt, "A", "B")
    editing_entries.delete_entries(rt, book.id, [2])
    assert editing_entries.add_entries(rt, book.id, [entry("C")])[0].id == 3
    with pytest.raises(NotFound):
        editing_entries.read_entry(rt, book.id, 2)
    editing_books.delete_book(rt, book.id)
    with pytest.raises(NotFound):
        editing_books.read_book(rt, book.id)
    assert a_book(rt).id != book.id


def test_any_sequence_of_edits_agrees_with_a_list(rt: Runtime) -> None:
    """W4: Whatever is done to a book, it holds what a plain list would: ids are new, positions contiguous, and each
    change is one version."""
    places = st.sampled_from(["top", "bottom"]) | st.integers(0, 6)
    picks = st.lists(st.integers(0, 30), min_size=1, max_size=4)

    class Edits(RuleBasedStateMachine):
        @initialize(count=st.integers(0, 4))
        def create(self, count: int) -> None:
            names = [f"t{n}" for n in range(count)]
            self.book = a_book(rt, *names)
            self.version = 1
            self.made = count
            self.model = [(n + 1, name, True) for n, name in enumerate(names)]

        def teardown(self) -> None:
            editing_books.delete_book(rt, self.book.id)

        def chosen(self, picks: list[int]) -> list[int]:
            return list(dict.fromkeys(self.model[pick % len(self.model)][0] for pick in picks))

        @rule(count=st.integers(1, 3))
        def add(self, count: int) -> None:
            new = editing_entries.add_entries(
                rt, self.book.id, [entry(f"a{self.made + n}") for n in range(count)], self.version
            )
            assert [one.id for one in new] == list(range(self.made + 1, self.made + 1 + count))
            self.model += [(one.id, one.title, True) for one in new]
            self.made += count
            self.version += 1

        @precondition(lambda self: self.model)
        @rule(picks=picks)
        def delete(self, picks: list[int]) -> None:
            ids = self.chosen(picks)
            editing_entries.delete_entries(rt, self.book.id, ids, self.version)
            self.model = [row for row in self.model if row[0] not in ids]
            self.version += 1

        @precondition(lambda self: self.model)
        @rule(picks=picks, to=places)
        def move(self, picks: list[int], to: object) -> None:
            ids = self.chosen(picks)
            rest = [row for row in self.model if row[0] not in ids]
            moved = [row for id_ in ids for row in self.model if row[0] == id_]
            if isinstance(to, int) and to > len(rest):
                with pytest.raises(Invalid):
                    editing_entries.reorder(rt, self.book.id, ids, to)
                return
            at = {"top": 0, "bottom": len(rest)}.get(to, to)  # type: ignore[call-overload]
            self.version += 1
            assert editing_entries.reorder(rt, self.book.id, ids, to).version == self.version  # type: ignore[arg-type]
            self.model = rest[:at] + moved + rest[at:]

        @precondition(lambda self: self.model)
        @rule(picks=picks, enabled=st.booleans())
        def switch(self, picks: list[int], enabled: bool) -> None:
            ids = self.chosen(picks)
            editing_entries.set_entries(rt, self.book.id, ids, {"enabled": enabled}, self.version)
            self.model = [(id_, name, enabled if id_ in ids else on) for id_, name, on in self.model]
            self.version += 1

        @precondition(lambda self: self.model)
        @rule(picks=picks, name=st.text("ab", min_size=1, max_size=3))
        def rename(self, picks: list[int], name: str) -> None:
            id_ = self.chosen(picks)[0]
            editing_entries.change_entry(rt, self.book.id, id_, {"title": name})
            self.model = [(i, name if i == id_ else old, on) for i, old, on in self.model]
            self.version += 1

        @rule()
        def fail(self) -> None:
            with pytest.raises(VersionMismatch):
                editing_entries.add_entries(rt, self.book.id, [entry()], self.version - 1)
            with pytest.raises(NotFound):
                editing_entries.delete_entries(rt, self.book.id, [row[0] for row in self.model] + [self.made + 1])

        @invariant()
        def agree(self) -> None:
            read = editing_books.read_book(rt, self.book.id, entries=True)
            assert read.version == self.version
            assert [(one.id, one.title, one.enabled) for one in read.entries or ()] == self.model
            assert [one.position for one in read.entries or ()] == list(range(len(self.model)))

    run_state_machine_as_test(
        Edits,
        settings=settings(max_examples=15, stateful_step_count=20, suppress_health_check=list(HealthCheck)),
    )
