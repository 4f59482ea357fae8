"""The real application over a database of its own and the hashing embedder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from service.api.app import create_app
from service.settings import Settings

_numbers = count()


def settings_in(folder: Path, **changes: Any) -> Settings:
    """Settings that touch nothing outside of `folder`."""
    return Settings(_env_file=None, data_dir=folder / "data", cache_dir=folder / "cache", model="hashing", **changes)


def client_of(app: FastAPI) -> TestClient:
    """A client on loopback that sees what a caller sees: a fault of the service is an answer, no exception."""
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One service for all tests that bring their own books."""
    with client_of(create_app(settings_in(tmp_path_factory.mktemp("service")))) as client:
        client.app_state["runtime"].encoder.embed_queries(["wait until the model is loaded"])
        yield client


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Callable[..., TestClient]]:
    """Starts a service with other settings."""
    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(client_of(create_app(settings_in(tmp_path, **changes))))


@pytest.fixture
def new_book(client: TestClient) -> Callable[..., dict[str, Any]]:
    """Creates a book of a name that nobody has."""

    def create(*titles: str, **fields: Any) -> dict[str, Any]:
        entries = [{"title": title, "content": f"All about {title}."} for title in titles]
        body = {"name": f"Book {next(_numbers)}", "entries": entries, **fields}
        answer = client.post("/v1/books", json=body)
        assert answer.status_code == 201, answer.text
        book: dict[str, Any] = answer.json()
        return book

    return create
