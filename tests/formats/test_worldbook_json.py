"""Our own JSON loses nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.actions.cleaning import cleaned_entry
from service.formats import read, write
from service.formats.report import NoHome
from service.lore.book import Book, BookSettings, Dialect, Entry
from service.lore.errors import Invalid, UnreadableFile
from service.lore.text import clean_line
from tests.formats.worlds import anything, files, texts, unhurried

lines = texts.map(clean_line).filter(bool)
extensions = st.dictionaries(texts, anything, max_size=2)
entries = st.builds(
    Entry,
    title=lines,
    content=texts.filter(str.strip),
    aliases=st.lists(lines, max_size=3).map(tuple),
    gist=st.none() | texts,
    tier=st.sampled_from(["canon", "relevant"]),
    enabled=st.booleans(),
    extensions=extensions,
)
books = st.builds(
    Book,
    name=lines,
    description=texts,
    enabled=st.booleans(),
    settings=st.builds(
        BookSettings,
        places=st.none() | st.integers(0, 100),
        floor=st.none() | st.floats(-1, 2),
        living=st.booleans(),
    ),
    entries=st.lists(entries, max_size=3).map(tuple),
    extensions=extensions,
)


def file(**book: Any) -> bytes:
    """A file of ours."""
    return json.dumps({"format": "worldbook", "version": 1, "book": book}).encode()


@unhurried
@given(books)
def test_nothing_is_lost(book: Book) -> None:
    """F2: what is written is read back equal, every authored field and all extensions."""
    found = read(write(book, "worldbook"))
    assert found.book == book
    assert (found.format.name, found.format.version) == ("worldbook", "1")
    assert (found.skipped, found.no_home, found.warnings) == ((), (), ())


@unhurried
@given(files)
def test_a_sillytavern_file_survives_the_detour(value: dict[str, Any]) -> None:
    """F3: SillyTavern to ours and back is identical, since the extensions hold what was read."""
    data = json.dumps(value, indent=4, ensure_ascii=False).encode()
    book = replace(read(data).book, name="N")
    assert write(read(write(book, "worldbook")).book, "sillytavern") == write(book, "sillytavern")


@unhurried
@given(value=files, dialect=st.sampled_from(["server", "chat", "sillytavern"]))
def test_a_lorebook_survives_the_detour(value: dict[str, Any], dialect: Dialect) -> None:
    """T11: what a file of SillyTavern says of activation reaches a lorebook by way of a world book in our own file."""
    data = json.dumps(value).encode()
    ours = write(replace(read(data).book, name="N"), "worldbook")
    direct, found = read(data, dialect=dialect).book, read(ours, dialect=dialect).book
    assert [each.trigger for each in found.entries] == [each.trigger for each in direct.entries]
    assert found.settings == direct.settings


def test_activation_of_an_edited_entry() -> None:
    """T11: aliases and tier of a world book, edited since, count more than the entry of a card that is kept beside."""
    row = {
        "keys": ["gate"],
        "secondary_keys": ["salt"],
        "content": "C.",
        "insertion_order": 7,
        "extensions": {"sticky": 3},
    }
    data = json.dumps({"name": "N", "entries": [row], "extensions": {}, "scan_depth": 9}).encode()
    book = read(data).book
    edited = replace(book.entries[0], aliases=("salt", "door"), tier="canon")
    ours = write(replace(book, entries=(edited,)), "worldbook")
    trigger = read(ours, dialect="sillytavern").book.entries[0].trigger
    assert (trigger.keys, trigger.secondary_keys, trigger.constant) == (("door",), ("salt",), True)
    assert (trigger.order, trigger.sticky, trigger.at) == (7, 3, "after")
    assert read(ours, dialect="chat").book.settings.scan_depth == 9


def test_fields_of_the_service_are_not_written() -> None:
    """Ids, versions and counts belong to one service; they are neither written nor read, and not reported."""
    entry = Entry(title="T", content="C", id=7, handle="bakiru-7", version=3, position=2, updated_at="2026-01-01")
    book = Book(name="N", id="bakiru", version=9, entries=(entry,), created_at="2026-01-01")
    assert read(write(book, "worldbook")).book == Book(name="N", entries=(Entry(title="T", content="C"),))
    sent = read(file(name="N", id="bakiru", version=9, entries=[{"title": "T", "content": "C", "id": 7}]))
    assert sent.book == Book(name="N", entries=(Entry(title="T", content="C"),))
    assert sent.no_home == ()


def test_unknown_fields_are_kept_and_reported() -> None:
    """F3: a field of a later service, or a misspelt one, is kept in the extensions and named in the report."""
    row = {"title": "T", "content": "C", "alises": ["a"], "extensions": {"app": 1}}
    found = read(file(name="N", visibility="public", entries=[row, row]))
    assert found.no_home == (NoHome(setting="alises", count=2), NoHome(setting="visibility", count=1))
    assert found.book.extensions == {"worldbook": {"visibility": "public"}}
    assert (found.book.entries or ())[0].extensions == {"app": 1, "worldbook": {"alises": ["a"]}}


def test_bad_entries_are_skipped_with_a_reason() -> None:
    """I04: one bad entry does not sink the book; each has its place and what is wrong with it."""
    rows: list[Any] = [
        7,
        {"title": "T"},
        {"title": "T", "content": " "},
        {"title": "T", "content": "C", "tier": "gold"},
        {"title": "\n", "content": "C"},
        {"title": "T", "content": "C", "extensions": 7, "x": 1},
        {"title": "ok", "content": "C"},
    ]
    found = read(file(name="N", entries=rows))
    assert [(each.index, each.title, each.kind) for each in found.skipped] == [
        (0, None, "not_an_entry"),
        (1, "T", "invalid"),
        (2, "T", "no_content"),
        (3, "T", "invalid"),
        (4, "", "invalid"),
        (5, "T", "invalid"),
    ]
    assert "tier" in found.skipped[3].detail
    assert found.places == (6,)


@pytest.mark.parametrize(
    ("dialect", "keys", "depth", "told"),
    [
        ("server", ("k", "a b"), 1, ["unread_setting", "unread_setting", "blank_key", "out_of_range"]),
        ("chat", ("k", "a b"), 0, ["unread_setting", "unread_setting", "blank_key"]),
        ("sillytavern", ("k", "a\nb"), 0, ["unread_setting", "unread_setting", "blank_key"]),
    ],
)
def test_entries_keep_to_their_dialect(dialect: Dialect, keys: tuple[str, ...], depth: int, told: list[str]) -> None:
    """T3, T11: what a lorebook's dialect does not allow is left out or brought within bounds, and told."""
    row = {"title": "t", "content": "C", "trigger": {"keys": ["k", " ", "a\nb"], "scan_depth": 0}}
    rows = [{**row, "aliases": ["al"], "tier": "canon"}, {**row, "content": "x" * 4001}]
    found = read(file(name="N", dialect=dialect, entries=rows))
    entry = found.book.entries[0]
    assert (entry.aliases, entry.tier, entry.trigger.keys, entry.trigger.scan_depth) == ((), "relevant", keys, depth)
    assert cleaned_entry(entry, dialect) == entry
    assert [each.kind for each in found.warnings if each.index == 0] == told
    assert [(each.index, each.kind) for each in found.skipped] == ([(1, "too_long")] if dialect == "server" else [])
    assert read(write(found.book, "worldbook")).warnings == ()


