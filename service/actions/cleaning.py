"""What becomes of the words of a book or an entry before they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.lore.book import Book, Entry, Warning
from service.lore.errors import FieldError, Invalid
from service.lore.text import clean_line


def cleaned_book(book: Book) -> Book:
    """The book with its name as one line. Raises `Invalid` when nothing is left of it."""
    name = clean_line(book.name)
    if not name:
        raise Invalid([FieldError(pointer="#/name", detail="blank", remedy="give the book a name")])
    return replace(book, name=name)


def cleaned_entry(entry: Entry) -> Entry:
    """The entry with title and aliases as one line each, and a warning for each alias of which nothing was left.

    Raises `Invalid` for a blank title and for content that is only white space.
    """
    cleaned, faults = _clean(entry, "#")
    if faults:
        raise Invalid(faults)
    return cleaned


def cleaned_entries(entries: Sequence[Entry], pointer: str) -> tuple[Entry, ...]:
    """The same for a list that stands at `pointer` of the request; `Invalid` has the faults of all of them."""
    results = [_clean(entry, f"{pointer}/{place}") for place, entry in enumerate(entries)]
    faults = [fault for _, found in results for fault in found]
    if faults:
        raise Invalid(faults)
    return tuple(entry for entry, _ in results)


def _clean(entry: Entry, pointer: str) -> tuple[Entry, list[FieldError]]:
    title = clean_line(entry.title)
    lines = [clean_line(alias) for alias in entry.aliases]
    faults = []
    if not title:
        faults.append(FieldError(pointer=f"{pointer}/title", detail="blank", remedy="give the entry a title"))
    if not entry.content.strip():
        faults.append(FieldError(pointer=f"{pointer}/content", detail="only white space", remedy="write the lore here"))
    warnings = tuple(
        Warning(kind="blank_alias", detail=f"alias {place + 1} is blank and was dropped")
        for place, line in enumerate(lines)
        if not line
    )
    return replace(entry, title=title, aliases=tuple(filter(None, lines)), warnings=warnings), faults
