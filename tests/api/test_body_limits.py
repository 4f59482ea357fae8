"""Bodies are refused before they are read whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from fastapi.testclient import TestClient
from starlette.types import Message

JSON = {"Content-Type": "application/json"}
CHUNK = b"x" * 1000


def post_endlessly(client: TestClient, path: str, headers: dict[str, str]) -> tuple[int, dict[str, Any], int]:
    """Post chunks without end, straight to the application; answers status, problem and the bytes taken."""
    taken = 0
    sent: list[Message] = []

    async def receive() -> Message:
        nonlocal taken
        taken += len(CHUNK)
        return {"type": "http.request", "body": CHUNK, "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [
            (name.lower().encode(), value.encode())
            for name, value in {"Host": "localhost", "Transfer-Encoding": "chunked", **headers}.items()
        ],
        "state": dict(client.app_state),
    }
    assert client.portal is not None
    client.portal.call(client.app, scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], orjson.loads(body), taken


def test_an_announced_body_is_refused_unread(service: Callable[..., TestClient]) -> None:
    """A Content-Length above the limit is refused with limit and size, whatever the body is."""
    client = service(max_body_bytes=10_000)
    answer = client.post("/v1/books", content=b"{" + b" " * 10_000, headers=JSON)
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (413, "/problems/too-large")
    assert (problem["limit"], problem["actual"]) == (10_000, 10_001)
    assert "WORLDBOOK_MAX_BODY_BYTES" in problem["remedy"]


def test_a_body_at_the_limit_is_read(service: Callable[..., TestClient]) -> None:
    """A body of exactly as many bytes as allowed is read."""
    body = b'{"name": "Salt"}'
    client = service(max_body_bytes=len(body))
    assert client.post("/v1/books", content=body, headers=JSON).status_code == 201


@pytest.mark.parametrize(
    ("path", "headers", "setting"),
    [("/v1/books", JSON, "WORLDBOOK_MAX_BODY_BYTES"), ("/v1/books/import", {}, "WORLDBOOK_MAX_CARD_BYTES")],
)
def test_a_streamed_body_is_cut_off(
    service: Callable[..., TestClient], path: str, headers: dict[str, str], setting: str
) -> None:
    """A body that announces no length is refused as soon as it has sent too much; the rest is never taken."""
    client = service(max_body_bytes=5_000, max_import_bytes=4_000, max_card_bytes=5_000)
    status, problem, taken = post_endlessly(client, path, headers)
    assert (status, problem["type"], problem["actual"]) == (413, "/problems/too-large", None)
    assert setting in problem["remedy"]
    assert taken == 6_000


def test_an_import_has_a_limit_of_its_own(service: Callable[..., TestClient], small_file: bytes) -> None:
    """A file larger than a body may be, and not larger than an import may be, is imported."""
    client = service(max_body_bytes=10, max_import_bytes=len(small_file))
    assert client.post("/v1/books/import", content=small_file).status_code == 201
    too_large = client.post("/v1/books/import", content=small_file + b" ")
    assert (too_large.status_code, too_large.json()["limit"]) == (413, len(small_file))


def test_a_form_is_cut_off(service: Callable[..., TestClient]) -> None:
    """A form whose file is too large is refused, however it is framed."""
    client = service(max_import_bytes=1_000)
    answer = client.post("/v1/books/import", files={"file": ("book.json", b"x" * 100_000)})
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")
    assert client.post("/v1/books/import", files={"file": ("book.json", b"x" * 1_001)}).status_code == 413


@pytest.fixture
def small_file() -> bytes:
    """A world info file."""
    return b'{"entries": {"0": {"uid": 0, "key": ["Oru"], "comment": "Oru", "content": "The warden."}}}'
