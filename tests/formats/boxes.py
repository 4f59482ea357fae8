"""Containers built by hand: PNG chunk by chunk, archives with the standard library."""

from __future__ import annotations

import base64
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
"""One grey pixel."""
PIXELS = zlib.compress(b"\0\x7f")

Chunk = tuple[bytes, bytes]


def chunk(kind: bytes, data: bytes, crc: int | None = None) -> bytes:
    """A chunk with its length and its checksum, or with another one."""
    return (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data) if crc is None else crc)
    )


def png(*before: bytes, behind: tuple[bytes, ...] = (), end: bytes | None = None) -> bytes:
    """An image of one pixel with these chunks before and behind its pixels."""
    last = chunk(b"IEND", b"") if end is None else end
    return b"".join([SIGNATURE, chunk(b"IHDR", HEADER), *before, chunk(b"IDAT", PIXELS), *behind, last])


def encoded(data: bytes) -> bytes:
    """A text as cards have it."""
    return base64.b64encode(data)


def based(value: Any) -> bytes:
    """JSON in base64."""
    return encoded(json.dumps(value, ensure_ascii=False).encode())


def text(keyword: str, payload: bytes, **crc: int) -> bytes:
    """A tEXt chunk."""
    return chunk(b"tEXt", keyword.encode() + b"\0" + payload, **crc)


def ztxt(keyword: str, payload: bytes) -> bytes:
    """A zTXt chunk."""
    return chunk(b"zTXt", keyword.encode() + b"\0\0" + zlib.compress(payload))


def itxt(keyword: str, payload: bytes, *, packed: bool = False) -> bytes:
    """An iTXt chunk with a language and a translated keyword."""
    body = zlib.compress(payload) if packed else payload
    return chunk(b"iTXt", keyword.encode() + b"\0" + bytes([packed, 0]) + b"en\0Karte\0" + body)


def archive(members: Mapping[str, Any], *, before: bytes = b"", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive, behind other bytes if wanted, the same bytes at any time; what is no bytes goes in as JSON."""
    file = io.BytesIO(before)
    file.seek(0, io.SEEK_END)
    with zipfile.ZipFile(file, "a" if before else "w", method) as opened:
        for name, content in members.items():
            undated = zipfile.ZipInfo(name)
            opened.writestr(undated, content if isinstance(content, bytes) else json.dumps(content), method)
    return file.getvalue()


def entry(content: str = "The warden.", *keys: str, **more: Any) -> dict[str, Any]:
    """An entry of a V2 character book."""
    return {
        "keys": list(keys or ("Oru",)), "content": content, "enabled": True, "insertion_order": 100, "extensions": {},
        **more,
    }  # fmt: skip


def card(*entries: Any, version: int = 2, character: str = "Ilse", **book: Any) -> dict[str, Any]:
    """A card of V2 or V3; without entries it has no book."""
    data: dict[str, Any] = {"name": character, "first_mes": "Hello.", "extensions": {"x_card": 1}, "tags": ["a"]}
    if entries:
        data["character_book"] = {"extensions": {}, **book, "entries": list(entries)}
    return {"spec": f"chara_card_v{version}", "spec_version": f"{version}.0", "data": data}
