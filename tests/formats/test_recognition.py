"""Formats are told by what is inside."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.formats import NAMES, WRITTEN, losses, read, recognise, write
from service.lore.book import Book, Entry
from service.lore.errors import Invalid, UnreadableFile

ENTRY = {"key": ["a"], "content": "A"}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"entries": {}}, "sillytavern"),
        ({"entries": []}, "sillytavern"),
        ({"entries": {"0": ENTRY}}, "sillytavern"),
        ({"entries": [7, None, ENTRY]}, "sillytavern"),
        ({"entries": {"0": ENTRY}, "originalData": {"spec": "x"}}, "sillytavern"),
        ({"format": "worldbook", "version": 1, "book": {"name": "B"}}, "worldbook"),
        ({"format": "worldbook", "entries": {}}, "worldbook"),
        ({"entries": [ENTRY], "lorebookVersion": 4}, "novelai"),
        ({"entries": {"0": ENTRY}, "kind": "memory"}, "agnai"),
        ({"entries": [{"keywords": ["a"], "entry": "A"}]}, "agnai"),
        ({"entries": [{"keywords": ["a"], "content": "A"}]}, "generic"),
        ({"entries": [{"keys": ["a"], "content": "A"}]}, "character_book_v2"),
        ({"entries": [{"keys": ["a"], "content": "A", "use_regex": False}]}, "character_book_v3"),
        ({"entries": [{"keys": ["a"], "content": "A"}], "spec": "lorebook_v3", "data": {}}, "lorebook_v3"),
        ({"spec": "chara_card_v2", "data": {"name": "X", "character_book": None}}, "character_card"),
        ({"loreItems": []}, "backyard"),
        ({"entries": [{"keys": ["a"], "secondaryKeys": [], "content": "A"}]}, "generic"),
        ({"entries": {"0": {**ENTRY, "keywords": ["b"]}}}, "sillytavern"),
        ({"entries": {"0": ENTRY}, "is_creation": False}, "chub"),
        ({"entries": [ENTRY], "is_creation": False}, "sillytavern"),
        ({"entries": {"0": {"keys": ["a"], "content": "A"}}, "extensions": {"chub": {}}}, "chub"),
        ({"entries": {"Oru": {"name": "Oru", "content": "A", "strategy": {"type": "constant"}}}}, "tavern_helper"),
        ({"type": "risu", "data": []}, "risuai"),
        ({"worldinfo": [], "entries": {}}, "kobold"),
        ([{"key": "a", "content": "A"}], "kobold"),
        ([ENTRY], "generic"),
        ({"worldInfos": []}, "aidungeon"),
        ([{"keys": "a", "entry": "A"}], "aidungeon"),
        ([{"keys": ["a"], "entry": "A"}], "generic"),
        ([{"key": "a", "value": "A"}, {"key": "b"}], "generic"),
    ],
)
def test_known_formats_are_recognised(value: Any, name: str) -> None:
    """F4: the content tells the format."""
    assert recognise(json.dumps(value).encode()) == name


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        7,
        None,
        "entries",
        {"entries": 7},
        {"entries": {"0": 7}},
        {"type": "risu", "data": {}},
        {"type": "risu"},
        {"worldinfo": {}},
        [7, None, "a"],
        [[{"key": ["a"], "content": "A"}]],
        [{"role": "user", "content": "Hello"}],
        [{"name": "express", "description": "a web framework"}],
        [{"title": "A day", "body": "It rained."}],
        [{"key": ["a"], "content": "A"}, {"id": 1}, {"id": 2}],
        [{"key": ["a"], "content": ""}],
        [{"key": 7, "value": "A"}],
        [{"keywords": [{"word": "a"}], "text": "A"}],
        {"entries": {"0": {"keywords": ["a"]}}},
        {"scripts": {"build": "make"}, "name": "package"},
        {"spec": "chara", "data": {"name": "X", "character_book": None}},
        {"data": {"name": "X", "description": "", "tags": []}},
    ],
)
def test_unknown_files_are_refused(value: Any) -> None:
    """F5: a file of no known format is refused, with the formats that are known."""
    with pytest.raises(UnreadableFile) as caught:
        read(json.dumps(value).encode())
    assert caught.value.fault == "unknown_format"
    assert "sillytavern" in caught.value.remedy


@pytest.mark.parametrize(
    ("begin", "told"),
    [
        (b"\xff\xd8\xff\xe0", "JPEG"),
        (b"RIFF\x10\x00\x00\x00WEBP", "WEBP"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"Rar!\x1a\x07", "RAR"),
        (b"%PDF-1.7", "PDF"),
        (b"<!DOCTYPE html><html>", "web page"),
    ],
)
def test_what_people_send_by_mistake_is_named(begin: bytes, told: str) -> None:
    """F5: a picture without a card, another archive or the page of a download is called what it is."""
    with pytest.raises(UnreadableFile, match=told) as caught:
        read(begin + bytes(40))
    assert (caught.value.fault, bool(caught.value.remedy)) == ("unknown_format", True)


def test_a_named_format_has_to_fit() -> None:
    """A file that is not of the format named is refused, and so is a format that does not exist."""
    data = json.dumps({"entries": {"0": ENTRY}}).encode()
    assert read(data, "sillytavern") == read(data)
    with pytest.raises(UnreadableFile):
        read(data, "worldbook")
    with pytest.raises(Invalid):
        read(data, "lorebook")


@pytest.mark.parametrize("format", WRITTEN)
def test_each_format_reads_what_it_writes(format: str) -> None:
    """Every format that is written recognises its own files; those of an empty book are read as such too."""
    assert recognise(write(Book(name="Full", entries=(Entry(title="A", content="B"),)), format)) == format
    book = read(write(Book(name="Empty", entries=()), format)).book
    assert book is not None
    assert (book.name, book.entries) == ("Empty", ())


STRANGE: dict[str, Any] = {
    "spec": "lorebook_v3", "format": "worldbook", "kind": "memory", "type": "risu", "data": [], "loreItems": [],
    "lorebookVersion": 5, "worldinfo": [], "worldInfos": [],
}  # fmt: skip


@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize("name", STRANGE)
def test_a_kept_field_makes_no_other_format(format: str, name: str) -> None:
    """F3, F4: an unknown field of a book in a card that is the mark of another format is left out, and told, where the
    written file would be taken for that format; everywhere else it is written back."""
    inner = {"name": "B", "entries": [{"keys": ["a"], "content": "A"}], name: STRANGE[name], "x_foo": 1}
    card = {"spec": "chara_card_v2", "data": {"name": "X", "character_book": inner}}
    book = read(json.dumps(card).encode()).book
    assert book is not None
    file = write(book, format)
    again = read(file).book
    assert again is not None
    assert [(entry.aliases, entry.content) for entry in again.entries or ()] == [(("a",), "A")]
    nested = format in ("worldbook", "lorebook_v3")
    told = {each.setting for each in losses(book, format)}
    assert (name in told) == (not nested and name not in json.loads(file))
    assert name in told or f'"{name}": '.encode() in file
    assert b'"x_foo": 1' in file


@pytest.mark.parametrize("name", ["keywords", "secondaryKeys", "insertionOrder", "search_range", "strategy"])
def test_a_kept_field_of_an_entry_makes_no_other_format(name: str) -> None:
    """F3, F4: an unknown field of an entry that other formats have is written back, and the file is still our own."""
    row = {"keys": ["a"], "content": "A", "enabled": True, "insertion_order": 1, "use_regex": False, name: True}
    card = {"spec": "chara_card_v3", "spec_version": "3.0", "data": {"name": "X", "character_book": {"entries": [row]}}}
    book = read(json.dumps(card).encode()).book
    assert book is not None
    file = write(book, "character_book_v3")
    assert json.loads(file)["entries"][0][name] is True
    assert read(file).format.name == "character_book_v3"


@pytest.mark.parametrize("format", sorted({*NAMES} - {*WRITTEN}))
def test_a_format_that_is_only_read(format: str) -> None:
    """F2: the export to a format that is only read is refused, with those that are written."""
    for refused in (write, losses):
        with pytest.raises(Invalid) as caught:
            refused(Book(name="Salt", entries=()), format)
        assert WRITTEN[0] in caught.value.errors[0].remedy


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({"lorebookVersion": 5}, Invalid),
        ({"lorebookVersion": 5, "entries": {}}, Invalid),
        ({"kind": "memory", "entries": None}, Invalid),
        ({"storyContainerVersion": 1, "content": {"story": {}}}, UnreadableFile),
        ({"storyContainerVersion": 1, "metadata": []}, UnreadableFile),
        ({"scenarioVersion": 1, "lorebook": []}, UnreadableFile),
        ({"scenarioVersion": 1, "lorebook": {"entries": "a"}}, Invalid),
    ],
)
def test_a_known_file_without_entries_is_refused(value: Any, error: type[Exception]) -> None:
    """F5: a file that says what it is but has no list of entries is refused, so that it cannot empty a book."""
    with pytest.raises(error):
        read(json.dumps(value).encode())
