"""What one turn leaves to the next."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.lore.activation.state import EMPTY, MAX_EFFECTS, Effect, State
from service.lore.request import RetrieveRequest
from tests.lore.activation.worlds import Turn, asked, entry, lorebook

EFFECTS = st.builds(
    Effect,
    handle=st.text(min_size=1, max_size=8),
    kind=st.sampled_from(["sticky", "cooldown", "matched"]),
    start=st.integers(0, 10**6),
    end=st.integers(0, 10**6),
    protected=st.booleans(),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("sticky"),
    lambda inner: (
        st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=9) | st.just("effects"), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.lists(EFFECTS, max_size=20))
def test_round_trip(effects: list[Effect]) -> None:
    """A state comes back from its JSON as it was."""
    state = State.of(effects)
    assert State.from_json(json.loads(json.dumps(state.to_json()))) == state


@given(ANYTHING)
def test_any_json(value: object) -> None:
    """Whatever was stored, a state is read from it: what is not understood is left out."""
    assert State.from_json({"version": 9, "effects": value}) is not None
    assert State.from_json(value) is not None


def test_rows_of_a_later_version() -> None:
    """Rows with more, less or other values are left out, the others stay."""
    rows = [["a-1", "sticky", 1, 3, 0], ["a-2", "melting", 1, 3, 0], ["a-3", "sticky"], ["a-4", "sticky", "1", 3, 0], 7]
    assert State.from_json({"effects": rows}) == State((Effect("a-1", "sticky", 1, 3),))


def test_bounded() -> None:
    """A state keeps its newest effects, so it never outgrows its bound."""
    effects = [Effect(f"a-{n}", "matched", n, n) for n in range(MAX_EFFECTS + 50)]
    state = State.of(effects)
    assert len(state.effects) == MAX_EFFECTS
    assert min(effect.start for effect in state.effects) == 50


BOOK = lorebook(
    "sillytavern",
    entry("sticky", keys=("tide",), sticky=3, cooldown=2),
    entry("cool", keys=("tide",), cooldown=4),
    entry("chance", keys=("tide",), chance=50),
    entry("plain", keys=("gate",)),
)
KEPT = lorebook(
    "chat",
    entry("kept", "@@keep\nx", keys=("tide",)),
    entry("once", "@@dont_activate_after_match\ny", keys=("tide", "gate")),
    id="bakiru",
)


def request(turn: int, text: str) -> RetrieveRequest:
    return asked(text, conversation="c", turn=turn, messages_before=2 * turn)


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["the tide", "the gate", "nothing"]), min_size=1, max_size=8))
def test_previews_change_nothing(texts: list[str]) -> None:
    """R13: five previews before each live turn leave the live turns as they are without previews."""
    alone, previewed = EMPTY, EMPTY
    for number, text in enumerate(texts):
        live = Turn([BOOK, KEPT], request(number, text), alone)
        for _ in range(5):
            Turn([BOOK, KEPT], request(number, text), previewed)
        after = Turn([BOOK, KEPT], request(number, text), previewed)
        assert after.traces == live.traces
        alone, previewed = live.state, after.state
    assert alone == previewed


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["the tide", "the gate", "nothing"]), min_size=2, max_size=6))
def test_regenerating(texts: list[str]) -> None:
    """A turn that is done again from the state of the turn before gives the same, draws and state included."""
    state = EMPTY
    for number, text in enumerate(texts):
        first = Turn([BOOK, KEPT], request(number, text), state)
        again = Turn([BOOK, KEPT], request(number, text), state)
        assert (again.traces, again.state) == (first.traces, first.state)
        state = first.state


def test_for_changed_books() -> None:
    """Effects of entries that are gone, that lost the setting or whose book is away do no harm; those end in time."""
    state = Turn([BOOK, KEPT], request(1, "the tide")).state
    changed = lorebook("sillytavern", entry("sticky", keys=("tide",)))
    turn = Turn(changed, request(2, "nothing"), state)
    assert turn.titles == []
    assert {effect.handle for effect in turn.state.effects} == {"gomedi-2", "bakiru-1", "bakiru-2"}
    later = Turn(changed, request(90, "nothing"), turn.state)
    assert {(effect.handle, effect.kind) for effect in later.state.effects} == {
        ("bakiru-1", "matched"), ("bakiru-2", "matched")
    }  # fmt: skip
    back = Turn([BOOK, KEPT], request(91, "nothing"), later.state)
    assert back.titles == ["kept"]


def test_editing_keeps_the_effect() -> None:
    """A text mended in the middle of a chat keeps its entry active: effects belong to handles."""
    state = Turn(BOOK, request(1, "the tide")).state
    mended = lorebook("sillytavern", entry("sticky", "Mended.", keys=("tides",), sticky=3))
    assert Turn(mended, request(2, "nothing"), state).titles == ["sticky"]


@pytest.mark.parametrize("book", [BOOK, KEPT])
def test_nothing_begun(book: object) -> None:
    """A turn that activates nothing leaves the empty state."""
    assert Turn([book], request(1, "nothing")).state == EMPTY  # type: ignore[list-item]
