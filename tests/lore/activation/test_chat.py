"""The `chat` dialect: scanning as one set, the token budget, order, decorators in effect, what outlives a turn."""

from __future__ import annotations

from typing import Any

import pytest

from service.lore.activation.state import EMPTY, State
from service.lore.book import Dialect
from service.lore.reasons import Activated, NoKey, OverLorebookBudget, Secondary, SwitchedOff, Timed
from service.lore.request import Message
from tests.lore.activation.worlds import Turn, asked, entry, lorebook, said

CHAIN = [entry("A", "wakes b", keys=("start",)), entry("B", "wakes c", keys=("b",)), entry("C", "wakes d", keys=("c",)),
    entry("D", "wakes e", keys=("d",)), entry("E", "wakes f", keys=("e",)), entry("F", keys=("f",))]  # fmt: skip


@pytest.mark.parametrize(("depth", "found"), [(None, False), (0, False), (4, False), (5, True), (100, True)])
def test_depth_of_the_book(depth: int | None, found: bool) -> None:
    """C1: the book says how many messages of both sides are searched; 0 leaves only constants."""
    book = lorebook("chat", entry("a", keys=("tide",)), entry("b", constant=True), scan_depth=depth)
    turn = Turn(book, asked("the tide", *(said("x") for _ in range(4)), Message(role="system", content="the tide")))
    assert set(turn.titles) == ({"a", "b"} if found else {"b"})


def test_each_book_its_depth() -> None:
    """C1: books are scanned together, each entry to the depth of its own book, or its own."""
    books = [
        lorebook("chat", entry("a", keys=("tide",)), scan_depth=1),
        lorebook(
            "chat", entry("b", keys=("tide",)), entry("c", keys=("tide",), scan_depth=1), id="bakiru", scan_depth=3
        ),
        lorebook("chat", entry("d", "@@scan_depth 2\nx", keys=("tide",)), id="todane", scan_depth=1),
    ]
    assert set(Turn(books, asked("the tide", "x")).titles) == {"b", "d"}


def test_chain_of_six() -> None:
    """R06, C1: of a chain of six the first scan and at most three passes wake four."""
    turn = Turn(lorebook("chat", *CHAIN, recursive_scanning=True), "start")
    assert sorted(turn.titles) == ["A", "B", "C", "D"]
    assert [turn.reason(title).pass_number for title in "ABCD"] == [1, 2, 3, 4]
    assert turn.reason("D").from_entry == "gomedi-3"
    assert turn.reason("E") == NoKey()


@pytest.mark.parametrize("dialect", ["chat", "sillytavern"])
def test_comments_wake_nobody(dialect: Dialect) -> None:
    """Comments in a content wake no entry and stay as written; a hidden key does wake."""
    lore = "{{// Mordor}}{{comment: Gondor}} {{hidden_key:Shire}} Rohan"
    places = [entry(place, keys=(place,)) for place in ("Mordor", "Gondor", "Shire", "Rohan")]
    settings = {"recursive_scanning": True} if dialect == "chat" else {}
    turn = Turn(lorebook(dialect, entry("A", lore, keys=("start",)), *places, **settings), "start")
    assert set(turn.titles) == {"A", "Shire", "Rohan"}
    assert turn.reason("Rohan").span == (lore.index("Rohan"), len(lore))
    assert lore in turn.lorebooks.contents


def test_cycle() -> None:
    """R06: entries that wake each other come once."""
    book = lorebook("chat", entry("A", "b", keys=("a",)), entry("B", "a", keys=("b",)), recursive_scanning=True)
    assert Turn(book, "a").titles == ["A", "B"]


@pytest.mark.parametrize(
    ("first", "second", "woken"), [(False, True, True), (True, False, False), (None, True, True), (True, None, False)]
)
def test_across_books(first: bool | None, second: bool | None, woken: bool) -> None:
    """R08, C1: the book of the entry that is woken decides, whatever book the content is of."""
    books = [
        lorebook("chat", entry("A", "the gate", keys=("tide",)), recursive_scanning=first),
        lorebook("chat", entry("B", keys=("gate",)), id="bakiru", recursive_scanning=second),
    ]
    assert Turn(books, "the tide").titles == (["A", "B"] if woken else ["A"])


def test_depth_0_is_not_woken() -> None:
    """C1: contents do not wake an entry with a depth of 0 either."""
    book = lorebook("chat", entry("A", "gate", constant=True), entry("B", keys=("gate",)), scan_depth=0,
        recursive_scanning=True)  # fmt: skip
    assert Turn(book, "gate").titles == ["A"]


