"""Copies of books, through HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.store.engine import make_engine, migrate
from tests.spec.asking import Json, ask, canon, embedded, entry, in_full, new_book, ok, read_book
from tests.spec.conftest import Serving
from tests.spec.lorebooks import active, lorebook, woken
from tests.spec.writing import LIVING, call_write, model_writes, scope, writes

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


def test_a_copy_of_a_living_book(client: TestClient) -> None:
    """Copies: no model writes into the copy of a living book until its owner says so, and it has no log of writes; the
    other book goes on living."""
    book = new_book(client, entry("Oru", "Alive."), **LIVING, description="By the sea.")
    model_writes(client, book, "Oru", "Dead.", handle=f"{book}-1")
    copy = copied(client, book, f"Copy of {book}")
    assert [read_book(client, each)["settings"]["living"] for each in (book, copy)] == [True, False]
    assert read_book(client, copy)["entries"][0]["content"] == "Dead."
    assert writes(client, copy) == []
    token = scope(client, book, copy, conversation=f"c-{copy}")
    assert call_write(client, token, title="Oru", content="Risen.", handle=f"{copy}-1")["is_error"]
    assert not call_write(client, token, title="Oru", content="Risen.", handle=f"{book}-1")["is_error"]
    assert read_book(client, copy)["entries"][0]["content"] == "Dead."


CHANNELS: Json = {"ids": ["general"], "unresolved": ["lobby"]}
LOREBOOKS: dict[str, tuple[Json, Json]] = {
    "server": ({"channels": CHANNELS}, {"at": "before", "channels": {"ids": ["general"]}, "logic": "not_all"}),
    "chat": (
        {"settings": {"scan_depth": 2, "token_budget": 500, "recursive_scanning": True}},
        {"priority": 7, "role": "assistant", "whole_words": False},
    ),
    "sillytavern": ({}, {"sticky": 2, "group": {"names": ["g"], "weight": 5}, "recursion": {"exclude": True}}),
}


@pytest.mark.parametrize("dialect", LOREBOOKS)
def test_a_copy_of_a_lorebook(client: TestClient, dialect: str) -> None:
    """Copies: the copy of a lorebook has its triggers, channels and settings, activates as it does, and is exported as
    the same file."""
    fields, trigger = LOREBOOKS[dialect]
    sought = {"secondary_keys": ["tide", "moon"], "order": 3}
    asleep = woken("Asleep", "door", enabled=False, chance=99.5)
    book = lorebook(
        client, dialect, woken("Gate", "gate", **sought, **trigger), woken("Always", constant=True), asleep, **fields
    )
    copy = copied(client, book, f"Copy of {book}")
    before, after = (read_book(client, each) for each in (book, copy))
    assert [each["trigger"] for each in after["entries"]] == [each["trigger"] for each in before["entries"]]
    assert authored(after) == authored(before)
    assert (after["dialect"], after["channels"], after["settings"]) == (dialect, before["channels"], before["settings"])
    asked: Json = {"channel": "general", "conversation": f"c-{book}", "turn": 1}
    assert active(client, copy, "the gate, the tide", **asked) == active(client, book, "the gate, the tide", **asked)
    assert len(active(client, copy, "the gate, the tide", **asked)) == 2
    for format in ("sillytavern", "worldbook"):
        files = [client.get(f"/v1/books/{each}/export", params={"format": format}).text for each in (book, copy)]
        assert files[0].replace(before["name"], after["name"]) == files[1]


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
