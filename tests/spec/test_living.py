"""Living books: the log, undo and discard of what models wrote."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from service.actions.runtime import utc_now
from tests.spec.asking import Json, ask, attach, canon, embedded, entry, fetch, find, in_full, new_book, ok, read_book
from tests.spec.backups import lines, saved
from tests.spec.conftest import Serving
from tests.spec.writing import LIVING, call_write, discard, model_writes, scope, undo, writes


def contents(client: TestClient, book: str) -> dict[str, str]:
    return {each["title"]: each["content"] for each in read_book(client, book)["entries"]}


@pytest.fixture
def book(client: TestClient) -> str:
    """A living book of two entries, embedded."""
    return embedded(
        client,
        new_book(
            client, entry("The Salt Gate", "It is open.", aliases=["Porta"]), entry("Warden Oru", "Alive."), **LIVING
        ),
    )


def test_the_log_tells_all(client: TestClient, book: str) -> None:
    """W21: every write is in the log with the text before and after, its conversation, turn and reply."""
    made = model_writes(client, book, "The Fire", "It took the mill.", aliases=["Blaze"], gist="a fire", turn=7)
    model_writes(client, book, "The Salt Gate", "It is shut.", handle=f"{book}-1", reply="r2", turn=8)
    edit, create = writes(client, book)
    assert create == {
        "id": create["id"], "handle": made["handle"], "version": 2, "action": "create", "before": None,
        "after": {"title": "The Fire", "content": "It took the mill.", "aliases": ["Blaze"], "gist": "a fire"},
        "conversation": f"c-{book}", "turn": 7, "response_id": "r1", "at": made["updated_at"], "state": "live",
    }  # fmt: skip
    assert (edit["action"], edit["before"]["content"], edit["after"]["content"], edit["version"]) == (
        "edit", "It is open.", "It is shut.", 3,
    )  # fmt: skip
    assert read_book(client, book)["version"] == 3


def test_a_model_writes_through_a_tool(client: TestClient, book: str) -> None:
    """W20: the tool stands in the scope of a reply that has a living book attached, makes an entry or an edit, and
    each is logged with the conversation, the turn and the reply that the scope was signed for."""
    attach(client, f"conversation:c-{book}", book)
    reply: Json = {"conversation": f"c-{book}", "turn": 7, "response_id": "r7"}
    given = ask(client, "Hello.", **reply)["scope"]
    assert "write" in given["tools"]
    made = call_write(client, given["token"], title="The Fire", content="It took the mill.")["result"]
    assert (made["action"], made["handle"], made["title"]) == ("create", f"{book}-3", "The Fire")
    edited = call_write(client, given["token"], title="Warden Oru", content="Burnt.", handle=f"{book}-2")["result"]
    assert (edited["action"], edited["handle"]) == ("edit", f"{book}-2")
    assert contents(client, book) == {
        "The Salt Gate": "It is open.",
        "Warden Oru": "Burnt.",
        "The Fire": "It took the mill.",
    }
    log = writes(client, book)
    assert [(one["action"], one["handle"]) for one in log] == [("edit", f"{book}-2"), ("create", f"{book}-3")]
    assert [{name: one[name] for name in reply} for one in log] == [reply, reply]


@pytest.mark.parametrize("missing", ["conversation", "turn", "response_id"])
def test_no_write_without_a_reply(client: TestClient, book: str, missing: str) -> None:
    """W20: a scope of no conversation, turn or reply has no tool that writes, and a call of it changes nothing."""
    reply: Json = {"conversation": f"c-{book}", "turn": 1, "response_id": "r1"}
    del reply[missing]
    given = ask(client, "Hello.", books=[book], **reply)["scope"]
    assert "write" not in given["tools"]
    assert call_write(client, given["token"], title="Mine", content="Mine.")["is_error"]
    assert (writes(client, book), read_book(client, book)["version"]) == ([], 1)


def test_what_a_model_may_not_write(client: TestClient) -> None:
    """W20: a model writes into no book without the setting, nor into canon or a disabled entry, and is told why."""
    diary = new_book(client, canon("The Law", "Drown nobody."), entry("Off", enabled=False), **LIVING)
    closed = new_book(client, entry("The Gate", "Open."))
    token = scope(client, diary, closed, conversation=f"c-{diary}")
    for where, why in (
        ({"book": closed}, "living"),
        ({"handle": f"{closed}-1"}, "living"),
        ({"handle": f"{diary}-1"}, "canon"),
        ({"handle": f"{diary}-2"}, "no entry"),
    ):
        told = call_write(client, token, title="Mine", content="Mine.", **where)
        assert (told["is_error"], why in told["text"]) == (True, True)
    ok(client.patch(f"/v1/books/{diary}", json={"settings": {"living": False}}))
    assert call_write(client, token, title="Mine", content="Mine.")["is_error"]
    assert [read_book(client, book)["version"] for book in (diary, closed)] == [2, 1]


def test_nothing_is_written_twice(client: TestClient, book: str) -> None:
    """W20: a new entry that is called as another is refused with the handle of that one, and nothing changes."""
    token = scope(client, book, conversation=f"c-{book}")
    told = call_write(client, token, title="the salt GATE", content="It is shut.")
    assert told["is_error"]
    assert told["text"].startswith(f"{book}-1 is called so already. Send its handle to change it")
    assert read_book(client, book)["version"] == 1
    assert not call_write(client, token, title="the salt GATE", content="It is shut.", handle=f"{book}-1")["is_error"]


def test_a_repeated_call_writes_once(client: TestClient, book: str) -> None:
    """W20: a call sent again with its id is told the first result; a discarded reply writes no more."""
    token = scope(client, book, conversation=f"c-{book}")
    first, again = (call_write(client, token, "call-1", title="Fire", content="It began.") for _ in range(2))
    assert first == again
    assert len(writes(client, book)) == 1
    discard(client, book, "r1")
    late = call_write(client, token, title="Fire", content="It began.")
    assert (late["is_error"], "discarded" in late["text"]) == (True, True)
    assert "Fire" not in contents(client, book)


def test_an_empty_call_id_is_none(client: TestClient, book: str) -> None:
    """W20: a vendor that gives no ids of calls may be passed on as ""; each call then writes."""
    token = scope(client, book, conversation=f"c-{book}")
    for title in ("Fire", "Flood"):
        assert not call_write(client, token, "", title=title, content="It began.")["is_error"]
    assert len(writes(client, book)) == 2


def test_the_log_is_narrowed_and_paged(client: TestClient, book: str) -> None:
    """W21: the history of an entry, a conversation or a reply, newest first, page by page."""
    for number, reply in enumerate(["r1", "r2", "r2"]):
        model_writes(client, book, "The Salt Gate", f"State {number}.", handle=f"{book}-1", reply=reply)
    model_writes(client, book, "Else", "Where.", conversation="elsewhere")
    said = [one["after"]["content"] for one in writes(client, book, entry=1)]
    assert said == ["State 2.", "State 1.", "State 0."]
    assert len(writes(client, book, conversation="elsewhere")) == 1
    assert len(writes(client, book, response_id="r2")) == 2
    assert writes(client, book, entry=99) == []
    pages, cursor = [], None
    while True:
        page = ok(client.get(f"/v1/books/{book}/writes", params={"limit": 3} | ({"cursor": cursor} if cursor else {})))
        pages.append([one["version"] for one in page["items"]])
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert pages == [[5, 4, 3], [2]]


def test_undo_goes_from_newest_to_oldest(client: TestClient, book: str) -> None:
    """W21: the newest write of an entry is undone first; a refusal names the write in the way and changes nothing."""
    model_writes(client, book, "Fire", "It began.")
    model_writes(client, book, "Fire", "It spread.", handle=f"{book}-3", reply="r2")
    edit, create = writes(client, book)
    problem = undo(client, book, create, 409)
    assert problem["type"] == "/problems/undo-refused"
    assert edit["id"] in problem["detail"]
    assert edit["id"] in problem["remedy"]
    assert (contents(client, book)["Fire"], read_book(client, book)["version"]) == ("It spread.", 3)
    assert undo(client, book, edit)["state"] == "undone"
    assert contents(client, book)["Fire"] == "It began."
    assert undo(client, book, create)["state"] == "undone"
    assert list(contents(client, book)) == ["The Salt Gate", "Warden Oru"]
    assert [one["state"] for one in writes(client, book)] == ["undone", "undone"]
    assert "undone already" in undo(client, book, create, 409)["detail"]


def test_undo_of_another_version(client: TestClient, book: str) -> None:
    """W21: an undo with a stale If-Match is refused and changes nothing."""
    model_writes(client, book, "Fire", "It began.")
    path = f"/v1/books/{book}/writes/{writes(client, book)[0]['id']}/undo"
    assert client.post(path, headers={"If-Match": '"1"'}).status_code == 412
    assert contents(client, book)["Fire"] == "It began."
    assert client.post(path, headers={"If-Match": '"2"'}).status_code == 200


def test_entries_do_not_hinder_each_other(client: TestClient, book: str) -> None:
    """W21: a write of one entry is undone whatever was written to another since."""
    model_writes(client, book, "The Salt Gate", "Shut.", handle=f"{book}-1")
    model_writes(client, book, "Warden Oru", "Dead.", handle=f"{book}-2")
    _, gate = writes(client, book)
    undo(client, book, gate)
    assert contents(client, book) == {"The Salt Gate": "It is open.", "Warden Oru": "Dead."}


@pytest.mark.parametrize(
    "edit",
    [{"content": "By hand."}, {"title": "Gate"}, {"aliases": []}, {"gist": "a way"}],
    ids=lambda edit: next(iter(edit)),
)
def test_undo_never_overwrites_an_author(client: TestClient, book: str, edit: Json) -> None:
    """W21: a text that the author changed since the write stays; the refusal says so."""
    model_writes(client, book, "The Salt Gate", "Shut.", handle=f"{book}-1")
    ok(client.patch(f"/v1/books/{book}/entries/1", json=edit))
    [write] = writes(client, book)
    assert "edited by hand" in undo(client, book, write, 409)["detail"]
    after = ok(client.get(f"/v1/books/{book}/entries/1"))
    assert {name: after[name] for name in edit} == edit
    [kept] = discard(client, book, "r1")["kept"]
    assert (kept["write"]["id"], kept["write"]["state"]) == (write["id"], "live")
    assert "edited by hand" in kept["why"]


def test_switches_are_no_text(client: TestClient, book: str) -> None:
    """W21: tier, switch and place are the author's: they hinder no undo, and an undo leaves them as they are."""
    model_writes(client, book, "The Salt Gate", "Shut.", handle=f"{book}-1")
    ok(client.patch(f"/v1/books/{book}/entries/1", json={"tier": "canon", "enabled": False}))
    ok(client.post(f"/v1/books/{book}/order", json={"ids": [1], "to": "bottom"}))
    undo(client, book, writes(client, book)[0])
    gate = ok(client.get(f"/v1/books/{book}/entries/1"))
    assert (gate["content"], gate["tier"], gate["enabled"], gate["position"]) == ("It is open.", "canon", False, 1)


