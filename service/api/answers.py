"""How values are answered: JSON straight from the domain type, with its version as ETag."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from service.lore.book import Book, Entry
from service.validation import adapter

_TAG = re.compile(r'(?:W/)?"([^"]*)"')


def as_json(value: object, *, kind: Any = None, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """`value` in one step from dataclass to bytes; `kind` only where the type of the value does not say it all."""
    body = adapter(kind or type(value)).dump_json(value)
    return Response(body, status_code=status, headers=headers, media_type="application/json")


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
    """A download under its name (RFC 6266: an ASCII name for old clients, the true one encoded)."""
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", name)
    disposition = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return Response(data, headers={"Content-Disposition": disposition}, media_type=media_type)
