"""What every request passes: its id, hosts, origins, methods, and the last catch."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable

import anyio
import pytest
from fastapi.testclient import TestClient
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.actions import editing_books
from service.api.gate import Gate, new_request_id
from service.api.refusals import Overloaded

ORIGIN = "https://evil.example"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:8420", 200),
        ("localhost:1", 200),
        ("LOCALHOST", 200),
        ("[::1]", 200),
        ("[::1]:8420", 200),
        ("evil.example", 421),
        ("evil.example:8420", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.", 421),
        ("[::2]:8420", 421),
        ("", 421),
    ],
)
def test_only_own_hosts_are_answered(client: TestClient, host: str, status: int) -> None:
    """A Host header that is none of the service's own is refused with the name of the setting, with any port."""
    answer = client.get("/v1", headers={"Host": host})
    assert answer.status_code == status
    if status == 421:
        assert answer.json()["type"] == "/problems/host-not-allowed"
        assert "WORLDBOOK_ALLOWED_HOSTS" in answer.json()["remedy"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_may_use_any_host(client: TestClient, path: str) -> None:
    """Probes are answered under any Host, since they call by address."""
    assert client.get(path, headers={"Host": "10.1.2.3:8420"}).status_code == 200


@pytest.mark.parametrize(("allowed", "status"), [(["lore.example"], 200), (["*"], 200), (["other.example"], 421)])
def test_hosts_are_a_setting(service: Callable[..., TestClient], allowed: list[str], status: int) -> None:
    """The setting says which hosts are answered; a star means all."""
    assert service(allowed_hosts=allowed).get("/v1", headers={"Host": "Lore.Example:443"}).status_code == status


@pytest.mark.parametrize(
    ("method", "origin", "status"),
    [
        ("POST", None, 422),
        ("POST", "http://127.0.0.1", 422),
        ("POST", ORIGIN, 403),
        ("POST", "null", 403),
        ("POST", "http://127.0.0.1:9999", 403),
        ("POST", "http://[", 403),
        ("GET", ORIGIN, 200),
    ],
)
def test_pages_of_other_origins_change_nothing(
    client: TestClient, method: str, origin: str | None, status: int
) -> None:
    """A web page of another origin cannot post to the service behind its visitor's back."""
    answer = client.request(method, "/v1/books", headers={} if origin is None else {"Origin": origin})
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["type"] == "/problems/forbidden"
        assert "WORLDBOOK_CORS_ORIGINS" in answer.json()["remedy"]


def test_without_the_setting_no_browser_may_read(client: TestClient) -> None:
    """CORS headers are sent only when the settings name origins."""
    assert "access-control-allow-origin" not in client.get("/v1", headers={"Origin": ORIGIN}).headers


def test_named_origins_may_read_and_write(service: Callable[..., TestClient]) -> None:
    """An origin that the settings name may call and read ETag and Location; others may not."""
    client = service(cors_origins=["https://app.example"])
    mine = client.post("/v1/books", json={"name": "a"}, headers={"Origin": "https://app.example"})
    assert mine.status_code == 201
    assert mine.headers["access-control-allow-origin"] == "https://app.example"
    assert {"ETag", "Location"} <= set(mine.headers["access-control-expose-headers"].split(", "))
    preflight = client.options(
        "/v1/books/bakiru",
        headers={
            "Origin": "https://app.example",
            "Access-Control-Request-Method": "PATCH",
            "Access-Control-Request-Headers": "if-match, content-type",
        },
    )
    assert preflight.status_code == 200
    assert "PATCH" in preflight.headers["access-control-allow-methods"]
    assert client.post("/v1/books", json={"name": "b"}, headers={"Origin": ORIGIN}).status_code == 403


def test_named_origins_may_read_refusals(service: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of a named origin can read why it was refused, what failed, and when to come back."""
    client = service(cors_origins=["https://app.example"])
    origin = {"Origin": "https://app.example"}
    answers = [client.get("/v1/books", headers={**origin, "Host": "evil.example"})]
    monkeypatch.setattr("service.actions.editing_books.list_books", lambda *_, **__: 1 / 0)
    answers.append(client.get("/v1/books", headers=origin))
    monkeypatch.setattr("service.api.queueing.enter", lambda **_: Overloaded("busy"))
    answers.append(client.get("/v1/books", headers=origin))
    assert [answer.status_code for answer in answers] == [421, 500, 503]
    for answer in answers:
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        assert "Retry-After" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize("given", ["turn-22", "x" * 200, "a b/c:d"])
def test_the_callers_request_id_is_echoed(client: TestClient, given: str) -> None:
    """The caller's X-Request-Id comes back, also in a problem."""
    assert client.get("/v1", headers={"X-Request-Id": given}).headers["x-request-id"] == given
    missing = client.get("/v1/books/nobody", headers={"X-Request-Id": given})
    assert missing.json()["instance"] == missing.headers["x-request-id"] == given


@pytest.mark.parametrize("given", [None, "", "x" * 201, "é", "a\tb"])
def test_else_an_id_is_given(client: TestClient, given: str | None) -> None:
    """Without an X-Request-Id that can stand in a log the service gives its own."""
    headers = {} if given is None else {"X-Request-Id": given.encode("latin-1")}
    answer = client.get("/v1", headers=headers)
    assert re.fullmatch(r"rq_[0-9A-HJKMNP-TV-Z]{26}", answer.headers["x-request-id"])


def test_request_ids_sort_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids of later requests sort behind those of earlier ones."""
    ids = []
    for milliseconds in (1, 2, 1_700_000_000_000, 1_700_000_000_001, 9_000_000_000_000):
        monkeypatch.setattr("time.time_ns", lambda now=milliseconds: now * 1_000_000)
        ids.append(new_request_id())
    assert ids == sorted(ids)
    assert len(set(ids)) == 5


@pytest.mark.parametrize("path", ["/v1", "/v1/books", "/healthz", "/docs"])
def test_head_is_get_without_the_body(client: TestClient, path: str) -> None:
    """HEAD answers the headers of GET and no body."""
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(get.content))
    assert head.headers["content-type"] == get.headers["content-type"]


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/books", "GET, HEAD, POST, OPTIONS"),
        ("/v1/books/bakiru", "GET, HEAD, PATCH, DELETE, OPTIONS"),
        ("/v1/books/bakiru/entries/1", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"),
        ("/v1/retrieve", "POST, OPTIONS"),
        ("/v1/hosts/character/a%2Fb", "GET, HEAD, PUT, DELETE, OPTIONS"),
    ],
)
def test_methods_are_named(client: TestClient, path: str, allowed: str) -> None:
    """OPTIONS, and the refusal of a method, name all methods of a path."""
    options = client.options(path)
    assert (options.status_code, options.headers["allow"]) == (204, allowed)
    refused = client.request("TRACE", path)
    assert (refused.status_code, refused.headers["allow"]) == (405, allowed)
    assert refused.json()["type"] == "/problems/method-not-allowed"


@pytest.mark.parametrize("path", ["/v2/books", "/v1/boks", "/v1/books/", "/problems/nothing", "/docs/static/none.js"])
def test_unknown_paths_are_problems(client: TestClient, path: str) -> None:
    """A path that nothing has is a problem like any other, with a remedy."""
    answer = client.get(path)
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-found")
    assert answer.json()["remedy"]


class _Panic(BaseException):
    """Like a panic in a Rust library, which is no Exception."""


@pytest.mark.parametrize("fault", [RuntimeError("secret lore"), KeyError("secret lore"), _Panic("secret lore")])
def test_faults_of_the_service_say_nothing(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: BaseException
) -> None:
    """T03: a fault of the service, a panic included, answers `internal` and the request id only; the log has all."""

    def fail(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(editing_books, "list_books", fail)
    with caplog.at_level(logging.ERROR, "service.api.gate"):
        answer = client.get("/v1/books", headers={"X-Request-Id": "r-1"})
    problem = answer.json()
    assert (answer.status_code, problem["type"], problem["instance"]) == (500, "/problems/internal", "r-1")
    assert (problem["detail"], problem["errors"], problem["remedy"]) == ("", [], "")
    assert "secret" not in answer.text
    assert "r-1" in caplog.text
    assert "secret lore" in caplog.text
    monkeypatch.undo()
    assert client.get("/v1/books").status_code == 200


def pass_through(app: ASGIApp) -> tuple[list[Message], BaseException | None]:
    """Send one request through a gate before `app`; answers what was sent and what was raised."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"localhost")]}
    try:
        anyio.run(
            Gate(app, allowed_hosts=["localhost"], origins=[], most_waiting=0, longest_wait=1.0), scope, receive, send
        )
    except BaseException as error:
        return sent, error
    return sent, None


async def _reads(scope: Scope, receive: Receive, send: Send) -> None:
    await Request(scope, receive).body()


async def _fails_late(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    raise RuntimeError("late")


async def _is_stopped(scope: Scope, receive: Receive, send: Send) -> None:
    raise asyncio.CancelledError


def test_a_caller_who_leaves_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    """C08: a caller who goes away while sending gets no answer and leaves no error in the log."""
    with caplog.at_level(logging.WARNING):
        assert pass_through(_reads) == ([], None)
    assert caplog.records == []


def test_a_late_fault_ends_the_connection() -> None:
    """A fault after the answer has begun is left to the server, which then ends the connection."""
    sent, raised = pass_through(_fails_late)
    assert [message["type"] for message in sent] == ["http.response.start"]
    assert str(raised) == "late"


def test_a_stopped_request_is_not_answered() -> None:
    """A request that the server stops is stopped, and not answered as a fault."""
    sent, raised = pass_through(_is_stopped)
    assert sent == []
    assert isinstance(raised, asyncio.CancelledError)
