"""Every error has one problem, and every problem a page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from service.actions import editing_books, idempotency
from service.api import refusals
from service.api.problem_types import PROBLEM_TYPES, TYPES
from service.api.problems import TYPE_OF
from service.lore import errors
from service.lore.errors import FieldError, WorldbookError

FAULT = FieldError(pointer="#/name", detail="wrong", remedy="right it")
ERRORS: list[tuple[WorldbookError, int, str, dict[str, object]]] = [
    (errors.Unauthenticated("no scope"), 401, "unauthenticated", {}),
    (errors.ScopeExpired("over"), 401, "scope-expired", {}),
    (errors.NotFound("no book x"), 404, "not-found", {}),
    (errors.Invalid([FAULT]), 422, "invalid-request", {"detail": "wrong"}),
    (errors.UnreadableFile("cut off", fault="bad_png_chunk"), 422, "unreadable-file", {"fault": "bad_png_chunk"}),
    (errors.TooLarge("big", limit=5, actual=9), 413, "too-large", {"limit": 5, "actual": 9}),
    (errors.LimitExceeded("many", limit=5, actual=9), 422, "limit-exceeded", {"limit": 5, "actual": 9}),
    (errors.NameTaken("taken"), 409, "name-taken", {}),
    (errors.VersionMismatch("old", current=41), 412, "version-mismatch", {"version": 41}),
    (errors.Conflict("no", remedy="this way out"), 409, "conflict", {"remedy": "this way out"}),
    (errors.RestoreConflict("taken", remedy="delete it"), 409, "restore-conflict", {"remedy": "delete it"}),
    (errors.UndoRefused("wr_2 stands in the way", remedy="Undo wr_2 first."), 409, "undo-refused", {}),
    (errors.Unavailable("locked"), 503, "overloaded", {}),
    (errors.SchemaMismatch("newer"), 500, "internal", {"detail": "", "remedy": ""}),
    (idempotency.IdempotencyMismatch("other"), 422, "idempotency-mismatch", {}),
    (idempotency.InProgress("running"), 409, "in-progress", {}),
    (refusals.MalformedBody("no JSON"), 400, "malformed-body", {}),
    (refusals.UnsupportedMediaType("text/plain", ("a/b",)), 415, "unsupported-media-type", {}),
    (refusals.HostNotAllowed("x"), 421, "host-not-allowed", {}),
    (refusals.OriginNotAllowed("x"), 403, "forbidden", {}),
    (refusals.Overloaded("full"), 503, "overloaded", {}),
    (refusals.NoSuchRoute("/x"), 404, "not-found", {}),
    (refusals.MethodNotAllowed("GET", ["POST"]), 405, "method-not-allowed", {}),
]


def _all_errors(kind: type[WorldbookError] = WorldbookError) -> Iterator[type[WorldbookError]]:
    for below in kind.__subclasses__():
        yield below
        yield from _all_errors(below)


def test_every_error_is_mapped() -> None:
    """Every error that the service can raise has a row in the table, and each row is tested here."""
    assert set(_all_errors()) == set(TYPE_OF) == {type(error) for error, *_ in ERRORS}


def test_every_type_is_used() -> None:
    """No problem type is defined that nothing answers, and no name twice."""
    assert set(TYPE_OF.values()) | {"internal"} == set(TYPES)
    assert len(TYPES) == len(PROBLEM_TYPES)


@pytest.mark.parametrize(
    ("error", "status", "name", "fields"), [pytest.param(*row, id=type(row[0]).__name__) for row in ERRORS]
)
def test_errors_become_problems(
    client: TestClient,
    monkeypatch: pytest.MonkeyPatch,
    error: WorldbookError,
    status: int,
    name: str,
    fields: dict[str, object],
) -> None:
    """An error below a route is answered as RFC 9457 says, with everything that the error knows."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(editing_books, "read_book", fail)
    answer = client.get("/v1/books/bakiru")
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, problem["status"], problem["type"]) == (status, status, f"/problems/{name}")
    assert problem["title"] == TYPES[name].title
    assert problem["instance"] == answer.headers["x-request-id"]
    assert fields.items() <= problem.items()
    assert ("retry-after" in answer.headers) is (status == 503)
    if name != "internal":
        assert problem["detail"] == error.detail
        assert problem["remedy"]
    if isinstance(error, errors.Invalid):
        assert problem["errors"] == [{"pointer": "#/name", "parameter": None, "detail": "wrong", "remedy": "right it"}]


@pytest.mark.parametrize("body", ["[]", "7", '"hello"'])
def test_a_body_that_is_no_object(client: TestClient, body: str) -> None:
    """A body of another kind of JSON is told in words of JSON, not by the name of a class."""
    [fault] = client.post("/v1/retrieve", content=body, headers={"Content-Type": "application/json"}).json()["errors"]
    assert (fault["pointer"], fault["detail"]) == ("#", "expected a JSON object")


def test_a_choice_is_listed_once(client: TestClient) -> None:
    """A value that is none of a few is told as wrong, and the remedy alone lists what is right."""
    body = {"messages": [{"role": "bot", "content": "x"}]}
    [fault] = client.post("/v1/retrieve", json=body).json()["errors"]
    assert fault["detail"] == "'bot' is wrong"
    assert fault["remedy"].startswith("one of 'system', ")
    [fault] = client.get("/v1/books", params={"dialect": "sql"}).json()["errors"]
    assert (fault["parameter"], fault["detail"]) == ("dialect", "'sql' is wrong")
    assert "'world'" in fault["remedy"]


def test_problems_have_one_shape(client: TestClient) -> None:
    """Every problem has all fields, null or empty where they do not apply."""
    one, other = client.get("/v1/books/nobody").json(), client.get("/v1/books?limit=0").json()
    assert (
        set(one)
        == set(other)
        == {
            "type",
            "title",
            "status",
            "detail",
            "instance",
            "remedy",
            "limit",
            "actual",
            "version",
            "fault",
            "errors",
        }
    )


@pytest.mark.parametrize("name", list(TYPES))
def test_every_type_has_a_page(client: TestClient, name: str) -> None:
    """The type of each problem is the path of a page that says when it comes and what to do."""
    answer = client.get(f"/problems/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert name in answer.text
    assert TYPES[name].title in answer.text
    assert f'href="/problems/{name}"' in client.get("/problems").text