def test_a_discarded_reply_leaves_nothing(client: TestClient, book: str) -> None:
    """W21: discarding a reply reverts all its writes, newest first, in one version of the book; other replies stay."""
    model_writes(client, book, "Fire", "Before.", reply="r0")
    model_writes(client, book, "The Salt Gate", "Shut.", handle=f"{book}-1")
    model_writes(client, book, "The Salt Gate", "Broken.", handle=f"{book}-1")
    model_writes(client, book, "Flood", "It came.")
    answer = discard(client, book, "r1")
    assert [one["version"] for one in answer["reverted"]] == [5, 4, 3]
    assert {one["state"] for one in answer["reverted"]} == {"discarded"}
    assert answer["kept"] == []
    assert contents(client, book) == {"The Salt Gate": "It is open.", "Warden Oru": "Alive.", "Fire": "Before."}
    assert read_book(client, book)["version"] == 6
    assert [one["state"] for one in writes(client, book)] == ["discarded", "discarded", "discarded", "live"]


def test_discarding_twice(client: TestClient, book: str) -> None:
    """W21: a reply discarded once more reverts what was kept the first time and can go by now, and then nothing."""
    model_writes(client, book, "The Salt Gate", "Shut.", handle=f"{book}-1")
    model_writes(client, book, "The Salt Gate", "Broken.", handle=f"{book}-1", reply="r2")
    later, _ = writes(client, book)
    [kept] = discard(client, book, "r1")["kept"]
    assert later["id"] in kept["why"]
    assert discard(client, book, "r1")["kept"] == [kept]
    undo(client, book, later)
    assert contents(client, book)["The Salt Gate"] == "Shut."
    [reverted] = discard(client, book, "r1")["reverted"]
    assert (reverted["id"], reverted["state"]) == (kept["write"]["id"], "discarded")
    assert contents(client, book)["The Salt Gate"] == "It is open."
    assert discard(client, book, "r1") == {"reverted": [], "kept": []}


