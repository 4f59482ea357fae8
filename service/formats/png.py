"""PNG files as chunks: texts out of them, texts into them, and everything else left as it is.

Source: PNG (W3C, third edition), 5.3 (chunk layout) and 11.3.3 (textual information). Readers of images fetch chunks
lazily and stop early; cards stand behind the pixels, so the chunks are walked here.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from service.lore.errors import TooLarge, UnreadableFile

MAGIC = b"\x89PNG\r\n\x1a\n"
MAX_CHUNKS = 50_000
TEXTS = (b"tEXt", b"zTXt", b"iTXt")
_LONGEST_KEYWORD = 79
_STEP = 65_536


@dataclass(frozen=True, slots=True)
class Chunk:
    """Where a chunk stands in the file: its data is `file[start:end]`, between a head of 8 bytes and a CRC of 4."""

    kind: bytes
    start: int
    end: int


@dataclass(frozen=True)
class Chunks:
    """The text chunks of a file, and how it ends."""

    texts: tuple[Chunk, ...]
    end: int
    """Where IEND begins; without one, where the last whole chunk ends."""
    ended: bool
    """Whether there is an IEND."""
    cut: Chunk | None
    """A chunk that would end behind the end of the file."""


def chunks(file: bytes) -> Chunks:
    """The chunks up to IEND; what stands behind is no part of the image.

    Raises `UnreadableFile` (fault `bad_png_chunk`) for more chunks than any image has.
    """
    texts: list[Chunk] = []
    at = len(MAGIC)
    for _ in range(MAX_CHUNKS):
        kind = file[at + 4 : at + 8]
        if len(kind) < 4 or not (kind.isascii() and kind.isalpha()):
            return Chunks(tuple(texts), at, ended=False, cut=None)
        chunk = Chunk(kind, at + 8, at + 8 + int.from_bytes(file[at : at + 4]))
        if kind == b"IEND":
            return Chunks(tuple(texts), at, ended=True, cut=None)
        if chunk.end + 4 > len(file):
            return Chunks(tuple(texts), at, ended=False, cut=chunk)
        if kind in TEXTS:
            texts.append(chunk)
        at = chunk.end + 4
    raise bad_chunk(f"more than {MAX_CHUNKS:,} chunks")


def keyword(file: bytes, chunk: Chunk) -> str:
    """What a text chunk says it holds, in lower case."""
    head = file[chunk.start : min(chunk.end, chunk.start + _LONGEST_KEYWORD + 1)]
    return head.split(b"\0", 1)[0].decode("latin-1").lower()


def is_sound(file: bytes, chunk: Chunk) -> bool:
    """Whether the checksum is that of the chunk."""
    stated = int.from_bytes(file[chunk.end : chunk.end + 4])
    return zlib.crc32(memoryview(file)[chunk.start - 4 : chunk.end]) == stated


def text(file: bytes, chunk: Chunk, limit: int) -> bytes:
    """The text of a tEXt, zTXt or iTXt chunk, unpacked.

    Raises `UnreadableFile` (fault `bad_png_chunk`), `TooLarge` beyond `limit` bytes before they are allocated.
    """
    name, nul, rest = file[chunk.start : chunk.end].partition(b"\0")
    shown = f"{chunk.kind.decode()} {name[:_LONGEST_KEYWORD].decode('latin-1')}"
    if not nul:
        raise bad_chunk(f"chunk {shown} has no text")
    packed = chunk.kind == b"zTXt"
    if packed:
        rest = rest[1:]  # the method, of which there is only one
    elif chunk.kind == b"iTXt":
        packed = rest[:1] == b"\1"
        parts = rest[2:].split(b"\0", 2)
        if len(parts) < 3:
            raise bad_chunk(f"chunk {shown} has no text")
        rest = parts[2]
    return _inflated(rest, limit, shown) if packed else rest


def with_texts(file: bytes, found: Chunks, texts: Iterable[tuple[str, bytes]], instead_of: Iterable[Chunk]) -> bytes:
    """The file without the chunks `instead_of`, and with these texts as tEXt chunks before IEND; all else untouched.

    `found` are its chunks. Raises `UnreadableFile` (fault `bad_png_chunk`) when the file is cut off inside a chunk.
    """
    if found.cut is not None:
        raise bad_chunk("the image is cut off")
    kept: list[bytes] = []
    at = 0
    for chunk in instead_of:
        kept.append(file[at : chunk.start - 8])
        at = chunk.end + 4
    added = [_chunk(b"tEXt", name.encode("latin-1") + b"\0" + told) for name, told in texts]
    end = [] if found.ended else [_chunk(b"IEND", b"")]
    return b"".join([*kept, file[at : found.end], *added, *end, file[found.end :]])


def bad_chunk(detail: str) -> UnreadableFile:
    """For an image of which a chunk cannot be read."""
    remedy = "The file is damaged: download it again, as a file and not as a preview."
    return UnreadableFile(detail, fault="bad_png_chunk", remedy=remedy)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)


def _inflated(data: bytes, limit: int, shown: str) -> bytes:
    """What a zlib stream unpacks to; it is counted first, so that a bomb is never held."""
    engine = zlib.decompressobj()
    size, left = 0, data
    try:
        while not engine.eof:
            piece = engine.decompress(left, _STEP)
            size += len(piece)
            if size > limit:
                raise TooLarge(
                    f"chunk {shown} unpacks to more than {limit:,} bytes",
                    limit=limit,
                    remedy="Raise the setting WORLDBOOK_MAX_UNPACKED_BYTES if you trust the file.",
                )
            left = engine.unconsumed_tail
            if not left and not piece:
                raise bad_chunk(f"chunk {shown} ends inside its compressed text")
        return zlib.decompress(data[: len(data) - len(engine.unused_data)], bufsize=max(size, 1))
    except zlib.error as error:
        raise bad_chunk(f"chunk {shown} cannot be unpacked: {error}") from None