@pytest.mark.parametrize(
    ("whole", "text", "found"),
    [(None, "the tides", False), (True, "the tides", False), (False, "the tides", True), (False, "TIDEs", True),
     (False, "ﬁsh", False), (None, "the tide", True)],
)  # fmt: skip
def test_whole_words(whole: bool | None, text: str, found: bool) -> None:
    """C2: whole words unless switched off; then any substring, still folded, never half a character."""
    book = lorebook("chat", entry("a", keys=("tide", "f"), whole_words=whole))
    assert Turn(book, text).titles == (["a"] if found else [])


BUDGETS = [
    ("T18: 100 and 500", (100, 500), 500),
    ("T18: three books and null", (None, 300, 100), 300),
    ("none says", (None, None), 800),
]


@pytest.mark.parametrize(("budgets", "limit"), [row[1:] for row in BUDGETS], ids=[row[0] for row in BUDGETS])
def test_largest_budget_wins(budgets: tuple[int | None, ...], limit: int) -> None:
    """T18: of books that disagree the largest budget holds for all of them, null says nothing."""
    ids = ("gomedi", "bakiru", "todane")
    books = [
        lorebook("chat", entry(id_, constant=True), id=id_, token_budget=budget)
        for id_, budget in zip(ids, budgets, strict=False)
    ]
    assert [budget.limit for budget in Turn(books, "x").answer.budgets] == [limit]


def test_budget_of_a_disabled_book() -> None:
    """T10, T18: a book that is off has no say."""
    books = [
        lorebook("chat", entry("a"), id="bakiru", token_budget=500, enabled=False),
        lorebook("chat", entry("b"), token_budget=100),
    ]
    assert Turn(books, "x").answer.budgets[0].limit == 100


def body(title: str, size: int, *lines: str, **trigger: Any) -> Any:
    """A constant entry of so many tokens."""
    return entry(title, "".join(f"{line}\n" for line in lines) + "x" * size, **{"constant": True, **trigger})


FALLS = [
    ("the lowest priority", [("a", 60, 1, 5), ("b", 60, 3, 1), ("c", 40, 2, 9)], ["c", "b"]),
    ("then the lowest order", [("a", 60, 1, 5), ("b", 60, 1, 9)], ["b"]),
    ("then the lowest id", [("a", 60, 1, 5), ("b", 60, 1, 5)], ["b"]),
    ("small ones in the way too", [("a", 1, 0, 5), ("b", 60, 1, 1), ("c", 41, 2, 1)], ["c"]),
    ("until the rest fits", [("a", 60, 0, 5), ("b", 60, 1, 1), ("c", 40, 2, 1)], ["c", "b"]),
    ("everything", [("a", 150, 0, 5)], []),
    ("nothing", [("a", 50, 0, 5), ("b", 50, 0, 5)], ["a", "b"]),
]


@pytest.mark.parametrize(("rows", "stay"), [row[1:] for row in FALLS], ids=[row[0] for row in FALLS])
def test_who_falls(rows: list[tuple[str, int, int, int]], stay: list[str]) -> None:
    """C3: sorted by priority, order and id, constants included, the lowest fall until the rest fits."""
    entries = [body(title, size, priority=priority, order=order) for title, size, priority, order in rows]
    turn = Turn(lorebook("chat", *entries, token_budget=100), "x")
    assert turn.titles == stay
    fallen = [title for title, *_ in rows if title not in stay]
    assert all(turn.traces[title].status == "cut" for title in fallen)
    assert all(turn.reason(title).left < size for title, size, *_ in rows if title in fallen)
    assert turn.answer.budgets[0].used == sum(size for title, size, *_ in rows if title in stay)


def test_ignore_on_max_context_falls_first() -> None:
    """C5: what says so falls before the lowest priority."""
    book = lorebook("chat", body("a", 60, "@@ignore_on_max_context", priority=9), body("b", 60), token_budget=100)
    assert Turn(book, "x").titles == ["b"]


def test_once_after_the_last_pass() -> None:
    """C3: an entry woken by one that the budget cuts stays, and the trace says which."""
    entries = [
        entry("A", "gate" + "x" * 100, keys=("tide",), priority=1),
        entry("B", keys=("gate" + "x" * 100,), priority=2),
    ]
    turn = Turn(lorebook("chat", *entries, token_budget=100, recursive_scanning=True), "the tide")
    assert turn.titles == ["B"]
    assert turn.reason("B").from_entry == "gomedi-1"
    cut = turn.reason("A")
    assert isinstance(cut, OverLorebookBudget)
    assert isinstance(cut.woken, Activated)