def test_replies_are_discarded_in_any_order(client: TestClient, book: str) -> None:
    """W21: of replies that wrote to one entry in turns all is reverted once all are discarded, the oldest one first."""
    for reply, content in (("r1", "Shut."), ("r2", "Broken."), ("r1", "Mended."), ("r3", "Gone.")):
        model_writes(client, book, "The Salt Gate", content, handle=f"{book}-1", reply=reply)
    model_writes(client, book, "Fire", "It began.", reply="r3")
    assert [len(discard(client, book, "r1")[name]) for name in ("reverted", "kept")] == [0, 2]
    assert [len(discard(client, book, "r2")[name]) for name in ("reverted", "kept")] == [0, 1]
    assert contents(client, book)["The Salt Gate"] == "Gone."
    answer = discard(client, book, "r3")
    assert [each["response_id"] for each in answer["reverted"]] == ["r3", "r3", "r1", "r2", "r1"]
    assert answer["kept"] == []
    assert contents(client, book) == {"The Salt Gate": "It is open.", "Warden Oru": "Alive."}
    assert {one["state"] for one in writes(client, book)} == {"discarded"}


def test_what_was_not_discarded_stays(client: TestClient, book: str) -> None:
    """W21: behind a discarded write the author's edits and the writes of other replies stay, and what is below them."""
    for reply, content in (("r1", "Shut."), ("r2", "Broken."), ("r3", "Gone.")):
        model_writes(client, book, "The Salt Gate", content, handle=f"{book}-1", reply=reply)
    model_writes(client, book, "Warden Oru", "Dead.", handle=f"{book}-2", reply="r1")
    ok(client.patch(f"/v1/books/{book}/entries/2", json={"content": "By hand."}))
    model_writes(client, book, "Warden Oru", "Back.", handle=f"{book}-2", reply="r3")
    discard(client, book, "r1")
    assert len(discard(client, book, "r3")["reverted"]) == 2
    assert contents(client, book) == {"The Salt Gate": "Broken.", "Warden Oru": "By hand."}


