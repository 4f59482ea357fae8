"""What conversations, models and use leave behind comes along in a full backup: out of one service, into another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.store.tables import metadata
from tests.spec.asking import Json, answered_bytes, ask, attach, canon, entry, new_book, ok, said
from tests.spec.backups import Lines, body, everything, lines, packed, restored, saved, twice, with_row, without
from tests.spec.conftest import Serving, client_in
from tests.spec.lorebooks import lorebook, sent, woken
from tests.spec.writing import LIVING, call_write, discard, model_writes, scope, undo, writes

TALK: Json = {"conversation": "talk", "hosts": ["server:port", "persona:ilse"], "channel": "general"}
UNRESOLVED: Json = {"ids": [], "unresolved": ["lobby"]}


@dataclass(frozen=True)
class Lived:
    """A service that was used, and its books."""

    client: TestClient
    diary: str
    tavern: str
    books: tuple[str, ...]


def turn(number: int, message: str, **fields: Any) -> Json:
    """One turn of the conversation."""
    asked: Json = {"messages": said(message), "turn": number, "messages_before": 2 * number, "trace": "full", **TALK}
    return {**asked, **fields}


def live(client: TestClient) -> Lived:
    """Lorebooks of every dialect with a past, a diary in which a model wrote, and entries that were used."""
    tavern = lorebook(client, "sillytavern", woken("Sticky", "gate", sticky=9), woken("Rested", "door", cooldown=9))
    chat = lorebook(
        client,
        "chat",
        woken("Once", "gate", content="@@dont_activate_after_match\nSaid once."),
        woken("Rare", "gate", chance=50, priority=3, role="user"),
        settings={"scan_depth": 2, "recursive_scanning": True},
    )
    port = lorebook(
        client,
        "server",
        woken("Here", constant=True, at="before", channels={"ids": ["general"]}),
        woken("There", "gate", channels={"ids": ["cellar"]}),
        woken("Flagged", "gate", secondary_keys=["tide"], logic="none", channels=UNRESOLVED),
        channels=UNRESOLVED,
    )
    persona = lorebook(client, "server", woken("Of ilse", "gate", chance=99.5, order=7))
    diary = new_book(client, canon("The Law", "Drown nobody."), entry("Oru", "Alive."), entry("Unread"), **LIVING)
    attach(client, "conversation:talk", tavern, chat, diary)
    attach(client, "server:port", port)
    ok(client.put("/v1/hosts/persona/ilse", json={"name": "Ilse", "lineage": "line-of-ilse"}))
    attach(client, "persona:ilse", persona)
    for number, message in enumerate(["gate", "door", "Oru?"], start=1):
        ok(client.post("/v1/retrieve", json=turn(number, message, budget_tokens=40)))
    model_writes(client, diary, "Oru", "Wounded.", handle=f"{diary}-2", turn=2, reply="r2")
    model_writes(client, diary, "Oru", "Dead.", handle=f"{diary}-2", turn=3, reply="r3")
    model_writes(client, diary, "The Fire", "It took the mill.", turn=3, reply="r3")
    model_writes(client, diary, "Flood", "It came.", turn=4, reply="gone")
    discard(client, diary, "gone")
    ok(client.post("/v1/fetch", json={"names": ["Oru"], "books": [diary]}))
    return Lived(client, diary, tavern, (tavern, chat, port, persona, diary))


@pytest.fixture
def lived(serving: Serving) -> Iterator[Lived]:
    """Such a service."""
    with serving() as client:
        yield live(client)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[TestClient]:
    """Another service, with nothing in it."""
    with client_in(tmp_path / "other") as client:
        yield client


def counters(client: TestClient, books: tuple[str, ...]) -> list[Any]:
    """How often each entry of the books was used, and when last."""
    return [ok(client.get(f"/v1/books/{book}/usage"))["items"] for book in books]


def test_all_of_it_comes_back(lived: Lived, other: TestClient) -> None:
    """T13: triggers, channels, lineages, what conversations left, what models wrote and what was counted are restored
    losslessly, and a second time there is nothing to restore."""
    file = saved(lived.client)
    restored(other, file)
    assert everything(other) == everything(lived.client)
    assert counters(other, lived.books) == counters(lived.client, lived.books)
    assert writes(other, lived.diary) == writes(lived.client, lived.diary)
    assert body(saved(other)) == body(file)
    assert not any(restored(other, file)["restored"].values())
    ended = lines(file)[-1]["end"]
    assert (ended["writes"], ended["usage"] > 5, ended["conversation_states"] > 1) == (4, True, True)


def test_the_next_turn_is_the_same(lived: Lived, other: TestClient) -> None:
    """T13: the turn after a restore is answered with the same bytes as if there had been none: what is sticky stays,
    what is to be said once is not said again, and draws fall the same."""
    file = saved(lived.client)
    restored(other, file)
    for number, message in enumerate(["nothing", "gate", "door"], start=4):
        asked = turn(number, message)
        answer = ok(other.post("/v1/preview", json=asked))
        assert answered_bytes(other, asked) == answered_bytes(lived.client, asked)
        if number == 4:
            assert "Sticky" in sent(answer)
        if number == 5:
            assert {"Here", "Flagged", "Of ilse"} <= set(sent(answer))
            assert not {"There", "Once"} & set(sent(answer))
        if number == 6:
            assert "Rested" not in sent(answer)
    assert "Sticky" not in sent(ask(other, "nothing", books=[lived.tavern], conversation="another", turn=4))


def test_a_write_is_undone_after_a_restore(lived: Lived, other: TestClient) -> None:
    """T13, W21: what models wrote before a backup is undone and discarded after it, newest first, and a reply that was
    discarded stays so."""
    restored(other, saved(lived.client))
    diary = lived.diary
    assert [(one["after"]["title"], one["state"]) for one in discard(other, diary, "r3")["reverted"]] == [
        ("The Fire", "discarded"),
        ("Oru", "discarded"),
    ]
    [wounded] = [one for one in writes(other, diary) if one["state"] == "live"]
    undo(other, diary, wounded)
    found = ok(other.get(f"/v1/books/{diary}", params={"entries": True}))["entries"]
    assert [(one["title"], one["content"]) for one in found] == [
        ("The Law", "Drown nobody."),
        ("Oru", "Alive."),
        ("Unread", "All about Unread."),
    ]
    token = scope(other, diary, conversation=f"c-{diary}", turn=4, reply="gone")
    assert call_write(other, token, title="Flood", content="It came.")["is_error"]


def test_no_scope_outlives_a_restore(lived: Lived, other: TestClient) -> None:
    """T13: the key that scopes are signed with is in no backup: a scope of one service opens nothing in another."""
    token = scope(lived.client, lived.diary, conversation="talk", turn=9, reply="r9")
    file = saved(lived.client)
    assert not {"scope_keys", "requests", "counted_turns"} & {line.get("table") for line in lines(file)}
    assert metadata.tables.keys() >= {"scope_keys", "requests", "counted_turns"}
    restored(other, file)
    ask(other, "Hello.", books=[lived.diary])
    answer = other.post("/v1/tools/call", json={"scope": token, "name": "lore_list"})
    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/scope-expired")


def test_what_went_on_stays(lived: Lived) -> None:
    """T13: a backup restored where conversations went on brings back what is gone, and newer counts and
    states stay."""
    file = saved(lived.client)
    client = lived.client
    ok(client.post("/v1/retrieve", json=turn(3, "gate and door")))
    ok(client.post("/v1/retrieve", json=turn(4, "gate")))
    ok(client.delete(f"/v1/books/{lived.books[2]}"), 204)
    went_on = tuple(book for book in lived.books if book != lived.books[2])
    before = counters(client, went_on)
    asked = turn(5, "nothing", hosts=[])
    told = ok(client.post("/v1/preview", json=asked))["lorebook"]
    report = restored(client, file)
    assert (report["restored"]["books"], report["restored"]["entries"]) == (1, 3)
    assert (report["restored"]["conversation_states"], report["restored"]["writes"]) == (0, 0)
    assert counters(client, went_on) == before
    assert ok(client.post("/v1/preview", json=asked))["lorebook"] == told


def test_writes_since_are_a_conflict(lived: Lived) -> None:
    """T13: a diary in which a model wrote since is another book by now, and nothing is restored."""
    file = saved(lived.client)
    model_writes(lived.client, lived.diary, "Oru", "Risen.", handle=f"{lived.diary}-2", reply="r8", turn=8)
    problem = restored(lived.client, file, 409)
    assert lived.diary in problem["detail"]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A backup of such a service."""
    with client_in(tmp_path_factory.mktemp("lived")) as client:
        return saved(live(client).client)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A service into which nothing ever comes."""
    with client_in(tmp_path_factory.mktemp("empty")) as client:
        yield client


TEXT: Json = {"title": "Oru", "content": "Alive.", "aliases": [], "gist": None}
HOSTILE: dict[str, tuple[Callable[[Lines], bytes], int, str]] = {
    "a trigger that is none": (with_row("entries", trigger={"keys": "gate"}), 422, "trigger"),
    "channels that are none": (with_row("books", channels=["general"]), 422, "channels"),
    "a tab in a lineage": (with_row("hosts", lineage="a\tb"), 422, "lineage"),
    "fewer than no uses": (with_row("usage", uses=-1), 422, "uses"),
    "more uses than a number holds": (with_row("usage", uses=2**53), 422, "2^53"),
    "uses of no entry": (with_row("usage", entry_id=99), 409, "usage"),
    "usage twice": (twice("usage"), 409, "twice"),
    "a write of no book": (with_row("writes", book_id="nobook"), 409, "writes"),
    "an id that no write has": (with_row("writes", id="../x"), 422, "id"),
    "an undo that would make a title of two lines": (
        with_row("writes", before={**TEXT, "title": "a\nb"}), 422, "title"
    ),
    "an undo that would empty an entry": (with_row("writes", before={**TEXT, "content": " "}), 422, "content"),
    "another action": (with_row("writes", action="burn"), 422, "action"),
    "a write twice": (twice("writes"), 409, "twice"),
    "a reply twice": (twice("responses"), 409, "twice"),
    "a state of no turn": (with_row("conversation_states", turn=-1), 422, "turn"),
    "a state that is a list": (with_row("conversation_states", state=[]), 422, "state"),
    "writes of books that are missing": (without("books", "entries", "usage", "attachments"), 409, "belongs"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "status", "told"), HOSTILE.values(), ids=HOSTILE)
def test_a_broken_backup_changes_nothing(
    intact: bytes, empty: TestClient, change: Callable[[Lines], bytes], status: int, told: str
) -> None:
    """F5: what is wrong with a past that is made up is told, and nothing is written."""
    problem = restored(empty, change(lines(intact)), status)
    assert told in problem["detail"]
    assert len(lines(saved(empty))) == 2


def test_a_state_that_makes_no_sense(intact: bytes, other: TestClient) -> None:
    """F5: a state that says nothing that this version understands is as if there were none."""
    made_up = {"version": 9, "effects": [["nowhere", "sticky", 0, 9, 0], [1], ["x-1", "burn", 0, 9, 0], "?"]}
    restored(other, with_row("conversation_states", state=made_up)(lines(intact)))
    assert sent(ok(other.post("/v1/retrieve", json=turn(2, "nothing")))) == ["Here"]


def test_a_backup_without_a_past(intact: bytes, other: TestClient) -> None:
    """F5: a backup made before there were states, writes and lineages is restored as it is."""
    given = lines(without("usage", "writes", "responses", "conversation_states")(lines(intact)))
    for line in given:
        if line.get("table") == "hosts":
            del line["row"]["lineage"]
    restored(other, packed(given))
    assert len(ok(other.get("/v1/books"))["items"]) == 5


@pytest.mark.parametrize("conversation", ["", "a\nb"])
def test_a_state_under_an_odd_name(intact: bytes, other: TestClient, conversation: str) -> None:
    """T13: a service that once took such names of conversations can be restored, with what it kept under them."""
    restored(other, with_row("conversation_states", conversation=conversation)(lines(intact)))
    states = [line["row"] for line in lines(saved(other)) if line.get("table") == "conversation_states"]
    assert conversation in {state["conversation"] for state in states}
