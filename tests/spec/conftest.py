"""The service as its callers see it: over HTTP, with the instant embedder unless a test brings another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.actions.backlog import Backlog
from service.api.app import create_app
from service.settings import Settings
from tests.spec.embedders import Load
from tests.store.conftest import postgres_url

__all__ = ["postgres_url"]

Serving = Callable[..., AbstractContextManager[TestClient]]


def client_in(folder: Path, load: Load | None = None, **settings: Any) -> TestClient:
    """A client of a service that keeps everything in `folder`; a fault of the service is an answer, no exception."""
    fixed: dict[str, Any] = {
        "data_dir": folder / "data",
        "cache_dir": folder / "cache",
        "model": "hashing",
        "tokenizer": "cl100k_base",
    }
    app = create_app(Settings(_env_file=None, **{**fixed, "embed_timeout": 30.0, **settings}), load=load)
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One service for all tests that bring their own books."""
    with client_in(tmp_path_factory.mktemp("service")) as client:
        yield client


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    """`with serving(load=…, setting=…) as client`: a service on the test's own folder, as often as it is started."""

    def start(load: Load | None = None, **settings: Any) -> TestClient:
        return client_in(tmp_path, load, **settings)

    return start


@pytest.fixture(scope="session")
def multilingual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One service with the default model, unpacked where it always is."""
    folder = tmp_path_factory.mktemp("multilingual")
    with client_in(folder, model="bundled", cache_dir=Settings(_env_file=None).cache_dir) as client:
        yield client


@pytest.fixture
def backlog_begins(monkeypatch: pytest.MonkeyPatch) -> Callable[[TestClient], None]:
    """Nothing is embedded in the background before this is called."""
    begin = Backlog.start
    monkeypatch.setattr(Backlog, "start", lambda _: None)
    return lambda client: begin(client.app_state["runtime"].backlog)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is tried again at once."""
    monkeypatch.setattr("embeddings.encoding._FIRST_PAUSE", 0.0)
    monkeypatch.setattr("service.actions.backlog._LAST_RETRY", 0.01)
