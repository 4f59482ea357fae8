"""Messages as apps have them: parts, null, fields of vendors, windows of a long conversation."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import Json, ask, entry, new_book, ok, said, titles

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,Gate"}}
CALL = {"id": "call_9", "type": "function", "function": {"name": "lore_fetch", "arguments": '{"names": ["Gate"]}'}}


def text(content: str, kind: str = "text", **fields: Any) -> Json:
    """A part that is text."""
    return {"type": kind, "text": content, **fields}


def post(client: TestClient, book: str, *messages: Json, **fields: Any) -> Json:
    """What is answered to these messages, where nothing goes whole."""
    body = {"messages": messages, "books": [book], "budget_tokens": 60, "places": 0, "trace": "full", **fields}
    answer: Json = ok(client.post("/v1/retrieve", json=body))
    return answer


@pytest.fixture(scope="module")
def book(client: TestClient) -> str:
    """A book that is too large to go whole."""
    return new_book(client, entry("Gate"), entry("Tower"), *(entry(f"Far {n}", "far " * 200) for n in range(3)))


CONTENTS = [
    # content, what it names
    ("the Gate", ["Gate"]),
    ([text("the Gate")], ["Gate"]),
    ([text("the"), PICTURE, text("Gate", cache_control={"type": "ephemeral"})], ["Gate"]),
    ([text("the Gate", "input_text")], ["Gate"]),
    ([text("the Gate", "output_text", annotations=[])], ["Gate"]),
    ([PICTURE], []),
    ([{"type": "refusal", "refusal": "the Gate"}], []),
    ([text("the Ga"), text("te")], []),
    ([], []),
    (None, []),
]


@pytest.mark.parametrize(("content", "named"), CONTENTS)
def test_content_may_be_parts(client: TestClient, book: str, content: object, named: list[str]) -> None:
    """The content of a message is a text, or parts whose texts are joined by line breaks, or null."""
    assert titles(post(client, book, {"role": "user", "content": content}), "named") == named


def test_spans_count_the_joined_text(client: TestClient, book: str) -> None:
    """A span counts the characters of the parts joined by line breaks."""
    parts = [text("Over there:"), PICTURE, text("the Gate")]
    answer = post(client, book, {"role": "user", "content": parts})
    [told] = answer["sections"]["named"]["entries"]
    start, end = told["reason"]["span"]
    assert (start, "Over there:\nthe Gate"[start:end]) == (16, "Gate")


def test_a_list_of_a_vendor_is_posted_as_it_is(client: TestClient, book: str) -> None:
    """Fields of a message that are not ours are left aside, and nothing in them is matched."""
    messages = [
        {"role": "system", "content": "You are Ilse."},
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "refusal": None, "annotations": [], "audio": None},
        {"role": "tool", "tool_call_id": "call_9", "content": "The Gate."},
        {"role": "user", "content": [text("And the Tower?")]},
    ]
    assert titles(post(client, book, *messages), "named") == ["Tower"]


ASKED = {"role": "user", "content": "Who guards the Gate?"}
CALLS = {
    "Anthropic": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "call_9", "name": "lore_fetch", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_9", "content": "The Tower."}]},
    ],
    "OpenAI": [
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_9", "content": "The Tower."},
    ],
}


@pytest.mark.parametrize("vendor", CALLS)
def test_calls_of_tools_push_nothing_out(client: TestClient, book: str, vendor: str) -> None:
    """W6, C1: messages without text are as if they were not there: the same names, keys and turn."""
    lore = new_book(client, entry("Bell", trigger={"keys": ["bell"]}), dialect="chat", settings={"scan_depth": 2})
    gate = {"role": "assistant", "content": "The Gate is shut. The bell rings."}
    hm = {"role": "assistant", "content": "Hm."}
    tower = {"role": "user", "content": "And the Tower?"}
    for chat in ([ASKED], [gate, tower], [gate, ASKED, hm, tower]):
        plain = post(client, book, *chat)
        called = post(client, book, *chat, *CALLS[vendor])
        assert titles(called, "named") == titles(plain, "named") != []
        assert called["run"]["turn"] == plain["run"]["turn"]
    answer = post(client, book, gate, ASKED, *CALLS[vendor], *CALLS[vendor], books=[lore])
    assert [(told["title"], told["reason"]["message"]) for told in answer["lorebook"]["entries"]] == [("Bell", 0)]
    assert titles(post(client, book, gate, ASKED, *CALLS[vendor], hm, tower), "named") == ["Tower", "Gate"]


FAULTS = [
    # message, pointer, part of what is said of it
    ({"role": "user", "contents": "x"}, "#/messages/0/content", "missing"),
    ({"rôle": "user", "content": "x"}, "#/messages/0/role", "missing"),
    ({"role": "user", "content": ["x"]}, "#/messages/0/content", "part 0 is no object with a type"),
    ({"role": "user", "content": [text("x"), {"text": "x"}]}, "#/messages/0/content", "part 1 is no object"),
    ({"role": "user", "content": [{"type": "text"}]}, "#/messages/0/content", "part 0 is of type text and has no text"),
    ({"role": "user", "content": {"type": "text", "text": "x"}}, "#/messages/0/content", "valid string"),
    ({"role": "user", "content": 7}, "#/messages/0/content", "valid string"),
    ({"role": "user", "content": [text("x" * 100_000)] * 2}, "#/messages/0/content", "200000 characters"),
]


@pytest.mark.parametrize(("message", "pointer", "told"), FAULTS)
def test_what_no_message_is(client: TestClient, book: str, message: Json, pointer: str, told: str) -> None:
    """A message without role or content, or with a part that is none, is refused, and so is too long a text."""
    problem = ok(client.post("/v1/retrieve", json={"messages": [message], "books": [book]}), 422)
    [fault] = problem["errors"]
    assert (fault["pointer"], told in fault["detail"]) == (pointer, True), fault


def test_other_unknown_fields_are_refused(client: TestClient, book: str) -> None:
    """An unknown field beside the messages stays an error."""
    problem = ok(client.post("/v1/retrieve", json={"messages": said("x"), "books": [book], "tool_calls": []}), 422)
    assert [fault["pointer"] for fault in problem["errors"]] == ["#/tool_calls"]


def test_the_contract_shows_parts(client: TestClient) -> None:
    """OpenAPI says that content is a text of limited length, parts or null, and that a message may have more fields."""
    message = client.get("/openapi.json").json()["components"]["schemas"]["Message"]
    kinds = {kind["type"]: kind for kind in message["properties"]["content"]["anyOf"]}
    assert set(kinds) == {"string", "array", "null"}
    assert kinds["string"]["maxLength"] == 200_000
    assert "joined by line breaks" in message["properties"]["content"]["description"]
    assert set(message["required"]) == {"role", "content"}
    assert message.get("additionalProperties") is not False


def test_a_long_conversation_is_cut_by_the_app(client: TestClient, book: str) -> None:
    """More messages than one retrieval takes are refused with what to post instead, and the limit can be asked for."""
    most = ok(client.get("/v1/limits"))["messages"]
    assert ok(client.get("/v1"))["limits"]["messages"] == most == 200
    history = said("the Gate", *(f"{n}" for n in range(most)))
    [fault] = ok(client.post("/v1/retrieve", json={"messages": history, "books": [book]}), 422)["errors"]
    assert fault["pointer"] == "#/messages"
    assert fault["remedy"] == "post the newest 200 and say with messages_before how many precede them"
    assert post(client, book, *history[-most:], messages_before=1)["run"]["turn"] == most + 1


def test_draws_do_not_freeze_in_a_window(client: TestClient) -> None:
    """B7: without `turn`, a window that says how many messages precede it draws anew at every turn, and the same
    again for the same window.
    """
    trigger = {"keys": ["tide"], "chance": 50}
    chance = new_book(client, entry("Tide", "It rises.", trigger=trigger), dialect="chat")

    def drawn(before: int) -> tuple[int, bool]:
        fields: Json = {"books": [chance], "conversation": "window", "messages_before": before}
        answer = ask(client, "tide", ("assistant", "Hm."), "tide", **fields)
        return answer["run"]["turn"], bool(answer["lorebook"]["messages"])

    first = [drawn(before) for before in range(0, 40, 2)]
    assert [turn for turn, _ in first] == [before + 2 for before in range(0, 40, 2)]
    assert {active for _, active in first} == {True, False}
    assert [drawn(before) for before in range(0, 40, 2)] == first
