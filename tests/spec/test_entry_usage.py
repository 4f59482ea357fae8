"""How often entries are used, and what is worth a look in a book."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import Json, ask, canon, entry, fetch, find, new_book, ok
from tests.spec.conftest import Serving
from tests.spec.lorebooks import lorebook, woken

FILLER = [entry(f"Filler {n}", f"{word} " * 90) for n, word in enumerate(["oak", "elm", "fir", "yew", "ash", "box"])]


@pytest.fixture
def book(client: TestClient) -> str:
    """A canon entry, two that can be named, and fillers, so that the book never goes whole."""
    return new_book(client, canon("The Law", "Drown nobody."), entry("The Zweeb"), entry("Quorl"), *FILLER)


def chat(client: TestClient, book: str, message: str, **fields: Any) -> None:
    ask(client, message, books=[book], budget_tokens=300, places=0, **fields)


def usage(client: TestClient, book: str, **query: str) -> list[Json]:
    rows: list[Json] = ok(client.get(f"/v1/books/{book}/usage", params=query))["items"]
    return rows


def uses(client: TestClient, book: str) -> dict[str, int]:
    """Title to uses, without what was never used."""
    return {row["title"]: row["uses"] for row in usage(client, book) if row["uses"]}


def test_what_is_in_full_is_used(client: TestClient, book: str) -> None:
    """W16: every entry counts the live retrievals that had it in full, and when last; index lines do not count."""
    for message in ("The Zweeb?", "The Zweeb and Quorl.", "Hm."):
        chat(client, book, message)
    assert uses(client, book) == {"The Law": 3, "The Zweeb": 2, "Quorl": 1}
    law, *_, filler = usage(client, book)
    assert law["last_used_at"].startswith("20")
    assert law["handle"] == f"{book}-1"
    assert filler == {
        "handle": f"{book}-9", "title": "Filler 5", "tier": "relevant", "enabled": True,
        "uses": 0, "fetches": 0, "last_used_at": None,
    }  # fmt: skip


def test_whole_books_count(client: TestClient) -> None:
    """W16: entries of a book that goes whole are used; disabled ones are not."""
    book = new_book(client, entry("A"), entry("B", enabled=False))
    ask(client, "Hm.", books=[book])
    assert uses(client, book) == {"A": 1}


@pytest.mark.parametrize("dialect", ["server", "chat", "sillytavern"])
@pytest.mark.parametrize("lorebooks", ["messages", "inline"])
def test_what_is_activated_is_used(client: TestClient, dialect: str, lorebooks: str) -> None:
    """W16: an entry of a lorebook counts the turns in which it was activated, each once; one that slept counts none."""
    book = lorebook(client, dialect, woken("Gate", "gate"), woken("Door", "door"))
    again: Json = {"books": [book], "conversation": f"c-{book}", "lorebooks": lorebooks}
    ask(client, "gate", turn=1, **again)
    ask(client, "gate", turn=1, **again)
    ask(client, "The gate.", turn=2, **again)
    ask(client, "door", route="preview", turn=3, **again)
    assert uses(client, book) == {"Gate": 2}
    assert [row["title"] for row in usage(client, book, used="never")] == ["Door"]
    assert [row["title"] for row in usage(client, book, sort="-uses")] == ["Gate", "Door"]


def test_previews_do_not_count(client: TestClient, book: str) -> None:
    """W15, W16: previews and searches change no counter."""
    chat(client, book, "The Zweeb?", route="preview")
    find(client, "The Zweeb", books=[book])
    assert uses(client, book) == {}


def test_a_turn_counts_once(client: TestClient, book: str) -> None:
    """W16: once per conversation, turn and entry: a turn that is generated again counts only what it did not have."""
    again: Json = {"conversation": f"c-{book}", "turn": 1}
    chat(client, book, "The Zweeb?", **again)
    chat(client, book, "The Zweeb?", **again)
    assert uses(client, book) == {"The Law": 1, "The Zweeb": 1}
    chat(client, book, "The Zweeb? And Quorl?", **again)
    assert uses(client, book) == {"The Law": 1, "The Zweeb": 1, "Quorl": 1}
    chat(client, book, "The Zweeb?", conversation=f"c-{book}", turn=2)
    chat(client, book, "The Zweeb?", conversation=f"d-{book}", turn=1)
    chat(client, book, "The Zweeb?", **again)
    assert uses(client, book) == {"The Law": 3, "The Zweeb": 3, "Quorl": 1}


def test_fetches_count(client: TestClient, book: str) -> None:
    """W16: what models fetch is counted apart."""
    fetch(client, "Quorl", "The Zweeb", books=[book])
    fetch(client, "quorl", books=[book])
    found = {row["title"]: (row["uses"], row["fetches"]) for row in usage(client, book) if row["fetches"]}
    assert found == {"Quorl": (0, 2), "The Zweeb": (0, 1)}


def test_never_used_and_most_used(client: TestClient, book: str) -> None:
    """W16: the list is filtered by never used and sorted by most used, page by page."""
    for message in ("Quorl?", "Quorl and The Zweeb."):
        chat(client, book, message)
    fetch(client, "Filler 0", books=[book])
    assert [row["title"] for row in usage(client, book, used="never")] == [f"Filler {n}" for n in range(1, 6)]
    found: list[str] = []
    cursor = None
    while cursor is not None or not found:
        query = {"sort": "-uses", "limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = ok(client.get(f"/v1/books/{book}/usage", params=query))
        found += [row["title"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert found == ["The Law", "Quorl", "The Zweeb", *(f"Filler {n}" for n in range(6))]


def test_the_list_of_entries_by_use(client: TestClient, book: str) -> None:
    """W16: the list of entries is filtered by never used and sorted by most used too, page by page, beside its other
    filters."""
    for message in ("Quorl?", "Quorl and The Zweeb."):
        chat(client, book, message)
    fetch(client, "Filler 0", books=[book])
    path = f"/v1/books/{book}/entries"
    never = ok(client.get(path, params={"used": "never", "q": "filler", "limit": 3}))
    assert ([row["title"] for row in never["items"]], never["total"]) == (["Filler 1", "Filler 2", "Filler 3"], 5)
    found: list[str] = []
    cursor = None
    while cursor is not None or not found:
        query = {"sort": "-uses", "limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = ok(client.get(path, params=query))
        found += [row["title"] for row in page["items"]]
        cursor = page["next_cursor"]
    assert found == ["The Law", "Quorl", "The Zweeb", *(f"Filler {n}" for n in range(6))]
    assert ok(client.get(path, params={"used": "often"}), 422)["errors"][0]["parameter"] == "used"


def test_counts_survive_a_restart(serving: Serving) -> None:
    """W16: what was counted is kept, a counted turn too, and goes with its entry."""
    with serving() as client:
        book = new_book(client, entry("A"), entry("B"))
        ask(client, "Hm.", books=[book], conversation="c", turn=1)
    with serving() as client:
        ask(client, "Hm.", books=[book], conversation="c", turn=1)
        assert uses(client, book) == {"A": 1, "B": 1}
        ok(client.delete(f"/v1/books/{book}/entries/1"), 204)
        assert uses(client, book) == {"B": 1}
        ask(client, "Hm.", books=[book])
        ok(client.delete(f"/v1/books/{book}"), 204)
        ok(client.get(f"/v1/books/{book}/usage"), 404)


def findings(client: TestClient, book: str) -> dict[str, Json]:
    """The findings by kind, of which there is one each."""
    found = ok(client.get(f"/v1/books/{book}/health"))["findings"]
    kinds = {each["kind"]: each for each in found}
    assert len(kinds) == len(found)
    return kinds


def test_a_healthy_book(client: TestClient, book: str) -> None:
    """W16: a book without faults has no findings."""
    assert ok(client.get(f"/v1/books/{book}/health")) == {"version": 1, "findings": []}


def test_health(client: TestClient) -> None:
    """W16: too long entries, near duplicates, everyday words as titles and shared aliases are found, each with what was
    measured and what to do."""
    story = "The keeper of the seventh lamp walks the wall at dusk and counts the gulls that do not come back."
    book = new_book(
        client,
        entry("Vorn", "Long ago the tide rose. " * 400),
        entry("Aldwen", story),
        entry("Brisk", story.replace("seventh", "eighth")),
        entry("Window", "It is never open."),
        entry("Ysolde", "First.", aliases=["The Grey Lady"]),
        entry("Mireth", "Second.", aliases=["the  grey LADY"]),
        entry("Aldwen's twin", story, enabled=False),
        entry("Corvath", story.upper()),
    )
    found = findings(client, book)
    assert {kind: each["handles"] for kind, each in found.items()} == {
        "long_entry": [f"{book}-1"],
        "near_duplicates": [f"{book}-2", f"{book}-3", f"{book}-8"],
        "common_word": [f"{book}-4"],
        "shared_alias": [f"{book}-5", f"{book}-6"],
    }
    assert found["long_entry"]["measure"] > 512
    assert 90 <= found["near_duplicates"]["measure"] < 100
    assert found["shared_alias"]["measure"] == 2
    assert all(each["detail"] and each["remedy"] for each in found.values())


def test_what_never_appeared(client: TestClient, book: str) -> None:
    """W16: once a book was used often enough, relevant entries that never appeared are named; one that was is not."""
    for _ in range(19):
        chat(client, book, "The Zweeb?")
    assert findings(client, book) == {}
    chat(client, book, "The Zweeb?")
    fetch(client, "Filler 0", books=[book])
    never = findings(client, book)["never_used"]
    assert never["handles"] == [f"{book}-3", *(f"{book}-{n}" for n in range(5, 10))]
    assert never["measure"] == 6
    ok(client.patch(f"/v1/books/{book}/entries", json={"ids": [3, 5, 6, 7, 8, 9], "set": {"enabled": False}}))
    assert findings(client, book) == {}


@pytest.mark.parametrize("dialect", ["server", "chat", "sillytavern"])
def test_health_of_a_lorebook(client: TestClient, dialect: str) -> None:
    """W16: of a lorebook entries that never woke and near duplicates are found; its titles are no names, and no model
    reads its entries, so nothing is said of those."""
    twins = (
        woken("Gate", "gate", content="It opens at low tide."),
        woken("Gate", "gate", content="It opens at low tide!"),
    )
    long = woken("Window", "pane", content="Rain and wind. " * 250 if dialect == "server" else "Rain and wind. " * 900)
    book = lorebook(client, dialect, *twins, long, woken("Asleep", "zweeb"), woken("Off", "zweeb", enabled=False))
    for _ in range(20):
        ask(client, "The gate.", books=[book])
    found = findings(client, book)
    assert {kind: each["handles"] for kind, each in found.items()} == {
        "never_used": [f"{book}-3", f"{book}-4"],
        "near_duplicates": [f"{book}-1", f"{book}-2"],
    }
    assert "keys" in found["never_used"]["remedy"]


@pytest.mark.parametrize("query", ["used=often", "sort=uses", "limit=0", "cursor=x"])
def test_bad_questions_about_usage(client: TestClient, book: str, query: str) -> None:
    """W16: what is wrong with a question is an error of its parameter."""
    problem = ok(client.get(f"/v1/books/{book}/usage?{query}"), 422)
    assert [each["parameter"] for each in problem["errors"]] == [query.partition("=")[0]]
