"""Entries over HTTP: what the routes add to the actions, which have tests of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

NewBook = Callable[..., dict[str, Any]]
ENTRY = {"title": "Oru", "content": "The warden."}


def titles(client: TestClient, book_id: str, **query: Any) -> list[str]:
    """The titles of a book, as listed."""
    items = client.get(f"/v1/books/{book_id}/entries", params=query).json()["items"]
    return [entry["title"] for entry in items]


def test_one_entry_is_added(client: TestClient, new_book: NewBook) -> None:
    """W2: one entry is added at the end, and Location says where it is."""
    book = new_book("A")
    answer = client.post(f"/v1/books/{book['id']}/entries", json=ENTRY)
    assert answer.status_code == 201
    [entry] = answer.json()["items"]
    assert (entry["handle"], entry["position"], entry["version"]) == (f"{book['id']}-2", 1, 2)
    read = client.get(answer.headers["location"])
    assert (read.json()["content"], read.headers["etag"]) == ("The warden.", '"2"')


def test_many_are_added_or_none(client: TestClient, new_book: NewBook) -> None:
    """W2: a list is added whole; when one is wrong the pointer says which, and none is added."""
    book = new_book()
    path = f"/v1/books/{book['id']}/entries"
    bad = client.post(path, json=[ENTRY, {"title": "x"}, {**ENTRY, "tier": "cannon"}])
    assert bad.status_code == 422
    assert [error["pointer"] for error in bad.json()["errors"]] == ["#/1/content", "#/2/tier"]
    assert titles(client, book["id"]) == []
    good = client.post(path, json=[ENTRY, {**ENTRY, "title": "Mira"}])
    assert [entry["title"] for entry in good.json()["items"]] == ["Oru", "Mira"]
    assert "location" not in good.headers


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({"title": "x"}, "#/content"), ({**ENTRY, "alias": []}, "#/alias"), ([], "#"), ("text", "#"), (7, "#")],
)
def test_wrong_entries_are_pointed_at(client: TestClient, new_book: NewBook, body: Any, pointer: str) -> None:
    """A wrong body is told once, with a pointer into what was sent."""
    answer = client.post(f"/v1/books/{new_book()['id']}/entries", json=body)
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


def test_too_many_in_one_call(service: Callable[..., TestClient]) -> None:
    """A list above the limit of a call is refused with the limit, which a new book is not held to."""
    client = service(max_entries_a_call=2)
    assert client.post("/v1/books", json={"name": "b", "entries": [ENTRY] * 3}).status_code == 201
    book = client.post("/v1/books", json={"name": "a"}).json()
    answer = client.post(f"/v1/books/{book['id']}/entries", json=[ENTRY] * 3)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/limit-exceeded")
    assert (answer.json()["limit"], answer.json()["actual"]) == (2, 3)


def test_entries_are_listed_and_filtered(client: TestClient, new_book: NewBook) -> None:
    """W10: lists page with an exact total, without content unless asked, and filter by switch, tier and title."""
    book = new_book("C", "A", "B")["id"]
    client.patch(f"/v1/books/{book}/entries", json={"ids": [2], "set": {"enabled": False, "tier": "canon"}})
    page = client.get(f"/v1/books/{book}/entries", params={"limit": 2}).json()
    assert [entry["content"] for entry in page["items"]] == ["", ""]
    assert page["total"] == 3
    rest = client.get(f"/v1/books/{book}/entries", params={"limit": 2, "cursor": page["next_cursor"]}).json()
    assert [entry["title"] for entry in (*page["items"], *rest["items"])] == ["C", "A", "B"]
    assert titles(client, book, sort="title") == ["A", "B", "C"]
    assert titles(client, book, enabled="false") == titles(client, book, tier="canon") == ["A"]
    assert titles(client, book, q="about b") == ["B"]
    full = client.get(f"/v1/books/{book}/entries", params={"content": "true"}).json()
    assert full["items"][0]["content"] == "All about C."


def test_an_entry_is_replaced_and_patched(client: TestClient, new_book: NewBook) -> None:
    """PUT replaces all fields of an entry, PATCH those that it names; both compare the version of the entry."""
    book = new_book("A", "B")["id"]
    path = f"/v1/books/{book}/entries/1"
    put = client.put(path, json={**ENTRY, "gist": "who she is"}, headers={"If-Match": '"1"'})
    assert (put.status_code, put.headers["etag"], put.json()["title"]) == (200, '"2"', "Oru")
    patched = client.patch(path, json={"aliases": ["the warden"]}, headers={"If-Match": '"2"'})
    assert (patched.json()["gist"], patched.json()["aliases"]) == ("who she is", ["the warden"])
    other = client.patch(f"/v1/books/{book}/entries/2", json={"gist": "x"}, headers={"If-Match": '"1"'})
    assert other.status_code == 200, "two authors on two entries never collide"
    stale = client.patch(path, json={"gist": "y"}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["version"]) == (412, 3)
    assert client.get(path, headers={"If-None-Match": '"3"'}).status_code == 304


def test_what_was_read_can_be_put_back(client: TestClient, new_book: NewBook) -> None:
    """An entry as it was read is accepted by PUT."""
    path = f"/v1/books/{new_book('A')['id']}/entries/1"
    entry = client.get(path).json()
    again = client.put(path, json={**entry, "handle": "other-9", "id": 9})
    assert (again.status_code, again.json()["id"], again.json()["handle"]) == (200, 1, entry["handle"])


def test_many_are_switched_at_once(client: TestClient, new_book: NewBook) -> None:
    """W10: a batch switches many entries in one version, or none when one of them does not exist."""
    book = new_book("A", "B", "C")["id"]
    path = f"/v1/books/{book}/entries"
    missing = client.patch(path, json={"ids": [1, 9], "set": {"enabled": False}})
    assert missing.status_code == 404
    assert "9" in missing.json()["detail"]
    stale = client.patch(path, json={"ids": [1], "set": {"enabled": False}}, headers={"If-Match": '"7"'})
    assert stale.status_code == 412
    answer = client.patch(path, json={"ids": [1, 3], "set": {"enabled": False}}, headers={"If-Match": '"1"'})
    assert (answer.json()["version"], answer.json()["counts"]["enabled"], answer.headers["etag"]) == (2, 1, '"2"')


@pytest.mark.parametrize(
    ("batch", "pointer"),
    [
        ({"ids": [], "set": {"enabled": True}}, "#/ids"),
        ({"ids": [1], "set": {}}, "#/set"),
        ({"ids": [1], "set": {"enabled": None}}, "#/set"),
        ({"ids": [1], "set": {"title": "x"}}, "#/set/title"),
        ({"ids": [1, -1], "set": {"enabled": True}}, "#/ids/1"),
        ({"ids": [1]}, "#/set"),
    ],
)
def test_wrong_batches(client: TestClient, new_book: NewBook, batch: Any, pointer: str) -> None:
    """A wrong batch is refused with a pointer to what is wrong."""
    answer = client.patch(f"/v1/books/{new_book('A')['id']}/entries", json=batch)
    assert answer.status_code == 422, answer.text
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]


@pytest.mark.parametrize(
    ("ids", "status", "left"),
    [
        ("1,3", 204, ["B"]),
        (" 2 , 3 ", 204, ["A"]),
        ("1,9", 404, ["A", "B", "C"]),
        ("1,,2", 422, ["A", "B", "C"]),
        ("1;2", 422, ["A", "B", "C"]),
        ("", 422, ["A", "B", "C"]),
        ("²", 422, ["A", "B", "C"]),
        ("9" * 30, 422, ["A", "B", "C"]),
        (None, 422, ["A", "B", "C"]),
    ],
)
def test_many_are_deleted_at_once(
    client: TestClient, new_book: NewBook, ids: str | None, status: int, left: list[str]
) -> None:
    """A batch delete takes a list of numbers and deletes all of them or none; without a list it deletes nothing."""
    book = new_book("A", "B", "C")["id"]
    answer = client.delete(f"/v1/books/{book}/entries", params={} if ids is None else {"ids": ids})
    assert answer.status_code == status, answer.text
    assert titles(client, book) == left


def test_one_is_deleted(client: TestClient, new_book: NewBook) -> None:
    """A deleted entry is gone, and its number does not come back."""
    book = new_book("A", "B")["id"]
    assert client.delete(f"/v1/books/{book}/entries/2").status_code == 204
    assert client.get(f"/v1/books/{book}/entries/2").status_code == 404
    assert client.post(f"/v1/books/{book}/entries", json=ENTRY).json()["items"][0]["id"] == 3


@pytest.mark.parametrize(
    ("ids", "to", "order"),
    [
        ([3], "top", ["C", "A", "B", "D"]),
        ([1], "bottom", ["B", "C", "D", "A"]),
        ([4, 1], 1, ["B", "D", "A", "C"]),
        ([2, 1], 0, ["B", "A", "C", "D"]),
    ],
)
def test_entries_are_ordered(client: TestClient, new_book: NewBook, ids: list[int], to: Any, order: list[str]) -> None:
    """W4: entries move to the top, to the bottom or to a position, many at once; the answer has version and canon."""
    book = new_book("A", "B", "C", "D")["id"]
    answer = client.post(f"/v1/books/{book}/order", json={"ids": ids, "to": to}, headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.json()) == (200, {"version": 2, "canon_tokens": 0})
    assert titles(client, book) == order


@pytest.mark.parametrize(
    ("order", "status", "pointers"),
    [
        ({"ids": [1], "to": "middle"}, 422, {"#/to"}),
        ({"ids": [1], "to": -1}, 422, {"#/to"}),
        ({"ids": [1], "to": 99}, 422, {"#/to"}),
        ({"ids": [1]}, 422, {"#/to"}),
        ({"ids": [], "to": "top"}, 422, {"#/ids"}),
        ({"ids": [1, 1], "to": "top"}, 422, {"#/ids"}),
        ({"ids": [1, 8], "to": "top"}, 404, set()),
    ],
)
def test_wrong_orders(client: TestClient, new_book: NewBook, order: Any, status: int, pointers: set[str]) -> None:
    """A wrong order is refused with a pointer into what was sent, and nothing moves."""
    book = new_book("A", "B")["id"]
    answer = client.post(f"/v1/books/{book}/order", json=order)
    assert answer.status_code == status, answer.text
    assert {error["pointer"] for error in answer.json()["errors"]} == pointers
    assert titles(client, book) == ["A", "B"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "entries/2147483648", None),
        ("DELETE", "entries?ids=9999999999", None),
        ("PATCH", "entries", {"ids": [2147483648], "set": {"enabled": True}}),
        ("POST", "order", {"ids": [2147483648], "to": "top"}),
    ],
)
def test_numbers_beyond_the_database(client: TestClient, new_book: NewBook, method: str, path: str, body: Any) -> None:
    """An entry number that no database integer holds is an error of its field, on PostgreSQL too."""
    answer = client.request(method, f"/v1/books/{new_book('A')['id']}/{path}", json=body)
    assert answer.status_code == 422
    fault = answer.json()["errors"][0]
    assert (fault["pointer"] or fault["parameter"]) in ("entry", "ids", "#/ids/0")
