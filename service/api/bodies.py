"""What may come in: bodies of bounded size, strict JSON, one file, and no parameter that the route does not know."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Annotated, Any, BinaryIO

from fastapi import Depends
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope

from service.api.deps import settings_of
from service.api.queueing import begun_in_time
from service.api.refusals import MalformedBody, UnsupportedMediaType
from service.lore.errors import FieldError, Invalid, TooLarge, UnreadableFile
from service.validation import parse_json

JSON_TYPES = ("application/json", "application/merge-patch+json")
MULTIPART = "multipart/form-data"
NDJSON = "application/x-ndjson"
LARGE_BODY = 50_000
"""Bytes from which a body is parsed on a thread, since it would hold up the answers to all others."""
MULTIPART_FRAME = 10_000
"""Bytes that a form may have around its file."""


class StrictRoute(APIRoute):
    """A route that reads its body as strict JSON of bounded size, refuses unknown parameters, and begins in time."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, begun_in_time(endpoint), **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known = frozenset(_query_names(self.dependant))
        reads_json = self.body_field is not None

        async def strictly(request: Request) -> Response:
            _check_parameters(request, known)
            if reads_json:
                request = await _read_json(request)
            return await handle(request)

        return strictly


class _JsonRequest(Request):
    """A request whose body has been read and parsed."""

    def __init__(self, scope: Scope, receive: Receive, body: bytes, value: Any) -> None:
        super().__init__(scope, receive)
        self._body = body
        self._json = value


async def _read_json(request: Request) -> Request:
    if not _has_body(request):
        return _JsonRequest(request.scope, request.receive, b"", None)
    media_type, charset = _content_type(request)
    if media_type not in JSON_TYPES or charset not in {"", "utf-8", "utf8", "us-ascii"}:
        raise UnsupportedMediaType(request.headers.get("content-type", ""), JSON_TYPES)
    _check_encoding(request)
    limit = settings_of(request).max_body_bytes
    body = await _capped(request, limit, "WORLDBOOK_MAX_BODY_BYTES").body()
    try:
        value = parse_json(body) if len(body) < LARGE_BODY else await run_in_threadpool(parse_json, body)
    except UnreadableFile as error:
        raise MalformedBody(error.detail, remedy=error.remedy) from None
    return _JsonRequest(request.scope, request.receive, body, value)


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file that was sent, as a form or as the whole body."""

    data: bytes
    name: str | None


async def uploaded(request: Request) -> Upload:
    """The file of an import: the part `file` of a form, else the body as it is.

    What it is shows later, so it may be as large as a card or as JSON may be, whichever is more.
    """
    _check_encoding(request)
    settings = settings_of(request)
    limit = max(settings.max_import_bytes, settings.max_card_bytes)
    setting = f"WORLDBOOK_MAX_{'IMPORT' if limit == settings.max_import_bytes else 'CARD'}_BYTES"
    if _content_type(request)[0] != MULTIPART:
        return Upload(data=await _capped(request, limit, setting).body(), name=None)
    capped = _capped(request, limit + MULTIPART_FRAME, setting)
    async with capped.form(max_files=1, max_fields=10) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise Invalid([FieldError(pointer="#/file", detail="the form has no file", remedy="name its part 'file'")])
        others = [name for name in form if name != "file"]
        if others:
            raise Invalid([FieldError(pointer=f"#/{name}", detail="is read from the query only") for name in others])
        if file.size is not None and file.size > limit:
            raise _too_large(limit, setting, file.size)
        return Upload(data=await file.read(), name=file.filename)


Uploaded = Annotated[Upload, Depends(uploaded)]


async def spooled(request: Request) -> AsyncIterator[BinaryIO]:
    """A body that is too large for memory, in a file that vanishes with the request."""
    _check_encoding(request)
    if _content_type(request)[0] == MULTIPART:
        raise UnsupportedMediaType(MULTIPART, (NDJSON,))
    capped = _capped(request, settings_of(request).max_backup_bytes, "WORLDBOOK_MAX_BACKUP_BYTES")
    with TemporaryFile() as file:
        async for chunk in capped.stream():
            file.write(chunk)
        yield file


Spooled = Annotated[BinaryIO, Depends(spooled)]

UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The file, as the part `file` of a form or as the whole body. Options stand in the query.",
        "content": {
            MULTIPART: {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            },
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


def _capped(request: Request, limit: int, setting: str) -> Request:
    """The same request, refused once more than `limit` bytes are announced or have come."""
    announced = request.headers.get("content-length", "")
    if announced.isascii() and announced.isdigit() and int(announced[:20]) > limit:
        raise _too_large(limit, setting, int(announced[:20]))
    received = 0

    async def receive() -> Message:
        nonlocal received
        message = await request.receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise _too_large(limit, setting)
        return message

    return Request(request.scope, receive)


def _too_large(limit: int, setting: str, actual: int | None = None) -> TooLarge:
    detail = f"{actual:,} bytes" if actual is not None else "more bytes than allowed"
    return TooLarge(
        f"{detail}, and {limit:,} is the limit",
        limit=limit,
        actual=actual,
        remedy=f"Send less at once, or raise the setting {setting}.",
    )


def _has_body(request: Request) -> bool:
    """RFC 9112, 6.3: a request has a body when one of these headers announces it."""
    return "transfer-encoding" in request.headers or request.headers.get("content-length", "0") != "0"


def _content_type(request: Request) -> tuple[str, str]:
    """Media type and charset in lower case, "" when absent."""
    media_type, *parameters = request.headers.get("content-type", "").lower().split(";")
    pairs = (parameter.partition("=") for parameter in parameters)
    charsets = [value.strip().strip('"') for name, _, value in pairs if name.strip() == "charset"]
    return media_type.strip(), charsets[0] if charsets else ""


def _check_encoding(request: Request) -> None:
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        raise UnsupportedMediaType(f"Content-Encoding: {encoding}", ("the plain bytes",))


def _check_parameters(request: Request, known: frozenset[str]) -> None:
    """A misspelt option that is ignored is the worst fault; NUL is nothing that a database can look for."""
    faults = []
    for name, value in request.query_params.multi_items():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            remedy = f"did you mean {close[0]}?" if close else f"known: {', '.join(sorted(known)) or 'none'}"
            faults.append(FieldError(parameter=name, detail="unknown parameter", remedy=remedy))
        elif "\0" in value:
            faults.append(FieldError(parameter=name, detail="holds a NUL character", remedy="remove %00"))
    faults.extend(
        FieldError(parameter=name, detail="holds a NUL character", remedy="remove %00")
        for name, value in request.path_params.items()
        if "\0" in str(value)
    )
    if faults:
        raise Invalid(faults)


def _query_names(dependant: Any) -> Iterable[str]:
    yield from (field.alias for field in dependant.query_params)
    for dependency in dependant.dependencies:
        yield from _query_names(dependency)