def test_placement() -> None:
    """R01, C3, C4: higher order first; ties by higher priority, then lower id; one message each, with its role."""
    book = lorebook(
        "chat",
        entry("low", constant=True, order=1),
        entry("tie, lower priority", constant=True, order=5, priority=1, role="assistant"),
        entry("tie, first", constant=True, order=5, priority=2),
        entry("tie, second", constant=True, order=5, priority=2),
        entry("high", constant=True, order=9, role="user", at="depth", depth=2),
    )
    turn = Turn(book, "x")
    assert turn.titles == ["high", "tie, first", "tie, second", "tie, lower priority", "low"]
    assert [message.role for message in turn.answer.messages] == ["user", "system", "system", "assistant", "system"]
    assert {(message.at, message.depth, message.outlet) for message in turn.answer.messages} == {("slot", None, None)}


def test_only_constants_and_keys() -> None:
    """C2: an entry without keys that is not constant never activates."""
    turn = Turn(lorebook("chat", entry("a"), entry("b", keys=(" ", "")), entry("c", secondary_keys=("x",))), "x")
    assert turn.titles == []


def gate(line: str, **trigger: Any) -> Any:
    return entry("a", f"{line}\ntext", **{"constant": True, **trigger})


GREETING = said("Welcome.")
USER = Message(role="user", content="tide")
GATES = [
    ("after, too early", "@@activate_only_after 4", ["1", "2", said("3")], {}, False),
    ("after, both sides count", "@@activate_only_after 4", ["1", said("2"), "3", said("4")], {}, True),
    (
        "after, system messages do not count",
        "@@activate_only_after 2",
        ["1", Message(role="system", content="s")],
        {},
        False,
    ),
    ("after, the whole conversation counts", "@@activate_only_after 4", ["4"], {"messages_before": 3}, True),
    ("after 0", "@@activate_only_after 0", [], {}, True),
    ("every, not yet", "@@activate_only_every 3", ["1", "2"], {}, False),
    ("every, now", "@@activate_only_every 3", ["3"], {"messages_before": 2}, True),
    ("every 1", "@@activate_only_every 1", ["1"], {}, True),
    ("every 0 is not valid", "@@activate_only_every 0", ["1"], {}, True),
    ("greeting alone", "@@is_greeting", [GREETING], {}, True),
    ("greeting after a system message", "@@is_greeting", [Message(role="system", content="s"), GREETING], {}, True),
    ("user spoke", "@@is_greeting", [GREETING, USER], {}, False),
    ("two replies", "@@is_greeting", [GREETING, said("x")], {}, False),
    ("no greeting", "@@is_greeting", [], {}, False),
    ("later in the chat", "@@is_greeting", [GREETING], {"messages_before": 8}, False),
    ("that greeting", "@@is_greeting 1", [GREETING, USER], {"greeting": 1}, True),
    ("another greeting", "@@is_greeting 1", [GREETING, USER], {"greeting": 0}, False),
    ("unknown greeting", "@@is_greeting 1", [GREETING, USER], {}, True),
    ("dont_activate", "@@dont_activate", ["x"], {}, False),
    ("activate wins", "@@dont_activate\n@@activate", ["x"], {}, True),
    ("activate passes gates", "@@activate\n@@activate_only_after 9", ["x"], {}, True),
    ("all gates hold", "@@activate_only_after 1\n@@activate_only_every 2", ["x"], {}, False),
    ("additional key there", "@@additional_keys tide, gate", ["the tide"], {}, True),
    ("additional key missing", "@@additional_keys gate", ["the tide"], {}, False),
    ("each list wants one", "@@additional_keys tide\n@@additional_keys gate", ["the tide"], {}, False),
    ("excluded key there", "@@exclude_keys gate, tide", ["the tide"], {}, False),
    ("excluded key missing", "@@exclude_keys gate", ["the tide"], {}, True),
    ("probability 0", "@@probability 0", ["x"], {}, False),
    ("probability 100", "@@probability 100", ["x"], {}, True),
]


@pytest.mark.parametrize(
    ("lines", "chat", "fields", "there"), [row[1:] for row in GATES], ids=[row[0] for row in GATES]
)
def test_gates(lines: str, chat: list[str | Message], fields: dict[str, Any], there: bool) -> None:
    """C5, R12: what decorators ask of the conversation, and they never reach the prompt."""
    turn = Turn(lorebook("chat", gate(lines)), asked(*chat, **fields))
    assert [message.content for message in turn.answer.messages] == (["text"] if there else [])


REASONS = [
    ("@@activate_only_after 4", Timed(effect="activate_only_after", until=4)),
    ("@@activate_only_every 4", Timed(effect="activate_only_every", until=4)),
    ("@@is_greeting", Timed(effect="is_greeting", until=None)),
    ("@@dont_activate", SwitchedOff()),
    ("@@exclude_keys tide", Secondary(key=None, logic="none", missing=(), present=("tide",))),
    ("@@additional_keys gate, wall", Secondary(key=None, logic="any", missing=("gate", "wall"), present=())),
]


