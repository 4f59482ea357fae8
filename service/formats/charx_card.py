"""A book into a CHARX card that exists: all other members, and what stands before the archive, stay as they are."""

from __future__ import annotations

import json
from typing import Any

from service.formats import archives, cards, png
from service.formats.containers import Limits
from service.formats.decoding import decode
from service.lore.book import Book
from service.lore.errors import UnreadableFile

_CARD = "card.json"


def with_book(file: bytes, book: Book, limits: Limits) -> bytes:
    """The archive with our book in its `card.json`, as V3.

    Raises `UnreadableFile` (fault `unknown_format`, `no_card`, `bad_zip`, `encrypted`, `unsafe_path`, …) when the file
    is no archive with a card that can be read, `Invalid`, `TooLarge`.
    """
    if file.startswith(png.MAGIC) and not archives.is_zip(file):
        remedy = "Write it as the format png, or send a CHARX card."
        raise UnreadableFile("the card is a PNG image, no CHARX", fault="unknown_format", remedy=remedy)
    archive = archives.archive(file)
    member = archive.find(_CARD)
    value: Any = None if member is None else decode(archive.read(member, min(limits.json, limits.unpacked))).value
    if member is None or not cards.recognise(value):
        raise UnreadableFile("a zip archive without a card", fault="no_card", remedy="Send a CHARX card.")
    card = json.dumps(cards.with_book(value, book, 3), indent=4, ensure_ascii=False).encode()
    return archive.with_member(file, member, card, limits.unpacked)
