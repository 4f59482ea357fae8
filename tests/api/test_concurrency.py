"""Many callers at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi.testclient import TestClient

NewBook = Callable[..., dict[str, Any]]


def test_a_hundred_at_once(client: TestClient, new_book: NewBook) -> None:
    """C04, C05: a hundred requests at once, reading, writing and retrieving, are all answered."""
    book = new_book("Oru")["id"]
    entry = {"title": "Tide", "content": "Twice a month."}
    asked = {"books": [book], "messages": [{"role": "user", "content": "Oru?"}]}
    calls: list[tuple[str, str, Any]] = [
        ("GET", f"/v1/books/{book}", None),
        ("POST", f"/v1/books/{book}/entries", entry),
        ("POST", "/v1/retrieve", asked),
        ("GET", f"/v1/books/{book}/entries", None),
    ] * 25
    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(lambda call: client.request(call[0], call[1], json=call[2]), calls))
    assert sorted({answer.status_code for answer in answers}) == [200, 201]
    whole = client.get(f"/v1/books/{book}", params={"entries": True}).json()
    assert (whole["version"], whole["counts"]["entries"]) == (26, 26)
    assert [entry["id"] for entry in whole["entries"]] == list(range(1, 27))


def test_one_of_many_wins(client: TestClient, new_book: NewBook) -> None:
    """W4: of twenty edits with the same If-Match one goes through, and the others change nothing."""
    book = new_book()["id"]

    def edit(number: int) -> int:
        body = {"description": str(number)}
        return client.patch(f"/v1/books/{book}", json=body, headers={"If-Match": '"1"'}).status_code

    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(edit, range(20)))
    assert sorted(statuses) == [200] + [412] * 19
    found = client.get(f"/v1/books/{book}").json()
    assert (found["version"], found["description"]) == (2, str(statuses.index(200)))


def test_as_many_threads_as_connections(service: Callable[..., TestClient]) -> None:
    """C05: as many requests are worked on at once as the setting says, which the database pool is sized for."""
    client = service(threads=7)
    assert client.portal is not None

    async def threads() -> float:
        return current_default_thread_limiter().total_tokens

    assert client.portal.call(threads) == 7
