"""The texts in which keys are searched, joined so that one pass reads them all and a place leads back to its text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from service.lore.text import Folded, fold


class Sighting(NamedTuple):
    """Where a key was found."""

    message: int | None
    """Place of the message in the request; null: not in a message."""
    source: str | None
    from_entry: str | None
    """Handle of the entry whose content it is."""
    span: tuple[int, int] | None
    """Code points of that text; null when the key stands outside it, in the name before it."""


class Piece(NamedTuple):
    """One text: a message, another text of the request, or the content of an entry."""

    text: str
    glue: str
    """What parts it from the text before it; stands before it."""
    message: int | None = None
    source: str | None = None
    from_entry: str | None = None
    offset: int = 0
    """Of `text` in the text that it was made from; negative when something was put before it."""

    def sighting(self, start: int, end: int) -> Sighting:
        """Of the `[start, end)` of `text`."""
        span = (start + self.offset, end + self.offset)
        return Sighting(self.message, self.source, self.from_entry, span if span[0] >= 0 else None)


class Strip:
    """Pieces in one text, in reading order, with the forms in which the two ways of matching compare."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self.text = "".join([part for piece in pieces for part in (piece.glue, piece.text)])
        self.starts: list[int] = []
        at = 0
        for piece in pieces:
            at += len(piece.glue)
            self.starts.append(at)
            at += len(piece.text)

    @cached_property
    def folded(self) -> Folded:
        return fold(self.text)

    @cached_property
    def lowered(self) -> str:
        """As JavaScript's `toLowerCase`: no case folding, ß is not ss."""
        return self.text.lower()

    @cached_property
    def lowered_origins(self) -> Sequence[int]:
        """Of each character of `lowered` its place in `text`: İ becomes two characters."""
        if len(self.lowered) == len(self.text):
            return range(len(self.text) + 1)
        origins = [place for place, char in enumerate(self.text) for _ in char.lower()]
        return [*origins, len(self.text)]

    def piece_at(self, place: int) -> int:
        """Which piece holds this place of the text."""
        return max(0, bisect_right(self.starts, place) - 1)

    def sighting(self, start: int, end: int) -> Sighting:
        """Of the `[start, end)` of `text`."""
        number = self.piece_at(start)
        begin = self.starts[number]
        return self.pieces[number].sighting(start - begin, end - begin)
