"""Chance: what the numbers mean, and where the draw comes from."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from service.lore.activation.draws import drawn
from service.lore.book import Dialect, Entry
from service.lore.errors import Invalid, UnreadableFile
from service.lore.reasons import Activated, Chance, Constant
from service.lore.trigger import Group, Trigger
from service.validation import parse_json, validate
from tests.lore.activation.worlds import Turn, asked, entry, lorebook

DIALECTS: tuple[Dialect, ...] = ("server", "chat", "sillytavern")
TURNS = 2000


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("chance", "always", "never"),
    [(None, True, False), (100, True, False), (0, False, True), (50, False, False), (99.999, False, False)],
)
def test_edges(dialect: Dialect, chance: float | None, always: bool, never: bool) -> None:
    """T5: null is 100 and always activates, 0 never does, and what lies between does in some turns."""
    book = lorebook(dialect, entry("a", keys=("tide",), chance=chance))
    turns = [Turn(book, asked("the tide", conversation="c", turn=turn)) for turn in range(50)]
    active = [turn.titles == ["a"] for turn in turns]
    assert all(active) is (always or chance == 99.999)
    assert any(active) is not never
    reason = turns[0].reason("a")
    assert isinstance(reason, Chance | Activated)
    assert (reason.drawn is None) is always


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_constant_with_chance_0(dialect: Dialect) -> None:
    """T5: chance 0 never activates, with blank keys and with constant neither."""
    book = lorebook(dialect, entry("a", keys=(" ",), chance=0), entry("b", constant=True, chance=0))
    assert Turn(book, "the tide").titles == []


@pytest.mark.parametrize(
    ("written", "chance"), [('"50"', 50.0), ("50", 50.0), ("null", None), ("0", 0.0), ("0.5", 0.5)]
)
def test_read_at_the_edge(written: str, chance: float | None) -> None:
    """T5: "50" is read as 50, null as none given, and 0 stays 0."""
    body = parse_json(f'{{"title": "a", "content": "b", "trigger": {{"chance": {written}}}}}'.encode())
    assert validate(Entry, body).trigger == Trigger(chance=chance)


def refusal(chance: str) -> str:
    """What is said to an entry whose chance is written so."""
    body = f'{{"title": "a", "content": "b", "trigger": {{"chance": {chance}}}}}'.encode()
    with pytest.raises(Invalid) as refused:
        validate(Entry, parse_json(body))
    return str(refused.value.errors[0].pointer)


@pytest.mark.parametrize("written", ["-1", "101", '"often"', '"NaN"', '"1e999"', "[50]", "{}"])
def test_refused_at_the_edge(written: str) -> None:
    """T5: what is no chance is refused by the name of the field."""
    assert refusal(written) == "#/trigger/chance"


@pytest.mark.parametrize("written", ["1e999", "NaN", "Infinity"])
def test_no_number(written: str) -> None:
    """T5: a number that JSON does not have, or that no store can keep, never comes so far."""
    body = f'{{"title": "a", "content": "b", "trigger": {{"chance": {written}}}}}'.encode()
    with pytest.raises((Invalid, UnreadableFile)):
        parse_json(body)


def test_same_turn_same_draw() -> None:
    """R04, B7: regenerating draws the same a hundred times; another turn, entry or conversation draws anew."""
    book = lorebook("chat", *(entry(name, constant=True, chance=50) for name in "abcdefghij"))
    first = Turn(book, asked("x", conversation="c", turn=7))
    assert all(Turn(book, asked("x", conversation="c", turn=7)).traces == first.traces for _ in range(100))
    others = [Turn(book, asked("x", conversation=c, turn=t)).titles for c, t in (("c", 8), ("d", 7), (None, 7))]
    assert all(titles != first.titles for titles in others)
    assert len({first.reason(name).drawn for name in "abcdefghij"}) == 10


@pytest.mark.parametrize("dialect", DIALECTS)
def test_as_often_as_it_says(dialect: Dialect) -> None:
    """R04: over 2,000 turns an entry activates within three standard deviations of its chance."""
    chances = {f"{chance} %": chance for chance in (1, 10, 37.5, 50, 90, 99)}
    book = lorebook(dialect, *(entry(title, constant=True, chance=chance) for title, chance in chances.items()))
    active = Counter(
        title for turn in range(TURNS) for title in Turn(book, asked("x", conversation="salt", turn=turn)).titles
    )
    for title, chance in chances.items():
        share = chance / 100
        assert abs(active[title] - TURNS * share) <= 3 * math.sqrt(TURNS * share * (1 - share)), title


def test_uniform() -> None:
    """Over 2,000 turns of ten entries the tenths of the range are drawn alike: chi-square below its 99th percentile."""
    tenths = Counter(int(drawn("c", turn, f"gomedi-{id_}") // 10) for turn in range(TURNS) for id_ in range(10))
    assert sum((tenths[tenth] - TURNS) ** 2 / TURNS for tenth in range(10)) < 21.67


def test_names_that_would_join() -> None:
    """Conversation, turn and entry are told apart however they are written."""
    assert len({drawn("c1", 2, "x"), drawn("c", 12, "x"), drawn("c', 1", 2, "x")}) == 3


def test_blank_keys_draw_each_turn() -> None:
    """T4: blank keys with a chance below 100 need no key and are placed with the triggered ones."""
    book = lorebook("server", entry("a", chance=50))
    turns = [Turn(book, asked("x", conversation="c", turn=turn)) for turn in range(20)]
    active = [turn for turn in turns if turn.titles]
    assert 0 < len(active) < 20
    assert all(turn.answer.messages[0].at == "depth" for turn in active)
    assert all(turn.reason("a").by == "chance" for turn in active)


def test_constant_says_what_was_drawn() -> None:
    """B1: a constant that had to be drawn tells draw and chance."""
    book = lorebook("chat", entry("a", constant=True, chance=99))
    reason = Turn(book, asked("x", conversation="c", turn=1)).reason("a")
    assert reason == Constant(pass_number=1, drawn=drawn("c", 1, "gomedi-1"), chance=99)


def test_a_fallback_of_a_group() -> None:
    """R05: of a group with a fallback of 100 % the fallback is there whenever nothing else is."""
    group = Group(names=("weather",))
    book = lorebook(
        "sillytavern",
        *(entry(name, constant=True, chance=24, group=group) for name in ("rain", "fog")),
        entry("sun", constant=True, group=group),
    )
    found = [Turn(book, asked("x", conversation="c", turn=turn)).titles for turn in range(300)]
    assert all(len(titles) == 1 for titles in found)
    assert {title for titles in found for title in titles} == {"rain", "fog", "sun"}
