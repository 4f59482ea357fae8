"""Files as lorebooks: import into each dialect, its limits and report, and the way out again."""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.formats.boxes import based, png, text
from tests.formats.samples import SAMPLES
from tests.formats.samples.sample import Sample
from tests.formats.samples.sillytavern import SETTINGS
from tests.spec.asking import Json, ask, attach, entry, new_book, ok, read_book
from tests.spec.conftest import Serving
from tests.spec.lorebooks import active, groups, lorebook, sent, woken

Client = TestClient
DIALECTS = ("server", "chat", "sillytavern")
_names = count(1)
FULL: Json = {
    "uid": 3, "key": ["gate", "/or[uo]/i"], "keysecondary": ["salt"], "comment": "Gate", "content": "It opens.",
    "constant": False, **SETTINGS, "x_foo": {"y": [1]},
}  # fmt: skip
PLAIN: Json = {"uid": 9, "key": ["oru"], "keysecondary": [], "comment": "Oru", "content": "A port.", "disable": True}
FILE: Json = {"entries": {"3": FULL, "9": PLAIN}, "x_bar": 2}


def brought(client: Client, file: Any, status: int = 201, path: str = "/v1/books/import", **options: Any) -> Json:
    """The report on a file, with the book named as no other."""
    data = file if isinstance(file, bytes) else json.dumps(file).encode()
    named = {"name": f"Lore {next(_names)}"} if path == "/v1/books/import" else {}
    report: Json = ok(client.post(path, params={**named, **options}, content=data), status)
    return report


def into(client: Client, book: str, file: Any, status: int = 200, **options: Any) -> Json:
    """The report on a file that goes into a book."""
    return brought(client, file, status, f"/v1/books/{book}/import", **options)


def written(client: Client, book: str, format: str = "sillytavern") -> Json:
    """The book as a file."""
    found: Json = client.get(f"/v1/books/{book}/export", params={"format": format}).json()
    return found


def many(number: int, start: int = 0) -> Json:
    """A file of so many entries."""
    return {"entries": {f"{n}": {"key": [f"k{n}"], "content": f"Lore {n}."} for n in range(start, start + number)}}


def test_a_new_book_from_a_file(client: Client) -> None:
    """T11: a file becomes a new book, named as given or after the file; a name that is taken is refused."""
    report = ok(
        client.post("/v1/books/import", params={"dialect": "server"}, files={"file": ("Tidal.json", json.dumps(FILE))}),
        201,
    )
    assert (report["book"]["name"], report["book"]["dialect"], report["added"]) == ("Tidal", "server", 2)
    again = client.post("/v1/books/import", params={"dialect": "server", "name": "Tidal"}, content=json.dumps(FILE))
    assert (again.status_code, again.json()["type"]) == (409, "/problems/name-taken")
    assert "another `name`" in again.json()["remedy"]


def test_append_and_replace(client: Client) -> None:
    """T11: append skips what is there already, replace changes this book only; a book keeps its dialect."""
    book = brought(client, many(3), dialect="server")["book"]["id"]
    other = brought(client, many(1), dialect="server")["book"]["id"]
    report = into(client, book, many(4))
    assert (report["added"], [each["kind"] for each in report["skipped"]]) == (1, ["duplicate"] * 3)
    report = into(client, book, many(2, start=7), mode="replace")
    assert (report["added"], report["removed"]) == (2, 4)
    assert [each["trigger"]["keys"] for each in read_book(client, book)["entries"]] == [["k7"], ["k8"]]
    assert len(read_book(client, other)["entries"]) == 1
    answer = client.post(f"/v1/books/{book}/import", params={"dialect": "chat"}, content=json.dumps(FILE))
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, "dialect")


def card(*entries: Json) -> bytes:
    """A PNG card with these entries, or without a book."""
    data: Json = {"name": "Ilse", "first_mes": "Hello.", "extensions": {}}
    if entries:
        data["character_book"] = {"entries": list(entries), "extensions": {}}
    return png(text("chara", based({"spec": "chara_card_v2", "spec_version": "2.0", "data": data})))


