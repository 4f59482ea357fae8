"""Hosts over HTTP: keys as the app has them, attachments, and what they lead to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

NewBook = Callable[..., dict[str, Any]]

KEYS = ["ilse", "a/b", "a/attachments/b", "塩", "100%", "a%2Fb", "a b", "a:b", "a?b#c", "..x", "é", "a+b", "/"]


@pytest.mark.parametrize("key", KEYS)
def test_keys_are_the_apps_own(client: TestClient, new_book: NewBook, key: str) -> None:
    """W11: any key works when it is percent-encoded, slashes and percent signs included."""
    path = f"/v1/hosts/character/{quote(key, safe='')}"
    put = client.put(path, json={"name": "Ilse", "cast": []})
    assert (put.status_code, put.json()["key"]) == (200, key)
    assert client.get(path).json()["name"] == "Ilse"
    book = new_book("A")["id"]
    assert client.put(f"{path}/attachments/{book}").json() == [{"book": book, "label": None}]
    [resolved] = client.get(f"{path}/books").json()
    assert resolved == {"book_id": book, "label": None, "via": [f"character:{key}"]}
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("key", ["x" * 201, "a\x01b", "a\nb"])
def test_bad_keys_are_refused(client: TestClient, key: str) -> None:
    """A key that is too long or no line of text is an error of the parameter."""
    answer = client.put(f"/v1/hosts/character/{quote(key, safe='')}", json={})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["parameter"] == "key"


def test_attachments_are_a_list(client: TestClient, new_book: NewBook) -> None:
    """W11: the whole list is put at once, in order; single books join behind, change their label, and leave."""
    a, b = new_book("A")["id"], new_book("B")["id"]
    path = "/v1/hosts/story/list/attachments"
    assert client.get(path).json() == []
    both = [{"book": b, "label": "Bee"}, {"book": a, "label": None}]
    assert client.put(path, json=both).json() == both
    assert client.get(path).json() == both
    assert client.put(f"{path}/{b}", json={"label": "Be"}).json()[0] == {"book": b, "label": "Be"}
    left = client.delete(f"{path}/{b}")
    assert (left.status_code, left.json()) == (200, [{"book": a, "label": None}])
    assert client.delete(f"{path}/{b}").status_code == 404
    assert client.get("/v1/hosts/story/list").json()["cast"] == [], "it exists since something was attached"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ([{"book": "nobody"}], 404),
        ([{"bok": "x"}], 422),
        ({"book": "x"}, 422),
        ([{"book": "x", "label": 7}], 422),
    ],
)
def test_wrong_attachments(client: TestClient, body: Any, status: int) -> None:
    """Unknown books and wrong lists are refused, and nothing is attached."""
    path = "/v1/hosts/story/wrong/attachments"
    assert client.put(path, json=body).status_code == status
    assert client.get(path).json() == []


def test_a_story_brings_the_books_of_its_cast(client: TestClient, new_book: NewBook) -> None:
    """W11: what a retrieval would read through a story: its own books, then those of its cast, each once."""
    own, shared, other = (new_book("A")["id"] for _ in range(3))
    client.put("/v1/hosts/character/c1/attachments", json=[{"book": shared}, {"book": own}])
    client.put("/v1/hosts/character/c2/attachments", json=[{"book": shared}, {"book": other}])
    client.put("/v1/hosts/character/c1", json={"name": "Ilse"})
    client.put("/v1/hosts/story/s", json={"cast": ["character:c1", "character:c2"]})
    client.put("/v1/hosts/story/s/attachments", json=[{"book": own}])
    found = client.get("/v1/hosts/story/s/books").json()
    assert [(each["book_id"], each["label"]) for each in found] == [(own, None), (shared, "Ilse, c2"), (other, "c2")]


def test_hosts_are_listed(service: Callable[..., TestClient]) -> None:
    """Hosts are listed in pages, by kind if asked."""
    client = service()
    for path in ("story/a", "character/b", "character/a"):
        client.put(f"/v1/hosts/{path}", json={})
    first = client.get("/v1/hosts", params={"limit": 2}).json()
    rest = client.get("/v1/hosts", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    names = [f"{host['kind']}/{host['key']}" for host in (*first["items"], *rest["items"])]
    assert names == ["character/a", "character/b", "story/a"]
    assert [host["key"] for host in client.get("/v1/hosts", params={"kind": "story"}).json()["items"]] == ["a"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({"cast": ["ilse"]}, "#/cast/0"), ({"casts": []}, "#/casts"), ({"name": "x" * 201}, "#/name")],
)
def test_wrong_hosts(client: TestClient, body: Any, pointer: str) -> None:
    """A wrong host is refused with a pointer to what is wrong."""
    answer = client.put("/v1/hosts/story/wrong", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
