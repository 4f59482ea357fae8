"""Entries whose title or alias stands literally in the messages that are read for names."""

from __future__ import annotations

from collections.abc import Sequence

from service.lore.open_book import AttachedBook
from service.lore.queries import read_literally
from service.lore.reasons import Named
from service.lore.request import Message
from service.lore.text import fold


def find_named(
    books: Sequence[AttachedBook], starts: Sequence[int], messages: Sequence[Message]
) -> dict[int, tuple[Named, ...]]:
    """Place of each named entry to its hits, most recently named first: newest message, first span in it, list order.

    Of one alias in one message the first span is told.
    """
    found: dict[int, list[Named]] = {}
    for number in read_literally(messages):
        text = messages[number].content
        folded = fold(text)
        hits = [
            (hit.start, start + hit.owner, hit)
            for start, book in zip(starts, books, strict=True)
            for hit in book.open.text.matcher.find(folded)
        ]
        hits.sort(key=lambda item: item[:2])
        for _, place, hit in hits:
            named = found.setdefault(place, [])
            if not any(earlier.alias == hit.alias and earlier.message == number for earlier in named):
                span = (hit.start, hit.end)
                named.append(Named(alias=hit.alias, message=number, span=span, text=text[hit.start : hit.end]))
    return {place: tuple(named) for place, named in found.items()}