def test_a_card_brings_the_book_of_a_persona(client: Client) -> None:
    """T11: a card imported for a persona brings its book as that persona's; one without a book changes nothing."""
    lore = {"keys": ["gate"], "content": "It opens.", "enabled": True, "insertion_order": 1, "extensions": {}}
    report = brought(client, card(lore), dialect="server", host="persona:ilse-card")
    [attached] = ok(client.get("/v1/hosts/persona/ilse-card/attachments"))
    assert attached["book"] == report["book"]["id"]
    assert sent(ask(client, "gate", hosts=["persona:ilse-card"])) == ["gate"]
    before = read_book(client, attached["book"])
    nothing = brought(client, card(), 200, dialect="server", host="persona:ilse-card")
    assert (nothing["book"], nothing["added"]) == (None, 0)
    assert ok(client.get("/v1/hosts/persona/ilse-card/attachments")) == [attached]
    assert read_book(client, attached["book"]) == before
    second = client.post(
        "/v1/books/import",
        params={"dialect": "server", "host": "persona:ilse-card", "name": "Second"},
        content=card(lore),
    )
    assert (second.status_code, second.json()["type"]) == (409, "/problems/conflict")
    assert attached["book"] in second.json()["remedy"]


def test_a_lineage_keeps_its_book(client: Client) -> None:
    """T1: the book of a persona hangs on its lineage: it outlives the persona, and others of the lineage share it."""
    ok(client.put("/v1/hosts/persona/first", json={"name": "Ilse", "lineage": "ilse-line"}))
    book = brought(client, many(1), dialect="server", host="persona:first")["book"]["id"]
    ok(client.delete("/v1/hosts/persona/first"), 204)
    assert ok(client.get("/v1/hosts/persona/first/attachments")) == []
    ok(client.put("/v1/hosts/persona/second", json={"lineage": "ilse-line"}))
    assert sent(ask(client, "k0", hosts=["persona:second"])) == ["k0"]
    ok(client.put("/v1/hosts/persona/first", json={"lineage": "ilse-line"}))
    assert [each["book"] for each in ok(client.get("/v1/hosts/persona/first/attachments"))] == [book]
    own = brought(client, many(1), dialect="server", host="persona:alone")["book"]["id"]
    ok(client.delete("/v1/hosts/persona/alone"), 204)
    assert [each["book"] for each in ok(client.get("/v1/hosts/persona/alone/attachments"))] == [own]
    wide = [lorebook(client, "server", woken(f"W{n}")) for n in range(3)]
    attach(client, "server:many-books", *wide)
    assert sent(ask(client, "hello", hosts=["server:many-books", "persona:second"])) == ["W0", "W1", "W2"]
    answer = client.put("/v1/hosts/server/x", json={"lineage": "y"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/lineage")


def test_250_entries_a_book(client: Client) -> None:
    """T11, Fault I24: an import that would exceed 250 entries of a book is refused whole, and so is an added entry."""
    book = brought(client, many(249), dialect="server")["book"]["id"]
    answer = client.post(f"/v1/books/{book}/import", content=json.dumps(many(2, start=249)))
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/limit-exceeded")
    assert (answer.json()["limit"], answer.json()["actual"]) == (250, 251)
    assert len(read_book(client, book)["entries"]) == 249
    into(client, book, many(1, start=249))
    assert client.post(f"/v1/books/{book}/entries", json=woken("X", "x")).status_code == 422
    answer = client.post("/v1/books/import", params={"dialect": "server"}, content=json.dumps(many(251)))
    assert answer.json()["limit"] == 250
    assert brought(client, many(251), dialect="chat")["added"] == 251


def test_250_entries_a_server(client: Client) -> None:
    """T11: all server-wide books of a server have 250 entries together, however they are added or attached."""
    first = brought(client, many(200), dialect="server", host="server:full")["book"]["id"]
    answer = client.post(
        "/v1/books/import",
        params={"dialect": "server", "host": "server:full", "name": "Too many"},
        content=json.dumps(many(51)),
    )
    assert (answer.status_code, answer.json()["limit"], answer.json()["actual"]) == (422, 250, 251)
    assert ok(client.get("/v1/books", params={"q": "Too many"}))["items"] == []
    second = brought(client, many(50), dialect="server", host="server:full")["book"]["id"]
    assert client.post(f"/v1/books/{first}/entries", json=woken("X", "x")).status_code == 422
    assert client.post(f"/v1/books/{second}/import", content=json.dumps(many(1, start=60))).status_code == 422
    assert len(read_book(client, second)["entries"]) == 50
    third = lorebook(client, "server", woken("X"))
    assert client.put(f"/v1/hosts/server/full/attachments/{third}").status_code == 422
    attach(client, "server:elsewhere", third, first)
    world = new_book(client, *(entry(f"E{n}") for n in range(20)))
    ok(client.put(f"/v1/hosts/server/full/attachments/{world}"))


def test_limits_are_told(client: Client, serving: Serving) -> None:
    """T11: JSON of the server dialect is limited to 2 MB and cards by a setting, and GET /v1 names the limits."""
    limits = ok(client.get("/v1/limits"))
    assert limits == ok(client.get("/v1"))["limits"]
    assert limits["server_entries"] == 250
    assert limits["server_content"] == 4000
    assert limits["server_import_bytes"] == 2_000_000
    assert limits["card_bytes"] == 20_000_000
    large = json.dumps({**FILE, "x_pad": "x" * 2_000_000})
    answer = client.post("/v1/books/import", params={"dialect": "server"}, content=large)
    assert (answer.status_code, answer.json()["limit"]) == (413, 2_000_000)
    brought(client, large.encode(), dialect="chat")
    with serving(max_card_bytes=1000) as strict:
        answer = strict.post("/v1/books/import", params={"dialect": "server"}, content=card() + bytes(1000))
        assert (answer.status_code, answer.json()["limit"]) == (413, 1000)


NO_HOME = {
    "server": set(SETTINGS) - {"selective", "selectiveLogic", "order", "probability", "useProbability", "scanDepth"},
    "chat": set(SETTINGS)
    - {"selective", "selectiveLogic", "order", "probability", "useProbability", "scanDepth", "matchWholeWords", "role"},
    "sillytavern": {"automationId"},
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_report_names_what_has_no_home(client: Client, dialect: str) -> None:
    """T12: each setting that the dialect has no place for is named with its count, and has no effect but is kept."""
    report = brought(client, FILE, dialect=dialect)
    assert {each["setting"]: each["count"] for each in report["no_home"]} == dict.fromkeys(
        NO_HOME[dialect] | {"x_foo"}, 1
    ) | {"x_bar": 1}
    assert written(client, report["book"]["id"])["entries"]["3"] == FULL


def test_the_report_counts_what_was_left_out(client: Client) -> None:
    """T12: the report counts added and skipped entries, and names keys that are blank or shaped like patterns."""
    rows = [
        {"key": ["a", " ", "/b/i"], "content": "A"},
        {"key": ["a", " ", "/b/i"], "content": "A"},
        {"key": ["c"], "content": " "},
        {"key": ["d"], "content": "d" * 4001},
        7,
    ]
    book = brought(client, {"entries": dict(enumerate(rows[:1]))}, dialect="server")["book"]["id"]
    report = into(client, book, {"entries": {f"{n}": row for n, row in enumerate(rows)}}, dry_run=True)
    assert report["added"] == 0
    assert [(each["index"], each["kind"]) for each in report["skipped"]] == [
        (0, "duplicate"),
        (1, "duplicate"),
        (2, "no_content"),
        (3, "too_long"),
        (4, "not_an_entry"),
    ]
    kinds = [(each["kind"], each["index"]) for each in report["warnings"]]
    assert [each for each in kinds if each[1] == 0] == [("blank_key", 0), ("literal_regex", 0)]
    keyless = brought(client, {"entries": {"0": {"content": "A"}}}, dialect="server")
    assert [each["kind"] for each in keyless["warnings"]] == ["always_on"]


def test_the_report_tells_broken_patterns_and_decorators(client: Client) -> None:
    """T12: the report says that a broken pattern is taken literally, and what becomes of unknown decorators."""
    rows = [{"key": ["/a(/", "/b/i"], "content": "A"}, {"key": ["c"], "content": "@@depth 4\n@@role user\nC"}]
    file = {"entries": dict(enumerate(rows))}
    told = {
        dialect: [(each["kind"], each["index"]) for each in brought(client, file, dialect=dialect)["warnings"]]
        for dialect in DIALECTS
    }
    literal = [("literal_regex", 0)]
    assert told == {
        "sillytavern": [("invalid_regex", 0), ("decorator", 1)],
        "chat": [*literal, ("decorator", 1)],
        "server": [*literal, ("decorator", 1)],
    }


@pytest.mark.parametrize("dialect", [*DIALECTS, "world"])
def test_what_came_in_goes_out(client: Client, dialect: str) -> None:
    """T13, Fault I22: an untouched file of SillyTavern comes out of each dialect as it came in, unknown fields too."""
    book = brought(client, FILE, dialect=dialect)["book"]["id"]
    assert written(client, book) == FILE


def test_what_is_edited_goes_out(client: Client) -> None:
    """T13: the export has the rules and switches as they are now; the rest of an entry stays as it was read."""
    book = brought(client, FILE, dialect="sillytavern")["book"]["id"]
    change = {"enabled": False, "trigger": {"chance": 40, "logic": "none", "keys": ["gate", "door"], "sticky": None}}
    ok(client.patch(f"/v1/books/{book}/entries/1", json=change))
    row = written(client, book)["entries"]["3"]
    edited = {
        "disable": True,
        "probability": 40,
        "useProbability": True,
        "selectiveLogic": 2,
        "key": ["gate", "door"],
        "sticky": None,
    }
    assert row == {**FULL, **edited}


def test_what_stays_here(client: Client) -> None:
    """T13: channels, unresolved names and the switch of the book stay out of the export, and the report says so."""
    channels = {"ids": ["7"], "unresolved": ["general"]}
    book = lorebook(
        client, "server", woken("E", "gate", chance=30, order=5, at="before", channels=channels), channels=channels
    )
    ok(client.patch(f"/v1/books/{book}", json={"enabled": False}))
    file = written(client, book)
    assert not {"general", '"7"'} & set(json.dumps(file).split())
    assert "general" not in json.dumps(file)
    row = file["entries"]["0"]
    assert (row["probability"], row["order"], row["position"], row["disable"], row["key"]) == (
        30,
        5,
        0,
        False,
        ["gate"],
    )
    told = ok(client.get(f"/v1/books/{book}/export", params={"format": "sillytavern", "report": True}))
    assert {each["setting"]: each["count"] for each in told["losses"]} == {"channels": 2, "book.enabled": 1}
    again = read_book(client, brought(client, file, dialect="server")["book"]["id"])
    assert (again["enabled"], again["channels"]) == (True, {"ids": [], "unresolved": []})


@pytest.mark.parametrize("dialect", DIALECTS)
def test_our_own_file_keeps_everything(client: Client, dialect: str) -> None:
    """T13: our own format carries dialect, triggers, channels and switch; no dialect has to be asked for."""
    channels = {"ids": ["7"], "unresolved": ["general"]}
    book = brought(client, FILE, dialect=dialect)["book"]["id"]
    ok(client.patch(f"/v1/books/{book}", json={"channels": channels, "enabled": False}))
    whole = read_book(client, book)
    report = brought(client, written(client, book, "worldbook"))
    again = read_book(client, report["book"]["id"])
    assert report["book"]["dialect"] == dialect
    for name in ("dialect", "channels", "enabled", "settings", "extensions"):
        assert again[name] == whole[name]
    assert [each["trigger"] for each in again["entries"]] == [each["trigger"] for each in whole["entries"]]
    answer = client.post(
        "/v1/books/import", params={"dialect": "world"}, content=json.dumps(written(client, book, "worldbook"))
    )
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, "dialect")


def row(title: str, order: int, *keys: str, position: int = 0, constant: bool = False, depth: int = 4) -> Json:
    """An entry of SillyTavern."""
    return {
        "key": list(keys), "comment": title, "content": f"{title}.", "order": order, "position": position,
        "constant": constant, "depth": depth, "selective": True, "probability": 100, "useProbability": True,
    }  # fmt: skip


ORDERED = [
    row("nine", 9, "gate", position=1),
    row("one", 1, "gate", position=4),
    row("law", 50, position=1, constant=True),
    row("four", 4, "gate"),
    row("seven", 7, "gate", position=4, depth=2),
]


def test_three_dialects_three_orders(client: Client) -> None:
    """R01: one file gives each dialect's own order, as docs/lorebooks.md has it, and none turns it upside down.

    server: always-on first, then the triggered ones before and after the persona, each with the lower order first.
    chat: one list in the order of the file's numbers, for which they are mirrored. sillytavern: by place in the prompt,
    deeper first, then the lower order.
    """
    file = {"entries": {str(number): each for number, each in enumerate(ORDERED)}}
    found = {
        dialect: active(client, brought(client, file, dialect=dialect)["book"]["id"], "the gate")
        for dialect in DIALECTS
    }
    assert found == {
        "server": ["law", "one", "four", "seven", "nine"],
        "chat": ["one", "four", "seven", "nine", "law"],
        "sillytavern": ["four", "nine", "law", "one", "seven"],
    }


def test_three_orders_are_documented(client: Client) -> None:
    """R01: docs/lorebooks.md has the place of each entry of that file in each dialect."""
    page = (Path(__file__).parents[2] / "docs" / "lorebooks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .*order (\d+),.* \| (\d)[^|]*\| (\d)[^|]*\| (\d)[^|]*\|$", page, re.MULTILINE)
    told = {int(order): tuple(map(int, places)) for order, *places in rows}
    titles = {each["order"]: each["comment"] for each in ORDERED}
    assert told.keys() == titles.keys()
    file = {"entries": {str(number): each for number, each in enumerate(ORDERED)}}
    for number, dialect in enumerate(DIALECTS):
        found = active(client, brought(client, file, dialect=dialect)["book"]["id"], "the gate")
        assert {order: found.index(title) + 1 for order, title in titles.items()} == {
            order: places[number] for order, places in told.items()
        }


def test_orders_are_mirrored_for_chat(client: Client) -> None:
    """R01: in a chat lorebook a higher order stands first, so a file's order is mirrored at 100 and written back."""
    file = {"entries": {str(number): each for number, each in enumerate(ORDERED[:2])}}
    book = brought(client, file, dialect="chat")["book"]["id"]
    triggers = [each["trigger"] for each in read_book(client, book)["entries"]]
    assert [(each["order"], each["priority"]) for each in triggers] == [(191, 9), (199, 1)]
    ok(client.patch(f"/v1/books/{book}/entries/1", json={"trigger": {"order": 150}}))
    assert [each["order"] for each in written(client, book)["entries"].values()] == [50, 1]


@pytest.mark.parametrize(
    "sample", [sample for sample in SAMPLES if sample.every_setting and sample.format != "worldbook"], ids=str
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_format_comes_in_as_a_lorebook(client: Client, sample: Sample, dialect: str) -> None:
    """T11, T12: a file of every format becomes a lorebook of every dialect, keys as keys, and its entries are valid."""
    report = brought(client, sample.data, dialect=dialect)
    entries = read_book(client, report["book"]["id"])["entries"]
    assert [each["title"] for each in entries] == [each.title for each in sample.entries]
    for made, expected in zip(entries, sample.entries, strict=True):
        trigger = made["trigger"]
        keys = {*trigger["keys"], *trigger["secondary_keys"]}
        assert keys == set(expected.aliases) or (dialect == "server" and keys < set(expected.aliases))
        assert trigger["constant"] == (expected.tier == "canon")
        assert (made["aliases"], made["tier"], made["vectors"]) == ([], "relevant", "none")
        assert made["content"] == expected.content


BOTH_SPELLINGS = [
    {"entries": {"0": {"key": ["a"], "content": "A", "excludeRecursion": True, "preventRecursion": True}}},
    {
        "entries": [
            {"keys": ["a"], "content": "A", "extensions": {"exclude_recursion": True, "prevent_recursion": True}}
        ]
    },
    {"entries": [{"keys": ["a"], "content": "A", "extensions": {"excludeRecursion": True, "preventRecursion": True}}]},
]


@pytest.mark.parametrize("file", BOTH_SPELLINGS, ids=str)
def test_both_spellings(client: Client, file: Json) -> None:
    """I06: a setting is read under its native name and under a card's, and written in the spelling of the format."""
    book = brought(client, file, dialect="sillytavern")["book"]["id"]
    [made] = read_book(client, book)["entries"]
    assert made["trigger"]["recursion"] == {"exclude": True, "prevent": True, "delay_until": 0}
    [out] = written(client, book)["entries"].values()
    assert (out["excludeRecursion"], out["preventRecursion"]) == (True, True)
    [out] = written(client, book, "character_book_v2")["entries"]
    assert {True} == {out["extensions"].get("exclude_recursion", out["extensions"].get("excludeRecursion"))}


def test_commas_in_keys(client: Client) -> None:
    """I25: a key in a list keeps its comma; a typed list is split."""
    file = {"entries": {"0": {"key": ["Paris, Texas"], "content": "A"}, "1": {"key": "a, b", "content": "B"}}}
    entries = read_book(client, brought(client, file, dialect="chat")["book"]["id"])["entries"]
    assert [each["trigger"]["keys"] for each in entries] == [["Paris, Texas"], ["a", "b"]]


def test_a_world_book_becomes_a_lorebook(client: Client) -> None:
    """T11: a file of our own world book may be read as a lorebook: aliases are keys, canon is always on."""
    book = new_book(client, entry("Gate", "It opens.", aliases=["Porta"]), entry("Law", "No ship.", tier="canon"))
    made = brought(client, written(client, book, "worldbook"), dialect="chat")["book"]["id"]
    assert active(client, made, "a Porta") == ["Gate", "Law"]
    assert active(client, made, "hello") == ["Law"]


def test_chat_settings_of_a_file(client: Client) -> None:
    """C1: scan depth, budget and recursion of a character book are those of the chat lorebook, within their bounds."""
    lore = {"keys": ["a"], "content": "A", "insertion_order": 1, "enabled": True, "extensions": {}}
    file = {"entries": [lore], "scan_depth": 7, "token_budget": 5, "recursive_scanning": True, "extensions": {}}
    report = brought(client, file, dialect="chat")
    settings = read_book(client, report["book"]["id"])["settings"]
    assert (settings["scan_depth"], settings["token_budget"], settings["recursive_scanning"]) == (7, 100, True)
    assert [each["kind"] for each in report["warnings"]] == ["out_of_range"]
    assert written(client, report["book"]["id"], "character_book_v2") == file
    ok(client.patch(f"/v1/books/{report['book']['id']}", json={"settings": {"scan_depth": 9}}))
    out = written(client, report["book"]["id"], "character_book_v2")
    assert (out["scan_depth"], out["token_budget"]) == (9, 5)


def test_groups_of_imported_entries(client: Client) -> None:
    """T4: imported entries keep their placement, and the places 2 to 7 of world info count as before the persona."""
    rows = [row(str(position), 1, constant=True, position=position) for position in range(8)]
    book = brought(client, {"entries": {str(n): each for n, each in enumerate(rows)}}, dialect="server")["book"]["id"]
    found = groups(ask(client, "x", books=[book]))
    assert found["always_after"] == [f"{book}-2"]
    assert len(found["always_before"]) == 7
