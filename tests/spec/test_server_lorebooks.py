"""Lorebooks of the dialect `server`: keywords, rules, placement, the shared budget, channels and the switch."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import Json, ask, attach, new_book, ok, prompt, said
from tests.spec.lorebooks import active, groups, lorebook, new_conversation, reason, sent, told, woken

Client = TestClient


@pytest.mark.parametrize(
    ("key", "text", "found"),
    [
        ("salt gate", "The SALT Gate is shut.", True),
        ("ＳＡＬＴ", "some salt", True),
        ("salt", "ｓａｌｔ", True),
        ("アリス", "ｱﾘｽは森へ", True),
        ("魔都", "我們到了魔都。", True),
        ("salt", "saltless", False),
        ("Клод", "Привет, Клод!", True),
        ("Клод", "Привет, Клодом", False),
        ("/sa.t/i", "salt", False),
        ("/sa.t/i", "the key /sa.t/i itself", True),
        ("salt, gate", "only the gate", False),
    ],
)
def test_keywords(client: Client, key: str, text: str, found: bool) -> None:
    """T3: keys match in any case and width at the boundaries of names, and one that looks like a pattern is literal."""
    book = lorebook(client, "server", woken("E", key))
    assert (active(client, book, text) == ["E"]) is found


def test_an_entry_has_at_most_4000_characters(client: Client) -> None:
    """T3: 4,000 characters of content fit, one more is refused by the field, in a create and in an edit."""
    book = lorebook(client, "server", woken("E", "k", content="x" * 4000))
    answer = client.post(f"/v1/books/{book}/entries", json=woken("F", "k", content="x" * 4001))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "#/0/content"
    answer = client.patch(f"/v1/books/{book}/entries/1", json={"content": "x" * 4001})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/content")


ALWAYS: list[tuple[Json, str]] = [
    ({}, "always"),
    ({"chance": 100}, "always"),
    ({"chance": None}, "always"),
    ({"constant": True, "keys": ["nowhere"]}, "always"),
    ({"keys": [" ", "\t"]}, "always"),
    ({"chance": 0}, "never"),
    ({"chance": 99.999}, "triggered"),
    ({"keys": ["gate"]}, "triggered"),
    ({"keys": ["gate"], "chance": 100}, "triggered"),
    ({"keys": ["nowhere"]}, "never"),
    ({"keys": ["gate"], "chance": 0}, "never"),
]


@pytest.mark.parametrize(("trigger", "group"), ALWAYS, ids=str)
@pytest.mark.parametrize("at", ["before", "after"])
def test_always_on(client: Client, trigger: Json, group: str, at: str) -> None:
    """T4, T5: no keywords and no chance means always on; a chance without keywords is triggered; chance 0 is never."""
    book = lorebook(client, "server", {"title": "E", "content": "E.", "trigger": {"at": at, **trigger}})
    answer = ask(client, "the gate", books=[book], conversation="always", turn=3)
    filled = [name for name, handles in groups(answer).items() if handles]
    assert filled == ([] if group == "never" else [f"{group}_{at}"])


def test_new_entries_stand_after_the_persona(client: Client) -> None:
    """T4: an entry that says nothing of its place stands after the persona."""
    book = lorebook(client, "server", woken("A"), woken("B", "gate"))
    found = groups(ask(client, "gate", books=[book]))
    assert found["always_after"] == [f"{book}-1"]
    assert found["triggered_after"] == [f"{book}-2"]


SECONDARY = ["red", "blue"]
TEXTS = {"none": "gate", "some": "gate red", "all": "gate red blue"}
LOGIC = {
    "any": {"none": False, "some": True, "all": True},
    "all": {"none": False, "some": False, "all": True},
    "none": {"none": True, "some": False, "all": False},
    "not_all": {"none": True, "some": True, "all": False},
}


@pytest.mark.parametrize("dialect", ["server", "chat", "sillytavern"])
@pytest.mark.parametrize("present", TEXTS)
@pytest.mark.parametrize("logic", LOGIC)
def test_secondary_keywords(client: Client, logic: str, present: str, dialect: str) -> None:
    """T5, R14: the four rules for secondary keywords, with none, some and all of them in the text."""
    book = lorebook(client, dialect, woken("E", "gate", secondary_keys=SECONDARY, logic=logic))
    assert (active(client, book, TEXTS[present]) == ["E"]) is LOGIC[logic][present]
    if not LOGIC[logic][present]:
        assert reason(client, book, "E", TEXTS[present]) == "secondary"


@pytest.mark.parametrize("dialect", ["server", "chat", "sillytavern"])
@pytest.mark.parametrize("secondary", [[], [" "], ["", "\t"]])
@pytest.mark.parametrize("logic", LOGIC)
def test_empty_secondary_keywords(client: Client, logic: str, secondary: list[str], dialect: str) -> None:
    """T5, R14: an empty list of secondary keywords, or one of blanks, is as if there were none."""
    book = lorebook(client, dialect, woken("E", "gate", secondary_keys=secondary, logic=logic))
    assert active(client, book, "gate") == ["E"]


def test_messages_searched(client: Client) -> None:
    """T5: an entry searches as many of the newest messages as it says, both sides counted."""
    entries = [woken(f"{depth}", "gate", scan_depth=depth) for depth in (1, 2, 3, 100)]
    book = lorebook(client, "server", *entries)
    messages = ["gate", ("assistant", "yes"), "no"]
    assert active(client, book, *messages) == ["3", "100"]
    for depth in (0, 101):
        answer = client.post(f"/v1/books/{book}/entries", json=woken("X", scan_depth=depth))
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == "#/0/trigger/scan_depth"


CHANCES: list[tuple[str, int, float | None]] = [
    ("0", 201, 0),
    ("100", 201, 100),
    ("null", 201, None),
    ('"50"', 201, 50),
    ("NaN", 422, None),
    ("101", 422, None),
    ("-1", 422, None),
]


@pytest.mark.parametrize(("chance", "status", "kept"), CHANCES)
def test_values_of_chance(client: Client, chance: str, status: int, kept: float | None) -> None:
    """T5: chance 0, 100, null and "50" are taken as they say; what is no per cent is refused."""
    body = (
        '{"name": "N%d", "dialect": "server", "entries": [{"title": "E", "content": "E", "trigger": {"chance": %s}}]}'
    )
    headers = {"Content-Type": "application/json"}
    answer = client.post("/v1/books", content=body % (hash(chance), chance), headers=headers)
    assert answer.status_code == status, answer.text
    if status == 201:
        assert answer.json()["entries"][0]["trigger"]["chance"] == kept


def test_lower_order_stands_first(client: Client) -> None:
    """T5, R01: of a server lorebook the lower order stands first, then the list order."""
    orders = {"nine": 9, "one": 1, "also one": 1, "minus": -5}
    book = lorebook(client, "server", *(woken(title, "gate", order=order) for title, order in orders.items()))
    assert active(client, book, "gate") == ["minus", "one", "also one", "nine"]


def test_chance_is_drawn_once_a_turn(client: Client) -> None:
    """T5, B7, R04: in one turn the draw is always the same; over many turns it comes as often as it says."""
    book = lorebook(client, "server", woken("E", "gate", chance=30))
    talk = new_conversation()
    drawn = [bool(active(client, book, "gate", conversation=talk, turn=turn)) for turn in range(400)]
    assert [bool(active(client, book, "gate", conversation=talk, turn=turn)) for turn in range(20)] == drawn[:20]
    assert 120 - 6 * 9.2 < sum(drawn) < 120 + 6 * 9.2
    refused = told(client, book, "gate", conversation=talk, turn=drawn.index(False))["E"]["reason"]
    assert refused["kind"] == "chance"
    assert refused["drawn"] >= refused["chance"] == 30


TURNS = ["one", ("assistant", "two"), "three", ("system", "aside"), ("assistant", "four"), "the gate"]


def test_four_groups(client: Client) -> None:
    """T6: four groups, each in its order; the triggered ones stand before the fourth newest user or assistant turn."""
    book = lorebook(
        client,
        "server",
        woken("always after"),
        woken("always before", at="before"),
        woken("triggered after", "gate"),
        woken("triggered before", "gate", at="before", order=500),
        woken("triggered before, first", "gate", at="before", order=1),
    )
    answer = ask(client, *TURNS, books=[book])
    assert groups(answer) == {
        "always_before": [f"{book}-2"],
        "always_after": [f"{book}-1"],
        "triggered_before": [f"{book}-5", f"{book}-4"],
        "triggered_after": [f"{book}-3"],
    }
    lorebooks = answer["lorebook"]
    assert lorebooks["groups"]["always_before"]["text"] == "All about always before."
    assert lorebooks["groups"]["before_message"] == 1
    assert [(each["handle"], each["at"], each["before_message"]) for each in lorebooks["messages"]] == [
        (f"{book}-2", "system_before", None),
        (f"{book}-1", "system_after", None),
        (f"{book}-5", "depth", 1),
        (f"{book}-4", "depth", 1),
        (f"{book}-3", "depth", 1),
    ]


def test_inline_lorebooks_stand_ahead_of_world_books(client: Client) -> None:
    """T6: an app that wants nothing but two strings gets the entries in the volatile one, ahead of what was found."""
    book = lorebook(client, "server", woken("E", "gate", content="Beware."))
    world = new_book(
        client, {"title": "Gate", "content": "Shut."}, *({"title": f"X{n}", "content": "y " * 400} for n in range(3))
    )
    answer = ask(client, "gate", books=[world, book], lorebooks="inline", budget_tokens=300)
    text = answer["prompt"]["volatile"]["text"]
    assert 0 < text.index("Beware.") < text.index("Shut.")
    assert answer["lorebook"]["messages"] == []
    assert sent(answer) == ["E"]


def test_one_budget_for_all(client: Client) -> None:
    """T7: all groups of all books share 8,000 characters, always-on first; what does not fit is passed over."""
    first = lorebook(
        client, "server", woken("keyed", "gate", content="k" * 3000, order=1), woken("small", "gate", content="s")
    )
    second = lorebook(
        client, "server", woken("always", content="a" * 4000), woken("also", content="b" * 3000, at="before")
    )
    answer = ask(client, "gate", books=[first, second])
    assert sent(answer) == ["also", "always", "small"]
    [cut] = answer["over_budget"]
    assert (cut["title"], cut["status"], cut["reason"]["budget"], cut["reason"]["left"]) == (
        "keyed",
        "cut",
        "lorebook",
        1000,
    )
    [budget] = answer["lorebook"]["budgets"]
    assert (budget["unit"], budget["limit"], budget["used"]) == ("characters", 8000, 7001)


def test_the_budget_is_a_setting(serving: Any) -> None:
    """T7: the characters are a setting."""
    with serving(budget_characters=10) as client:
        book = lorebook(client, "server", woken("long", content="x" * 11), woken("short", content="x" * 10))
        assert active(client, book, "hello") == ["short"]


@pytest.mark.parametrize("dialect", ["server", "chat", "sillytavern"])
def test_macros(client: Client, dialect: str) -> None:
    """T8, P04: names are put in in one pass, and every other macro stays exactly as written."""
    content = "{{user}} {{char}} {{bot}} {{foo}} {{random:a,b}} {{ user }} <user> {{#if x}}"
    book = lorebook(client, dialect, woken("E", "gate", content=content))
    names = {"user": "{{char}}", "char": "Ilse", "bot": None}
    [message] = ask(client, "gate", books=[book], names=names)["lorebook"]["messages"]
    assert message["content"].startswith("{{char}} Ilse Ilse {{foo}} {{random:a,b}} ")
    assert message["content"].endswith("<user> {{#if x}}")
    [message] = ask(client, "gate", books=[book])["lorebook"]["messages"]
    assert message["content"] == content


def test_macros_in_world_books(client: Client) -> None:
    """T8: names are put into world books too; without names everything stays as written."""
    book = new_book(client, {"title": "Oath", "content": "{{user}} swore it to {{char}}, {{foo}}."})
    assert "Mira swore it to Ilse, {{foo}}." in prompt(
        ask(client, "x", books=[book], names={"user": "Mira", "char": "Ilse"})
    )
    assert "{{user}} swore it to {{char}}, {{foo}}." in prompt(ask(client, "x", books=[book]))


CHANNELS: list[tuple[Json, Json, bool]] = [
    ({}, {}, True),
    ({}, {"channel": "1"}, True),
    ({"ids": ["1"]}, {"channel": "1"}, True),
    ({"ids": ["1"]}, {"channel": "2"}, False),
    ({"ids": ["1"]}, {}, False),
    ({"ids": ["1"]}, {"channel": "9", "channel_parent": "1"}, True),
    ({"ids": ["9"]}, {"channel": "9", "channel_parent": "1"}, True),
    ({"ids": ["1"], "unresolved": ["general"]}, {"channel": "2"}, True),
    ({"ids": [], "unresolved": ["general"]}, {"channel": "2"}, True),
]


@pytest.mark.parametrize(("channels", "where", "reached"), CHANNELS, ids=str)
@pytest.mark.parametrize("by", ["book", "entry"])
def test_channels(client: Client, channels: Json, where: Json, reached: bool, by: str) -> None:
    """T9: a book as a whole, or entries one by one, belong to channels; a thread follows its parent."""
    entry = woken("E", **({"channels": channels} if by == "entry" else {}))
    book = lorebook(client, "server", entry, **({"channels": channels} if by == "book" else {}))
    assert (active(client, book, "hello", **where) == ["E"]) is reached
    if not reached:
        trace = told(client, book, "hello", **where)["E"]
        assert (trace["status"], trace["reason"]["kind"], trace["reason"]["by"]) == ("out_of_scope", "channel", by)
        assert trace["reason"]["allowed"] == channels["ids"]


def test_an_unresolved_channel_is_flagged(client: Client) -> None:
    """T9: an unresolved name is warned about until a selection is saved, and then it counts no more."""
    open_ = {"ids": [], "unresolved": ["general"]}
    book = lorebook(client, "server", woken("E", channels=open_), channels=open_)
    path = f"/v1/books/{book}"
    assert [each["kind"] for each in ok(client.get(path))["warnings"]] == ["unresolved_channel"]
    assert [each["kind"] for each in ok(client.get(f"{path}/entries/1"))["warnings"]] == ["unresolved_channel"]
    ok(client.patch(path, json={"enabled": True}))
    assert ok(client.get(path))["channels"] == open_
    changed = ok(client.patch(path, json={"channels": {"ids": ["7"]}}))
    assert (changed["channels"], changed["warnings"]) == ({"ids": ["7"], "unresolved": []}, [])
    changed = ok(client.patch(f"{path}/entries/1", json={"trigger": {"channels": {"ids": []}}}))
    assert (changed["trigger"]["channels"], changed["warnings"]) == ({"ids": [], "unresolved": []}, [])


def test_the_switch_of_a_book(client: Client) -> None:
    """T10: a book that is switched off sends nothing, and each entry keeps its own state for when it is back."""
    book = lorebook(client, "server", woken("on"), woken("off", enabled=False))
    ok(client.patch(f"/v1/books/{book}", json={"enabled": False}))
    assert active(client, book, "hello") == []
    found = told(client, book, "hello")
    assert {title: each["reason"]["by"] for title, each in found.items()} == {"on": "book", "off": "book"}
    entries = ok(client.get(f"/v1/books/{book}/entries"))["items"]
    assert [each["enabled"] for each in entries] == [True, False]
    ok(client.patch(f"/v1/books/{book}", json={"enabled": True}))
    assert active(client, book, "hello") == ["on"]
    assert told(client, book, "hello")["off"]["reason"] == {"kind": "disabled", "by": "entry"}


def test_lorebooks_and_world_books_together(client: Client) -> None:
    """B1: one answer holds both kinds of books, and every entry of each has one status and one reason."""
    world = new_book(client, {"title": "Oru", "content": "A port."})
    server = lorebook(client, "server", woken("A"), woken("B", "nowhere"), woken("C", "gate", chance=0))
    chat = lorebook(client, "chat", woken("D", "gate"), woken("E", "gate", enabled=False))
    attach(client, "character:both", world, server, chat)
    answer = ask(client, "gate of Oru", hosts=["character:both"], route="preview")
    assert [(each["id"], each["went"]) for each in answer["books"]] == [
        (world, "whole"),
        (server, "triggered"),
        (chat, "triggered"),
    ]
    assert sum(each["count"] for each in answer["counts"]) == 6
    assert {each["title"]: (each["status"], each["reason"]["kind"]) for each in answer["rest"]} == {
        "B": ("not_activated", "no_key"),
        "C": ("not_activated", "chance"),
        "E": ("disabled", "disabled"),
    }
    used = ask(client, "gate of Oru", hosts=["character:both"])
    assert (used["rest"], used["counts"]) == ([], answer["counts"])


def test_why_an_entry_activated(client: Client) -> None:
    """B1: an activated entry says which key, in which message, at which span of the text as it was posted."""
    book = lorebook(client, "server", woken("E", "salt gate"))
    text = "Então: ＳＡＬＴ  Gate!"
    found = told(client, book, "hm", text)["E"]["reason"]
    assert (found["kind"], found["by"], found["key"], found["message"], found["pass_number"]) == (
        "activated",
        "key",
        "salt gate",
        1,
        1,
    )
    assert text[slice(*found["span"])] == "ＳＡＬＴ  Gate"


def test_a_pattern_in_a_server_lorebook_costs_nothing(client: Client) -> None:
    """P05: a key made to stall a regular-expression engine is plain text, and is warned about."""
    book = lorebook(client, "server", woken("E", "/(a+)+$/"))
    assert active(client, book, "a" * 40 + "!") == []
    [warning] = ok(client.get(f"/v1/books/{book}/entries/1"))["warnings"]
    assert warning["kind"] == "literal_regex"


@pytest.mark.parametrize(
    ("dialect", "entry", "pointer"),
    [
        ("world", {"trigger": {"keys": ["a"]}}, "#/entries/0/trigger"),
        ("world", {"trigger": {}}, "#/entries/0/trigger"),
        ("server", {}, "#/entries/0/trigger"),
        ("chat", {"trigger": None}, "#/entries/0/trigger"),
        ("chat", {"trigger": {}, "aliases": ["a"]}, "#/entries/0/aliases"),
        ("chat", {"trigger": {}, "tier": "canon"}, "#/entries/0/tier"),
        ("chat", {"trigger": {"keyz": []}}, "#/entries/0/trigger/keyz"),
        ("chat", {"trigger": {"logic": "nor"}}, "#/entries/0/trigger/logic"),
    ],
)
def test_what_a_dialect_does_not_know_is_refused(client: Client, dialect: str, entry: Json, pointer: str) -> None:
    """T3: world books refuse a trigger and lorebooks require one; the field that is wrong is named."""
    body = {"name": new_conversation(), "dialect": dialect, "entries": [{"title": "E", "content": "E.", **entry}]}
    answer = client.post("/v1/books", json=body)
    assert answer.status_code == 422, answer.text
    assert pointer in [each["pointer"] for each in answer.json()["errors"]]


def test_a_book_keeps_its_dialect(client: Client) -> None:
    """T3: a lorebook cannot become a world book, nor one of another dialect."""
    book = lorebook(client, "server", woken("E"))
    answer = client.patch(f"/v1/books/{book}", json={"dialect": "chat"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/dialect")
    ok(client.patch(f"/v1/books/{book}", json={"dialect": "server"}))
    answer = client.patch(f"/v1/books/{book}/entries", json={"ids": [1], "set": {"tier": "canon"}})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/set/tier")


def test_keys_do_not_come_by_other_ways(client: Client) -> None:
    """T3: entries of a lorebook are never indexed, searched or fetched."""
    book = lorebook(client, "server", woken("Salt Gate", "salt gate", content="Salt gate lore."))
    assert ok(client.post("/v1/search", json={"query": "salt gate", "books": [book]}))["items"] == []
    assert ok(client.post("/v1/fetch", json={"names": ["Salt Gate", f"{book}-1"], "books": [book]}))["entries"] == []
    assert prompt(ask(client, "nothing", books=[book], index="all")) == ""
    assert ok(client.get(f"/v1/books/{book}"))["counts"]["pending_vectors"] == 0
    assert said("x")
