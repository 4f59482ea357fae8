"""Retrieval over HTTP: that the routes reach the actions; what is retrieved has tests of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

NewBook = Callable[..., dict[str, Any]]


def asked(book: str, content: str = "Tell me of Oru.", **fields: Any) -> dict[str, Any]:
    """A conversation of one message about one book."""
    return {"books": [book], "messages": [{"role": "user", "content": content}], **fields}


def test_a_conversation_gets_its_lore(client: TestClient, new_book: NewBook) -> None:
    """W5: a retrieval answers two texts and the id of the request."""
    answer = client.post("/v1/retrieve", json=asked(new_book("Oru")["id"]), headers={"X-Request-Id": "r-9"})
    assert answer.status_code == 200
    told = answer.json()
    assert "All about Oru." in told["prompt"]["stable"]["text"]
    assert told["run"]["request_id"] == "r-9"


def test_a_preview_has_no_request(client: TestClient, new_book: NewBook) -> None:
    """W15: a preview answers the same texts, and no request id, for it records nothing."""
    body = asked(new_book("Oru")["id"])
    live, preview = (client.post(f"/v1/{route}", json=body).json() for route in ("retrieve", "preview"))
    assert preview["prompt"] == live["prompt"]
    assert preview["run"]["request_id"] is None


def test_entries_are_fetched(client: TestClient, new_book: NewBook) -> None:
    """W9: entries are fetched by handle or title, and unknown names come back as missing."""
    book = new_book("Oru", "Mira")["id"]
    body = {"books": [book], "names": [f"{book}-2", "oru", "Nobody"]}
    answer = client.post("/v1/fetch", json=body).json()
    assert [entry["title"] for entry in answer["entries"]] == ["Mira", "Oru"]
    assert [each["name"] for each in answer["missing"]] == ["Nobody"]


def test_entries_are_searched(client: TestClient, new_book: NewBook) -> None:
    """W8: a search, which the index sends a model to, answers one line per entry, without its text."""
    answer = client.post("/v1/search", json={"books": [new_book("Oru")["id"]], "query": "who is Oru"})
    assert answer.status_code == 200
    [item] = answer.json()["items"]
    assert (item["title"], item["reason"]["kind"]) == ("Oru", "named")
    assert "content" not in item


@pytest.mark.parametrize(
    ("route", "body", "status"),
    [
        ("retrieve", {"messages": []}, 422),
        ("retrieve", {"messages": [], "books": ["nobody"]}, 404),
        ("retrieve", {"messages": [], "hosts": ["ilse"]}, 422),
        ("retrieve", {"messages": [{"role": "bot", "content": "x"}], "conversation": "c"}, 422),
        ("retrieve", {"messages": [], "conversation": "c", "tokenizer": "none"}, 422),
        ("preview", {"messages": [], "books": ["nobody"]}, 404),
        ("fetch", {"names": [], "conversation": "c"}, 422),
        ("fetch", {"names": ["x"]}, 422),
        ("search", {"query": "", "conversation": "c"}, 422),
        ("search", {"query": "x", "conversation": "c", "cursor": "nonsense"}, 422),
    ],
)
def test_wrong_questions(client: TestClient, route: str, body: dict[str, Any], status: int) -> None:
    """A question that cannot be answered says which field is wrong, or which book is unknown."""
    answer = client.post(f"/v1/{route}", json=body)
    assert answer.status_code == status, answer.text
    assert bool(answer.json()["errors"]) is (status == 422)
