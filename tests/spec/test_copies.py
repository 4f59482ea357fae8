"""Copies of books, through HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.store.engine import make_engine, migrate
from tests.spec.asking import ask, canon, embedded, entry, in_full, new_book, ok, read_book
from tests.spec.conftest import Serving

OWN = {"id", "name", "created_at", "updated_at", "entries", "version", "tokens"}
"""Tokens count the handles, and those begin with the id."""


def copied(client: TestClient, book: str, name: str) -> str:
    answer = client.post(f"/v1/books/{book}/copy", json={"name": name})
    made: str = ok(answer, 201)["id"]
    assert answer.headers["location"] == f"/v1/books/{made}"
    return made


def authored(book: dict[str, Any]) -> list[tuple[Any, ...]]:
    names = ("id", "position", "title", "content", "aliases", "gist", "tier", "enabled", "vectors", "extensions")
    return [tuple(made[name] for name in names) for made in book["entries"]]


def changed_book(client: TestClient, name: str) -> str:
    """A book whose entries are not numbered as they stand, with a setting and all that an entry can say."""
    book = new_book(
        client,
        canon("Coast", "All salt."),
        entry("Gone"),
        entry("Gate", "It opens.", aliases=["Porta"], gist="way in", extensions={"x": [1]}),
        entry("Oru", enabled=False),
        name=name,
        description="By the sea.",
        settings={"places": 3},
        extensions={"file": {"a": 1}},
    )
    ok(client.delete(f"/v1/books/{book}/entries/2"), 204)
    ok(client.post(f"/v1/books/{book}/order", json={"ids": [4], "to": "top"}))
    return embedded(client, book)


def test_a_copy_is_the_same_book_of_its_own(client: TestClient) -> None:
    """A copy (of W13) says all that the book says, has its vectors at once, and is edited without the other."""
    book = changed_book(client, "To copy")
    before = read_book(client, book)
    copy = copied(client, book, "  The copy ")
    found = read_book(client, copy)
    assert authored(found) == authored(before)
    assert {made["vectors"] for made in found["entries"]} == {"ready"}
    assert {name: value for name, value in found.items() if name not in OWN} == {
        name: value for name, value in before.items() if name not in OWN
    }
    assert (found["name"], found["version"]) == ("The copy", 1)
    ok(client.patch(f"/v1/books/{copy}/entries/3", json={"content": "It is shut."}))
    assert ok(client.post(f"/v1/books/{copy}/entries", json=entry("New")), 201)["items"][0]["id"] == 5
    assert read_book(client, book) == before
    assert in_full(ask(client, "The Porta", books=[copy])) == ["Coast", "Gate", "New"]


Failing = tuple[Callable[[str], str], Any, int, str]
REFUSED: dict[str, Failing] = {
    "no such book": (lambda _: "nobook", {"name": "X"}, 404, "not-found"),
    "a name that is taken": (lambda book: book, {"name": "Refused"}, 409, "name-taken"),
    "a blank name": (lambda book: book, {"name": " \n"}, 422, "invalid-request"),
    "no name": (lambda book: book, {}, 422, "invalid-request"),
    "a long name": (lambda book: book, {"name": "x" * 201}, 422, "invalid-request"),
}


@pytest.mark.parametrize(("source", "body", "status", "problem"), REFUSED.values(), ids=REFUSED)
def test_a_copy_that_cannot_be(
    serving: Serving, source: Callable[[str], str], body: Any, status: int, problem: str
) -> None:
    """A copy without a name of its own, or of nothing, is refused, and no book is made."""
    with serving() as client:
        book = new_book(client, entry("A"), name="Refused")
        answer = ok(client.post(f"/v1/books/{source(book)}/copy", json=body), status)
        assert answer["type"] == f"/problems/{problem}"
        assert len(ok(client.get("/v1/books"))["items"]) == 1


def test_no_more_copies_than_books(serving: Serving) -> None:
    """A copy above the limit of books is refused with the limit."""
    with serving(max_books=1) as client:
        book = new_book(client, entry("A"))
        answer = ok(client.post(f"/v1/books/{book}/copy", json={"name": "B"}), 422)
        assert (answer["type"], answer["limit"]) == ("/problems/limit-exceeded", 1)


def test_a_copy_on_postgresql(serving: Serving, request: pytest.FixtureRequest) -> None:
    """A copy on PostgreSQL has the same entries under the same numbers."""
    url = request.getfixturevalue("postgres_url")
    with serving() as client:
        settings = client.app_state["runtime"].settings.model_copy(update={"database_url": url})
    engine = make_engine(settings)
    migrate(engine)
    engine.dispose()
    with serving(database_url=url) as client:
        book = changed_book(client, f"On PostgreSQL {id(client)}")
        copy = copied(client, book, f"Copied {id(client)}")
        assert authored(read_book(client, copy)) == authored(read_book(client, book))
