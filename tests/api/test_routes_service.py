"""The service about itself."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from fastapi.testclient import TestClient

from embeddings.embedder import Embedder, EmbedderError
from service.actions import editing_books
from service.api.app import create_app
from service.formats import NAMES, WRITTEN
from service.lore.errors import Unavailable
from service.settings import Settings


@pytest.fixture
def without_model(tmp_path: Path) -> Callable[[Callable[[], Embedder]], TestClient]:
    """A client of a service whose embedder is loaded so."""
    return lambda load: TestClient(
        create_app(Settings(_env_file=None, data_dir=tmp_path, cache_dir=tmp_path), load=load),
        base_url="http://127.0.0.1",
    )


def test_what_it_can_do(client: TestClient) -> None:
    """GET /v1 names versions, limits, formats, tokenizers and the state of the model."""
    told = client.get("/v1").json()
    assert told["api"] == "v1"
    assert told["limits"]["entries"] == 10_000
    assert told["formats"] == list(NAMES)
    assert told["export_formats"] == [*WRITTEN, "png", "charx"]
    assert told["default_tokenizer"] in told["tokenizers"]
    assert told["dialects"] == ["world", "server", "chat", "sillytavern"]
    assert client.get("/openapi.json").json()["info"]["version"] == told["version"]


def test_the_root_leads_to_the_docs(client: TestClient) -> None:
    """Whoever opens the address of the service in a browser comes to its docs."""
    answer = client.get("/", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/docs")


def test_limits_are_the_settings(service: Callable[..., TestClient]) -> None:
    """GET /v1 tells the limits that the settings say."""
    client = service(max_entries=7, max_body_bytes=900, max_card_bytes=8, max_unpacked_bytes=9)
    limits = client.get("/v1").json()["limits"]
    assert (limits["entries"], limits["body_bytes"]) == (7, 900)
    assert (limits["card_bytes"], limits["unpacked_bytes"]) == (8, 9)


def test_alive_without_anything(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """/healthz asks neither database nor model."""
    runtime = client.app_state["runtime"]
    monkeypatch.setitem(client.app_state, "runtime", None)
    assert client.get("/healthz").text == "ok"
    monkeypatch.setitem(client.app_state, "runtime", runtime)
    told = client.get("/readyz").json()
    assert (told["status"], [why.partition(":")[0] for why in told["degraded"]]) == (
        "ready",
        ["hashing is not calibrated"],
    )


def test_alive_while_all_threads_are_taken(service: Callable[..., TestClient]) -> None:
    """C02: /healthz answers while every thread of the pool is busy."""
    client = service(threads=1)
    began, go_on = Event(), Event()

    def slowly(*_: object, **__: object) -> None:
        began.set()
        assert go_on.wait(30)
        raise Unavailable("enough")

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as pool:
        patch.setattr(editing_books, "list_books", slowly)
        waiting = pool.submit(client.get, "/v1/books")
        assert began.wait(30)
        assert client.get("/healthz").status_code == 200
        go_on.set()
        assert waiting.result().status_code == 503


def test_not_ready_without_the_database(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """/readyz fails when the database cannot be reached."""

    def fail(*_: object, **__: object) -> None:
        raise Unavailable("the database is gone")

    monkeypatch.setattr(editing_books, "list_books", fail)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/overloaded")


def test_ready_without_a_model(without_model: Callable[[Callable[[], Embedder]], TestClient]) -> None:
    """B6: a model that cannot be loaded leaves the service ready, degraded, and able to answer by name."""

    def load() -> Embedder:
        raise EmbedderError("no such model")

    with without_model(load) as client:
        book = client.post("/v1/books", json={"name": "a", "entries": [{"title": "Oru", "content": "c"}]}).json()
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "ready")
        assert len(ready.json()["degraded"]) == 1
        with pytest.raises(EmbedderError):
            client.app_state["runtime"].encoder.embed_queries(["wait until loading has failed"])
        embedding = client.get("/v1").json()["embedding"]
        assert (embedding["state"], embedding["space"]) == ("failed", None)
        assert "no such model" in embedding["detail"]
        assert "no such model" in client.get("/readyz").json()["degraded"][0]
        asked = {"books": [book["id"]], "messages": [{"role": "user", "content": "Who is Oru?"}], "budget_tokens": 0}
        answer = client.post("/v1/retrieve", json=asked)
        assert answer.status_code == 200
        assert answer.json()["degraded"][0]["kind"] == "embedder_unavailable"
