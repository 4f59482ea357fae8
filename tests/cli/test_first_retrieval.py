"""The first retrieval that a newcomer sees."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from embeddings.embedder import Vectors
from service.cli import output, serving
from service.cli.client import Client, hosted, in_process
from service.settings import Settings
from tests.spec.embedders import LONG, Scripted


@contextmanager
def slow_model(folder: Path, ready: threading.Event) -> Iterator[Client]:
    """A service whose retrievals wait 0.05 seconds for a model that answers no query before it is `ready`."""
    model = Scripted()

    def late(vectors: Vectors) -> Vectors:
        assert ready.wait(LONG)
        return vectors

    model.answers = late
    settings = Settings(_env_file=None, data_dir=folder, cache_dir=folder, embed_timeout=0.05)
    with hosted(settings, load=lambda: model) as running, in_process(running) as http:
        try:
            yield Client(lambda: http)
        finally:
            ready.set()


def test_it_waits_for_a_slow_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model too slow for an app is waited for, with a word to the user, until entries are found by meaning."""
    ready, say = threading.Event(), output.say

    def saying(text: str = "") -> None:
        say(text)
        if "not ready" in text:
            ready.set()

    monkeypatch.setattr(serving, "say", saying)
    with slow_model(tmp_path, ready) as client:
        serving._first_retrieval(client)
    shown = capsys.readouterr().out
    assert "the model is not ready for it yet; waiting up to 5 minutes" in shown
    assert "by meaning: rank 1" in shown
    assert "degraded" not in shown


def test_it_does_not_wait_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """When the time is over, the answer by names is shown, and what it lacks."""
    monkeypatch.setattr(serving, "MODEL_SECONDS", 0.0)
    with slow_model(tmp_path, threading.Event()) as client:
        serving._first_retrieval(client)
    shown = capsys.readouterr().out
    assert "“Porta de Sal” stands in message 5" in shown
    assert "degraded: no query vectors within 0.05 s" in shown
