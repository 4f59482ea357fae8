"""The socket that the server listens on."""

from __future__ import annotations

import socket
from contextlib import closing

from service.cli.serving import _listening
from service.settings import Settings


def test_answers_are_sent_at_once() -> None:
    """A connection sends small packets at once: else the body of an answer waits 40 ms behind its headers."""
    with (
        _listening(Settings(_env_file=None, port=0), insecure=False) as listener,
        closing(socket.create_connection(listener.getsockname()[:2])),
    ):
        accepted, _ = listener.accept()
        with closing(accepted):
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
