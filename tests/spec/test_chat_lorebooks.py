"""Lorebooks of the dialects `chat` and `sillytavern`: scanning, survival, order, decorators, state and chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import Json, ask, attach, ok, read_book
from tests.spec.conftest import Serving
from tests.spec.lorebooks import active, lorebook, new_conversation, reason, sent, told, woken

Client = TestClient


def chat(client: Client, *entries: Json, **settings: Any) -> str:
    """A chat lorebook with these settings."""
    return lorebook(client, "chat", *entries, settings=settings)


def test_books_of_a_conversation_are_one_set(client: Client) -> None:
    """C1: any number of lorebooks attached to a conversation are scanned together, each with its own scan depth."""
    talk = new_conversation()
    near = chat(client, woken("near", "gate"), woken("near always", constant=True), scan_depth=1)
    far = chat(client, woken("far", "gate"), scan_depth=3)
    never = chat(client, woken("never", "gate"), woken("constant", constant=True), scan_depth=0)
    attach(client, f"conversation:{talk}", near, far, never)
    messages = ["the gate", ("assistant", "yes"), "no"]
    assert set(sent(ask(client, *messages, conversation=talk))) == {"near always", "far", "constant"}
    assert set(sent(ask(client, "gate", conversation=talk))) == {"near", "near always", "far", "constant"}


@pytest.mark.parametrize(("depth", "status"), [(0, 201), (100, 201), (101, 422), (-1, 422)])
def test_bounds_of_the_scan_depth(client: Client, depth: int, status: int) -> None:
    """C1: a scan depth is 0 to 100 messages."""
    body = {"name": new_conversation(), "dialect": "chat", "settings": {"scan_depth": depth}}
    assert client.post("/v1/books", json=body).status_code == status


@pytest.mark.parametrize(("budget", "status"), [(100, 201), (32_000, 201), (99, 422), (32_001, 422)])
def test_bounds_of_the_token_budget(client: Client, budget: int, status: int) -> None:
    """C1: a token budget is 100 to 32,000 tokens."""
    body = {"name": new_conversation(), "dialect": "chat", "settings": {"token_budget": budget}}
    assert client.post("/v1/books", json=body).status_code == status


def test_the_largest_budget_wins(client: Client) -> None:
    """C1, T18: of the budgets of the attached lorebooks the largest holds for all, and null says nothing."""
    books = [chat(client, woken(f"{n}", "gate"), token_budget=budget) for n, budget in enumerate((100, 500, None))]
    [budget] = ask(client, "gate", books=books)["lorebook"]["budgets"]
    assert (budget["limit"], budget["unit"], budget["books"]) == (500, "tokens", books)


CHAIN = [woken(a, a.lower() + "key", content=f"{b.lower()}key") for a, b in zip("ABCDEF", "BCDEFG", strict=True)]


def test_recursion_has_three_passes(client: Client) -> None:
    """C1, R06: contents of activated entries are scanned in at most three passes more, and circles end."""
    book = chat(client, *CHAIN, recursive_scanning=True)
    found = told(client, book, "akey")
    active_ = {title: each["reason"]["pass_number"] for title, each in found.items() if each["status"] == "activated"}
    assert active_ == {"A": 1, "B": 2, "C": 3, "D": 4}
    assert found["B"]["reason"]["from_entry"] == f"{book}-1"
    circle = chat(
        client, woken("A", "akey", content="bkey"), woken("B", "bkey", content="akey"), recursive_scanning=True
    )
    assert active(client, circle, "akey") == ["A", "B"]
    assert {found[title]["reason"]["kind"] for title in "EF"} == {"no_key"}
    off = chat(client, *CHAIN, recursive_scanning=False)
    assert active(client, off, "akey") == ["A"]


def test_recursion_is_the_setting_of_the_woken(client: Client) -> None:
    """C1, R08: an entry is woken by contents from any book when its own book has the setting, and never else."""
    off = chat(client, woken("A", "akey", content="bkey"), woken("C", "bkey"), recursive_scanning=False)
    on = chat(client, woken("B", "bkey"), recursive_scanning=True)
    assert sent(ask(client, "akey", books=[off, on])) == ["A", "B"]


def test_keys_and_secondary_keys(client: Client) -> None:
    """C2: with secondary keys one of each must match, unless they do not count; a constant needs none."""
    book = chat(
        client,
        woken("selective", "gate", secondary_keys=["salt", "tide"]),
        woken("plain", "gate", secondary_keys=["salt"], selective=False),
        woken("constant", "nowhere", constant=True),
        woken("off", "gate", enabled=False),
    )
    assert active(client, book, "gate") == ["plain", "constant"]
    assert active(client, book, "gate at tide") == ["selective", "plain", "constant"]


def test_whole_words_can_be_switched_off(client: Client) -> None:
    """C2: keys match whole words by default, and anywhere when that is off."""
    book = chat(
        client, woken("default", "salt"), woken("on", "salt", whole_words=True), woken("off", "salt", whole_words=False)
    )
    assert active(client, book, "saltless") == ["off"]
    assert active(client, book, "salt") == ["default", "on", "off"]


def test_the_display_name_stays_here(client: Client) -> None:
    """C2: a display name is never sent, and survives export and import."""
    book = chat(client, woken("Secret name", "gate", content="Beware."))
    answer = ask(client, "gate", books=[book])
    assert "Secret name" not in [message["content"] for message in answer["lorebook"]["messages"]]
    assert answer["lorebook"]["messages"][0]["content"] == "Beware."
    for format in ("sillytavern", "character_book_v2", "character_book_v3", "lorebook_v3", "worldbook"):
        file = client.get(f"/v1/books/{book}/export", params={"format": format}).content
        options = {"dialect": "chat", "name": new_conversation() + format}
        made = ok(client.post("/v1/books/import", params=options, content=file), 201)["book"]["id"]
        assert [each["title"] for each in read_book(client, made)["entries"]] == ["Secret name"]


WORDS = "salt " * 59


def test_who_survives_the_budget(client: Client) -> None:
    """C3: the lowest priority falls first, then the lowest order, constants included, until the rest fits."""
    book = chat(
        client,
        woken("first", constant=True, priority=1, content=WORDS),
        woken("second", "gate", priority=5, order=1, content=WORDS),
        woken("third", "gate", priority=5, order=9, content=WORDS),
        woken("fourth", "gate", priority=9, content=WORDS),
        token_budget=200,
    )
    answer = ask(client, "gate", books=[book])
    assert sent(answer) == ["fourth", "third", "second"]
    [cut] = answer["over_budget"]
    assert (cut["title"], cut["reason"]["budget"], cut["reason"]["woken"]["kind"]) == ("first", "lorebook", "constant")
    [budget] = answer["lorebook"]["budgets"]
    assert budget["used"] == sum(each["tokens"] for each in answer["lorebook"]["entries"]) <= 200


def test_the_budget_falls_after_the_last_pass(client: Client) -> None:
    """C3: the budget cuts once, after the last pass: what a cut entry woke stays, and the trace says who woke it."""
    book = chat(
        client,
        woken("waker", "gate", priority=-5, content="tide " * 200),
        woken("woken", "tide", priority=5),
        recursive_scanning=True,
        token_budget=100,
    )
    answer = ask(client, "gate", books=[book])
    assert sent(answer) == ["woken"]
    assert [each["title"] for each in answer["over_budget"]] == ["waker"]
    assert answer["lorebook"]["entries"][0]["reason"]["from_entry"] == f"{book}-1"


def test_order_among_survivors(client: Client) -> None:
    """C3, R01, R02: the higher order stands first, whatever the roles; ties by higher priority, then by lower id."""
    rows = [
        ("nine", 9, 0, "user"),
        ("one", 1, 0, "system"),
        ("tie", 5, 0, "assistant"),
        ("tie, first", 5, 7, "user"),
        ("tie, last", 5, 0, "system"),
    ]
    book = chat(
        client, *(woken(title, "gate", order=order, priority=first, role=role) for title, order, first, role in rows)
    )
    assert active(client, book, "gate") == ["nine", "tie, first", "tie", "tie, last", "one"]


def test_each_entry_is_a_message(client: Client) -> None:
    """C4: every activated entry is a message of its own with its role, all in one slot."""
    roles = ("system", "user", "assistant")
    book = chat(client, *(woken(role, "gate", role=role, at="depth", depth=2) for role in roles))
    messages = ask(client, "gate", books=[book])["lorebook"]["messages"]
    assert [(each["role"], each["at"], each["content"]) for each in messages] == [
        (role, "slot", f"All about {role}.") for role in roles
    ]


def decorated(title: str, *lines: str, **trigger: Any) -> Json:
    """An entry whose content begins with these decorators."""
    return woken(title, "gate", content="\n".join((*lines, f"{title}.")), **trigger)


DECORATORS: list[tuple[str, Sequence[str | tuple[str, str]], Json, bool]] = [
    ("@@probability 0", ["gate"], {}, False),
    ("@@probability 100", ["gate"], {}, True),
    ("@@scan_depth 1", ["gate", "no"], {}, False),
    ("@@scan_depth 2", ["gate", "no"], {}, True),
    ("@@activate_only_after 3", ["gate", ("assistant", "x"), "gate"], {}, True),
    ("@@activate_only_after 4", ["gate", ("assistant", "x"), "gate"], {}, False),
    ("@@activate_only_after 4", ["gate"], {"messages_before": 3}, True),
    ("@@activate_only_every 3", ["gate", ("assistant", "x"), "gate"], {}, True),
    ("@@activate_only_every 2", ["gate", ("assistant", "x"), "gate"], {}, False),
    ("@@is_greeting", ["gate"], {}, False),
    ("@@is_greeting", [("assistant", "At the gate.")], {}, True),
    ("@@is_greeting", [("assistant", "At the gate."), "yes"], {}, False),
    ("@@is_greeting 1", ["gate"], {"greeting": 1}, True),
    ("@@is_greeting 1", ["gate"], {"greeting": 0}, False),
    ("@@dont_activate", ["gate"], {}, False),
    ("@@activate", ["nothing"], {}, True),
    ("@@unknown 3", ["gate"], {}, True),
    ("@@activate_only_after soon", ["gate"], {}, True),
    ("@@unknown\n@@@probability 0", ["gate"], {}, False),
    ("@@probability 100\n@@@probability 0", ["gate"], {}, True),
    ("@@unknown\n@@@unknown_too\n@@@probability 0", ["gate"], {}, False),
]


@pytest.mark.parametrize(("lines", "messages", "fields", "found"), DECORATORS)
def test_decorators(client: Client, lines: str, messages: Any, fields: Json, found: bool) -> None:
    """C5, R12: decorators adjust one entry, with their fallbacks, and never reach the prompt."""
    book = chat(client, decorated("E", *lines.split("\n")))
    answer = ask(client, *messages, books=[book], **fields)
    assert sent(answer) == (["E"] if found else [])
    assert [message["content"] for message in answer["lorebook"]["messages"]] == (["E."] if found else [])


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        ("chat", "do not reach the model: @@depth"),
        ("sillytavern", "do not reach the model: @@depth, @@role"),
        ("server", "are read by the model: @@depth, @@role"),
    ],
)
def test_decorators_without_effect_are_told(client: Client, dialect: str, said: str) -> None:
    """C5, T12: each dialect says of an entry what becomes of the decorators that it does not know."""
    book = lorebook(client, dialect, decorated("E", "@@depth 4", "@@role user"))
    [warning] = ok(client.get(f"/v1/books/{book}/entries/1"))["warnings"]
    assert (warning["kind"], warning["detail"]) == (
        "decorator",
        f"decorators at its top have no effect here and {said}",
    )


@pytest.mark.parametrize(
    ("key", "broken"),
    [("/a(/", True), ("/us/r/", True), (" /a[/i ", True), ("/a+/i", False), ("a(", False), ("/{{char}}(/", False)],
)
def test_a_broken_pattern_is_told(client: Client, key: str, broken: bool) -> None:
    """P05, T12: a key of `sillytavern` that looks like a regular expression and is none is warned about, also when the
    entry is edited; it matches as it is written."""
    book = lorebook(client, "sillytavern", woken("E", key))
    kinds = ["invalid_regex"] if broken else []
    path = f"/v1/books/{book}/entries/1"
    assert [each["kind"] for each in ok(client.get(path))["warnings"]] == kinds
    assert ok(client.patch(path, json={"trigger": {"keys": ["plain"]}}))["warnings"] == []
    edited = ok(client.patch(path, json={"trigger": {"secondary_keys": [key]}}))
    assert [each["kind"] for each in edited["warnings"]] == kinds
    if broken:
        other = lorebook(client, "sillytavern", woken("E", key))
        assert active(client, other, f"see {key.strip()} here") == ["E"]


def test_decorators_of_placement(client: Client) -> None:
    """C5: order, priority and role of one entry come from its decorators."""
    book = chat(
        client,
        woken("plain", "gate", order=5),
        decorated("up", "@@order 9", "@@role assistant"),
        decorated("down", "@@order 1"),
    )
    answer = ask(client, "gate", books=[book])
    assert sent(answer) == ["up", "plain", "down"]
    assert answer["lorebook"]["messages"][0]["role"] == "assistant"


def talk_of(client: Client, book: str, *messages: str, first: int = 1, talk: str | None = None) -> list[list[str]]:
    """What each of these turns of one conversation activates; every turn has one user message."""
    key = talk or new_conversation()
    return [
        active(client, book, message, conversation=key, turn=turn, messages_before=2 * turn)
        for turn, message in enumerate(messages, start=first)
    ]


@pytest.mark.parametrize("name", ["keep", "keep_activate_after_match"])
def test_keep(client: Client, name: str) -> None:
    """C5, R10, R12: an entry that keeps itself stays once it matched, under both names, and no other does."""
    book = chat(client, decorated("A", f"@@{name}"), woken("B", "gate"))
    assert talk_of(client, book, "no", "gate", "no", "no") == [[], ["A", "B"], ["A"], ["A"]]


def test_never_again(client: Client) -> None:
    """C5, R10: an entry that goes after a match never activates again in the conversation, and others do."""
    book = chat(client, decorated("A", "@@dont_activate_after_match"), woken("B", "gate"))
    assert talk_of(client, book, "gate", "gate", "gate") == [["A", "B"], ["B"], ["B"]]
    assert talk_of(client, book, "gate") == [["A", "B"]]


def test_a_draw_is_stable_within_a_turn(client: Client) -> None:
    """C5, R04: the draw of a probability is the same whenever the turn is asked again."""
    book = chat(client, decorated("E", "@@probability 50"))
    talk = new_conversation()
    draws = [[active(client, book, "gate", conversation=talk, turn=turn) for _ in range(3)] for turn in range(30)]
    assert all(one == two == three for one, two, three in draws)
    assert {len(each[0]) for each in draws} == {0, 1}


@pytest.mark.parametrize("model", [None, "gpt-4"])
def test_tokens_of_the_model(client: Client, model: str | None) -> None:
    """C6: tokens are counted with the tokenizer of the model that the request names."""
    book = chat(client, woken("E", "gate", content="塩の門は満潮に閉じる。" * 5))
    answer = ask(client, "gate", books=[book], model=model, tokenizer=None)
    other = ask(client, "gate", books=[book], model="unknown-model-9")
    assert answer["tokenizer"]["exact"]
    assert answer["lorebook"]["budgets"][0]["used"] < other["lorebook"]["budgets"][0]["used"]
    assert not other["tokenizer"]["exact"]


def test_a_regenerated_turn_begins_where_it_began(client: Client) -> None:
    """C5, R13: a turn that is asked again starts from the turn below, and what it left before is forgotten."""
    book = chat(client, decorated("A", "@@dont_activate_after_match"))
    talk = new_conversation()
    assert talk_of(client, book, "gate", talk=talk) == [["A"]]
    assert talk_of(client, book, "gate", talk=talk) == [["A"]]
    assert talk_of(client, book, "gate", first=2, talk=talk) == [[]]
    assert talk_of(client, book, "no", talk=talk) == [[]]
    assert talk_of(client, book, "gate", first=2, talk=talk) == [["A"]]


def test_state_comes_from_the_greatest_turn_below(client: Client) -> None:
    """C5: turns may be left out: a turn begins with what the greatest turn below it left."""
    book = chat(client, decorated("A", "@@keep"))
    talk = new_conversation()
    assert talk_of(client, book, "gate", first=2, talk=talk) == [["A"]]
    assert talk_of(client, book, "no", first=40, talk=talk) == [["A"]]
    assert talk_of(client, book, "no", first=1, talk=talk) == [[]]


def test_a_preview_changes_nothing(client: Client) -> None:
    """R13: five previews of a turn, and then the live turn is as if it were alone."""
    book = lorebook(client, "sillytavern", woken("S", "gate", sticky=2, cooldown=3), woken("N", "door"))
    alone, previewed = new_conversation(), new_conversation()
    turns = ["gate", "no", "gate", "door", "gate", "gate"]
    expected = talk_of(client, book, *turns, talk=alone)
    found = []
    for turn, message in enumerate(turns, start=1):
        fields = {"conversation": previewed, "turn": turn, "messages_before": 2 * turn}
        seen = [sent(ask(client, message, books=[book], route="preview", **fields)) for _ in range(5)]
        live = active(client, book, message, **fields)
        assert seen == [live] * 5
        found.append(live)
    assert found == expected


def test_without_a_conversation_nothing_is_kept(client: Client) -> None:
    """C5: without a conversation every request begins anew."""
    book = chat(client, decorated("A", "@@dont_activate_after_match"))
    assert [active(client, book, "gate", turn=turn) for turn in (1, 2, 3)] == [["A"]] * 3


@pytest.mark.parametrize("attached", [True, False])
def test_a_deleted_conversation_begins_anew(client: Client, attached: bool) -> None:
    """C5: with its host goes what lorebooks remember of a conversation, also of one that was never declared."""
    talk = new_conversation()
    book = chat(client, decorated("A", "@@dont_activate_after_match"))
    if attached:
        attach(client, f"conversation:{talk}", book)
    assert talk_of(client, book, "gate", "gate", talk=talk) == [["A"], []]
    ok(client.delete(f"/v1/hosts/conversation/{talk}"), 204)
    ok(client.delete(f"/v1/hosts/conversation/{talk}"), 404)
    assert talk_of(client, book, "gate", first=3, talk=talk) == [["A"]]


def test_states_are_bounded(serving: Serving) -> None:
    """C5: of a conversation only the newest turns are kept; an older one that is asked again begins with nothing."""
    with serving(state_turns=2) as client:
        book = chat(client, *(decorated(f"{n}", "@@keep") for n in range(3)))
        ok(client.patch(f"/v1/books/{book}/entries/1", json={"trigger": {"keys": ["one"]}}))
        ok(client.patch(f"/v1/books/{book}/entries/2", json={"trigger": {"keys": ["two"]}}))
        ok(client.patch(f"/v1/books/{book}/entries/3", json={"trigger": {"keys": ["three"]}}))
        talk = new_conversation()
        assert talk_of(client, book, "one", "two", "three", talk=talk) == [["0"], ["0", "1"], ["0", "1", "2"]]
        assert talk_of(client, book, "no", first=2, talk=talk) == [[]]
        assert talk_of(client, book, "no", first=4, talk=talk) == [["0", "1", "2"]]


def test_states_outlive_the_process(serving: Serving) -> None:
    """C5: what lorebooks remember is in the database, and there after a restart."""
    talk = new_conversation()
    with serving() as client:
        book = chat(client, decorated("A", "@@keep"))
        assert talk_of(client, book, "gate", talk=talk) == [["A"]]
    with serving() as client:
        assert talk_of(client, book, "no", first=2, talk=talk) == [["A"]]


def test_a_group_with_a_sure_member(client: Client) -> None:
    """R05: of an inclusion group with a member that is always drawn one activates every time."""
    book = lorebook(
        client,
        "sillytavern",
        woken("rare", "gate", chance=20, group={"names": ["g"]}),
        woken("sure", "gate", group={"names": ["g"]}),
    )
    talk = new_conversation()
    found = [active(client, book, "gate", conversation=talk, turn=turn) for turn in range(200)]
    assert {len(each) for each in found} == {1}
    assert {each[0] for each in found} == {"rare", "sure"}


def test_who_waits_for_recursion_and_refuses_it_is_told(client: Client) -> None:
    """R09: an entry that only recursion may wake but that refuses it, and one that wakes many, are warned about."""
    dead = woken("dead", "gate", recursion={"exclude": True, "delay_until": 1})
    others = [woken(f"N{n}", f"name{n}") for n in range(12)]
    index = woken("index", "gate", content=" ".join(f"name{n}" for n in range(12)))
    book = lorebook(client, "sillytavern", dead, index, *others)
    assert [each["kind"] for each in ok(client.get(f"/v1/books/{book}/entries/1"))["warnings"]] == ["dead_entry"]
    [warning] = ok(client.get(f"/v1/books/{book}"))["warnings"]
    assert (warning["kind"], f"{book}-2" in warning["detail"], "12" in warning["detail"]) == ("wakes_many", True, True)
    assert len(active(client, book, "gate")) == 13
    ok(client.patch(f"/v1/books/{book}/entries/2", json={"trigger": {"recursion": {"prevent": True}}}))
    assert ok(client.get(f"/v1/books/{book}"))["warnings"] == []
    assert active(client, book, "gate") == ["index"]


def test_a_pattern_cannot_stall_a_chat(client: Client) -> None:
    """P05: a regular expression made to stall an engine answers at once, in the one dialect that has them."""
    book = lorebook(client, "sillytavern", woken("evil", "/(a+)+$/"), woken("good", "/or[uo]+/i"))
    answer = ask(client, "ORUUU " + "a" * 40 + "!", books=[book])
    assert sent(answer) == ["good"]
    assert answer["run"]["timings_ms"]["retrieve"] < 5000
    assert reason(client, book, "evil", "x") == "no_key"
