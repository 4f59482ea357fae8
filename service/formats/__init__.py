"""Files of other programs as books, and books as files. All of it is pure: bytes in, values out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from service.formats import (
    agnai,
    aidungeon,
    backyard,
    cards,
    character_book,
    charx_card,
    chub,
    generic,
    kobold,
    lorebook_v3,
    novelai,
    png_card,
    risuai,
    sillytavern,
    tavern_helper,
    worldbook,
)
from service.formats.containers import DEFAULT_LIMITS, Limits, Opened, is_card_file, open_file
from service.formats.decoding import Decoded, decode
from service.formats.format import Format
from service.formats.report import ImportWarning, NoHome, Reading, counted
from service.formats.triggering import as_dialect
from service.lore.book import Book, Dialect
from service.lore.errors import FieldError, Invalid, UnreadableFile

__all__ = [
    "FORMATS",
    "NAMES",
    "WRITTEN",
    "Limits",
    "into_charx",
    "into_png",
    "is_card_file",
    "losses",
    "read",
    "recognise",
    "write",
]

FORMATS: tuple[Format, ...] = (
    worldbook.FORMAT,
    cards.FORMAT,
    lorebook_v3.FORMAT,
    backyard.FORMAT,
    novelai.FORMAT,
    agnai.FORMAT,
    risuai.FORMAT,
    kobold.FORMAT,
    aidungeon.FORMAT,
    tavern_helper.FORMAT,
    chub.FORMAT,
    *character_book.FORMATS,
    sillytavern.FORMAT,
    generic.FORMAT,
)
"""The first that recognises a file reads it."""
NAMES = tuple(row.name for row in FORMATS)
"""Those that are read."""
WRITTEN = tuple(row.name for row in FORMATS if row.write is not None)
"""Those that are written too."""

_TELLING = frozenset[str]().union(*(row.telling for row in FORMATS))

T = TypeVar("T")


def recognise(data: bytes, limits: Limits = DEFAULT_LIMITS) -> str:
    """The name of the format of a file, by its content.

    Raises `UnreadableFile` when it cannot be read or no format is known, `Invalid` when it is JSON that cannot be
    stored, `TooLarge`.
    """
    return _first(open_file(data, limits), lambda decoded: _recognised(decoded.value).name)[0]


def read(
    data: bytes, format: str | None = None, limits: Limits = DEFAULT_LIMITS, dialect: Dialect | None = None
) -> Reading:
    """A file as a book of this dialect and a report; `format` names one instead of recognising it.

    Without a dialect the book is a world book, or what a file of our own says it is. Raises `UnreadableFile`, `Invalid`
    with every fault of the JSON or of the book, `TooLarge`, `LimitExceeded`.
    """
    opened = open_file(data, limits)

    def reading(decoded: Decoded) -> Reading:
        row = _recognised(decoded.value, format)
        found = row.read(decoded.value)
        if dialect is not None:
            found = as_dialect(found, row.spelled, dialect)
        return replace(found, warnings=(*_repeated(decoded), *found.warnings))

    found, told = _first(opened, reading)
    return replace(
        found,
        format=replace(found.format, container=opened.container),
        warnings=(*opened.warnings, *told, *found.warnings),
    )


def write(book: Book, format: str) -> bytes:
    """A book with its entries as a file. Raises `Invalid` for a format that is not known, or is only read."""
    row = named(format)
    if row.write is None:
        raise _unfit(f"{format} is only read, not written", WRITTEN)
    return json.dumps(_written(row, book)[0], indent=row.indent, ensure_ascii=False).encode()


def into_png(card: bytes, book: Book, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """A PNG card with this book in it. Raises `UnreadableFile`, `Invalid`, `TooLarge` when it is no such card."""
    return png_card.with_book(card, book, limits)


def into_charx(card: bytes, book: Book, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """A CHARX card with this book in it. Raises as `into_png` does."""
    return charx_card.with_book(card, book, limits)


def losses(book: Book, format: str) -> tuple[NoHome, ...]:
    """What of the book `write` leaves out, by name and count. Raises as `write` does."""
    row = named(format)
    if row.write is None:
        raise _unfit(f"{format} is only read, not written", WRITTEN)
    return counted([*(each.setting for each in row.losses(book) for _ in range(each.count)), *_written(row, book)[1]])


def named(format: str) -> Format:
    """The row of a format. Raises `Invalid`."""
    for row in FORMATS:
        if row.name == format:
            return row
    raise _unfit(f"{format!r} is not a format", NAMES)


def _written(row: Format, book: Book) -> tuple[Any, list[str]]:
    """The book as JSON values, and the fields left out because with them it would be taken for another format."""
    value: Any = row.write(book) if row.write is not None else {}
    strange = [name for name in value if name in _TELLING and name not in row.telling]
    plain = {name: each for name, each in value.items() if name not in strange}
    return (value, []) if not strange or _taken_for(value) is _taken_for(plain) else (plain, strange)


def _taken_for(value: object) -> Format | None:
    return next((row for row in FORMATS if row.recognise(value)), None)


def _unfit(detail: str, fit: tuple[str, ...]) -> Invalid:
    return Invalid([FieldError(parameter="format", detail=detail, remedy=f"one of {', '.join(fit)}")])


def _first(opened: Opened, attempt: Callable[[Decoded], T]) -> tuple[T, tuple[ImportWarning, ...]]:
    """The first text of the file that can be read, and what is to be said about it and about those before it."""
    wrong: list[UnreadableFile | Invalid] = []
    warnings: list[ImportWarning] = []
    for part in opened.parts:
        try:
            found = attempt(decode(part.load()))
        except (UnreadableFile, Invalid) as error:
            wrong.append(error)
            detail = f"{part.name} was passed over: {error.detail}"
            warnings.append(ImportWarning(kind="unreadable_part", detail=detail))
            continue
        return found, (*warnings, *part.warnings)
    raise wrong[0]


def _recognised(value: Any, format: str | None = None) -> Format:
    row = None if format is None else named(format)
    found = _taken_for(value) if row is None else row if row.recognise(value) else None
    if found is not None:
        return found
    raise UnreadableFile(
        "the file is none of the known formats" if format is None else f"the file is not {format}",
        fault="unknown_format",
        remedy=f"Send one of: {', '.join(NAMES)}." if format is None else "Leave out `format` to have it recognised.",
    )


def _repeated(decoded: Decoded) -> Iterator[ImportWarning]:
    """Keys that stand twice in one object. Entries with one key are the reader's to tell: it keeps both."""
    entries = decoded.value.get("entries") if isinstance(decoded.value, dict) else None
    counts = Counter(
        key
        for each in decoded.repeating
        if each is not entries
        for key, times in Counter(key for key, _ in each.pairs).items()
        if times > 1
    )
    for key, times in counts.items():
        where = "one object" if times == 1 else f"{times} objects"
        yield ImportWarning(kind="duplicate_key", detail=f"{key!r} stands twice in {where}; the last one was read")
