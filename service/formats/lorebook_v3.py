"""A V3 character book as a file of its own: `{"spec": "lorebook_v3", "data": {"entries": […]}}`.

Source: card specification V3, "Lorebook". Some programs put the book one level deeper, at `data.lorebook`; it is
written where the specification wants it. `extensions["lorebook_v3"]` keeps what else the file says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from service.formats import character_book
from service.formats.book_writing import write as write_book
from service.formats.format import Format
from service.formats.report import FormatName, NoHome, Reading
from service.formats.sillytavern_fields import SPELLED_IN_BOOKS
from service.lore.book import Book
from service.lore.errors import FieldError, Invalid

NAME = "lorebook_v3"


def recognise(value: object) -> bool:
    """The file says so itself."""
    return isinstance(value, dict) and value.get("spec") == NAME


def read(value: Any) -> Reading:
    """The book. Raises `Invalid` when there is none, `LimitExceeded`."""
    data = value.get("data")
    if not isinstance(data, dict):
        raise Invalid([FieldError(pointer="#/data", detail="the book is missing", remedy="an object")])
    inner = data.get("lorebook")
    if isinstance(inner, dict) and "entries" not in data:
        data = {**{name: each for name, each in data.items() if name != "lorebook"}, **inner}
    found = character_book.read_as(data, 3, FormatName(name=NAME))
    around = {name: each for name, each in value.items() if name not in {"spec", "data"}}
    if not around or found.book is None:
        return found
    return replace(found, book=replace(found.book, extensions={**found.book.extensions, NAME: around}))


def write(book: Book) -> dict[str, Any]:
    """The file, with all that it said when it was read."""
    around = book.extensions.get(NAME)
    return {"spec": NAME, **(around if isinstance(around, Mapping) else {}), "data": write_book(book, 3)}


def losses(book: Book) -> tuple[NoHome, ...]:
    """Those of a V3 character book."""
    rest = {name: each for name, each in book.extensions.items() if name != NAME}
    return character_book.losses(replace(book, extensions=rest), 3)


FORMAT = Format(
    name=NAME,
    recognise=recognise,
    telling=frozenset({"spec"}),
    read=read,
    write=write,
    losses=losses,
    spelled=SPELLED_IN_BOOKS,
    indent=4,
)