@pytest.mark.parametrize(("line", "reason"), REASONS, ids=[row[0] for row in REASONS])
def test_reasons_of_gates(line: str, reason: object) -> None:
    """B1: which decorator kept an entry out."""
    turn = Turn(lorebook("chat", gate(line)), "tide")
    assert (turn.reason("a"), turn.traces["a"].status) == (reason, "not_activated")


OVERRIDES = [
    ("@@order 9", {"order": 1}, ["a", "b"]),
    ("@@order 1", {"order": 9}, ["b", "a"]),
    ("@@insertion_order 9", {"order": 1}, ["a", "b"]),
    ("@@priority 9", {"order": 5, "priority": 0}, ["a", "b"]),
    ("@@probability 0", {"chance": 100}, ["b"]),
    ("@@probability 100", {"chance": 0, "order": 9}, ["a", "b"]),
]


@pytest.mark.parametrize(("line", "fields", "titles"), OVERRIDES)
def test_decorators_win_over_fields(line: str, fields: dict[str, Any], titles: list[str]) -> None:
    """C5: a decorator adjusts its one entry, whatever the field says."""
    book = lorebook("chat", gate(line, **fields), entry("b", constant=True, order=5, priority=3))
    assert Turn(book, "x").titles == titles


def test_role_by_decorator() -> None:
    """C5: the role too."""
    assert Turn(lorebook("chat", gate("@@role user")), "x").answer.messages[0].role == "user"


def turns(book: Any, *texts: str) -> list[list[str]]:
    """What each of these turns activates, one after the other."""
    state, found = EMPTY, []
    for number, text in enumerate(texts):
        turn = Turn(book, asked(text, conversation="c", turn=number, messages_before=2 * number), state)
        state = State.from_json(turn.state.to_json())
        found.append(turn.titles)
    return found


@pytest.mark.parametrize("keep", ["@@keep", "@@keep_activate_after_match"])
def test_keep(keep: str) -> None:
    """C5, R12: under both names, once it activated it always does."""
    book = lorebook("chat", entry("a", f"{keep}\ntext", keys=("tide",)))
    assert turns(book, "x", "the tide", "x", "y") == [[], ["a"], ["a"], ["a"]]


def test_never_again() -> None:
    """C5: once it activated it never does again."""
    book = lorebook("chat", entry("a", "@@dont_activate_after_match\ntext", keys=("tide",)))
    assert turns(book, "x", "the tide", "the tide", "the tide") == [[], ["a"], [], []]


def test_flags_do_not_leak() -> None:
    """R10: what is kept is that entry alone."""
    book = lorebook("chat", entry("A", "@@keep\ntext", keys=("tide",)), entry("B", keys=("tide",)))
    assert turns(book, "the tide", "nothing") == [["A", "B"], ["A"]]


def test_the_first_of_keep_and_never() -> None:
    """C5: with both, the first that is written holds."""
    keys = {"keys": ("tide",)}
    book = lorebook(
        "chat",
        entry("kept", "@@keep\n@@dont_activate_after_match\nx", **keys),
        entry("gone", "@@dont_activate_after_match\n@@keep\nx", **keys),
    )
    assert turns(book, "the tide", "the tide") == [["kept", "gone"], ["kept"]]


def test_kept_needs_no_draw() -> None:
    """C5: what is kept stays, whatever its chance."""
    book = lorebook("chat", entry("a", "@@keep\n@@probability 50\ntext", keys=("tide",)))
    found = turns(book, *["the tide"] * 40)
    first = found.index(["a"])
    assert all(titles == ["a"] for titles in found[first:])


def test_cut_is_not_matched() -> None:
    """C5: an entry that the budget cut was never there, so `dont_activate_after_match` still lets it come."""
    long = entry("a", "@@dont_activate_after_match\n" + "x" * 150, keys=("tide",))
    turn = Turn(lorebook("chat", long, token_budget=100), "the tide")
    assert turn.state == EMPTY
    assert Turn(lorebook("chat", long, token_budget=200), "the tide", turn.state).titles == ["a"]


def test_matched_already() -> None:
    """B1: the reason says so."""
    book = lorebook("chat", entry("a", "@@dont_activate_after_match\ntext", keys=("tide",)))
    state = Turn(book, "the tide").state
    assert Turn(book, asked("the tide", "x", "tide"), state).reason("a") == Timed(
        effect="dont_activate_after_match", until=None
    )
