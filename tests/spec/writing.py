"""The few words in which the tests speak of living books."""

from __future__ import annotations

from typing import Any

from fastapi.testclient import TestClient

from tests.spec.asking import Json, ask, ok

LIVING: Json = {"settings": {"living": True}}


def scope(client: TestClient, *books: str, conversation: str, turn: int = 1, reply: str = "r1") -> str:
    """What a retrieval for a reply lets the model reach, for the tools that it answers."""
    asked = ask(client, "Hello.", books=books, conversation=conversation, turn=turn, response_id=reply)
    token: str = asked["scope"]["token"]
    return token


def call_write(client: TestClient, token: str, call_id: str | None = None, **arguments: Any) -> Json:
    """What the model is told that calls `lore_write`."""
    body = {"scope": token, "name": "lore_write", "arguments": arguments, "call_id": call_id}
    answer: Json = ok(client.post("/v1/tools/call", json=body))
    return answer


def model_writes(
    client: TestClient,
    book: str,
    title: str,
    content: str,
    *,
    reply: str = "r1",
    turn: int = 1,
    conversation: str | None = None,
    **fields: Any,
) -> Json:
    """A model writes in a reply of the book's own conversation; answers the entry."""
    token = scope(client, book, conversation=conversation or f"c-{book}", turn=turn, reply=reply)
    done = call_write(client, token, title=title, content=content, **fields)
    assert not done["is_error"], done["text"]
    written: Json = ok(client.get(f"/v1/books/{book}/entries/{done['result']['handle'].partition('-')[2]}"))
    return written


def writes(client: TestClient, book: str, **only: object) -> list[Json]:
    """The log, the newest write first."""
    log: list[Json] = ok(client.get(f"/v1/books/{book}/writes", params=only))["items"]  # type: ignore[arg-type]
    return log


def undo(client: TestClient, book: str, write: Json, status: int = 200) -> Json:
    answer: Json = ok(client.post(f"/v1/books/{book}/writes/{write['id']}/undo"), status)
    return answer


def discard(client: TestClient, book: str, reply: str) -> Json:
    answer: Json = ok(client.post(f"/v1/conversations/c-{book}/discard", json={"response_id": reply}))
    return answer
