"""Cards of every version as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from service.formats import losses, read, write
from service.formats.report import Reading
from service.lore.errors import Invalid
from tests.formats.boxes import card, entry


def reading(value: Any) -> Reading:
    """A card, read."""
    return read(json.dumps(value).encode())


BOOK = {"entries": [entry("Lore.")], "extensions": {}}


@pytest.mark.parametrize(
    ("value", "version", "name"),
    [
        (card(entry("Lore.")), "2.0", "Ilse's Lorebook"),
        (card(entry("Lore."), version=3), "3.0", "Ilse's Lorebook"),
        (card(entry("Lore."), character="", version=3), "3.0", ""),
        (card(entry("Lore."), description="About Ilse."), "2.0", "Ilse's Lorebook"),
        ({"spec": "chara_card_v2", "data": {"name": "Ilse", "character_book": BOOK}}, "2.0", "Ilse's Lorebook"),
        ({"spec": "chara_card_v2", "name": "Ilse", "character_book": BOOK}, "2.0", "Ilse's Lorebook"),
        ({"name": "Ilse", "first_mes": "Hi", "character_book": BOOK}, None, "Ilse's Lorebook"),
        ({"character_book": {**BOOK, "name": "Salt"}}, None, "Salt"),
        ({"char_name": "Ilse", "character_book": BOOK}, None, "Ilse's Lorebook"),
        ({"data": {"name": "Ilse", "character_book": BOOK}}, None, "Ilse's Lorebook"),
        (
            {**card(entry("Lore.")), "name": "Root", "character_book": {"entries": [entry("not me")]}},
            "2.0",
            "Ilse's Lorebook",
        ),
        (card({"key": ["Oru"], "keysecondary": [], "content": "Lore.", "disable": False}), "2.0", "Ilse's Lorebook"),
        ({"data": {"name": "Ilse", "character_book": {"entries": {"1": entry("Lore.")}}}}, None, "Ilse's Lorebook"),
    ],
    ids=range(13),
)
def test_cards_with_a_book(value: Any, version: str | None, name: str) -> None:
    """F1: the book of a card is read whatever its version, wrapped or not, and named by itself or after the card."""
    found = reading(value)
    assert found.book is not None
    assert [(each.content, each.aliases) for each in found.book.entries or ()] == [("Lore.", ("Oru",))]
    assert (found.book.name, found.format.name, found.format.version) == (name, "character_card", version)
    assert found.warnings == ()


@pytest.mark.parametrize(
    "value",
    [
        {"spec": "chara_card_v2", "data": {"name": "X", "character_book": None}},
        {"data": {"extensions": {"world": ""}}},
        {"data": {"extensions": {"world": {"name": "x"}}}},
        card(),
        card(version=3),
        {"spec": "chara_card_v2", "data": {"character_book": {}}},
        {"spec": "chara_card_v2", "data": {"character_book": {"entries": []}}},
        {"spec": "chara_card_v2", "data": {"character_book": {"entries": {}}}},
        {"spec": "chara_card_v2"},
        {"name": "X", "description": "", "personality": "", "scenario": "", "first_mes": "", "mes_example": ""},
        {"char_name": "X", "char_persona": "", "char_greeting": ""},
    ],
    ids=range(11),
)
def test_cards_without_a_book(value: Any) -> None:
    """T11, I02: a card without a book, or with an empty one, is read as one that has none."""
    found = reading(value)
    assert (found.book, found.places, found.warnings) == (None, (), ())
    assert found.format.name == "character_card"


def test_a_card_that_names_a_world() -> None:
    """I09: the name of a world file is no book; the report says that the file is wanted."""
    found = reading({"data": {"extensions": {"world": "Eldoria"}}})
    assert found.book is None
    assert [each.kind for each in found.warnings] == ["linked_world"]
    assert "Eldoria" in found.warnings[0].detail
    assert reading({"data": {"extensions": {"world": "Eldoria"}, "character_book": BOOK}}).warnings == ()


def test_a_second_book_in_the_extensions() -> None:
    """I04: a book that stands in the card twice is read once; one that stands in the extensions only is read there."""
    both = card(entry("Lore."))
    both["data"]["extensions"] = {"character_book": BOOK}
    found = reading(both)
    assert found.book is not None
    assert len(found.book.entries or ()) == 1
    assert [each.kind for each in found.warnings] == ["second_book"]
    only = reading({"spec": "chara_card_v2", "data": {"extensions": {"character_book": BOOK}}})
    assert only.book is not None
    assert [each.content for each in only.book.entries or ()] == ["Lore."]
    assert [each.kind for each in only.warnings] == ["book_in_extensions"]


@pytest.mark.parametrize(
    ("version", "kinds"), [("3.1", ["newer_version"]), ("4", ["newer_version"]), ("2.5", []), ("new", []), (None, [])]
)
def test_newer_cards(version: str | None, kinds: list[str]) -> None:
    """A card of a version to come is read as far as it is known, with a warning."""
    found = reading({**card(entry(), version=3), "spec_version": version})
    assert found.book is not None
    assert [each.kind for each in found.warnings] == kinds


@pytest.mark.parametrize("book", [7, "x", [entry()], {"entries": 7}])
def test_a_book_that_is_none(book: Any) -> None:
    """F5: something else where the book should be is an error that names the field."""
    with pytest.raises(Invalid) as caught:
        reading({"spec": "chara_card_v2", "data": {"character_book": book}})
    assert caught.value.errors[0].pointer


def test_the_character_is_no_lore() -> None:
    """Nothing of a card but its book is kept."""
    found = reading(card(entry("Lore.")))
    assert found.book is not None
    assert "Hello." not in repr(found.book)


@pytest.mark.parametrize("format", ["character_book_v2", "character_book_v3", "lorebook_v3", "sillytavern"])
def test_a_book_without_a_name_is_written_with_a_new_one(format: str) -> None:
    """F3: a book named after its character comes out without a name, as it came in; once renamed it has that name."""
    book = reading(card(entry("Lore."))).book
    assert book is not None
    for name, written in (("Ilse's Lorebook", None), ("Salt Coast", "Salt Coast")):
        renamed = replace(book, name=name)
        file = json.loads(write(renamed, format))
        assert file.get("data", file).get("name") == written
        assert losses(renamed, format) == ()