def test_lines_are_cleaned() -> None:
    """Titles, aliases and names from a hand-written file become one line; blank aliases are dropped and reported."""
    found = read(file(name=" N\n", entries=[{"title": "a\nb", "content": " C ", "aliases": [" x ", "\n"]}]))
    assert found.book == Book(name="N", entries=(Entry(title="a b", content=" C ", aliases=("x",)),))
    assert [(each.kind, each.index) for each in found.warnings] == [("blank_alias", 0)]


def test_newer_versions_are_refused() -> None:
    """A file of a later version is refused with the way out instead of being half read."""
    with pytest.raises(UnreadableFile) as caught:
        read(b'{"format":"worldbook","version":2,"book":{"name":"N"}}')
    assert caught.value.fault == "newer_version"
    assert "Update" in caught.value.remedy


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({}, "#/version"),
        ({"version": "1"}, "#/version"),
        ({"version": True}, "#/version"),
        ({"version": 0}, "#/version"),
        ({"version": 1}, "#/book"),
        ({"version": 1, "book": []}, "#/book"),
        ({"version": 1, "book": {}}, "#/book/name"),
        ({"version": 1, "book": {"name": 7}}, "#/book/name"),
        ({"version": 1, "book": {"name": "N", "entries": {}}}, "#/book/entries"),
        ({"version": 1, "book": {"name": "N", "settings": {"place": 1}}}, "#/book/settings/place"),
        ({"version": 1, "book": {"name": "N", "dialect": "chit"}}, "#/book/dialect"),
    ],
)
def test_a_wrong_book_names_the_field(value: dict[str, Any], pointer: str) -> None:
    """F5: what is wrong with the file is named by a pointer into it."""
    with pytest.raises(Invalid) as caught:
        read(json.dumps({"format": "worldbook", **value}).encode())
    assert [error.pointer for error in caught.value.errors] == [pointer]
