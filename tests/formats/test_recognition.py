"""Formats are told by what is inside."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.formats import FORMATS, read, recognise, write
from service.lore.book import Book
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
        {"entries": [{"keywords": ["a"], "entry": "A"}]},
        {"entries": [ENTRY], "lorebookVersion": 4},
        {"entries": [ENTRY], "kind": "memory"},
        {"entries": {"Oru": {"name": "Oru", "content": "A", "strategy": {"type": "constant"}}}},
        {"spec": "chara_card_v2", "data": {"name": "X", "character_book": None}},
    ],
)
def test_unknown_files_are_refused(value: Any) -> None:
    """F5: a file of no known format is refused, with the formats that are known."""
    with pytest.raises(UnreadableFile) as caught:
        read(json.dumps(value).encode())
    assert caught.value.fault == "unknown_format"
    assert "sillytavern" in caught.value.remedy


def test_a_named_format_has_to_fit() -> None:
    """A file that is not of the format named is refused, and so is a format that does not exist."""
    data = json.dumps({"entries": {"0": ENTRY}}).encode()
    assert read(data, "sillytavern") == read(data)
    with pytest.raises(UnreadableFile):
        read(data, "worldbook")
    with pytest.raises(Invalid):
        read(data, "novelai")


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_each_format_reads_what_it_writes(row: Any) -> None:
    """Every format recognises its own files, an empty book included."""
    data = write(Book(name="Empty", entries=()), row.name)
    assert recognise(data) == row.name
    assert read(data).book.entries == ()
    assert read(data).book.name == "Empty"
