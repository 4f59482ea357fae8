"""How values are answered: JSON straight from the domain type, with its version as ETag."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import SEEK_END
from typing import BinaryIO
from urllib.parse import quote

import orjson
from starlette.responses import Response, StreamingResponse

from service.lore.book import Book, Entry

_CHUNK = 262_144
_TAG = re.compile(r'(?:W/)?"([^"]*)"')


def as_json(value: object, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """`value` in one step from dataclass to bytes, all of its fields."""
    # The bytes that pydantic writes, sooner: the answer of a full trace has thousands of dataclasses. Cached
    # properties of a dataclass would be written too, so what is answered has none.
    return Response(orjson.dumps(value), status_code=status, headers=headers, media_type="application/json")


def versioned(value: Book | Entry, seen: str | None = None) -> Response:
    """A book or entry with its ETag; 304 without a body when the caller has `seen` this version."""
    tag = f'"{value.version}"'
    if seen is not None and (seen.strip() == "*" or str(value.version) in _TAG.findall(seen)):
        return Response(status_code=304, headers={"ETag": tag})
    return as_json(value, headers={"ETag": tag})


def created(value: Book | Entry, location: str) -> Response:
    """A new book or entry: where it is, and its ETag."""
    return as_json(value, status=201, headers={"ETag": f'"{value.version}"', "Location": location})


def as_file(data: bytes, name: str, media_type: str) -> Response:
    """A download under its name."""
    return Response(data, headers={"Content-Disposition": _disposition(name)}, media_type=media_type)


def as_large_file(file: BinaryIO, name: str, media_type: str) -> Response:
    """The same for a file on the disk, which is closed once it has been sent."""
    headers = {"Content-Disposition": _disposition(name), "Content-Length": str(file.seek(0, SEEK_END))}
    return StreamingResponse(_chunks(file), headers=headers, media_type=media_type)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while chunk := file.read(_CHUNK):
            yield chunk


def _disposition(name: str) -> str:
    """RFC 6266: an ASCII name for old clients, the true one encoded."""
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
