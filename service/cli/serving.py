"""Start the service: alone, or with the sample world and a first retrieval."""

from __future__ import annotations

import errno
import gc
import ipaddress
import json
import logging
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import wait
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from service.cli import options, showing, transfer
from service.cli.client import MODEL_SECONDS, POLL_SECONDS, Client, Hosted, configured, hosted, in_process
from service.cli.failures import Failure
from service.cli.output import say

if TYPE_CHECKING:
    from embeddings.embedder import Embedder
    from service.settings import Settings

SAMPLE_HOST = "character:ilse"
"""Whom the sample world is attached to, and who speaks in its chat."""
SHUTDOWN_SECONDS = 10
"""How long requests that are still running may take when the service is told to end."""
SWITCH_SECONDS = 0.001
"""How long a thread may keep the interpreter while another waits for it. The model's thread wants it back after each of
a hundred operations a query, and at Python's 5 ms it loses more to many requests at once than it computes
(`sixteen_over_one` of `python -m benchmarks.speed serve`)."""
SIGNAL_SECONDS = 0.5
"""How long a signal may go unseen when it comes at the wrong moment."""


def _where(command: Any) -> Any:
    for option in (
        click.option("--insecure", is_flag=True, help="Listen beyond this machine although there are no keys."),
        click.option("--port", type=click.IntRange(0, 65535), help="Default: WORLDBOOK_PORT or 8420; 0: any free one."),
        click.option("--host", help="Default: WORLDBOOK_HOST or 127.0.0.1."),
    ):
        command = option(command)
    return command


@click.command()
@_where
def serve(host: str | None, port: int | None, insecure: bool) -> None:
    """Run the service until Ctrl-C."""
    settings = _settings(host, port)
    with _listening(settings, insecure=insecure) as listener, _hosted(settings) as running:
        _serve(running, listener)


@click.command()
@_where
def demo(host: str | None, port: int | None, insecure: bool) -> None:
    """Show a first retrieval, then run the service.

    The sample world is imported when it is not there.
    """
    settings = _settings(host, port)
    with _listening(settings, insecure=insecure) as listener, _hosted(settings) as running:
        with in_process(running) as http:
            _first_retrieval(Client(lambda: http))
        say()
        _serve(running, listener)


def _hosted(settings: Settings) -> AbstractContextManager[Hosted]:
    return hosted(settings, load=partial(load_for_good, settings))


def load_for_good(settings: Settings) -> Embedder:
    """The embedder of the settings; what was made until then is never again looked at for garbage.

    A full collection stops all threads. With the objects of the model and of the libraries in it, which stay as long as
    the process, it takes a tenth of a second and more, some ten times while they are loaded and then every few hundred
    requests.
    """
    from service.actions.loading import load_embedder

    gc.disable()
    try:
        embedder = load_embedder(settings)
        gc.collect()  # what is garbage now would otherwise stay for good
        gc.freeze()
    finally:
        gc.enable()
    return embedder


def _first_retrieval(client: Client) -> None:
    from importlib.resources import files

    from service import sample

    name = json.loads(sample.world())["name"]
    found = [book["id"] for book in client.items("/v1/books", q=name) if book["name"] == name]
    if not found:
        report = transfer.import_file(client, sample.world(), "salt-coast.json")
        transfer.show_report(report)
        found = [report["book"]["id"]]
    client.call("PUT", f"{options.host_path(SAMPLE_HOST)}/attachments/{found[0]}", json={"label": None})
    try:
        transfer.wait_for_vectors(client, found[0])
    except Failure as failure:
        failure.show()  # names are found all the same
    messages = json.loads(files(sample).joinpath("chat.json").read_bytes())
    say(f"\nThe chat is in French, the lore in six other languages. {messages[-1]['name']} says:")
    say(f"  {messages[-1]['content']}")
    body = {"hosts": [SAMPLE_HOST], "messages": messages, "texts": "sections"}
    showing.show_sections(_answered_by_meaning(client, body))


def _answered_by_meaning(client: Client, body: Mapping[str, Any]) -> Any:
    """The first answer that is not too early for the model; after `MODEL_SECONDS` the one that there is.

    An app takes what comes within WORLDBOOK_EMBED_TIMEOUT. Who sees the first retrieval of all would take a model that
    is still loading, or a busy machine, for how well entries are found.
    """
    deadline = time.monotonic() + MODEL_SECONDS
    answer = client.call("POST", "/v1/retrieve", json=body)
    if _too_early(answer):
        say(f"  (the model is not ready for it yet; waiting up to {MODEL_SECONDS / 60:.0f} minutes)")
    while _too_early(answer) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        answer = client.call("POST", "/v1/retrieve", json=body)
    return answer


def _too_early(answer: Mapping[str, Any]) -> bool:
    return any(each["kind"] == "timeout" for each in answer["degraded"])


def _settings(host: str | None, port: int | None) -> Settings:
    settings = configured()
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return settings.model_copy(update=given)


@contextmanager
def _listening(settings: Settings, *, insecure: bool) -> Iterator[socket.socket]:
    """The socket, before anything else is started. Raises `Failure` when it cannot or should not be had."""
    host, port = settings.host, settings.port
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise Failure(f"'{host}' is no address of this machine: {error.strerror}") from None
    if not (insecure or ipaddress.ip_address(address[0]).is_loopback):
        raise Failure(
            f"{host} can be reached from other machines, and the service has no keys yet: "
            "everyone there could read and change every book",
            remedy="Listen on 127.0.0.1, or say --insecure if the network itself keeps strangers out.",
        )
    try:
        listener = socket.create_server(address[:2], family=family)
        # Connections inherit it. asyncio sets it only on sockets whose protocol is named, and then the second packet of
        # an answer waits 40 ms for the caller to acknowledge the first.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Failure(
                f"port {port} of {host} is in use",
                remedy="Stop what uses it, or choose another with --port or WORLDBOOK_PORT.",
            ) from None
        raise Failure(f"cannot listen on {host}, port {port}: {error.strerror}") from None
    with listener:
        yield listener


def _announce(settings: Settings, listener: socket.socket) -> None:
    from sqlalchemy import make_url

    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - shown, not bound
    url = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"
    database = make_url(settings.url)
    say(f"Data: {database.database if database.get_backend_name() == 'sqlite' else database}")
    if not ipaddress.ip_address(host).is_loopback:
        say(f"Answers only to these names, see WORLDBOOK_ALLOWED_HOSTS: {', '.join(settings.allowed_hosts)}")
    say(f"Worldbook runs at {url}, its interactive docs at {url}/docs. Ctrl-C ends it.")


def _serve(running: Hosted, listener: socket.socket) -> None:
    """Answer requests until SIGINT or SIGTERM; requests that are running then may end, unless SIGINT comes again."""
    import uvicorn

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    config = uvicorn.Config(
        running.app, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=SHUTDOWN_SECONDS
    )
    server = uvicorn.Server(config)
    with _handled(server.handle_exit), _switching():
        # The server lives on the event loop of the application; this thread only waits for signals.
        ended = running.portal.start_task_soon(server.serve, [listener])
        _announce(running.settings, listener)
        while not ended.done():
            # A signal that comes as the wait begins is only noted, so a wait without an end might miss it for good.
            wait([ended], timeout=SIGNAL_SECONDS)
    ended.result()


@contextmanager
def _switching() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def _handled(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """SIGINT and SIGTERM are handled so; an exception in their stead could come in the middle of anything."""
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
