"""Idempotency-Key: a create that is sent twice creates once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from threading import Event
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.actions import editing_books, idempotency
from service.lore.errors import Unavailable

NewBook = Callable[..., dict[str, Any]]
_numbers = count()
FILE = b'{"entries": {"0": {"key": ["Oru"], "content": "The warden."}}}'


def fresh(what: str) -> str:
    """A name or key that nobody has used."""
    return f"{what} {next(_numbers)}"


def count_of(client: TestClient, name: str) -> int:
    """How many books have this in their name."""
    return len(client.get("/v1/books", params={"q": name}).json()["items"])


def test_a_create_is_done_once(client: TestClient) -> None:
    """A create repeated with its key answers as the first time, says so, and creates nothing."""
    name, key = fresh("once"), {"Idempotency-Key": fresh("key")}
    first = client.post("/v1/books", json={"name": name}, headers=key)
    second = client.post("/v1/books", json={"name": name}, headers=key)
    assert first.status_code == second.status_code == 201
    assert first.content == second.content
    assert [first.headers[name] for name in ("etag", "location", "content-type")] == [
        second.headers[name] for name in ("etag", "location", "content-type")
    ]
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert count_of(client, name) == 1


def test_entries_are_added_once(client: TestClient, new_book: NewBook) -> None:
    """Entries sent twice with one key are added once."""
    path, key = f"/v1/books/{new_book()['id']}/entries", {"Idempotency-Key": fresh("key")}
    for _ in range(2):
        answer = client.post(path, json={"title": "Oru", "content": "c"}, headers=key)
        assert answer.json()["items"][0]["id"] == 1
    assert client.get(path).json()["total"] == 1


@pytest.mark.parametrize("form", [True, False])
def test_a_file_is_imported_once(client: TestClient, form: bool) -> None:
    """A file sent twice with one key is imported once, although each form has another boundary."""
    name, key = fresh("import"), {"Idempotency-Key": fresh("key")}
    sent: dict[str, Any] = {"files": {"file": ("a.json", FILE)}} if form else {"content": FILE}
    answers = [client.post("/v1/books/import", params={"name": name}, headers=key, **sent) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].content == answers[1].content
    assert count_of(client, name) == 1


@pytest.mark.parametrize("change", ["body", "query", "route"])
def test_a_key_is_for_one_request(client: TestClient, change: str) -> None:
    """The key of one request cannot be used for another body, query or route."""
    name, key = fresh("mismatch"), {"Idempotency-Key": fresh("key")}
    assert client.post("/v1/books/import", params={"name": name}, content=FILE, headers=key).status_code == 201
    other = fresh("mismatch")
    if change == "route":
        answer = client.post("/v1/books", json={"name": other}, headers=key)
    else:
        query = {"name": other if change == "query" else name}
        answer = client.post("/v1/books/import", params=query, content=FILE + b" " * (change == "body"), headers=key)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/idempotency-mismatch")
    assert count_of(client, other) == 0


def test_a_failure_frees_the_key(client: TestClient, new_book: NewBook) -> None:
    """A create that was refused may be corrected and sent again with its key."""
    taken, key = new_book()["name"], {"Idempotency-Key": fresh("key")}
    assert client.post("/v1/books", json={"name": taken}, headers=key).status_code == 409
    assert client.post("/v1/books", json={"name": fresh("free")}, headers=key).status_code == 201


def test_what_is_done_is_answered(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A create whose answer cannot be kept is answered all the same: a caller told of a fault would send it again."""
    name, key = fresh("kept"), {"Idempotency-Key": fresh("key")}

    def full(*_: Any, **__: Any) -> None:
        raise Unavailable("the database is locked by another writer")

    monkeypatch.setattr(idempotency.answers, "keep", full)
    assert client.post("/v1/books", json={"name": name}, headers=key).status_code == 201
    assert client.post("/v1/books", json={"name": name}, headers=key).status_code == 409
    assert count_of(client, name) == 1


@pytest.mark.parametrize("key", ["", "x" * 256])
def test_bad_keys(client: TestClient, key: str) -> None:
    """A key that is empty or too long is an error of the header."""
    answer = client.post("/v1/books", json={"name": "a"}, headers={"Idempotency-Key": key})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["parameter"] == "Idempotency-Key"


def test_while_the_first_runs(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeat that comes while the first still runs is told so, and does nothing."""
    name, key = fresh("running"), {"Idempotency-Key": fresh("key")}
    began, go_on, create = Event(), Event(), editing_books.create_book

    def slowly(*given: Any) -> Any:
        began.set()
        assert go_on.wait(30)
        return create(*given)

    monkeypatch.setattr(editing_books, "create_book", slowly)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, "/v1/books", json={"name": name}, headers=key)
        assert began.wait(30)
        second = client.post("/v1/books", json={"name": name}, headers=key)
        go_on.set()
        assert first.result().status_code == 201
    assert (second.status_code, second.json()["type"]) == (409, "/problems/in-progress")
    assert count_of(client, name) == 1


@pytest.mark.parametrize(
    ("later", "ended", "again"),
    [
        (idempotency.KEPT - timedelta(minutes=1), True, False),
        (idempotency.KEPT + timedelta(minutes=1), True, True),
        (idempotency.ABANDONED + timedelta(minutes=1), False, True),
    ],
    ids=["within a day", "after a day", "after a kill"],
)
def test_keys_expire(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, later: timedelta, ended: bool, again: bool
) -> None:
    """An answer is kept for a day; the key of a call that died with its process is free after ten minutes."""
    now = datetime.now(UTC)
    runtime = replace(client.app_state["runtime"], clock=lambda: now)
    key, calls = fresh("key"), count()

    def act() -> idempotency.StoredAnswer:
        return idempotency.StoredAnswer(status=201, headers={}, body=str(next(calls)).encode())

    class Killed(BaseException):
        """The process is gone before it can give the key back."""

    def die() -> idempotency.StoredAnswer:
        raise Killed

    if ended:
        idempotency.once(runtime, key, "route", "hash", act)
    else:
        monkeypatch.setattr(idempotency.answers, "release", lambda *_: None)
        with pytest.raises(Killed):
            idempotency.once(runtime, key, "route", "hash", die)
        with pytest.raises(idempotency.InProgress):
            idempotency.once(runtime, key, "route", "hash", act)
    runtime = replace(runtime, clock=lambda: now + later)
    answer, replayed = idempotency.once(runtime, key, "route", "hash", act)
    assert replayed is not again
    assert answer.body == (b"1" if ended and again else b"0")
