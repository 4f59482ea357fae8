"""A book into a PNG card that exists: the picture and all else of the file stay as they are."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from service.formats import archives, cards, png
from service.formats.containers import Limits, payload
from service.formats.decoding import decode
from service.lore.book import Book
from service.lore.errors import Invalid, UnreadableFile

_REPLACED = ("ccv3", "chara")
_OTHER = "char"
"""What some programs call the chunk of a card; it counts where there is none by the usual names."""


def with_book(file: bytes, book: Book, limits: Limits) -> bytes:
    """The PNG with our book in its card, as V2 in a chunk `chara` and as V3 in a chunk `ccv3`, in place of the old.

    Of two cards each keeps what it says; of one, the other is made. Raises `UnreadableFile` (fault `unknown_format`,
    `no_card`, `bad_png_chunk`, …) when the file is no PNG with a card that can be read, `Invalid`, `TooLarge`.
    """
    if not file.startswith(png.MAGIC):
        if archives.is_zip(file):
            remedy = "Write it as the format charx, or send a PNG card."
            raise UnreadableFile("the card is a zip archive, no PNG image", fault="unknown_format", remedy=remedy)
        raise UnreadableFile("the card is no PNG image", fault="unknown_format", remedy="Send a PNG card.")
    found = png.chunks(file)
    named = [(png.keyword(file, chunk), chunk) for chunk in found.texts]
    old = [each for each in named if each[0] in _REPLACED] or [each for each in named if each[0] == _OTHER]
    told = _cards(file, old, limits)
    only = next(iter(told.values()))
    texts = [
        ("chara", _text(cards.with_book(told.get("chara", only), book, 2))),
        ("ccv3", _text(cards.with_book(told.get("ccv3", only), book, 3))),
    ]
    return png.with_texts(file, found, texts, [chunk for _, chunk in old])


def _cards(file: bytes, old: list[tuple[str, png.Chunk]], limits: Limits) -> dict[str, Mapping[str, Any]]:
    """The first card of each keyword that can be read; at least one."""
    told: dict[str, Mapping[str, Any]] = {}
    wrong: UnreadableFile | Invalid | None = None
    for keyword, chunk in old:
        try:
            value = decode(payload(png.text(file, chunk, limits.unpacked), limits)).value
        except (UnreadableFile, Invalid) as error:
            wrong = wrong or error
            continue
        if cards.recognise(value):
            told.setdefault(keyword, value)
    if not told:
        raise wrong or UnreadableFile(
            "a PNG image without a character card", fault="no_card", remedy="Send a PNG that holds a card."
        )
    return told


def _text(card: Mapping[str, Any]) -> bytes:
    return base64.b64encode(json.dumps(card, ensure_ascii=False, separators=(",", ":")).encode())
