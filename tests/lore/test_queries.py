"""Who reads which messages."""

from __future__ import annotations

import pytest

from service.lore.queries import read_by_meaning, read_literally
from service.lore.request import Message


def chat(*turns: str) -> list[Message]:
    """Messages from `u:text`, `a:text`, `s:text`."""
    roles = {"u": "user", "a": "assistant", "s": "system", "t": "tool"}
    return [Message(role=roles[turn[0]], content=turn[2:]) for turn in turns]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("turns", "read"),
    [
        ([], []),
        (["u:1"], [0]),
        (["u:1", "a:2", "u:3"], [2, 1]),
        (["a:0", "a:1", "u:2", "a:3", "u:4"], [4, 3, 1]),
        (["a:0", "a:1", "a:2"], [2, 1]),
        (["u:0", "s:1", "t:2"], [0]),
        (["u:0", "a:", "u:"], [0]),
        (["a:0", "u:1", "a:", "t:2", "a:3", "u:4"], [5, 4, 0]),
        (["u: ", "a:\n"], []),
    ],
)
def test_names_are_read_in_the_newest_messages(turns: list[str], read: list[int]) -> None:
    """W6: the newest user message and the two newest assistant messages that say something, newest first."""
    assert read_literally(chat(*turns)) == read


@pytest.mark.parametrize(
    ("turns", "voices"),
    [
        ([], []),
        (["s:x"], []),
        (["u:  "], []),
        (["u:1"], [(0, "last")]),
        (["a:0"], [(0, "last")]),
        (["u:0", "a:1", "u:2"], [(2, "last"), (1, "previous"), (0, "older")]),
        (["u:0", "u:1"], [(1, "last"), (0, "older")]),
        (["a:0", "u:1", "a:2", "u:3", "a:4", "u:5", "a:6", "u:7"],
         [(7, "last"), (6, "previous"), (5, "older"), (4, "older"), (3, "older"), (2, "older")]),
        (["u:0", "a:1"], [(0, "last")]),
    ],
)  # fmt: skip
def test_every_message_is_its_own_query(turns: list[str], voices: list[tuple[int, str]]) -> None:
    """W7: last, previous and older messages each ask on their own."""
    assert [(query.message, query.voice) for query in read_by_meaning(chat(*turns))] == voices


def test_long_messages_are_read_in_windows() -> None:
    """E02: a long reply is compared window by window, and the question stays a query of its own."""
    greeting = " ".join(f"The hall number {number} is tall and grey and wide." for number in range(200))
    queries = read_by_meaning(chat(f"a:{greeting}", "u:who is Gordon?"))
    assert queries[0].text == "who is Gordon?"
    assert len([query for query in queries if query.voice == "previous"]) > 5
