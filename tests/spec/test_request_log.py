"""The request log: what entered each request and why, found again, kept by age and size."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Event
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.actions import accounts
from service.actions.runtime import utc_now
from service.lore.answer import RetrieveAnswer
from service.lore.unlisted import Unlisted
from service.store.requests import MAX_HANDLES, StoredRequest
from tests.spec.asking import Json, ask, canon, entry, new_book, ok, traces
from tests.spec.conftest import Serving
from tests.spec.lorebooks import lorebook, new_conversation, woken

Client = TestClient
BODY = "Nobody on the coast remembers who built it first, or why. " * 8


def logged(client: Client, answer: Json) -> Json:
    """What the log has of a retrieval."""
    found: Json = ok(client.get(f"/v1/requests/{answer['run']['request_id']}"))
    return found


def listed(client: Client, **options: Any) -> list[Json]:
    """The requests that the log lists."""
    found: list[Json] = ok(client.get("/v1/requests", params=options))["items"]
    return found


def test_what_entered_and_why(client: Client) -> None:
    """C7: the log has the entries that entered with their reasons, and one reason code for each other entry."""
    world = new_book(
        client,
        canon("Law"),
        canon("Wards", BODY * 4),
        entry("Off", enabled=False),
        *(entry(f"E{n}", BODY) for n in range(9)),
    )
    book = lorebook(client, "server", woken("A"), woken("B", "gate"), woken("C", "x"), woken("D", "gate", chance=0))
    fields: Json = {
        "books": [world, book],
        "budget_tokens": 700,
        "conversation": new_conversation(),
        "texts": "entries",
    }
    answer = ask(client, "the gate of E3", **fields)
    full = ask(client, "the gate of E3", **fields, route="preview")
    found = logged(client, answer)
    told = {each["handle"]: each for each in (*traces(answer), *answer["lorebook"]["entries"])}
    kept = {each["handle"]: each for each in (*traces(found["answer"]), *found["answer"]["lorebook"]["entries"])}
    assert kept.keys() == told.keys()
    assert {handle: each["reason"] for handle, each in kept.items()} == {
        handle: each["reason"] for handle, each in told.items()
    }
    others = {each["handle"]: (each["status"], each["reason"]) for each in found["others"]}
    expected = {each["handle"]: (each["status"], each["reason"]["kind"]) for each in full["rest"]}
    assert others == expected
    assert len(kept) + len(others) == 16
    assert found["entered"] == len(told) - len(answer["over_budget"])
    for name in ("counts", "books", "budget", "tokenizer", "degraded"):
        assert found["answer"][name] == answer[name]


def test_no_text_is_kept(client: Client) -> None:
    """C7: the log keeps no text of lore, whatever texts the request asked for."""
    world = new_book(client, canon("Law", "SECRET one."), entry("Gate", "SECRET two."))
    book = lorebook(client, "server", woken("A", content="SECRET three."), woken("B", "gate", content="SECRET four."))
    chat = lorebook(client, "chat", woken("C", "gate", content="SECRET five."))
    for texts in ("prompt", "sections", "entries"):
        answer = ask(client, "gate", books=[world, book, chat], texts=texts, trace="full")
        assert "SECRET" in json.dumps(answer)
        found = logged(client, answer)
        assert "SECRET" not in json.dumps(found)
        assert found["answer"]["prompt"]["stable"]["hash"] == answer["prompt"]["stable"]["hash"]
        assert found["answer"]["rest"] == []


def test_requests_are_found(client: Client) -> None:
    """C7: requests are found by conversation, turn, the entry that entered and the time, the newest first."""
    book = lorebook(client, "chat", woken("A", "gate"), woken("B", "oru"))
    talk = new_conversation()
    for turn, message in enumerate(("gate", "oru", "gate oru"), start=1):
        ask(client, message, books=[book], conversation=talk, turn=turn, response_id=f"r{turn}")
    found = listed(client, conversation=talk)
    assert [(each["turn"], each["response_id"], each["entered"]) for each in found] == [
        (3, "r3", 2),
        (2, "r2", 1),
        (1, "r1", 1),
    ]
    assert [each["turn"] for each in listed(client, conversation=talk, turn=2)] == [2]
    assert [each["turn"] for each in listed(client, handle=f"{book}-1")] == [3, 1]
    assert [each["turn"] for each in listed(client, conversation=talk, since=found[1]["at"])][:2] == [3, 2]
    for never in ("2999-01-01T00:00:00Z", "9999-12-31T23:59:59-14:00", "2999-01-01"):
        assert listed(client, conversation=talk, since=never) == []
    assert len(listed(client, conversation=talk, since="0001-01-01T00:00:00+14:00")) == 3
    first = ok(client.get("/v1/requests", params={"conversation": talk, "limit": 2}))
    rest = ok(client.get("/v1/requests", params={"conversation": talk, "limit": 2, "cursor": first["next_cursor"]}))
    assert [each["turn"] for each in (*first["items"], *rest["items"])] == [3, 2, 1]
    assert rest["next_cursor"] is None
    answer = client.get("/v1/requests", params={"since": "yesterday"})
    assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (422, "since")


def test_how_many_entries_a_request_is_found_by(client: Client) -> None:
    """C7: a request is found by no more of its entries than the description says, and its account has all of them."""
    book = new_book(client, *(canon(f"E{n}", ".") for n in range(MAX_HANDLES + 1)))
    answer = ask(client, "Hm.", books=[book], budget_tokens=200_000)
    handles = [each["handle"] for each in logged(client, answer)["answer"]["sections"]["canon"]["entries"]]
    assert len(handles) == MAX_HANDLES + 1
    assert [len(listed(client, handle=handle)) for handle in handles[-2:]] == [1, 0]
    parameters = ok(client.get("/openapi.json"))["paths"]["/v1/requests"]["get"]["parameters"]
    [told] = [each["description"] for each in parameters if each["name"] == "handle"]
    assert f"the first {MAX_HANDLES:,}" in told


def test_a_request_is_forgotten(client: Client) -> None:
    """C7: a request can be deleted from the log."""
    book = lorebook(client, "chat", woken("A", "gate"))
    answer = ask(client, "gate", books=[book])
    path = f"/v1/requests/{answer['run']['request_id']}"
    ok(client.delete(path), 204)
    assert client.get(path).status_code == client.delete(path).status_code == 404
    assert listed(client, handle=f"{book}-1") == []


def test_a_reply_counts_once(client: Client) -> None:
    """C7: a request counts once for (conversation, turn, response_id), and a preview never."""
    book = lorebook(client, "chat", woken("A", "gate"))
    talk = new_conversation()
    fields: Json = {"books": [book], "conversation": talk, "turn": 4}
    for response in ("r1", "r1", "r2", None, None):
        last = ask(client, "gate", **fields, response_id=response)
    ask(client, "gate", **fields, response_id="r9", route="preview")
    found = listed(client, conversation=talk)
    assert [each["response_id"] for each in found] == [None, "r2", "r1"]
    assert found[0]["id"] == last["run"]["request_id"]
    for _ in range(2):
        ask(client, "gate", books=[book])
    assert len(listed(client, handle=f"{book}-1")) == 5


def test_the_id_of_the_caller(client: Client) -> None:
    """C7: a request is found under the id that its caller gave it, also one with a slash; of two the newer."""
    book = lorebook(client, "chat", woken("A", "gate"))
    body: Json = {"messages": [{"role": "user", "content": "gate"}], "books": [book]}
    for _ in range(2):
        answer = client.post("/v1/retrieve", json=body, headers={"X-Request-Id": "app/7"})
        assert answer.json()["run"]["request_id"] == "app/7"
    assert ok(client.get("/v1/requests/app%2F7"))["id"] == "app/7"
    assert len(listed(client, handle=f"{book}-1")) == 2
    ok(client.delete("/v1/requests/app%2F7"), 204)
    assert listed(client, handle=f"{book}-1") == []


def test_kept_by_age(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """C7: requests are kept for a number of days, and what lorebooks remember for another."""
    talk = new_conversation()
    with serving(log_days=2, state_days=5) as client:
        book = lorebook(client, "chat", woken("A", "gate", content="@@keep\nA."))
        log = client.app_state["runtime"].log
        ask(client, "gate", books=[book], conversation=talk, turn=1)
        assert len(listed(client)) == 1

        def later(**time: float) -> None:
            monkeypatch.setattr(log, "_clock", lambda: utc_now() + timedelta(**time))
            log.flush()

        later(days=1, hours=23)
        assert len(listed(client)) == 1
        later(days=2, hours=1)
        assert listed(client) == []
        body: Json = {"books": [book], "conversation": talk, "turn": 2, "route": "preview"}
        assert ask(client, "no", **body)["lorebook"]["entries"]
        later(days=5, hours=1)
        assert ask(client, "no", **body)["lorebook"]["entries"] == []


def test_kept_by_size(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """C7: all requests together take no more than a number of bytes; the oldest leave first."""
    with serving(log_bytes=6000) as client:
        book = lorebook(client, "chat", woken("A", "gate"))
        monkeypatch.setattr("service.actions.request_log.TIDY_SECONDS", 0.0)
        for turn in range(12):
            ask(client, "gate", books=[book], conversation="c", turn=turn)
        found = [each["turn"] for each in listed(client)]
        assert 2 < len(found) < 11
        assert found == list(range(11, 11 - len(found), -1))


def test_a_log_that_is_off(serving: Serving) -> None:
    """C7: with no days to keep nothing is logged."""
    with serving(log_days=0) as client:
        book = lorebook(client, "chat", woken("A", "gate"))
        answer = ask(client, "gate", books=[book])
        assert listed(client) == []
        assert client.get(f"/v1/requests/{answer['run']['request_id']}").status_code == 404


def test_the_log_outlives_the_process(serving: Serving) -> None:
    """C7: what was answered before the service ended is in the log when it is back."""
    with serving() as client:
        book = lorebook(client, "chat", woken("A", "gate"))
        answer = ask(client, "gate", books=[book])
    with serving() as client:
        assert logged(client, answer)["entered"] == 1


def test_many_at_once(client: Client) -> None:
    """C7: of requests that come all at once each is in the log."""
    book = lorebook(client, "chat", woken("A", "gate"))
    talk = new_conversation()

    def one(turn: int) -> str:
        found: str = ask(client, "gate", books=[book], conversation=talk, turn=turn)["run"]["request_id"]
        return found

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(one, range(40)))
    assert {each["id"] for each in listed(client, conversation=talk, limit=200)} == ids


def test_tidying_that_fails(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """C7: whatever goes wrong while old requests are forgotten, new ones are written."""

    def fail(*_: object, **__: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr("service.store.requests.expire", fail)
    monkeypatch.setattr("service.actions.request_log.TIDY_SECONDS", 0.0)
    with serving() as client:
        book = lorebook(client, "chat", woken("A", "gate"))
        for number in range(2):
            ask(client, "gate", books=[book])
            assert len(listed(client)) == number + 1


def test_an_account_that_cannot_be_made(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """C7: one account that fails is left out, and those that wait beside it are written."""
    failed: list[object] = []

    def packed(answer: RetrieveAnswer, others: Iterable[Unlisted]) -> bytes:
        if not failed:
            failed.append(answer)
            raise ValueError("broken")
        return accounts.packed(answer, others)

    monkeypatch.setattr("service.actions.retrieving.packed", packed)
    with serving() as client:
        book = lorebook(client, "chat", woken("A", "gate"))
        for _ in range(3):
            ask(client, "gate", books=[book])
        assert len(listed(client)) == 2
    assert len(failed) == 1


def test_a_request_that_cannot_be_stored(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """C7: one request that the database does not take is left out, and those that wait beside it are written."""
    monkeypatch.setattr("service.actions.request_log.GATHERING_SECONDS", 30.0)
    with serving() as client:
        log = client.app_state["runtime"].log
        fields: Json = {"conversation": "c", "response_id": None, "created_at": "2999-01-01T00:00:00.000Z"}
        for turn in (1, 2**63, 2):
            log.record(partial(StoredRequest, id=f"q{turn}", once=None, turn=turn, **fields))
        assert [each["turn"] for each in listed(client)] == [2, 1]


def test_old_states_are_forgotten_while_nothing_happens(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """C7: what is old is forgotten by time, also when nothing is logged and nobody asks."""
    tidied = Event()
    monkeypatch.setattr("service.store.states.expire", lambda *_: tidied.set())
    monkeypatch.setattr("service.actions.request_log.TIDY_SECONDS", 0.0)
    with serving(log_days=0):
        assert tidied.wait(30)


def test_kept_for_ever(serving: Serving) -> None:
    """C7: at the longest time to keep requests and states, the log is still kept by size."""
    with serving(log_days=36_500, state_days=36_500, log_bytes=0) as client:
        ask(client, "gate", books=[lorebook(client, "chat", woken("A", "gate"))])
        assert listed(client) == []