def test_discards_are_of_one_conversation(client: TestClient, book: str) -> None:
    """W21: replies of two conversations that have the same id are two; a reply that wrote nothing is discarded too."""
    model_writes(client, book, "Fire", "It began.", conversation="another", reply="r1")
    assert discard(client, book, "r1") == {"reverted": [], "kept": []}
    assert "Fire" in contents(client, book)


def test_undo_after_a_deletion(client: TestClient, book: str) -> None:
    """W21: the log outlives an entry, whose writes cannot be undone any more, and ends with the book."""
    made = model_writes(client, book, "Fire", "It began.")
    ok(client.delete(f"/v1/books/{book}/entries/{made['id']}"), 204)
    [write] = writes(client, book)
    assert "was deleted" in undo(client, book, write, 409)["detail"]
    assert "was deleted" in discard(client, book, "r1")["kept"][0]["why"]
    ok(client.delete(f"/v1/books/{book}"), 204)
    ok(client.get(f"/v1/books/{book}/writes"), 404)
    ok(client.post(f"/v1/books/{book}/writes/{write['id']}/undo"), 404)


def test_an_undo_is_found_at_once(client: TestClient) -> None:
    """W21: what is written is named, fetched and indexed at once and found by meaning once embedded; undone, it is gone
    from all of them."""
    fillers = [entry(f"Filler {n}", "Nothing of note happened here. " * 30) for n in range(8)]
    book = new_book(client, *fillers, **LIVING)
    asked: Json = {"books": [book], "budget_tokens": 700, "places": 0}
    model_writes(client, book, "The Quicksilver Bell", "It rings under the harbour at midnight.", aliases=["Glocke"])
    assert in_full(ask(client, "Die Glocke?", **asked)) == ["The Quicksilver Bell"]
    assert fetch(client, "glocke", books=[book])["missing"] == []
    embedded(client, book)
    assert find(client, "rings under the harbour at midnight", books=[book])[0] == "The Quicksilver Bell"
    undo(client, book, writes(client, book)[0])
    assert in_full(ask(client, "Die Glocke?", **asked)) == []
    assert [each["name"] for each in fetch(client, "glocke", books=[book])["missing"]] == ["glocke"]
    assert "The Quicksilver Bell" not in find(client, "rings under the harbour at midnight", books=[book])


