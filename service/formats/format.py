"""What a format is: one row for each in `service.formats.FORMATS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from service.formats.report import NoHome, Reading
from service.lore.book import Book


@dataclass(frozen=True, kw_only=True)
class Format:
    """How one kind of file is recognised, read and written; all of it works on plain JSON values."""

    name: str
    recognise: Callable[[object], bool]
    """By content alone."""
    read: Callable[[object], Reading]
    """Of a value that was recognised. Raises `Invalid` or `UnreadableFile`; one bad entry is skipped, not raised."""
    write: Callable[[Book], object]
    """Of a book with its entries."""
    losses: Callable[[Book], tuple[NoHome, ...]]
    """What of the book `write` leaves out."""
    indent: int
    """Blanks of indentation that the format's own program writes."""
