"""What a model does with the index: fetch by handle, title or alias, and search."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import Json, attach, canon, embedded, entry, fetch, find, new_book, ok
from tests.spec.conftest import Serving
from tests.spec.embedders import Scripted


@pytest.fixture(scope="module")
def world(client: TestClient) -> str:
    """A small coast, embedded."""
    book = new_book(
        client,
        entry("The Salt Gate", "It opens at low tide.", aliases=["Porta de Sal", "塩の門"]),
        entry("Warden Oru", "She keeps the wall.", aliases=["Café Ωmega"]),
        canon("The Drowning Law", "Drown nobody."),
        entry("Spring tide", "It comes twice a month."),
        name="W9 Salt Coast",
    )
    return embedded(client, book)


@pytest.mark.parametrize(
    "name",
    [
        "{book}-1",
        "[{book}-1]",
        "{BOOK}-1",
        "The Salt Gate",
        "THE SALT  GATE",
        " the salt gate\n",
        "Ｔｈｅ Ｓａｌｔ Ｇａｔｅ",
        "porta de sal",
        "塩の門",
    ],
)
def test_fetch_by_any_of_its_names(client: TestClient, world: str, name: str) -> None:
    """W9: an entry is fetched by handle, title or alias, in any case and width."""
    asked = name.format(book=world, BOOK=world.upper())
    [got] = fetch(client, asked, books=[world])["entries"]
    assert got == {
        "handle": f"{world}-1", "title": "The Salt Gate", "book": world, "label": None,
        "content": "It opens at low tide.", "tokens": got["tokens"], "cut": False, "asked": [asked],
    }  # fmt: skip
    assert got["tokens"] == 6


@pytest.mark.parametrize("name", ["cafe\u0301 ωmega", "CAFÉ ΩMEGA", "café ωmega"])
def test_fetch_in_any_normal_form(client: TestClient, world: str, name: str) -> None:
    """W9: a name is found in any normal form."""
    assert [got["title"] for got in fetch(client, name, books=[world])["entries"]] == ["Warden Oru"]


def test_fetch_several_at_once(client: TestClient, world: str) -> None:
    """W9: several are fetched at once, in the order asked, canon too, each once with all names that asked for it."""
    answer = fetch(client, "Spring tide", "porta de sal", "the drowning law", f"{world}-1", books=[world])
    assert [(got["title"], got["asked"]) for got in answer["entries"]] == [
        ("Spring tide", ["Spring tide"]),
        ("The Salt Gate", ["porta de sal", f"{world}-1"]),
        ("The Drowning Law", ["the drowning law"]),
    ]
    assert answer["missing"] == []
    assert answer["tokens"] == sum(got["tokens"] for got in answer["entries"])


def test_unknown_names_return_the_nearest_titles(client: TestClient, world: str) -> None:
    """W9: a name that is nobody's is missing, with the titles that are written most alike."""
    answer = fetch(client, "Salt Gaet", "Oru", books=[world])
    assert answer["entries"] == []
    missing: list[Json] = answer["missing"]
    assert [each["name"] for each in missing] == ["Salt Gaet", "Oru"]
    assert missing[0]["nearest"][0] == {"handle": f"{world}-1", "title": "The Salt Gate"}
    assert missing[1]["nearest"][0]["title"] == "Warden Oru"


def test_a_title_that_two_entries_share(client: TestClient, world: str) -> None:
    """W9: a title that two entries share, of one book or of two, returns both."""
    other = new_book(client, entry("Spring tide", "Another one."), entry("Spring Tide", "A third."))
    answer = fetch(client, "spring tide", books=[world, other])
    assert [got["handle"] for got in answer["entries"]] == [f"{world}-4", f"{other}-1", f"{other}-2"]


def test_a_handle_wins_over_a_title(client: TestClient) -> None:
    """W9: a name that is a handle is that entry, though another bears it as title."""
    book = new_book(client, entry("First"))
    ok(client.post(f"/v1/books/{book}/entries", json=entry(f"{book}-1")), 201)
    assert [got["title"] for got in fetch(client, f"{book}-1", books=[book])["entries"]] == ["First"]


def test_fetch_reaches_what_is_attached(client: TestClient, world: str) -> None:
    """W9: what no host or book of the request brings is missing, whatever it is called."""
    other = new_book(client, entry("Elsewhere", "A secret."))
    attach(client, "character:w9", world)
    answer = fetch(client, "Elsewhere", f"{other}-1", "Warden Oru", hosts=["character:w9"])
    assert [got["title"] for got in answer["entries"]] == ["Warden Oru"]
    assert [each["name"] for each in answer["missing"]] == ["Elsewhere", f"{other}-1"]
    assert "secret" not in str(answer).lower()
    assert "Elsewhere" not in str([each["nearest"] for each in answer["missing"]])


def test_search_names_then_nearest(client: TestClient, world: str) -> None:
    """W8: the search that the closing line speaks of finds what it names first, then the nearest, and pages."""
    query = "Does the spring tide close the gate? Ask Warden Oru."
    names = find(client, query, books=[world])
    assert set(names[:2]) == {"Spring tide", "Warden Oru"}
    assert sorted(names) == ["Spring tide", "The Drowning Law", "The Salt Gate", "Warden Oru"]
    paged: list[str] = []
    cursor = None
    while not paged or cursor:
        page = ok(client.post("/v1/search", json={"query": query, "books": [world], "limit": 1, "cursor": cursor}))
        paged += [item["title"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert paged == names


def test_queries_are_embedded_as_queries(serving: Serving) -> None:
    """E04, E05: entries are embedded as passages; what is asked, of a retrieval or of a search, as queries."""
    scripted = Scripted()
    with serving(load=lambda: scripted) as client:
        book = embedded(client, new_book(client, entry("Oru", "She keeps the wall. " * 20)))
        assert scripted.queries == []
        scripted.passages.clear()
        said = [{"role": "user", "content": "Who keeps it?"}]
        ok(client.post("/v1/retrieve", json={"messages": said, "books": [book], "budget_tokens": 50}))
        ok(client.post("/v1/search", json={"query": "the wall", "books": [book]}))
    assert scripted.queries == ["Who keeps it?", "the wall"]
    assert scripted.passages == []
