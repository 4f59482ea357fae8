"""What holds for every set of lorebooks, whatever their entries do to each other."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.lore.activation.lorebooks import talk_of
from service.lore.book import Dialect
from service.lore.open_book import AttachedBook
from service.lore.reasons import Activated, OverLorebookBudget
from service.lore.request import SillyTavern
from service.lore.trigger import Recursion
from tests.lore.activation.tavern_worlds import random_books, random_request, random_state
from tests.lore.activation.worlds import Turn, asked, entry, lorebook, whole_answer

DIALECTS: tuple[Dialect, ...] = ("server", "chat", "sillytavern")
NAMES = "abcdefgh"


@st.composite
def graphs(draw: st.DrawFn) -> list[Any]:
    """Up to eight entries, each woken by its name, saying the names of any others, itself too."""
    size = draw(st.integers(1, len(NAMES)))
    return [
        entry(
            name,
            " ".join(draw(st.lists(st.sampled_from(NAMES[:size]), max_size=4))) or "-",
            keys=(name,),
            order=draw(st.integers(0, 3)),
            priority=draw(st.integers(0, 3)),
            recursion=Recursion(
                exclude=draw(st.integers(0, 9)) == 0,
                prevent=draw(st.integers(0, 9)) == 0,
                delay_until=draw(st.sampled_from([0, 0, 0, 1, 2, 7])),
            ),
        )
        for name in NAMES[:size]
    ]


def reached(entries: list[Any], start: str, passes: int) -> set[str]:
    """Names within so many steps of the names that the message says."""
    contents = {each.title: set(each.content.split()) & set(NAMES[: len(entries)]) for each in entries}
    found = {name for name in start.split() if name in contents}
    for _ in range(passes - 1):
        found |= {name for each in found for name in contents[each]}
    return found


@settings(max_examples=150)
@given(graphs(), st.lists(st.sampled_from(NAMES), max_size=3).map(" ".join))
def test_every_graph_of_entries(entries: list[Any], start: str) -> None:
    """R06: activation ends on every graph; chat reaches what three passes reach, and nothing comes twice."""
    for dialect in DIALECTS:
        turn = Turn(lorebook(dialect, *entries, recursive_scanning=True, token_budget=32_000), start)
        assert len(turn.titles) == len(set(turn.titles))
        if dialect == "chat":
            assert set(turn.titles) == reached(entries, start, 4)
        if dialect == "server":
            assert set(turn.titles) == reached(entries, start, 1)


@settings(max_examples=150)
@given(graphs(), st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(" ".join), st.integers(1, 40))
def test_cut_entries_trigger_nothing(entries: list[Any], start: str, budget: int) -> None:
    """C3: in sillytavern what a budget cuts wakes nobody; in chat the budget falls once and changes nobody's waking."""
    program = SillyTavern(budget_cap=budget)
    turn = Turn(lorebook("sillytavern", *entries), asked(start, sillytavern=program))
    cut = {trace.handle for trace in turn.lorebooks.over_budget()}
    woken = [turn.reason(title) for title in turn.titles]
    woken += [
        trace.reason.woken for trace in turn.lorebooks.over_budget() if isinstance(trace.reason, OverLorebookBudget)
    ]
    assert not cut & {reason.from_entry for reason in woken if isinstance(reason, Activated)}

    free = Turn(lorebook("chat", *entries, recursive_scanning=True, token_budget=32_000), start)
    entries = [entry(each.title, each.content + " " * 30, **vars(each.trigger)) for each in entries]
    tight = Turn(lorebook("chat", *entries, recursive_scanning=True, token_budget=100), start)
    fallen = {trace.title for trace in tight.lorebooks.over_budget()}
    assert set(tight.titles) | fallen == set(free.titles)
    assert sum(len(message.content) for message in tight.answer.messages) <= 100


@pytest.mark.parametrize("seed", range(60))
def test_one_status_and_reason_each(seed: int) -> None:
    """B1: every entry of every attached book has one status and one reason, and the counts are of all of them."""
    random = Random(seed)
    books = random_books(random)
    chat = lorebook("chat", entry("x", keys=("cat",)), entry("y", constant=True, chance=50), id="lusano")
    server = lorebook("server", entry("z", keys=("dog",)), entry("w"), id="pikore", enabled=seed % 2 == 0)
    books = [chat, *books, server]
    request = random_request(random)
    state = random_state(random, books, talk_of(request).length)
    answer = whole_answer(books, request, state)
    assert sum(count.count for count in answer.counts) == sum(len(book.open.text.entries) for book in books)
    full = whole_answer(books, asked_in_full(request), state)
    traces = [*full.lorebook.entries, *full.over_budget, *full.rest]
    assert sorted(trace.handle for trace in traces) == sorted(
        each.handle for book in books for each in book.open.text.entries
    )
    counted = Counter((trace.status, trace.reason.kind) for trace in traces)
    assert counted == {(count.status, count.reason): count.count for count in answer.counts}
    assert (answer.lorebook, answer.counts, answer.over_budget) == (full.lorebook, full.counts, full.over_budget)
    assert [trace.id for trace in answer.books] == [book.open.text.book.id for book in books]


def asked_in_full(request: Any) -> Any:
    return type(request)(**{**vars(request), "trace": "full"})


@pytest.mark.parametrize("seed", range(40))
def test_same_again(seed: int) -> None:
    """B7: the same request over the same books answers the same, after other requests too."""
    random = Random(seed)
    books, request = random_books(random), random_request(random)
    first = whole_answer(books, request)
    whole_answer(books, random_request(random))
    assert whole_answer(books, request) == first


def three(dialect: Dialect) -> AttachedBook:
    """One file, whose entries came in under its own numbers for order, priority and position."""
    rows = [("one", 1, 5, "before"), ("nine", 9, 1, "before"), ("five", 5, 9, "after"), ("two", 2, 7, "depth")]
    return lorebook(
        dialect,
        *(entry(title, keys=("tide",), order=order, priority=priority, at=at) for title, order, priority, at in rows),
    )


@pytest.mark.parametrize(
    ("dialect", "titles", "when_short"),
    [
        ("server", ["one", "two", "nine", "five"], ["one", "two"]),
        ("chat", ["nine", "five", "two", "one"], ["five", "two"]),
        ("sillytavern", ["one", "nine", "five", "two"], ["nine", "five"]),
    ],
)
def test_three_orders_of_one_file(dialect: Dialect, titles: list[str], when_short: list[str]) -> None:
    """R01: server: lower order first, group by group; chat: higher first; sillytavern: by place, then lower first; and
    what survives a short budget: the first, the highest priority, the highest order."""
    assert Turn(three(dialect), "tide").titles == titles
    room = len("About five.") + len("About two.")
    long = Turn(three(dialect), asked("tide", sillytavern=SillyTavern(budget_cap=room + 2)), characters=room)
    if dialect == "chat":
        pad = [entry(title, f"About {title}." + "x" * 39, keys=("tide",), order=order, priority=priority)
            for title, order, priority in (("one", 1, 5), ("nine", 9, 1), ("five", 5, 9), ("two", 2, 7))]  # fmt: skip
        long = Turn(lorebook("chat", *pad, token_budget=100), "tide")
    assert long.titles == when_short
