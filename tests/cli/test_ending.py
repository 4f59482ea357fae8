"""How a running service is told to end."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread, main_thread

import httpx
import pytest

from embeddings.hashing import HashingEmbedder
from service.cli.client import hosted
from service.cli.serving import _listening, _serve
from service.settings import Settings


@contextmanager
def noted(number: signal.Signals, listener: socket.socket) -> Iterator[Event]:
    """Once the service answers, a signal that does not interrupt the main thread; set: it had to be interrupted.

    A signal is noted for the main thread whichever thread it reaches, but interrupts only the wait of that one. So this
    one comes as another does that reaches the main thread just before it waits.
    """
    ended, forced = Event(), Event()

    def come() -> None:
        httpx.get(f"http://127.0.0.1:{listener.getsockname()[1]}/healthz", timeout=None).raise_for_status()
        signal.raise_signal(number)
        if not ended.wait(20):
            forced.set()
            signal.pthread_kill(main_thread().ident or 0, number)

    thread = Thread(target=come)
    thread.start()
    try:
        yield forced
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_interrupts_nothing_ends_it(number: signal.Signals) -> None:
    """The service ends at a signal that comes between two moments, and leaves handlers and threads as they were."""
    before = signal.getsignal(number), sys.getswitchinterval()
    settings = Settings(port=0)
    with (
        _listening(settings, insecure=False) as listener,
        hosted(settings, load=HashingEmbedder) as running,
        noted(number, listener) as forced,
    ):
        _serve(running, listener)
    assert not forced.is_set()
    assert (signal.getsignal(number), sys.getswitchinterval()) == before
