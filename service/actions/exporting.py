"""A book as a file of a format."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.formats import Limits, into_charx, into_png, losses, write
from service.formats.report import NoHome
from service.lore.book import Book
from service.lore.errors import TooLarge
from service.lore.strict import STRICT
from service.store import books
from service.store.engine import reading

_NOT_IN_FILE_NAMES = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f]+')
_LONGEST = 180
_CARDS: Mapping[str, tuple[str, Callable[[bytes, Book, Limits], bytes]]] = {
    "png": ("image/png", into_png),
    "charx": ("application/zip", into_charx),
}
"""By format, its media type and how a book gets into it."""
CARDS = tuple(_CARDS)


@dataclass(frozen=True, kw_only=True)
class ExportFile:
    """A file to hand out."""

    name: str
    """After the book, since SillyTavern takes the file's name for the book's."""
    media_type: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class ExportReport:
    """What a format cannot hold of a book."""

    __pydantic_config__ = STRICT

    format: str
    losses: tuple[NoHome, ...] = ()
    """Empty: nothing is lost."""


def export_book(rt: Runtime, book_id: str, format: str = "worldbook") -> ExportFile:
    """The book with all its entries, disabled ones too.

    Raises `NotFound`, `Invalid` for a format that is unknown or only read.
    """
    book = _whole(rt, book_id)
    ending = "worldbook.json" if format == "worldbook" else "json"
    return ExportFile(name=_file_name(book, ending), media_type="application/json", data=write(book, format))


def export_into_card(rt: Runtime, book_id: str, card: bytes, format: str = "png") -> ExportFile:
    """The card `card`, a `png` or `charx`, with the book in it; all else of the card stays.

    A PNG is for V2 and for V3 readers, a CHARX for V3. What it loses of the book is what `character_book_v3` loses.
    Raises `NotFound`, `TooLarge`, `Invalid`, and `UnreadableFile` when the file is no card of this format.
    """
    media_type, into = _CARDS[format]
    settings = rt.settings
    if len(card) > settings.max_card_bytes:
        limit = settings.max_card_bytes
        raise TooLarge("the card is too large", limit=limit, actual=len(card), remedy="Make its picture smaller.")
    limits = Limits(json=settings.max_import_bytes, unpacked=settings.max_unpacked_bytes)
    book = _whole(rt, book_id)
    return ExportFile(name=_file_name(book, format), media_type=media_type, data=into(card, book, limits))


def export_report(rt: Runtime, book_id: str, format: str) -> ExportReport:
    """What `export_book` would lose. Raises as it does."""
    return ExportReport(format=format, losses=losses(_whole(rt, book_id), format))


def _file_name(book: Book, ending: str) -> str:
    stem = _NOT_IN_FILE_NAMES.sub("_", book.name).strip(" .").encode()[:_LONGEST].decode(errors="ignore")
    return f"{stem or book.id}.{ending}"


def _whole(rt: Runtime, book_id: str) -> Book:
    with reading(rt.engine) as conn:
        books.read(conn, OWNER, book_id)  # the owner's, or not found
        return books.load(conn, [book_id])[0].book
