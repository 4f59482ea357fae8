"""One way to the service: over the network, or to the application itself in this process.

Both answer through the same `httpx.Client`; only the transport differs, so commands see the same bodies and problems.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

import click

from service.cli.failures import Failure, Problem, another_kind, body_of, plainly

if TYPE_CHECKING:
    import httpx
    from anyio.from_thread import BlockingPortal
    from starlette.types import ASGIApp

    from embeddings.embedder import Embedder
    from service.settings import Settings

TIMEOUT_SECONDS = 90.0
"""Longer than an import waits for its vectors."""
MODEL_SECONDS = 300.0
"""For loading the model; the first time, it is unpacked too."""
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Hosted:
    """The application, started in this process, and the portal to the event loop that it lives on."""

    app: ASGIApp
    portal: BlockingPortal
    settings: Settings


class Client:
    """Calls of the API: JSON in, JSON out, a `Problem` for everything else.

    The connection is made at the first call, so that wrong usage is told before anything is started.
    """

    def __init__(self, connect: Callable[[], httpx.Client], *, knows_vectors: bool = True) -> None:
        self._connect = connect
        self.knows_vectors = knows_vectors
        """Whether the service has a model: without one, it takes every vector for missing."""

    @cached_property
    def http(self) -> httpx.Client:
        return self._connect()

    def get(self, path: str, **params: Any) -> Any:
        return self.call("GET", path, params=params)

    def call(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        files: Mapping[str, Any] | None = None,
    ) -> Any:
        """The body of the answer. Parameters that are None are left out. Raises `Problem`."""
        response = self.send(method, path, json=json, params=params, headers=headers, files=files)
        return body_of(response) if response.content else None

    def send(
        self, method: str, path: str, *, params: Mapping[str, Any] | None = None, **options: Any
    ) -> httpx.Response:
        """The whole answer, for what is no JSON."""
        given = {name: value for name, value in (params or {}).items() if value is not None}
        with self._reaching():
            response = self.http.request(method, path, params=given, **options)
        if response.is_error:
            raise Problem.of(response)
        return response

    def download(self, path: str, file: IO[bytes]) -> None:
        """The answer, which is lines of JSON, into a file, piece by piece over a network, however long that takes."""
        with self._reaching(), self.http.stream("GET", path, timeout=None) as response:
            if response.is_error:
                response.read()
                raise Problem.of(response)
            if not response.headers.get("Content-Type", "").startswith("application/x-ndjson"):
                raise another_kind(response)
            for piece in response.iter_bytes():
                file.write(piece)

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        import httpx

        try:
            yield
        except httpx.RequestError as error:
            raise Failure(
                f"no service answers at {self.http.base_url}: {error}",
                remedy="Start it with `worldbook serve`, or leave out --url to work on the database itself.",
            ) from None

    def items(self, path: str, **params: Any) -> Iterator[Any]:
        """The items of a list, page after page."""
        cursor = None
        while True:
            page = self.get(path, cursor=cursor, **params)
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return


@contextmanager
def connected(url: str | None, *, model: bool) -> Iterator[Client]:
    """A client of the service at `url`; without one, of the application on the configured database.

    Most commands need no model, and loading one takes longer than all they do; `model` is for the others.
    """
    if url is not None and "://" not in url:
        raise click.BadParameter(f"'{url}' is no address; for example http://127.0.0.1:8420", param_hint="--url")
    with ExitStack() as stack:

        def connect() -> httpx.Client:
            import httpx

            if url is not None:
                try:
                    return stack.enter_context(httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS))
                except httpx.InvalidURL as error:
                    remedy = "Correct it in --url or WORLDBOOK_URL; for example http://127.0.0.1:8420."
                    raise Failure(f"'{url}' is no address: {error}", remedy=remedy) from None
            stack.enter_context(_quiet())
            host = stack.enter_context(hosted(load=None if model else _no_model))
            http = stack.enter_context(in_process(host))
            if model:
                _await_model(http)
            return http

        yield Client(connect, knows_vectors=model or url is not None)


@contextmanager
def hosted(settings: Settings | None = None, *, load: Callable[[], Embedder] | None = None) -> Iterator[Hosted]:
    """The application in this process, from its start-up to its shutdown. What it cannot start with is a `Failure`.

    `load` makes the embedder instead of the setting `model`.
    """
    from anyio.from_thread import start_blocking_portal
    from starlette.types import Receive, Scope, Send

    settings = settings or configured()
    from service.api.app import create_app

    with plainly():
        app = create_app(settings, load=load)

        async def with_state(scope: Scope, receive: Receive, send: Send) -> None:
            scope["state"] = dict(state)
            await app(scope, receive, send)

        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(app.router.lifespan_context(app)) as opened,
        ):
            state: Mapping[str, Any] = opened or {}
            yield Hosted(with_state, portal, settings)


def in_process(host: Hosted) -> httpx.Client:
    """A client that calls the application without a network."""
    import httpx

    inner = httpx.ASGITransport(app=host.app, raise_app_exceptions=False)

    class InProcess(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            request.read()  # only what is in memory can be read by the event loop
            return host.portal.call(self._answer, request)

        @staticmethod
        async def _answer(request: httpx.Request) -> httpx.Response:
            answer = await inner.handle_async_request(request)
            return httpx.Response(answer.status_code, headers=answer.headers, content=await answer.aread())

    name = next((name for name in host.settings.allowed_hosts if name != "*"), "localhost")
    return httpx.Client(transport=InProcess(), base_url=f"http://{name}", timeout=None)  # noqa: S113 - no network


def _await_model(http: httpx.Client) -> None:
    deadline = time.monotonic() + MODEL_SECONDS
    while http.get("/v1").json()["embedding"]["state"] == "loading" and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def _no_model() -> Embedder:
    from embeddings.embedder import EmbedderError

    raise EmbedderError("this command needs no model")


@contextmanager
def _quiet() -> Iterator[None]:
    """What a service would log is nothing to a command: problems are answered, a model's absence is `degraded`."""
    logs = [logging.getLogger(name) for name in ("service", "embeddings")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


def configured() -> Settings:
    """The settings of this machine. Raises `Failure` naming the variable that is wrong."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from service.settings import Settings

    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(f"WORLDBOOK_{'_'.join(map(str, e['loc'])).upper()}: {e['msg']}" for e in error.errors())
    except SettingsError as error:
        wrong = f"{error}; lists are JSON"
    raise Failure(f"a setting is wrong: {wrong}", remedy="Correct it in the environment or in .env.")
