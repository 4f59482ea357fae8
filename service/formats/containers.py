"""What a book may be wrapped in: the JSON texts in an uploaded file, in the order in which they are tried.

PNG cards keep base64 of JSON in text chunks; CHARX is a zip archive with `card.json`, also behind a JPEG; Backyard's
BYAF is one with a `manifest.json` that names its characters. Everything else has to be JSON itself.
"""

from __future__ import annotations

import binascii
import re
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from service.formats import archives, png
from service.formats.decoding import decode
from service.formats.report import Container, ImportWarning
from service.lore.errors import TooLarge, UnreadableFile

KEYWORDS = ("ccv3", "chara", "char", "naidata")
"""Keywords of PNG chunks, the one that counts most first: card V3, V2 or V1, a rare name for it, a NovelAI lorebook."""
_ORIGINAL = "Cards travel in PNG and CHARX: get the original file."
_UNPACK = "Unpack it, and import the files that are in it."
_OTHERS = {
    b"\xff\xd8\xff": ("a JPEG image without a card in it", _ORIGINAL),
    b"GIF8": ("a GIF image without a card in it", _ORIGINAL),
    b"RIFF": ("a WEBP image or a sound without a card in it", _ORIGINAL),
    b"\x1f\x8b": ("a gzip archive", _UNPACK),
    b"7z\xbc\xaf": ("a 7z archive", _UNPACK),
    b"Rar!": ("a RAR archive", _UNPACK),
    b"%PDF": ("a PDF", "Export the lorebook itself."),
    b"<": ("a web page or XML", "Download the file itself, and not the page that shows it."),
}
"""What people send by mistake, by its first bytes, and what to do instead."""
_MOST_PARTS = 16
"""Chunks of an image that are tried; a card has one or two."""
_PROTECTED = b"rcc||"
_BLANKS = re.compile(rb"\s+")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bytes that a file may unpack to."""

    json: int = 16_000_000
    """Of the JSON text that holds the book."""
    unpacked: int = 64_000_000
    """Of anything compressed."""


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Part:
    """One text in a file that may hold a book."""

    name: str
    """What a person may call it; for the report."""
    load: Callable[[], bytes]
    """The text. Raises `UnreadableFile`, `Invalid`, `TooLarge`."""
    warnings: tuple[ImportWarning, ...] = ()


@dataclass(frozen=True)
class Opened:
    """A file taken out of its container."""

    container: Container
    parts: tuple[Part, ...]
    """The first that can be read counts; never empty."""
    warnings: tuple[ImportWarning, ...] = ()


def is_card_file(file: bytes) -> bool:
    """Whether the file is a container, which may be larger than JSON: most of it is pictures."""
    return file.startswith(png.MAGIC) or archives.is_zip(file)


def open_file(file: bytes, limits: Limits) -> Opened:
    """The texts in a file, by its bytes alone.

    Raises `UnreadableFile` (fault `no_card`, `bad_png_chunk`, `bad_zip`, `unsafe_path`, `encrypted` or
    `unknown_format`), `TooLarge`.
    """
    if file.startswith(png.MAGIC):
        return _png(file, limits)
    if archives.is_zip(file) or file.startswith(archives.START):
        return _zip(file, limits)
    for magic, (what, remedy) in _OTHERS.items():
        if file.startswith(magic):
            raise UnreadableFile(what, fault="unknown_format", remedy=remedy)
    return Opened("json", (Part("the file", lambda: file),))


def payload(text: bytes, limits: Limits) -> bytes:
    """The JSON in a text chunk: base64, also without padding, with line breaks or of the URL alphabet; or plain.

    Raises `UnreadableFile` (fault `bad_png_chunk` or `encrypted`), `TooLarge`.
    """
    text = text.removeprefix(BOM_UTF8).strip()
    if not text.startswith((b"{", b"[", _PROTECTED)):
        text = _BLANKS.sub(b"", text).translate(bytes.maketrans(b"-_", b"+/")).rstrip(b"=")
        _bounded(len(text) * 3 // 4, limits)
        try:
            text = binascii.a2b_base64(text + b"=" * (-len(text) % 4), strict_mode=True)
        except binascii.Error as error:
            raise png.bad_chunk(f"the text of the card is no base64: {error}") from None
    if text.startswith(_PROTECTED):
        raise UnreadableFile(
            "the card is protected by a password of RisuAI",
            fault="encrypted",
            remedy="Open it in RisuAI, and export it again without protection.",
        )
    _bounded(len(text), limits)
    return text


def _png(file: bytes, limits: Limits) -> Opened:
    found = png.chunks(file)
    cut = not found.ended
    named = [(png.keyword(file, chunk), chunk) for chunk in found.texts]
    cards = [(KEYWORDS.index(keyword), keyword, chunk) for keyword, chunk in named if keyword in KEYWORDS]
    if not cards:
        if cut:
            raise png.bad_chunk("the image ends before any card")
        raise UnreadableFile(
            "a PNG image without a card in it",
            fault="no_card",
            remedy="Get the original: many sites and messengers strip the card when they show the picture.",
        )
    parts = []
    for _, keyword, chunk in sorted(cards, key=lambda card: card[0])[:_MOST_PARTS]:
        told = () if png.is_sound(file, chunk) else (_warning("bad_crc", f"the checksum of chunk {keyword} is wrong"),)
        parts.append(Part(f"chunk {keyword}", partial(_from_chunk, file, chunk, limits), told))
    warnings = (_warning("cut_off", "the image ends early; what was cut off is lost"),) if cut else ()
    return Opened("png", tuple(parts), warnings)


def _from_chunk(file: bytes, chunk: png.Chunk, limits: Limits) -> bytes:
    return payload(png.text(file, chunk, limits.unpacked), limits)


def _zip(file: bytes, limits: Limits) -> Opened:
    archive = archives.archive(file)
    card = archive.find("card.json")
    if card is not None:
        return Opened("charx", (Part(card, partial(_member, archive, card, limits)),))
    manifest = archive.find("manifest.json")
    told: Any = decode(_member(archive, manifest, limits)).value if manifest is not None else None
    characters = told.get("characters") if isinstance(told, dict) else None
    if not isinstance(characters, list) or not all(isinstance(each, str) for each in characters):
        raise UnreadableFile("a zip archive that is no card", fault="no_card", remedy=_UNPACK)
    if not characters:
        raise UnreadableFile("an archive without a character", fault="no_card", remedy="Export it again.")
    more = len(characters) - 1
    warnings = (_warning("more_characters", f"only the first character was read, not {more} more"),) if more else ()
    return Opened("byaf", (Part(characters[0], partial(_member, archive, characters[0], limits)),), warnings)


def _member(archive: archives.Archive, name: str, limits: Limits) -> bytes:
    return archive.read(name, min(limits.json, limits.unpacked))


def _bounded(size: int, limits: Limits) -> None:
    if size > limits.json:
        raise TooLarge(
            f"the card holds {size:,} bytes of JSON, and {limits.json:,} is the limit",
            limit=limits.json,
            actual=size,
            remedy="Raise the setting WORLDBOOK_MAX_IMPORT_BYTES if you trust the file.",
        )


def _warning(kind: str, detail: str) -> ImportWarning:
    return ImportWarning(kind=kind, detail=detail)
