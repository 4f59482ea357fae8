"""What a book is: a reusable, ordered list of entries that an author writes, orders, switches, imports and exports."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import (
    ask,
    attach,
    canon,
    embedded,
    entry,
    fetch,
    framed,
    index_lines,
    new_book,
    ok,
    read_book,
    titles,
    trace,
)
from tests.spec.conftest import Serving


def test_one_book_serves_many(client: TestClient) -> None:
    """W1: the same book serves a character, a story and a novel, and an edit reaches all of them."""
    book = new_book(client, entry("Tide", "Twice a day."))
    for host in ("character:w1", "story:w1", "novel:w1"):
        attach(client, host, book)
    asked = [ask(client, "Hm.", hosts=[host]) for host in ("character:w1", "story:w1", "novel:w1")]
    assert {answer["prompt"]["stable"]["text"] for answer in asked} == {asked[0]["prompt"]["stable"]["text"]}
    ok(client.patch(f"/v1/books/{book}/entries/1", json={"content": "Once a day."}))
    for host in ("character:w1", "story:w1", "novel:w1"):
        assert "Once a day." in framed(ask(client, "Hm.", hosts=[host]), "stable")


def test_a_book_keeps_the_order_of_its_list(client: TestClient) -> None:
    """W1: a book is an ordered list: entries are read and injected in the order in which they were written."""
    book = new_book(client, entry("C"), entry("A"), entry("B"))
    ok(client.post(f"/v1/books/{book}/entries", json=entry("0")), 201)
    assert [found["title"] for found in read_book(client, book)["entries"]] == ["C", "A", "B", "0"]
    assert titles(ask(client, "Hm.", books=[book]), "whole") == ["C", "A", "B", "0"]


def test_an_entry(client: TestClient) -> None:
    """W2: an entry has title, content, aliases, tier, switch and gist, and comes back exactly as it was written."""
    written = {
        "title": "The Salt Gate",
        "content": "  Opens at low tide.\n\nNobody knows why. ",
        "aliases": ["Porta de Sal", "塩の門"],
        "gist": "the only way through the sea wall",
        "tier": "relevant",
        "enabled": False,
    }
    [read] = read_book(client, new_book(client, written))["entries"]
    assert {name: read[name] for name in written} == written


def test_what_an_entry_may_leave_out(client: TestClient) -> None:
    """W2: title and content are enough: an entry is relevant and enabled, without aliases and without a gist."""
    [read] = read_book(client, new_book(client, {"title": "Oru", "content": "The warden."}))["entries"]
    assert (read["aliases"], read["gist"], read["tier"], read["enabled"]) == ([], None, "relevant", True)


def test_a_gist_speaks_in_the_index(client: TestClient) -> None:
    """W2: the index line of an entry is its gist, else the first sentence of its content."""
    gisted = entry("Gate", "It opens. " * 40, gist="the way through the wall")
    book = new_book(client, gisted, entry("Oru", "She keeps the wall. " * 40))
    lines = index_lines(ask(client, "Hm.", books=[book], budget_tokens=200, places=0))
    assert sorted(lines) == [f"- Gate [{book}-1]: the way through the wall", f"- Oru [{book}-2]: She keeps the wall."]


@pytest.mark.parametrize("content", ["", " ", "\n\t", "\u3000"])
def test_an_entry_without_content(client: TestClient, content: str) -> None:
    """V13: an entry of nothing but white space is refused with a pointer to its content."""
    answer = client.post("/v1/books", json={"name": "V13", "entries": [{"title": "Empty", "content": content}]})
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == ["#/entries/0/content"]


def test_blank_aliases_are_dropped_and_told(client: TestClient) -> None:
    """M29: blank aliases are dropped with a warning, so they match nothing; the others stay."""
    sent = entry("Orc", aliases=[" ", "\n", "urk"])
    book = new_book(client)
    [made] = ok(client.post(f"/v1/books/{book}/entries", json=sent), 201)["items"]
    assert made["aliases"] == ["urk"]
    assert [warning["kind"] for warning in made["warnings"]] == ["blank_alias", "blank_alias"]
    assert trace(ask(client, "two words\nand a line", books=[book]), "Orc")["hits"] == []


@pytest.mark.parametrize(
    ("ids", "to", "order"),
    [([3], "top", "CABD"), ([1], "bottom", "BCDA"), ([4, 2], 1, "ADBC"), ([4, 3, 2, 1], "top", "DCBA")],
)
def test_entries_are_reordered(client: TestClient, ids: list[int], to: str | int, order: str) -> None:
    """W4: entries move to the top, to the bottom or to a position, many at once, in the order named."""
    book = new_book(client, *map(entry, "ABCD"))
    ok(client.post(f"/v1/books/{book}/order", json={"ids": ids, "to": to}))
    assert "".join(found["title"] for found in read_book(client, book)["entries"]) == order


def test_the_order_decides_which_canon_survives(client: TestClient) -> None:
    """W4: on a smaller model the canon first in the list survives, and moving an entry up saves it."""
    book = new_book(client, *(canon(title, f"{title} is the law. " * 10) for title in "ABC"))
    cost = read_book(client, book)["entries"][0]["tokens"]
    small: dict[str, Any] = {"books": [book], "canon_tokens": 2 * cost + 40}
    assert titles(ask(client, "Hm.", **small), "canon") == ["A", "B"]
    ok(client.post(f"/v1/books/{book}/order", json={"ids": [3], "to": "top"}))
    answer = ask(client, "Hm.", **small)
    assert titles(answer, "canon") == ["C", "A"]
    assert [left["title"] for left in answer["over_budget"]] == ["B"]


def test_a_book_tells_what_its_canon_costs(serving: Serving) -> None:
    """W4: a book reports the tokens of its canon every turn, as the order does, and warns when they are heavy."""
    with serving(heavy_canon_tokens=30) as client:
        book = new_book(client, canon("Law", "Drown nobody."), entry("Tide", "Twice a day. " * 50))
        light = read_book(client, book)
        assert [found["tokens"] for found in ok(client.get("/v1/books"))["items"]] == [None]
        assert light["tokens"]["canon"] == light["entries"][0]["tokens"]
        assert light["warnings"] == []
        ok(client.patch(f"/v1/books/{book}/entries/1", json={"content": "Drown nobody at all. " * 10}))
        heavy = read_book(client, book)
        tokens = heavy["tokens"]["canon"]
        assert heavy["warnings"] == [{"kind": "heavy_canon", "detail": f"canon: {tokens} tokens every turn"}]
        ordered = ok(client.post(f"/v1/books/{book}/order", json={"ids": [2], "to": "top"}))
        assert ordered["canon_tokens"] == tokens


SILLYTAVERN = {
    "entries": {
        "0": {
            "uid": 0,
            "key": ["orc", "/urks?/i", " "],
            "keysecondary": ["horde"],
            "comment": "Orcs",
            "content": "They come from the north.",
            "constant": False,
            "disable": False,
            "selective": True,
            "selectiveLogic": 3,
            "order": 40,
            "probability": 50,
            "useProbability": True,
            "excludeRecursion": True,
            "role": 1,
            "displayIndex": 2,
            "x_foo": {"kept": True},
        },
        "1": {"uid": 1, "key": ["law"], "comment": "", "content": "Drown nobody.", "constant": True, "displayIndex": 1},
        "2": {"uid": 2, "key": [], "comment": "", "content": "x" * 70, "disable": True, "displayIndex": 0},
        "3": {"uid": 3, "key": ["void"], "comment": "Void", "content": ""},
    }
}


def imported(client: TestClient, file: object, name: str, **query: Any) -> Any:
    """The report of an import of this value, or of these bytes, as a new book."""
    data = file if isinstance(file, bytes) else json.dumps(file).encode()
    return ok(client.post("/v1/books/import", params={"name": name, **query}, content=data), 201)


def test_keys_become_aliases(client: TestClient) -> None:
    """W14: an imported file becomes entries: keys are aliases, constant is canon, disabled is not enabled, in order."""
    report = imported(client, SILLYTAVERN, "W14")
    book = read_book(client, report["book"]["id"])
    told = [(e["title"], e["aliases"], e["tier"], e["enabled"]) for e in book["entries"]]
    assert told == [
        ("x" * 60, [], "relevant", False),
        ("law", ["law"], "canon", True),
        ("Orcs", ["orc", "/urks?/i", "horde"], "relevant", True),
    ]


def test_the_report_of_an_import(client: TestClient) -> None:
    """W14: the report tells the regular expression kept as it is, what was skipped, and what has no effect here."""
    report = imported(client, SILLYTAVERN, "W14 report")
    assert (report["format"]["name"], report["mode"], report["added"]) == ("sillytavern", "new", 3)
    assert [(left["title"], left["kind"]) for left in report["skipped"]] == [("Void", "no_content")]
    assert {(warning["kind"], warning["index"]) for warning in report["warnings"]} == {
        ("literal_regex", 0),
        ("blank_alias", 0),
    }
    without = {each["setting"]: each["count"] for each in report["no_home"]}
    assert {name: without.get(name) for name in ("selectiveLogic", "probability", "excludeRecursion", "role")} == {
        "selectiveLogic": 1,
        "probability": 1,
        "excludeRecursion": 1,
        "role": 1,
    }


def test_triggers_have_no_effect(client: TestClient) -> None:
    """W14: chance, secondary keys and a pattern decide nothing in a world book: a key is a name, and literal."""
    book = imported(client, SILLYTAVERN, "W14 triggers")["book"]["id"]
    asking: dict[str, Any] = {"books": [book], "budget_tokens": 2000}
    hits = trace(ask(client, "An urk, then one orc.", **asking), "Orcs")["hits"]
    assert [hit["alias"] for hit in hits] == ["orc"]
    hits = trace(ask(client, "Say /urks?/i!", **asking), "Orcs")["hits"]
    assert [hit["text"] for hit in hits] == ["/urks?/i"]


def test_export_turns_the_import_around(client: TestClient) -> None:
    """W14: the export of what was imported is the file again, with all that had no effect here."""
    book = imported(client, SILLYTAVERN, "W14 export")["book"]["id"]
    exported = client.get(f"/v1/books/{book}/export", params={"format": "sillytavern"}).json()
    assert exported["entries"] == SILLYTAVERN["entries"]


def test_an_edit_survives_the_round_trip(client: TestClient) -> None:
    """I22: an edit is exported over what the file said; names and activation stay, and importing it again is equal."""
    book = imported(client, SILLYTAVERN, "I22")["book"]["id"]
    [orcs] = [e for e in read_book(client, book)["entries"] if e["title"] == "Orcs"]
    ok(client.patch(f"/v1/books/{book}/entries/{orcs['id']}", json={"content": "From the south."}))
    exported = client.get(f"/v1/books/{book}/export", params={"format": "sillytavern"})
    assert exported.json()["entries"]["0"] == {**SILLYTAVERN["entries"]["0"], "content": "From the south."}
    again = imported(client, exported.content, "I22 again")["book"]["id"]
    fields = ("title", "content", "aliases", "tier", "enabled")
    sides = [[[e[name] for name in fields] for e in read_book(client, each)["entries"]] for each in (book, again)]
    assert sides[0] == sides[1]


LIST_FORM = {"keys": ["bob"], "content": "B", "enabled": True, "insertion_order": 20, "id": 1}


@pytest.mark.parametrize("entries", [[LIST_FORM], {"1": LIST_FORM}], ids=["list", "object"])
def test_both_forms_of_a_character_book(client: TestClient, entries: Any) -> None:
    """I01: the entries of a character book may be a list or an object, and are the same entry, order kept."""
    report = imported(client, {"entries": entries}, f"I01 {type(entries).__name__}")
    assert report["added"] == 1
    [read] = read_book(client, report["book"]["id"])["entries"]
    assert (read["title"], read["content"], read["aliases"], read["enabled"]) == ("bob", "B", ["bob"], True)
    exported = client.get(f"/v1/books/{report['book']['id']}/export", params={"format": "sillytavern"}).json()
    [written] = exported["entries"].values()
    assert written["order"] == 20


@pytest.mark.parametrize(
    ("keys", "aliases"),
    [
        (["a", 5, None], ["a", "5"]),
        (["Paris, Texas"], ["Paris, Texas"]),
        ("a, b", ["a", "b"]),
        ("orc,", ["orc"]),
        ("/a,b/, c", ["/a,b/", "c"]),
    ],
)
def test_keys_of_any_shape(client: TestClient, keys: Any, aliases: list[str]) -> None:
    """I05, I25: numbers among the keys are text and null is dropped; a string splits at commas, a list does not."""
    report = imported(client, {"entries": {"0": {"key": keys, "comment": "T", "content": "C"}}}, f"I05 {keys}")
    assert read_book(client, report["book"]["id"])["entries"][0]["aliases"] == aliases


@pytest.mark.parametrize(
    "file",
    [
        b'{"entries":{"0":{"key":["a"],"content":"A"},"0":{"key":["b"],"content":"B"}}}',
        b'{"entries":[{"keys":["a"],"content":"A","id":0},{"keys":["b"],"content":"B","id":0}]}',
    ],
    ids=["object", "list"],
)
def test_ids_that_stand_twice(client: TestClient, file: bytes) -> None:
    """I08: of two entries with one id none overwrites the other, and the report says so."""
    report = imported(client, file, f"I08 {file[:14]!r}")
    assert [e["content"] for e in read_book(client, report["book"]["id"])["entries"]] == ["A", "B"]
    assert "duplicate_id" in {warning["kind"] for warning in report["warnings"]}


def test_the_same_file_under_another_name(client: TestClient) -> None:
    """I20: a file that comes again, whatever it is called, adds nothing, and its entries are told as duplicates."""
    book = imported(client, {**SILLYTAVERN, "name": "First"}, "I20")["book"]["id"]
    before = read_book(client, book)
    again = ok(client.post(f"/v1/books/{book}/import", json={**SILLYTAVERN, "name": "Second"}))
    assert again["added"] == 0
    assert [left["kind"] for left in again["skipped"]].count("duplicate") == 3
    assert read_book(client, book)["version"] == before["version"]


def test_long_entries_are_flagged(client: TestClient) -> None:
    """W17: an entry above what the model reads at once is flagged when it is written, and kept whole."""
    long = "Every tide has a name of its own. " * 100
    embedded(client, new_book(client, entry("Warm-up")))
    book = new_book(client, entry("Short"))
    [short] = read_book(client, book)["entries"]
    assert short["warnings"] == []
    [made] = ok(client.post(f"/v1/books/{book}/entries", json=entry("Tides", long)), 201)["items"]
    assert [warning["kind"] for warning in made["warnings"]] == ["long_entry"]
    assert f"{made['tokens']:,} tokens" in made["warnings"][0]["detail"]
    embedded(client, book)
    [_, read] = read_book(client, book)["entries"]
    assert (read["content"], read["vectors"]) == (long, "ready")
    assert fetch(client, "Tides", books=[book])["entries"][0]["content"] == long


def test_the_best_window_speaks_for_a_long_entry(client: TestClient) -> None:
    """W17, E01: what only the last sentence of an entry of 3,000 tokens says is found, before short entries."""
    filler = "The harbour master wrote down every ship that came and went that year. " * 220
    last = "Quicksilver pearls hatch under violet lanterns."
    others = [entry(f"Ship {n}", f"The harbour master wrote down ship number {n}.") for n in range(20)]
    book = embedded(client, new_book(client, *others, entry("Ledger", filler + last)))
    read = read_book(client, book)
    assert read["entries"][-1]["tokens"] > 3000
    question = "Do quicksilver pearls hatch under violet lanterns?"
    answer = ask(client, question, books=[book], budget_tokens=read["tokens"]["relevant"])
    assert titles(answer, "matched")[0] == "Ledger"
    small = ask(client, question, books=[book], budget_tokens=400)
    assert index_lines(small)[0].startswith("- Ledger ["), "it does not fit, so it stands first in the index"
