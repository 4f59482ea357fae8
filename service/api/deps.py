"""What routes ask for, named once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar, cast
from urllib.parse import unquote

from fastapi import Depends, Header, Path, Query
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from service.actions.idempotency import StoredAnswer, once
from service.actions.runtime import Runtime
from service.lore.book import HostKind
from service.lore.errors import FieldError, Invalid
from service.lore.request import FetchRequest, SearchRequest
from service.lore.scope import PREFIX
from service.settings import Settings
from service.tools.calling import ToolCall

MAX_ENTRY = 2**31 - 1
"""Entry ids are integers of the database; a larger one would be its error."""
_NUMBER = re.compile(r"[0-9]{1,9}")
_STRONG_TAG = re.compile(r'"([0-9]{1,15})"')
_KEPT_HEADERS = ("content-type", "etag", "location")


async def _runtime(request: Request) -> Runtime:
    return runtime_of(request)


def runtime_of(request: Request) -> Runtime:
    """For the routes of every turn: the framework takes longer over each dependency than over all else it does."""
    return cast(Runtime, request.state.runtime)


def settings_of(request: Request) -> Settings:
    """The settings that the service runs with."""
    return runtime_of(request).settings


Rt = Annotated[Runtime, Depends(_runtime)]


def request_id_of(request: Request) -> str:
    """As in `X-Request-Id`."""
    return cast(str, request.state.request_id)


BookId = Annotated[str, Path(alias="book", description="Id of the book.", examples=["bakiru"])]
EntryId = Annotated[
    int, Path(alias="entry", ge=0, le=MAX_ENTRY, description="Number of the entry in its book.", examples=[17])
]


async def _entry_ids(
    ids: Annotated[str, Query(max_length=100_000, description="Numbers of entries.", examples=["3,9"])],
) -> tuple[int, ...]:
    parts = [part.strip() for part in ids.split(",")]
    if not all(_NUMBER.fullmatch(part) for part in parts):
        fault = FieldError(parameter="ids", detail=f"{ids[:80]!r} is no list of entry numbers", remedy="send ids=3,9")
        raise Invalid([fault])
    return tuple(int(part) for part in parts)


EntryIds = Annotated[tuple[int, ...], Depends(_entry_ids)]

Kind = Annotated[HostKind, Path(alias="kind", description="Kind of the host.", examples=["character"])]
Key = Annotated[str, Path(alias="key", description="The app's own id of the host, percent-encoded.", examples=["ilse"])]

Limit = Annotated[int, Query(ge=1, le=200, description="Items a page.")]
Cursor = Annotated[str | None, Query(max_length=2000, description="`next_cursor` of the page before.")]
Search = Annotated[str | None, Query(alias="q", max_length=200, description="Only those whose texts have this.")]


class _Segment(Convertor[str]):
    """One percent-encoded segment of a path; what it encodes may hold a slash."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return unquote(value)

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("segment", _Segment())


def bearer_of(request: Request) -> str | None:
    """The scope that the request carries as bearer (RFC 6750)."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    token = token.strip()
    return token if kind.lower() == "bearer" and token.startswith(PREFIX) else None


async def _bearer_scope(request: Request) -> str | None:
    return bearer_of(request)


BearerScope = Annotated[str | None, Depends(_bearer_scope)]
Scoped = TypeVar("Scoped", FetchRequest, SearchRequest, ToolCall)


def with_scope(asked: Scoped, bearer: str | None) -> Scoped:
    """The request with the scope of its bearer, unless its body has one."""
    return asked if bearer is None or asked.scope is not None else replace(asked, scope=bearer)


async def _if_match(
    request: Request,
    given: Annotated[
        str | None,
        Header(alias="If-Match", description='Change only this version, for example `"41"`.', examples=['"41"']),
    ] = None,
) -> int | None:
    if given is None or given.strip() == "*":
        return None
    tag = _STRONG_TAG.fullmatch(given.strip())
    if tag is None:
        fault = FieldError(
            parameter="If-Match",
            detail=f"{given!r} is not the ETag of a version",
            remedy='send the ETag of the last read as it came, with its quotes: "41"',
        )
        raise Invalid([fault])
    return int(tag[1])


IfMatch = Annotated[int | None, Depends(_if_match)]

IfNoneMatch = Annotated[
    str | None,
    Header(alias="If-None-Match", description="The ETag that you have; 304 when it is still the version."),
]


@dataclass(frozen=True)
class Once:
    """Runs what a POST does once per Idempotency-Key, and repeats its answer."""

    runtime: Runtime
    key: str | None
    route: str
    content: bytes
    """What makes two requests to a route the same."""

    def __call__(self, act: Callable[[], Response]) -> Response:
        if self.key is None:
            return act()
        digest = hashlib.sha256(self.content).hexdigest()
        answer, replayed = once(self.runtime, self.key, self.route, digest, lambda: _stored(act()))
        response = Response(answer.body, status_code=answer.status, headers=dict(answer.headers))
        if replayed:
            response.headers["Idempotent-Replayed"] = "true"
        return response


def _stored(response: Response) -> StoredAnswer:
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    return StoredAnswer(status=response.status_code, headers=headers, body=bytes(response.body))


IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="Any text of yours: the same request with the same key within 24 hours is done once.",
    ),
]


async def _json_once(request: Request, runtime: Rt, key: IdempotencyKey = None) -> Once:
    return Once(runtime, key, route_of(request), await request.body())


JsonOnce = Annotated[Once, Depends(_json_once)]


def route_of(request: Request) -> str:
    return f"{request.method} {request.url.path}?{request.url.query}"
