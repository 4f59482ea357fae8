"""What every request passes first: its id, the hosts and origins that are answered, the limit of the queue, and the
last catch of a fault."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.actions.sortable_ids import sortable_id
from service.api import queueing
from service.api.problems import respond
from service.api.refusals import HostNotAllowed, OriginNotAllowed
from service.lore.errors import WorldbookError

log = logging.getLogger(__name__)

MAX_REQUEST_ID = 200
PROBES = ("/healthz", "/readyz")
"""Probes call by address, and nothing in the answers is worth protecting."""
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_NOSNIFF = (b"x-content-type-options", b"nosniff")
_NO_STORE = (b"cache-control", b"no-store")


def new_request_id() -> str:
    """`rq_` and a ULID; sorts by time."""
    return sortable_id("rq_", time.time_ns() // 1_000_000)


class Gate:
    """ASGI middleware around the application; only the one that adds CORS headers is further out.

    Paths are matched as they were sent, still percent-encoded, so that the key of a host may hold a slash.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        allowed_hosts: Sequence[str],
        origins: Collection[str],
        most_waiting: int,
        longest_wait: float,
    ) -> None:
        self.app = app
        self.most_waiting = most_waiting
        self.longest_wait = longest_wait
        self.allowed_hosts = frozenset(host.lower() for host in allowed_hosts)
        self.origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = _request_id(headers.get("x-request-id", ""))
        sent = _Sent(send, request_id, without_body=scope["method"] == "HEAD")
        scope = {
            **scope,
            "method": "GET" if scope["method"] == "HEAD" else scope["method"],
            "path": scope["raw_path"].decode("utf-8", "replace") if scope.get("raw_path") else scope["path"],
            "state": {**scope.get("state", {}), "request_id": request_id},
        }
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await respond(refusal, request_id)(scope, receive, sent)
            return
        try:
            await self.app(scope, receive, sent)
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            raise
        except ClientDisconnect:
            log.info("%s: the client went away", request_id)
        except BaseException as error:  # a panic in a Rust library is no Exception
            log.exception("%s: %s %s failed", request_id, scope["method"], scope["path"])
            if sent.started:
                raise
            await respond(error, request_id)(scope, receive, sent)

    def _refusal(self, scope: Scope, headers: Headers) -> WorldbookError | None:
        host = headers.get("host", "")
        if scope["path"] in PROBES:
            return None
        if "*" not in self.allowed_hosts and _without_port(host).lower() not in self.allowed_hosts:
            return HostNotAllowed(host)
        origin = headers.get("origin")
        if (
            origin is not None
            and scope["method"] not in SAFE_METHODS
            and origin not in self.origins
            and "*" not in self.origins
            and _authority(origin) != host.lower()
        ):
            return OriginNotAllowed(origin)
        return queueing.enter(most_waiting=self.most_waiting, seconds=self.longest_wait)


class _Sent:
    """`send` with the headers that every answer has, and without the body when nobody asked for one."""

    def __init__(self, send: Send, request_id: str, *, without_body: bool) -> None:
        self.send = send
        self.request_id = request_id.encode("ascii")
        self.without_body = without_body
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = [*message["headers"], (b"x-request-id", self.request_id), _NOSNIFF]
            # An ETag counts edits, not arriving vectors: a browser that stored answers would show stale counts.
            if all(name != b"cache-control" for name, _ in headers):
                headers.append(_NO_STORE)
            message = {**message, "headers": headers}
        elif message["type"] == "http.response.body" and self.without_body:
            message = {**message, "body": b""}
        await self.send(message)


def _request_id(given: str) -> str:
    """The caller's id; our own when there is none, or when it is no line of a log."""
    usable = given.isascii() and given.isprintable() and 0 < len(given) <= MAX_REQUEST_ID
    return given if usable else new_request_id()


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _authority(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
