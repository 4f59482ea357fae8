"""One route that runs the calls of a model."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import Json, ask, canon, embedded, entry, new_book, ok

REPLY: Json = {"conversation": "m1", "turn": 1, "response_id": "m1-1"}


@pytest.fixture(scope="module")
def world(client: TestClient) -> str:
    """A coast of 131 entries, embedded."""
    book = new_book(
        client,
        canon("The Drowning Law", "Drown nobody."),
        entry("The Salt Gate", "It opens at low tide.", aliases=["Porta de Sal"]),
        *(entry(f"Islet {number}", f"Body of islet {number}. " * 20) for number in range(1, 130)),
        entry("Hidden", "A secret.", enabled=False),
        name="M1 Coast",
    )
    return embedded(client, book)


@pytest.fixture(scope="module")
def scope(client: TestClient, world: str) -> str:
    """A scope that reaches the coast."""
    token: str = ask(client, "Hello.", books=[world])["scope"]["token"]
    return token


def call(client: TestClient, scope: str, name: str, arguments: Any = None, **more: Any) -> Json:
    """What a call answers."""
    body = {"scope": scope, "name": name, "arguments": arguments, **more}
    answer: Json = ok(client.post("/v1/tools/call", json=body))
    assert answer["tokens"] > 0
    assert (answer["result"] is None) == answer["is_error"]
    return answer


@pytest.mark.parametrize("prefix", ["lore_", ""])
@pytest.mark.parametrize("packed", [False, True])
def test_fetch(client: TestClient, world: str, scope: str, prefix: str, packed: bool) -> None:
    """M1, W9: a fetch takes handles, titles and aliases, as an object or as JSON text, under both names of the tool."""
    arguments: Any = {"names": [f"{world}-2", "the drowning LAW", "porta de sal"]}
    answer = call(client, scope, f"{prefix}fetch", json.dumps(arguments) if packed else arguments)
    assert answer["result"]["kind"] == "fetch"
    assert [got["title"] for got in answer["result"]["entries"]] == ["The Salt Gate", "The Drowning Law"]
    mark = re.match(r"<lore-([0-9a-f]+)>\n", answer["text"])
    assert mark
    assert answer["text"] == (
        f"<lore-{mark[1]}>\n## The Salt Gate [{world}-2]\nIt opens at low tide.\n"
        f"## The Drowning Law [{world}-1]\nDrown nobody.\n</lore-{mark[1]}>\n"
    )


def test_unknown_names(client: TestClient, world: str, scope: str) -> None:
    """W9: names that nothing has are told with the nearest titles; with none found at all the call is an error."""
    some = call(client, scope, "lore_fetch", {"names": ["The Salt Gate", "Salt Gaet", "Hidden"]})
    assert [each["name"] for each in some["result"]["missing"]] == ["Salt Gaet", "Hidden"]
    assert f'# Nothing is called "Salt Gaet"; nearest titles:\n- The Salt Gate [{world}-2]\n' in some["text"]
    none = call(client, scope, "lore_fetch", {"names": ["Salt Gaet"]})
    assert none["is_error"]
    assert f"- The Salt Gate [{world}-2]\n" in none["text"]
    assert "lore_search" in none["text"]


def test_a_single_name(client: TestClient, scope: str) -> None:
    """M1: a name that is sent bare, as models often do, counts as a list of one."""
    [got] = call(client, scope, "lore_fetch", {"names": "Porta de Sal"})["result"]["entries"]
    assert got["title"] == "The Salt Gate"


def test_the_cap_of_a_fetch(client: TestClient, world: str, scope: str) -> None:
    """M4: a fetch stays under its cap of tokens, cuts at a sentence and says which entries it cut."""
    names = [f"Islet {number}" for number in range(1, 21)]
    bodies = call(client, scope, "lore_fetch", {"names": names})["result"]
    assert not any(got["cut"] for got in bodies["entries"])
    long = embedded(client, new_book(client, *(entry(f"Tome {number}", "It goes on. " * 900) for number in range(3))))
    token = ask(client, "Hello.", books=[long])["scope"]["token"]
    answer = call(client, token, "lore_fetch", {"names": ["Tome 0", "Tome 1", "Tome 2"]})
    assert answer["result"]["tokens"] <= 4000
    assert [got["cut"] for got in answer["result"]["entries"]] == [False, True, True]
    assert answer["result"]["entries"][1]["content"].endswith("It goes on.")
    assert f"Cut to fit 4,000 tokens: {long}-2, {long}-3." in answer["text"]


def test_search_pages_without_bodies(client: TestClient, scope: str) -> None:
    """M4: a search is one line per entry with handle and title, pages with its cursor, and has no body."""
    seen: list[str] = []
    cursor = None
    while not seen or cursor:
        answer = call(client, scope, "lore_search", {"query": "body of an islet", "cursor": cursor})
        lines = [line for line in answer["text"].splitlines() if line.startswith("- ")]
        assert [line.partition("]")[0] for line in lines] == [
            f"- {item['title']} [{item['handle']}" for item in answer["result"]["items"]
        ]
        assert "content" not in json.dumps(answer["result"])
        seen += [item["handle"] for item in answer["result"]["items"]]
        cursor = answer["result"]["next_cursor"]
        assert (f'cursor "{cursor}"' in answer["text"]) == (cursor is not None)
    assert len(seen) == len(set(seen)) == 131


def test_list_pages_without_bodies(client: TestClient, world: str, scope: str) -> None:
    """M4, X05, X06: a list is one line per entry with handle and title, 50 at a time, complete and without a body."""
    pages: list[list[str]] = []
    cursor = None
    while not pages or cursor:
        answer = call(client, scope, "lore_list", {"book": None, "cursor": cursor})
        assert f"# M1 Coast [{world}]: 131 entries\n" in answer["text"]
        assert "Body of islet 1. Body" not in answer["text"]
        assert all(len(line) < 400 for line in answer["text"].splitlines())
        pages.append([item["handle"] for item in answer["result"]["items"]])
        cursor = answer["result"]["next_cursor"]
    assert [len(page) for page in pages] == [50, 50, 31]
    assert [handle for page in pages for handle in page] == [f"{world}-{number}" for number in range(1, 132)]


def test_list_of_one_book(client: TestClient, world: str) -> None:
    """M4: a list is of all books, or of the one that is named by id or name; one that is not attached is an error."""
    other = new_book(client, entry("Elsewhere"), name="M1 Far away")
    token = ask(client, "Hello.", books=[other, world])["scope"]["token"]
    assert call(client, token, "lore_list")["result"]["items"][0]["title"] == "Elsewhere"
    for word in (other, "m1 FAR away"):
        assert [item["title"] for item in call(client, token, "lore_list", {"book": word})["result"]["items"]] == [
            "Elsewhere"
        ]
    stranger = new_book(client, entry("Not yours"))
    told = call(client, token, "lore_list", {"book": stranger})
    assert told["is_error"]
    assert f"attached: {other}, {world}" in told["text"]


def test_an_empty_world(client: TestClient) -> None:
    """M1, M4: where the attached books have no entries, a list and a fetch say that, and offer nothing that is not
    there."""
    empty = [new_book(client), new_book(client, entry("Off", enabled=False))]
    one, two = (ask(client, "Hello.", books=books)["scope"]["token"] for books in (empty[:1], empty))
    assert call(client, one, "lore_list")["text"] == "The book has no entries.\n"
    assert call(client, two, "lore_list")["text"] == "The books have no entries.\n"
    assert call(client, two, "lore_list", {"book": empty[1]})["text"] == "The book has no entries.\n"
    told = call(client, two, "lore_fetch", {"names": ["Off"]})
    assert told["is_error"]
    assert told["text"].endswith("There are no entries in what is attached.\n")
    assert "one of these" not in told["text"]
    for book in empty:
        ok(client.delete(f"/v1/books/{book}"), 204)
    assert call(client, two, "lore_list")["text"] == "No book is attached.\n"


def test_the_end_of_a_list(client: TestClient) -> None:
    """M4: when what a next page would have shown is gone, the list says that there is no more."""
    book = new_book(client, *(entry(f"Rock {number}") for number in range(1, 52)))
    token = ask(client, "Hello.", books=[book])["scope"]["token"]
    first = call(client, token, "lore_list")["result"]
    ok(client.delete(f"/v1/books/{book}/entries/51"), 204)
    assert call(client, token, "lore_list", {"cursor": first["next_cursor"]})["text"] == "Nothing more is attached.\n"


def test_list_goes_on_after_a_change(client: TestClient) -> None:
    """M4: entries deleted or added between two pages of a list hide and repeat no other."""
    book = new_book(client, *(entry(f"Rock {number}") for number in range(1, 61)))
    token = ask(client, "Hello.", books=[book])["scope"]["token"]
    first = call(client, token, "lore_list")["result"]
    ok(client.delete(f"/v1/books/{book}/entries/50"), 204)
    rest = call(client, token, "lore_list", {"cursor": first["next_cursor"]})["result"]
    assert [item["handle"] for item in rest["items"]] == [f"{book}-{number}" for number in range(51, 61)]


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("lore_fetch", None, "names: required field is missing, send a list"),
        ("lore_fetch", {"names": []}, 'run. names: send a list of 1 to 20 names, for example ["Warden Oru"].'),
        ("lore_fetch", {"names": [1, 2]}, 'run. names: send a list of 1 to 20 names, for example ["Warden Oru"].'),
        ("lore_fetch", {"names": {"a": "b"}}, "run. names: send a list"),
        ("lore_fetch", {"names": ["x"] * 21}, "run. names: send a list"),
        ("lore_fetch", {"name": ["x"]}, "did you mean names?"),
        ("lore_fetch", '{"names": ["x"', "not JSON"),
        ("lore_fetch", "[1]", "arguments"),
        ("lore_search", {"query": ""}, "query: send what you want to know"),
        ("lore_search", {"query": "x", "cursor": "MTA"}, "run. cursor: send the cursor of the last answer"),
        ("lore_search", {"query": "x", "cursor": 2}, "run. cursor: send the cursor of the last answer"),
        ("lore_list", {"cursor": "x"}, "run. cursor: send the cursor of the last answer"),
        ("lore_list", {"book": 7}, "book: send the id or the name of one book"),
        ("lore_list", {"book": "Atlantis"}, "no such book is attached (attached: "),
        ("lore_write", {"title": "x" * 201, "content": "y", "aliases": [1]}, "title: send a short noun phrase"),
        ("lore_write", {"title": "x", "content": "y"}, "can only be read"),
        ("lore_burn", {}, "one of lore_fetch, lore_search, lore_list, lore_write"),
        ("burn", {}, "one of fetch, search, list, write"),
    ],
)
def test_what_the_model_did_wrong(client: TestClient, scope: str, name: str, arguments: Any, told: str) -> None:
    """M1, X04: a call that cannot be run is no problem but an error in words that the model can act on."""
    answer = call(client, scope, name, arguments)
    assert answer["is_error"]
    assert told in answer["text"]
    assert answer["text"].endswith("\n")


def test_what_the_app_did_wrong(client: TestClient) -> None:
    """M1: a call without a scope is a problem of the app, not an error for the model."""
    answer = client.post("/v1/tools/call", json={"name": "lore_list"})
    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/unauthenticated")
    answer = client.post("/v1/tools/call", json={"name": "lore_list", "argument": {}})
    assert answer.json()["errors"][0]["remedy"] == "did you mean arguments?"


def test_write(client: TestClient) -> None:
    """M1: a model writes into the living book, reads at once what it wrote, and a call repeated writes once."""
    book = new_book(client, entry("Day one", "We landed."), settings={"living": True}, name="M1 Diary")
    token = ask(client, "Hello.", books=[book], **REPLY)["scope"]["token"]
    wanted = {"title": "Day two", "content": "The gate stood open.", "aliases": ["Dia dois"], "gist": None}
    first = call(client, token, "lore_write", wanted, call_id="call-1")
    assert first["result"]["kind"] == "write"
    assert first["result"]["handle"] == f"{book}-2"
    assert first["text"] == f"Created {book}-2.\n"
    assert call(client, token, "lore_write", wanted, call_id="call-1") == first
    [got] = call(client, token, "lore_fetch", {"names": ["dia DOIS"]})["result"]["entries"]
    assert got["content"] == "The gate stood open."
    edit = {"title": "Day two", "content": "The gate fell.", "handle": f"{book}-2"}
    assert call(client, token, "lore_write", edit, call_id="call-2")["text"] == f"Changed {book}-2.\n"
    assert len(ok(client.get(f"/v1/books/{book}/writes"))["items"]) == 2


def test_a_model_cannot_write_elsewhere(client: TestClient, world: str) -> None:
    """M3, S06: no write reaches a book that is not living, or one that is not attached, living or not."""
    diary = new_book(client, entry("Day one"), settings={"living": True})
    strange = new_book(client, entry("Not yours", "Untouched."), settings={"living": True})
    token = ask(client, "Hello.", books=[diary, world], conversation="m3", turn=1, response_id="m3-1")["scope"]["token"]
    for where in ({"book": world}, {"book": strange}, {"handle": f"{world}-2"}, {"handle": f"{strange}-1"}):
        assert call(client, token, "lore_write", {"title": "Mine", "content": "Mine.", **where})["is_error"]
    assert ok(client.get(f"/v1/books/{strange}/entries/1"))["content"] == "Untouched."
    assert ok(client.get(f"/v1/books/{world}/entries/2"))["content"] == "It opens at low tide."


def test_repeated_with_a_key(client: TestClient, scope: str) -> None:
    """M1: a call repeated with its Idempotency-Key answers the first result."""
    body = {"scope": scope, "name": "lore_list"}
    first, again = (client.post("/v1/tools/call", json=body, headers={"Idempotency-Key": "m1-k"}) for _ in range(2))
    assert first.content == again.content
    assert again.headers["idempotent-replayed"] == "true"


def test_a_key_does_not_lend_a_scope(client: TestClient, scope: str) -> None:
    """M3: the stored answer of a call goes to nobody with another scope, and to nobody without one."""
    other = ask(client, "Hello.", books=[new_book(client, entry("Elsewhere"))])["scope"]["token"]
    answers = {}
    for name, token in (("mine", scope), ("other", other), ("none", "wbs_none")):
        headers = {"Idempotency-Key": "m3-k", "Authorization": f"Bearer {token}"}
        answers[name] = client.post("/v1/tools/call", json={"name": "lore_list"}, headers=headers)
    assert [answer.status_code for answer in answers.values()] == [200, 422, 401]
    assert answers["other"].json()["type"] == "/problems/idempotency-mismatch"
