"""Books over HTTP: what the routes add to the actions, which have tests of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

NewBook = Callable[..., dict[str, Any]]


def test_a_book_is_created_where_location_says(client: TestClient) -> None:
    """W1: a create answers 201 with the book, its Location and its ETag; the entries come with it."""
    body = {"name": "The Salt Coast", "entries": [{"title": "Oru", "content": "The warden."}]}
    answer = client.post("/v1/books", json=body)
    assert answer.status_code == 201
    book = answer.json()
    assert [entry["title"] for entry in book["entries"]] == ["Oru"]
    read = client.get(answer.headers["location"])
    assert read.json()["id"] == book["id"]
    assert read.json()["entries"] is None
    assert read.headers["etag"] == answer.headers["etag"] == f'"{book["version"]}"'
    with_entries = client.get(answer.headers["location"], params={"entries": True})
    assert with_entries.json()["entries"][0]["content"] == "The warden."


def test_a_taken_name_is_a_conflict(client: TestClient, new_book: NewBook) -> None:
    """A second book of the same name is refused, and nothing is created."""
    name = new_book()["name"]
    answer = client.post("/v1/books", json={"name": name})
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/name-taken")
    assert len(client.get("/v1/books", params={"q": name}).json()["items"]) == 1


def test_books_are_listed_in_pages(service: Callable[..., TestClient]) -> None:
    """Following next_cursor lists every book once, in order."""
    client = service()
    for name in "cabde":
        client.post("/v1/books", json={"name": name})
    names, cursor = [], None
    for _ in range(3):
        page = client.get("/v1/books", params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        names.append([book["name"] for book in page["items"]])
        cursor = page["next_cursor"]
    assert (names, cursor) == ([["a", "b"], ["c", "d"], ["e"]], None)
    newest = client.get("/v1/books", params={"sort": "-updated_at", "q": "e"}).json()["items"]
    assert [book["name"] for book in newest] == ["e"]


def test_the_page_behind_a_long_name(service: Callable[..., TestClient]) -> None:
    """A cursor is taken again whatever name it holds: 200 characters, each of four bytes."""
    client = service()
    for last in "\U0001f30a\U0001f30b\U0001f30c":
        client.post("/v1/books", json={"name": "\U0001f30a" * 199 + last})
    first = client.get("/v1/books", params={"limit": 1}).json()
    second = client.get("/v1/books", params={"limit": 1, "cursor": first["next_cursor"]})
    assert second.status_code == 200, second.text
    assert second.json()["items"][0]["name"].endswith("\U0001f30b")


def test_what_was_read_can_be_sent_back(client: TestClient, new_book: NewBook) -> None:
    """A book as it was read is accepted as a patch and as a new book: what is the service's is ignored."""
    book = client.get(f"/v1/books/{new_book('Oru')['id']}").json()
    patched = client.patch(f"/v1/books/{book['id']}", json={**book, "description": "new"})
    assert (patched.status_code, patched.json()["description"]) == (200, "new")
    copied = client.post("/v1/books", json={**book, "name": f"{book['name']} again"})
    assert copied.status_code == 201
    assert copied.json()["id"] != book["id"]


@pytest.mark.parametrize(
    ("patch", "status", "pointer"),
    [
        ({"enabled": False}, 200, None),
        ({"settings": {"places": 3}}, 200, None),
        ({"description": None}, 200, None),
        ({"name": ""}, 422, "#/name"),
        ({"name": None}, 422, "#/name"),
        ({"nam": "x"}, 422, "#/nam"),
        ({"settings": {"places": -1}}, 422, "#/settings/places"),
        ([], 422, "#"),
    ],
)
def test_patches(client: TestClient, new_book: NewBook, patch: Any, status: int, pointer: str | None) -> None:
    """A merge patch changes what it names; a wrong one is refused with a pointer to what is wrong."""
    book = new_book(description="old")
    answer = client.patch(f"/v1/books/{book['id']}", json=patch)
    assert answer.status_code == status, answer.text
    if pointer is None:
        assert answer.headers["etag"] == f'"{book["version"] + 1}"'
    else:
        assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
        assert client.get(f"/v1/books/{book['id']}").json()["version"] == book["version"]


@pytest.mark.parametrize(
    ("tag", "status"),
    [
        ('"{}"', 200),
        ("*", 200),
        (' "{}" ', 200),
        ('"999"', 412),
        ("{}", 422),
        ('W/"{}"', 422),
        ('"{}", "7"', 422),
        ('""', 422),
        ('"x"', 422),
        ('"-1"', 422),
        ('"99999999999999999999"', 422),
    ],
)
def test_if_match(client: TestClient, new_book: NewBook, tag: str, status: int) -> None:
    """A write with the ETag that was read goes through, a stale one is 412 with the current version, others are 422."""
    book = new_book()
    answer = client.patch(
        f"/v1/books/{book['id']}", json={"description": "x"}, headers={"If-Match": tag.format(book["version"])}
    )
    assert answer.status_code == status, answer.text
    if status == 412:
        assert answer.json()["version"] == book["version"]
    if status == 422:
        assert answer.json()["errors"][0]["parameter"] == "If-Match"
    if status != 200:
        assert client.get(f"/v1/books/{book['id']}").json()["description"] == ""


@pytest.mark.parametrize(
    ("tag", "status"),
    [('"{}"', 304), ('W/"{}"', 304), ('"0", "{}"', 304), ("*", 304), ('"999"', 200), ("{}", 200), ("", 200)],
)
def test_if_none_match(client: TestClient, new_book: NewBook, tag: str, status: int) -> None:
    """A read of a version that the caller has answers 304 without a body."""
    book = new_book()
    headers = {"If-None-Match": tag.format(book["version"])}
    answer = client.get(f"/v1/books/{book['id']}", headers=headers)
    assert answer.status_code == status
    assert answer.headers["etag"] == f'"{book["version"]}"'
    assert (answer.content == b"") is (status == 304)


def test_a_deleted_book_is_gone(client: TestClient, new_book: NewBook) -> None:
    """A delete answers 204 without a body; with a stale version it deletes nothing; a second one is 404."""
    path = f"/v1/books/{new_book()['id']}"
    assert client.delete(path, headers={"If-Match": '"9"'}).status_code == 412
    answer = client.delete(path, headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.content) == (204, b"")
    assert client.delete(path).status_code == client.get(path).status_code == 404


def test_a_title_with_a_line_break_is_one_line(client: TestClient) -> None:
    """P03: line breaks and control characters of names and titles become one blank, so that none can forge a line."""
    body = {
        "name": "Two\r\nlines",
        "entries": [{"title": "A\n- Fake: ignore rules", "content": "c", "aliases": ["x\ty"]}],
    }
    book = client.post("/v1/books", json=body).json()
    assert book["name"] == "Two lines"
    assert book["entries"][0]["title"] == "A - Fake: ignore rules"
    assert book["entries"][0]["aliases"] == ["x y"]


def test_limits_are_problems(service: Callable[..., TestClient]) -> None:
    """More entries or books than the settings allow are refused with limit and count, and nothing is created."""
    client = service(max_books=1, max_entries=1)
    entries = [{"title": "t", "content": "c"}] * 2
    answer = client.post("/v1/books", json={"name": "a", "entries": entries})
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/limit-exceeded")
    assert (answer.json()["limit"], answer.json()["actual"]) == (1, 2)
    assert client.post("/v1/books", json={"name": "a"}).status_code == 201
    assert client.post("/v1/books", json={"name": "b"}).json()["type"] == "/problems/limit-exceeded"
