"""Disabled and deleted entries: absent from every path at once, and back at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import (
    ask,
    attach,
    canon,
    embedded,
    entry,
    fetch,
    find,
    in_full,
    index_lines,
    new_book,
    ok,
    prompt,
    read_book,
    statuses,
    switch,
    trace,
)
from tests.spec.conftest import Serving

SECRET = "The quicksilver bell rings under the harbour at midnight."
FILLER = [entry(f"Filler {n}", "Nothing of note happened here. " * 30) for n in range(8)]


def by_canon(client: TestClient, book: str) -> str:
    return prompt(ask(client, "Hm.", books=[book]))


def by_whole_book(client: TestClient, book: str) -> str:
    return prompt(ask(client, "Hm.", books=[book], budget_tokens=20_000))


def by_name(client: TestClient, book: str) -> str:
    return prompt(ask(client, "The Bell! Glocke?", books=[book], budget_tokens=700, places=0, index="none"))


def by_meaning(client: TestClient, book: str) -> str:
    return prompt(ask(client, SECRET.replace("bell", "thing"), books=[book], budget_tokens=700, index="none"))


def by_index(client: TestClient, book: str) -> str:
    return prompt(ask(client, "Hm.", books=[book], budget_tokens=700, places=0))


def by_index_of_everything(client: TestClient, book: str) -> str:
    return prompt(ask(client, "Hm.", books=[book], budget_tokens=700, places=0, index="all"))


def by_preview(client: TestClient, book: str) -> str:
    return prompt(ask(client, "The Bell!", books=[book], route="preview"))


def by_fetch(client: TestClient, book: str) -> str:
    got = fetch(client, "The Bell", "Glocke", f"{book}-1", "The Bel", books=[book])
    return f"{got['entries']} {[each['nearest'] for each in got['missing']]}"


def by_search(client: TestClient, book: str) -> str:
    return str(find(client, f"The Bell, Glocke. {SECRET}", books=[book]))


Path = Callable[[TestClient, str], str]
PATHS: list[tuple[Path, str]] = [
    (by_canon, "canon"),
    (by_whole_book, "relevant"),
    (by_name, "relevant"),
    (by_meaning, "relevant"),
    (by_index, "relevant"),
    (by_index_of_everything, "relevant"),
    (by_preview, "relevant"),
    (by_fetch, "relevant"),
    (by_search, "relevant"),
    (by_fetch, "canon"),
    (by_search, "canon"),
]


def bell(tier: str) -> dict[str, object]:
    return entry("The Bell", SECRET, aliases=["Glocke"], tier=tier)


@pytest.mark.parametrize(("path", "tier"), PATHS)
@pytest.mark.parametrize("by", ["entry", "batch", "book"])
def test_disabled_entries_reach_nobody(client: TestClient, path: Path, tier: str, by: str) -> None:
    """W10, S05: a disabled entry, or one of a disabled book, is absent from every path at once, and back at once."""
    book = embedded(client, new_book(client, bell(tier), *FILLER))

    def turn(on: bool) -> None:
        if by == "batch":
            switch(client, book, [1, 4], enabled=on)
        else:
            where = f"/v1/books/{book}" + ("/entries/1" if by == "entry" else "")
            ok(client.patch(where, json={"enabled": on}))

    assert "The Bell" in path(client, book)
    turn(False)
    assert "Bell" not in path(client, book)
    assert "quicksilver" not in path(client, book)
    turn(True)
    assert "The Bell" in path(client, book)


@pytest.mark.parametrize(("path", "tier"), PATHS)
def test_deleted_entries_reach_nobody(client: TestClient, path: Path, tier: str) -> None:
    """V02: a deleted entry is absent from every path at once."""
    book = embedded(client, new_book(client, bell(tier), *FILLER))
    assert "The Bell" in path(client, book)
    ok(client.delete(f"/v1/books/{book}/entries/1"), 204)
    assert "Bell" not in path(client, book)
    assert "quicksilver" not in path(client, book)


def test_after_a_restart(serving: Serving) -> None:
    """V02, S05: what was deleted or disabled stays absent from every path after a restart; the rest is there."""
    with serving() as client:
        deleted, disabled, kept = (embedded(client, new_book(client, bell("relevant"), *FILLER)) for _ in range(3))
        ok(client.delete(f"/v1/books/{deleted}/entries/1"), 204)
        switch(client, disabled, [1], enabled=False)
    with serving() as client:
        for path in {path for path, tier in PATHS if tier == "relevant"}:
            assert "Bell" not in path(client, deleted)
            assert "Bell" not in path(client, disabled)
            assert "The Bell" in path(client, kept)
        switch(client, disabled, [1], enabled=True)
        assert "The Bell" in by_meaning(client, disabled), "its vectors were kept"


def test_the_reason_of_a_disabled_entry(client: TestClient) -> None:
    """W10: the full trace says of a disabled entry who switched it off: itself, or its book."""
    book = new_book(client, bell("relevant"), entry("Tide"))
    switch(client, book, [1], enabled=False)
    answer = ask(client, "The Bell, Tide!", books=[book], trace="full")
    assert trace(answer, "The Bell")["reason"] == {"kind": "disabled", "by": "entry"}
    assert trace(answer, "The Bell")["hits"] == []
    ok(client.patch(f"/v1/books/{book}", json={"enabled": False}))
    answer = ask(client, "The Bell, Tide!", books=[book], trace="full")
    assert statuses(answer) == {"The Bell": "disabled", "Tide": "disabled"}
    assert trace(answer, "Tide")["reason"] == {"kind": "disabled", "by": "book"}
    assert (answer["books"][0]["went"], prompt(answer)) == ("disabled", "")


def test_a_book_switch_leaves_its_entries_alone(client: TestClient) -> None:
    """W10: switching a book off and on again leaves the switch of each entry as it was."""
    book = new_book(client, entry("On"), entry("Off", enabled=False))
    for state in (False, True):
        ok(client.patch(f"/v1/books/{book}", json={"enabled": state}))
        assert [each["enabled"] for each in read_book(client, book)["entries"]] == [True, False]
    assert in_full(ask(client, "Hm.", books=[book])) == ["On"]


def test_a_batch_is_one_step(client: TestClient) -> None:
    """W10: a batch switches many entries in one version, or none when one of them does not exist."""
    book = new_book(client, *map(entry, "ABCD"))
    assert switch(client, book, [1, 3], enabled=False)["version"] == 2
    wrong = client.patch(f"/v1/books/{book}/entries", json={"ids": [2, 99], "set": {"enabled": False}})
    assert wrong.status_code == 404
    assert in_full(ask(client, "Hm.", books=[book])) == ["B", "D"]


def test_the_filter_for_disabled_entries(client: TestClient) -> None:
    """W10: the entries of a book are filtered by their switch."""
    book = new_book(client, *map(entry, "ABCD"))
    switch(client, book, [2, 3], enabled=False)
    for state, titles in ((False, ["B", "C"]), (True, ["A", "D"])):
        page = ok(client.get(f"/v1/books/{book}/entries", params={"enabled": state}))
        assert ([each["title"] for each in page["items"]], page["total"]) == (titles, 2)


def test_a_deleted_book_is_detached(client: TestClient) -> None:
    """V02: a deleted book is gone from its hosts at once, and cannot be named any more."""
    book, other = new_book(client, canon("Gone")), new_book(client, canon("Stays"))
    attach(client, "character:v02", book, other)
    ok(client.delete(f"/v1/books/{book}"), 204)
    assert in_full(ask(client, "Hm.", hosts=["character:v02"])) == ["Stays"]
    asked = {"messages": [], "books": [book]}
    assert client.post("/v1/retrieve", json=asked).status_code == 404
    assert index_lines(ask(client, "Gone", hosts=["character:v02"])) == []
