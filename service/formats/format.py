"""What a format is: one row for each in `service.formats.FORMATS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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
    telling: frozenset[str] = frozenset()
    """Fields at the top of a file that tell of this format."""
    write: Callable[[Book], object] | None = None
    """Of a book with its entries; None: the format is only read."""
    losses: Callable[[Book], tuple[NoHome, ...]] = lambda _: ()
    """What of the book `write` leaves out."""
    spelled: Mapping[str, str] = field(default_factory=dict)
    """Its names for what the trigger dialects know under another, by SillyTavern's name for it."""
    indent: int = 4
    """Blanks of indentation that the format's own program writes."""