def test_the_log_survives_a_restart(serving: Serving) -> None:
    """W21: after a restart writes are listed, undone and discarded as before, and a discarded reply stays discarded."""
    with serving() as client:
        book = new_book(client, entry("The Salt Gate", "Open."), **LIVING)
        model_writes(client, book, "The Salt Gate", "Shut.", handle=f"{book}-1")
        model_writes(client, book, "Fire", "It began.", reply="r2")
        discard(client, book, "r2")
    with serving() as client:
        assert [one["state"] for one in writes(client, book)] == ["discarded", "live"]
        assert discard(client, book, "r2") == {"reverted": [], "kept": []}
        undo(client, book, writes(client, book, entry=1)[0])
        assert contents(client, book) == {"The Salt Gate": "Open."}


def test_undo_when_the_book_lives_no_more(client: TestClient, book: str) -> None:
    """W21: the author undoes what was written after the book ceased to be a living one."""
    model_writes(client, book, "Fire", "It began.")
    ok(client.patch(f"/v1/books/{book}", json={"settings": {"living": False}}))
    undo(client, book, writes(client, book)[0])
    assert "Fire" not in contents(client, book)


def test_a_discarded_reply_is_remembered(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """Living: a reply stays discarded for longer than any scope lives, and is forgotten after forty days; the log of
    writes keeps all, and a reply that was not discarded is never forgotten."""
    with serving(scope_seconds=31 * 86_400) as client:
        book = new_book(client, entry("Oru"), **LIVING)
        token = scope(client, book, conversation=f"c-{book}", reply="gone")
        call_write(client, token, title="Fire", content="It began.")
        model_writes(client, book, "Flood", "It came.", reply="r2")
        discard(client, book, "gone")
        log = client.app_state["runtime"].log

        def replies_after(days: int) -> list[str]:
            monkeypatch.setattr(log, "_clock", lambda: utc_now() + timedelta(days=days))
            log.flush()
            return [line["row"]["response_id"] for line in lines(saved(client)) if line.get("table") == "responses"]

        assert replies_after(39) == ["gone", "r2"]
        assert call_write(client, token, title="Fire", content="Again.")["is_error"]
        assert replies_after(41) == ["r2"]
        assert [one["state"] for one in writes(client, book)] == ["live", "discarded"]
        assert discard(client, book, "gone") == {"reverted": [], "kept": []}
        assert call_write(client, token, title="Fire", content="Again.")["is_error"]


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("/v1/conversations/c/discard", {}, "#/response_id"),
        ("/v1/conversations/c/discard", {"response_id": ""}, "#/response_id"),
        ("/v1/conversations/c/discard", {"response_id": "x" * 201}, "#/response_id"),
        ("/v1/conversations/c/discard", {"response": "r1"}, "#/response"),
        (f"/v1/conversations/{'x' * 201}/discard", {"response_id": "r1"}, "key"),
        ("/v1/conversations/a%00b/discard", {"response_id": "r1"}, "key"),
    ],
)
def test_bad_discards(client: TestClient, path: str, body: Json, where: str) -> None:
    """W21: what is wrong with a discard is named field by field."""
    problem = ok(client.post(path, json=body), 422)
    assert where in [each["pointer"] or each["parameter"] for each in problem["errors"]]


@pytest.mark.parametrize(
    "query",
    ["entry=-1", "entry=9999999999", "limit=0", "cursor=x", "cursor=WyJ3cml0ZXMiLCA5OTk5OTk5OTk5OTk5OTk5OTk5OV0="],
)
def test_bad_questions_to_the_log(client: TestClient, book: str, query: str) -> None:
    """W21: what is wrong with a question to the log is an error of its parameter."""
    problem = ok(client.get(f"/v1/books/{book}/writes?{query}"), 422)
    assert [each["parameter"] for each in problem["errors"]] == [query.partition("=")[0]]


def test_unknown_writes(client: TestClient, book: str) -> None:
    """W21: a write that is not of this book is not found."""
    other = new_book(client, **LIVING)
    model_writes(client, other, "Fire", "It began.")
    [write] = writes(client, other)
    undo(client, book, write, 404)
    undo(client, "nobody", write, 404)
