"""The `server` dialect: what is matched, in which group it stands, and what the shared budget leaves."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.lore.activation.answer import LorebookGroup
from service.lore.reasons import Activated, Constant, Disabled, NoKey, OutOfChannel, OverLorebookBudget
from service.lore.request import Message, Names
from service.lore.trigger import Channels
from tests.lore.activation.worlds import Turn, asked, entry, lorebook, said

MATCHES = [
    ("any case", "Salt Gate", "at the SALT GATE", True),
    ("any width", "gate", "the ｇａｔｅ", True),
    ("whole words", "gate", "the gates", False),
    ("scripts without blanks", "門", "塩の門番", True),
    ("a particle of Korean", "철수", "철수가 왔다", True),
    ("accents of the alphabet", "café", "CAFE", True),
    ("a regular expression is text", "/gate/i", "the gate", False),
    ("and found as it is written", "/gate/i", "the /gate/i of the book", True),
    ("Fault P05: a pattern that would stall", "(a+)+$", "a" * 40 + "!", False),
    ("macros in keys are text", "{{user}}", "Mira", False),
]


@pytest.mark.parametrize(("key", "text", "found"), [row[1:] for row in MATCHES], ids=[row[0] for row in MATCHES])
def test_matching(key: str, text: str, found: bool) -> None:
    """T3: keys are literal, whole words by the boundaries of names, whatever the case and the width."""
    turn = Turn(lorebook("server", entry("a", keys=(key,))), asked(text, names=Names(user="Mira")))
    assert turn.titles == (["a"] if found else [])


@pytest.mark.parametrize(("depth", "found"), [(None, False), (1, False), (4, False), (5, True), (100, True)])
def test_messages_searched(depth: int | None, found: bool) -> None:
    """T5: the newest n user and assistant messages are searched; without a number, four."""
    messages = ["the tide", *(said("x") for _ in range(4)), Message(role="system", content="the tide")]
    turn = Turn(lorebook("server", entry("a", keys=("tide",), scan_depth=depth)), asked(*messages))
    assert turn.titles == (["a"] if found else [])


def test_four_groups() -> None:
    """T4, T6: always-on entries stand before or after the persona, triggered ones above the four newest turns."""
    book = lorebook(
        "server",
        entry("triggered after", keys=("tide",), at="after"),
        entry("triggered before", keys=("tide",), at="examples_top"),
        entry("always after, late", order=2),
        entry("always after, early", keys=(" ",), order=1),
        entry("always before", constant=True, keys=("nothing",), at="before"),
    )
    chat = [said("1"), "2", Message(role="system", content="s"), said("3"), "4", "the tide"]
    turn = Turn(book, asked(*chat))
    assert turn.titles == [
        "always before", "always after, early", "always after, late", "triggered before", "triggered after"
    ]  # fmt: skip
    places = [(message.at, message.depth, message.before_message) for message in turn.answer.messages]
    assert places == [
        ("system_before", None, None), ("system_after", None, None), ("system_after", None, None),
        ("depth", 4, 1), ("depth", 4, 1),
    ]  # fmt: skip
    groups = turn.answer.groups
    assert groups is not None
    assert groups.before_message == 1
    assert groups.always_after == LorebookGroup(
        text="About always after, early.\nAbout always after, late.", handles=("gomedi-4", "gomedi-3")
    )
    assert [groups.always_before.handles, groups.triggered_before.handles, groups.triggered_after.handles] == [
        ("gomedi-5",), ("gomedi-2",), ("gomedi-1",)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("chat", "place"),
    [
        ([], 0),
        ([Message(role="system", content="s")], 1),
        ([Message(role="system", content="s"), "1"], 1),
        (["1", "2", "3", "4"], 0),
        (["1", "2", Message(role="tool", content="t"), "3", "4", Message(role="system", content="s"), "5"], 1),
    ],
)
def test_above_the_four_newest_turns(chat: list[str | Message], place: int) -> None:
    """T6: a turn is a user or assistant message; with fewer than four the texts stand above the first."""
    turn = Turn(lorebook("server", entry("a", chance=99.999)), asked(*chat, conversation="c", turn=1))
    assert [message.before_message for message in turn.answer.messages] == [place]


def test_order_and_ties() -> None:
    """R01, T5: lower order first; ties by attachment, then list order."""
    books = [
        lorebook("server", entry("b", order=9), entry("a", order=1), entry("c", order=9)),
        lorebook("server", entry("d", order=9), entry("e", order=-5), id="bakiru"),
    ]
    assert Turn(books, "x").titles == ["e", "a", "b", "c", "d"]


def test_shared_budget() -> None:
    """T7: one budget of characters, always-on first; what would exceed it is skipped and later ones may still fit."""
    books = [
        lorebook("server", entry("key", "k" * 40, keys=("tide",)), entry("big", "b" * 70, order=2)),
        lorebook("server", entry("first", "f" * 50, order=1), entry("last", "l" * 10, order=3), id="bakiru"),
    ]
    turn = Turn(books, "the tide", characters=100)
    assert turn.titles == ["first", "last", "key"]
    assert turn.answer.budgets[0].used == 100
    assert turn.reason("big") == OverLorebookBudget(left=50, woken=Constant())
    assert turn.traces["big"].status == "cut"
    assert turn.answer.budgets[0].books == ("gomedi", "bakiru")


def test_budget_counts_what_is_sent() -> None:
    """T7: the text counts with its macros replaced."""
    book = lorebook("server", entry("a", "{{user}}"))
    turn = Turn(book, asked("x", names=Names(user="M" * 20)), characters=19)
    assert turn.reason("a") == OverLorebookBudget(left=19, woken=Constant())


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 60), st.booleans(), st.integers(0, 3)), max_size=12), st.integers(0, 200))
def test_never_over_budget(rows: list[tuple[int, bool, int]], characters: int) -> None:
    """T7: the texts never exceed the budget, and each entry that was cut would have."""
    entries = [
        entry(str(n), "x" * size, keys=("tide",) if keyed else (), order=order)
        for n, (size, keyed, order) in enumerate(rows)
    ]
    turn = Turn(lorebook("server", *entries), "the tide", characters=characters)
    used = sum(len(message.content) for message in turn.answer.messages)
    assert used == turn.answer.budgets[0].used <= characters
    for trace in turn.lorebooks.over_budget():
        assert isinstance(trace.reason, OverLorebookBudget)
        assert len(entries[trace.id - 1].content) > trace.reason.left


def test_macros() -> None:
    """T8, P04: the names of the request in one pass, everything else as written."""
    book = lorebook("server", entry("a", "{{user}}, {{char}}, {{bot}}, {{foo}}, @@depth 3"))
    turn = Turn(book, asked("x", names=Names(user="{{char}}", char="Ilse")))
    assert [message.content for message in turn.answer.messages] == ["{{char}}, Ilse, Ilse, {{foo}}, @@depth 3"]


CHANNELS = [
    ("no restriction", Channels(), None, None, True),
    ("its channel", Channels(ids=("tavern",)), "tavern", None, True),
    ("another channel", Channels(ids=("tavern",)), "harbour", None, False),
    ("a thread of it", Channels(ids=("tavern",)), "thread-7", "tavern", True),
    ("a thread of another", Channels(ids=("tavern",)), "thread-7", "harbour", False),
    ("unresolved counts as every", Channels(ids=("tavern",), unresolved=("old inn",)), "harbour", None, True),
    ("no channel in the request", Channels(ids=("tavern",)), None, None, False),
]


@pytest.mark.parametrize(
    ("channels", "channel", "parent", "there"), [row[1:] for row in CHANNELS], ids=[row[0] for row in CHANNELS]
)
@pytest.mark.parametrize("by", ["book", "entry"])
def test_channels(channels: Channels, channel: str | None, parent: str | None, there: bool, by: str) -> None:
    """T9: a book as a whole or an entry by itself is restricted to channels; a thread follows its parent."""
    if by == "book":
        book = lorebook("server", entry("a"), channels=channels)
    else:
        book = lorebook("server", entry("a", channels=channels))
    turn = Turn(book, asked("x", channel=channel, channel_parent=parent))
    assert turn.titles == (["a"] if there else [])
    if not there:
        assert turn.traces["a"].status == "out_of_scope"
        assert turn.reason("a") == OutOfChannel(allowed=channels.ids, by=by)  # type: ignore[arg-type]


def test_switches() -> None:
    """T10: the switch of the book turns all of it off, that of an entry only the entry."""
    off = lorebook("server", entry("a"), entry("b", enabled=False), enabled=False)
    on = lorebook("server", entry("c"), entry("d", enabled=False, keys=("x",)), id="bakiru")
    turn = Turn([off, on], "x")
    assert turn.titles == ["c"]
    assert [turn.reason(title) for title in "abd"] == [
        Disabled(by="book"), Disabled(by="book"), Disabled(by="entry")
    ]  # fmt: skip


def test_what_this_dialect_does_not_read() -> None:
    """T12: settings without a home have no effect: roles, depth, recursion, sticky, groups, priority."""
    plain = lorebook("server", entry("a", "the gate", keys=("tide",)), entry("b", keys=("gate",)))
    odd = lorebook(
        "server",
        entry("a", "the gate", keys=("tide",), role="user", depth=0, priority=9, sticky=4, delay=50, cooldown=2,
              whole_words=False, ignore_budget=True, selective=False),
        entry("b", keys=("gate",), constant=False),
    )  # fmt: skip
    assert Turn(odd, "the tide").answer == Turn(plain, "the tide").answer
    assert Turn(odd, "the tide").state.effects == ()


def test_where_the_key_stood() -> None:
    """B1: which key, in which message, at which code points, and that there was only one pass."""
    turn = Turn(lorebook("server", entry("a", keys=("maré", "gate"))), asked("🌊 à MARÉ", said("x"), "y"))
    assert turn.reason("a") == Activated(
        by="key", key="maré", secondary=(), message=0, source=None, from_entry=None, span=(4, 8), pass_number=1,
        drawn=None, chance=100,
    )  # fmt: skip


def test_no_recursion() -> None:
    """Contents wake nothing in this dialect."""
    book = lorebook("server", entry("a", "the gate"), entry("b", keys=("gate",)))
    assert Turn(book, "x").reason("b") == NoKey()
