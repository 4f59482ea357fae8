"""Character cards: the book in a card of version 1, 2 or 3, and a book into one.

Sources: the card specifications V1 to V3. Only the book is read; the character itself is no lore. Where the root of a
card and its `data` disagree, `data` counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from service.formats import character_book
from service.formats.book_writing import write as write_book
from service.formats.format import Format
from service.formats.names import as_object, book_name, text
from service.formats.report import FormatName, ImportWarning, Reading
from service.formats.sillytavern_fields import SPELLED_IN_BOOKS
from service.lore.book import Book
from service.lore.errors import FieldError, Invalid

NAME = "character_card"
_SPEC = "chara_card"
_V1 = ("name", "description", "personality", "scenario", "first_mes", "mes_example")
_V2: Mapping[str, Any] = {
    **dict.fromkeys((*_V1, "creator_notes", "system_prompt", "post_history_instructions"), ""),
    "alternate_greetings": [],
    "tags": [],
    "creator": "",
    "character_version": "",
    "extensions": {},
}
_PYGMALION = {
    "char_name": "name",
    "char_persona": "personality",
    "char_greeting": "first_mes",
    "world_scenario": "scenario",
    "example_dialogue": "mes_example",
}
_TELLING = {"first_mes", "mes_example", "char_name", "character_book"}
"""Fields that nothing but a card has."""
_TELLING_DATA = {*_V2, "character_book"} - {"name", "description", "tags", "creator"}


def recognise(value: object) -> bool:
    """A card of any version, also its `data` alone, and one that forgot to say its version."""
    if not isinstance(value, dict) or "entries" in value:
        return False
    if value.get("spec") is not None:
        return str(value["spec"]).startswith(_SPEC)
    data = value.get("data")
    in_data = isinstance(data, dict) and "entries" not in data and not _TELLING_DATA.isdisjoint(data)
    return in_data or not _TELLING.isdisjoint(value)


def read(value: Any) -> Reading:
    """The book of the card; a card without one, or with an empty one, is a reading without a book.

    Raises `LimitExceeded`, `Invalid` when the book is none.
    """
    data = _data(value)
    format = FormatName(name=NAME, version=_stated(value))
    extensions = as_object(data.get("extensions"))
    given, other = data.get("character_book"), extensions.get("character_book")
    warnings = [*_newer(format.version)]
    if given is None and isinstance(other, dict):
        given = other
        warnings.append(_warning("book_in_extensions", "the book was found in the extensions of the card"))
    elif other is not None:
        warnings.append(_warning("second_book", "the book in the extensions of the card was not read as well"))
    if given is not None and not isinstance(given, dict):
        raise Invalid([FieldError(pointer="#/data/character_book", detail="the book is no object", remedy="an object")])
    if not given or not character_book.given_entries(given):
        world = extensions.get("world")
        if isinstance(world, str) and world.strip():
            detail = f"the card only names the world {world[:200]!r}, which is a file of its own"
            warnings.append(_warning("linked_world", detail))
        return Reading(book=None, format=format, warnings=tuple(warnings))
    owner = book_name(data.get("name"), value.get("char_name"))
    named = f"{owner[:180]}'s Lorebook" if owner else None
    found = character_book.read_as(given, book_version(value), format, named)
    return replace(found, warnings=(*warnings, *found.warnings))


def book_version(card: Mapping[str, Any]) -> Literal[2, 3]:
    """The version of the book in a card."""
    return 3 if card.get("spec") not in (None, "chara_card_v1", "chara_card_v2") else 2


def with_book(card: Mapping[str, Any], book: Book, version: Literal[2, 3]) -> dict[str, Any]:
    """The card as one of this version, with our book for its own; all else is kept."""
    new: dict[str, Any] = {} if version == 2 else {"group_only_greetings": []}
    data = {**_V2, **new, **_data(card), "character_book": write_book(book, version)}
    spec = {"spec": f"{_SPEC}_v{version}", "spec_version": f"{version}.0"}
    if book_version(card) == version:
        spec |= {name: card[name] for name in spec if card.get(name) is not None}
    kept = {name: value for name, value in card.items() if name not in {"character_book", "data", *spec}}
    return {**spec, "data": data, **kept}


FORMAT = Format(name=NAME, recognise=recognise, telling=frozenset({"spec"}), read=read, spelled=SPELLED_IN_BOOKS)


def _data(card: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the card says, under the names of V2."""
    if isinstance(card.get("data"), dict):
        return as_object(card["data"])
    named = _PYGMALION if "char_name" in card else {}
    return {named.get(name, name): value for name, value in card.items() if name not in {"spec", "spec_version"}}


def _stated(card: Mapping[str, Any]) -> str | None:
    """The version that the card states, of itself or by its kind."""
    spec = card.get("spec")
    of_kind = {"chara_card_v2": "2.0", "chara_card_v3": "3.0"}.get(spec) if isinstance(spec, str) else None
    return (text(card.get("spec_version")) or "")[:20] or of_kind if spec else None


def _newer(version: str | None) -> Iterator[ImportWarning]:
    try:
        if float(version or 0) > 3:
            yield _warning("newer_version", f"the card is of version {version}; what is new since 3.0 was not read")
    except ValueError:
        return


def _warning(kind: str, detail: str) -> ImportWarning:
    return ImportWarning(kind=kind, detail=detail)
