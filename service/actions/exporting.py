"""A book as a file of a format."""

from __future__ import annotations

import re
from dataclasses import dataclass

from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.formats import losses, named, write
from service.formats.report import NoHome
from service.lore.book import STRICT, Book
from service.store import books
from service.store.engine import reading

_NOT_IN_FILE_NAMES = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f]+')
_LONGEST = 180


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
    """The book with all its entries, disabled ones too. Raises `NotFound`, `Invalid` for an unknown format."""
    ending = "json" if named(format).name != "worldbook" else "worldbook.json"
    book = _whole(rt, book_id)
    stem = _NOT_IN_FILE_NAMES.sub("_", book.name).strip(" .").encode()[:_LONGEST].decode(errors="ignore")
    return ExportFile(name=f"{stem or book.id}.{ending}", media_type="application/json", data=write(book, format))


def export_report(rt: Runtime, book_id: str, format: str) -> ExportReport:
    """What `export_book` would lose. Raises `NotFound`, `Invalid` for an unknown format."""
    return ExportReport(format=named(format).name, losses=losses(_whole(rt, book_id), format))


def _whole(rt: Runtime, book_id: str) -> Book:
    with reading(rt.engine) as conn:
        books.read(conn, OWNER, book_id)  # the owner's, or not found
        return books.load(conn, [book_id])[0].book
