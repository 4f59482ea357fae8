"""Books as files."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from service.actions.editing_books import create_book
from service.actions.exporting import ExportReport, export_book, export_into_card, export_report
from service.actions.importing import import_book
from service.actions.runtime import Runtime
from service.formats import WRITTEN, read
from service.formats.report import NoHome
from service.lore.book import Book, Entry
from service.lore.errors import Invalid, NotFound, TooLarge, UnreadableFile
from service.validation import dump, validate
from tests.formats import boxes

ENTRIES = (
    Entry(title="Oru", content="An island.", aliases=("Оруня", "オル"), tier="canon", gist="An island."),
    Entry(title="Reef", content=" kept\r\nas is ", enabled=False, extensions={"app": {"a": None}}),
)


def test_a_file_of_sillytavern_comes_out_as_it_went_in(rt: Runtime) -> None:
    """I22, W13: import and export of an untouched file is the identity, through the database."""
    rows = {
        "3": {"uid": 3, "key": ["a"], "comment": "", "content": "A", "x_foo": {"z": 1, "a": [None, 1.5, 10]}},
        "1": {"uid": 1, "key": "b, c", "content": "", "displayIndex": 0},
        "2": {"content": "C", "key": ["漢"], "order": 7},
    }
    data = json.dumps({"x_hub": {"b": 1, "a": 2}, "entries": rows}, indent=4, ensure_ascii=False).encode()
    report = import_book(rt, data, file_name="Salt.json")
    assert report.book is not None
    file = export_book(rt, report.book.id or "", "sillytavern")
    assert file.data == data
    assert (file.name, file.media_type) == ("Salt.json", "application/json")


def test_our_own_format_loses_nothing(rt: Runtime) -> None:
    """F2: our JSON gives back every authored field, disabled entries and extensions included."""
    book = Book(name="Salt", description="d", enabled=False, entries=ENTRIES, extensions={"app": 1})
    file = export_book(rt, create_book(rt, book).id)
    assert file.name == "Salt.worldbook.json"
    assert read(file.data).book == book


def test_what_another_format_loses_is_told(rt: Runtime) -> None:
    """F3: the report names what the format cannot hold, and is empty for ours."""
    id_ = create_book(rt, Book(name="Salt", entries=ENTRIES)).id
    report = export_report(rt, id_, "sillytavern")
    assert report == ExportReport(
        format="sillytavern", losses=(NoHome(setting="extensions.app", count=1), NoHome(setting="gist", count=1))
    )
    assert export_report(rt, id_, "worldbook") == ExportReport(format="worldbook")
    assert validate(ExportReport, dump(report)) == report


@pytest.mark.parametrize(
    ("name", "file_name"),
    [
        ("Salt Coast", "Salt Coast.json"),
        ("塩の海岸", "塩の海岸.json"),
        ('../a\\b:c*?"<>|', "_a_b_c_.json"),
        ("漢" * 100, "漢" * 60 + ".json"),
    ],
)
def test_file_names(rt: Runtime, name: str, file_name: str) -> None:
    """A file is named after the book, since SillyTavern takes it for the book's name, and safe on every system."""
    assert export_book(rt, create_book(rt, Book(name=name)).id, "sillytavern").name == file_name


def test_a_name_of_which_nothing_is_left(rt: Runtime) -> None:
    """A book whose name makes no file name is exported under its id."""
    id_ = create_book(rt, Book(name="..")).id
    assert export_book(rt, id_).name == f"{id_}.worldbook.json"


def test_unknown_books_and_formats(rt: Runtime) -> None:
    """An unknown book is not found, an unknown format is an invalid parameter that lists the known ones."""
    for format in WRITTEN:
        with pytest.raises(NotFound):
            export_book(rt, "nobook", format)
        with pytest.raises(NotFound):
            export_report(rt, "nobook", format)
    id_ = create_book(rt, Book(name="Salt")).id
    for export in (export_book, export_report):
        with pytest.raises(Invalid) as caught:
            export(rt, id_, "wordbook")
        assert [error.parameter for error in caught.value.errors] == ["format"]


def test_into_a_card(rt: Runtime) -> None:
    """F2: a book goes into a PNG card under the name of the book, and comes back from it with all its entries."""
    id_ = create_book(rt, Book(name="Salt", entries=ENTRIES)).id
    card = boxes.png(boxes.text("chara", boxes.based(boxes.card(boxes.entry("old")))))
    file = export_into_card(rt, id_, card)
    assert (file.name, file.media_type) == ("Salt.png", "image/png")
    back = read(file.data).book
    assert back is not None
    assert (back.name, [each.content for each in back.entries or ()]) == ("Salt", [each.content for each in ENTRIES])
    with pytest.raises(NotFound):
        export_into_card(rt, "nobook", card)
    with pytest.raises(UnreadableFile):
        export_into_card(rt, id_, b"{}")
    with pytest.raises(TooLarge) as caught:
        export_into_card(replace(rt, settings=rt.settings.model_copy(update={"max_card_bytes": 10})), id_, card)
    assert (caught.value.limit, caught.value.actual) == (10, len(card))
