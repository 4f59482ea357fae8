"""Activation settings of files as triggers of each dialect, and back."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.formats import WRITTEN, read, write
from service.formats.trigger_fields import changes, flat, trigger
from service.lore.book import Book, BookSettings, Dialect, Entry
from service.lore.errors import WorldbookError
from service.lore.trigger import CharacterFilter, Group, Recursion, Trigger
from service.validation import dump, validate
from tests.formats.samples import SAMPLES
from tests.formats.samples.sample import Sample
from tests.formats.worlds import unhurried
from tests.fuzz.mutating import mutated_json

DIALECTS: tuple[Dialect, ...] = ("server", "chat", "sillytavern")
FILES = tuple(name for name in WRITTEN if name != "worldbook")
brief = settings(unhurried, max_examples=20)
dialects = pytest.mark.parametrize("dialect", DIALECTS)

keys = st.lists(st.text("ab/ ,é漢", min_size=1, max_size=6).map(str.strip).filter(bool), max_size=3, unique=True)
counts = st.none() | st.integers(1, 1000)
triggers = st.builds(
    Trigger,
    keys=keys.map(tuple),
    secondary_keys=keys.map(tuple),
    logic=st.sampled_from(["any", "all", "none", "not_all"]),
    selective=st.just(True),
    constant=st.booleans(),
    whole_words=st.none() | st.booleans(),
    case_sensitive=st.none() | st.booleans(),
    scan_depth=st.none() | st.integers(1, 100),
    chance=st.none() | st.floats(0, 99.5),
    order=st.integers(-10_000, 10_000),
    priority=st.integers(-10_000, 10_000),
    role=st.sampled_from(["system", "user", "assistant"]),
    at=st.sampled_from(["before", "after", "depth", "note_top", "note_bottom", "examples_top", "examples_bottom"]),
    depth=st.integers(0, 1000),
    outlet=st.sampled_from(["", "o", "É x"]),
    sticky=counts,
    cooldown=counts,
    delay=counts,
    group=st.builds(
        Group,
        names=st.lists(st.sampled_from(["g", "h", "i"]), max_size=2, unique=True).map(tuple),
        override=st.booleans(),
        weight=st.floats(0, 1000),
        scoring=st.none() | st.booleans(),
    ),
    recursion=st.builds(Recursion, exclude=st.booleans(), prevent=st.booleans(), delay_until=st.integers(0, 1000)),
    ignore_budget=st.booleans(),
    generations=st.lists(st.sampled_from(["normal", "swipe"]), max_size=2, unique=True).map(tuple),
    sources=st.just(()) | st.just(("persona", "scenario")),
)


def lorebook(dialect: Dialect, *found: Trigger) -> Book:
    """A lorebook with these triggers."""
    entries = tuple(Entry(title=f"T{n}", content="C.", trigger=each) for n, each in enumerate(found))
    return Book(name="N", dialect=dialect, entries=entries)


def of(book: Book | None) -> list[Trigger]:
    """The triggers of a book as they count: in a server lorebook what has no key needs none, constant or not."""
    assert book is not None
    found = [entry.trigger for entry in book.entries or () if entry.trigger]
    return (
        [replace(each, constant=each.constant or not each.keys) for each in found]
        if book.dialect == "server"
        else found
    )


@dialects
@pytest.mark.parametrize("format", FILES)
@brief
@given(found=st.lists(triggers, max_size=3))
def test_a_written_trigger_is_read_back(dialect: Dialect, format: str, found: list[Trigger]) -> None:
    """T13: every field of a trigger survives each format that is written, whatever the dialect."""
    book = lorebook(dialect, *found)
    assert of(read(write(book, format), dialect=dialect).book) == of(book)


@pytest.mark.parametrize("format", FILES)
def test_a_priority_that_the_order_stood_in_for(format: str) -> None:
    """C3, T13: another order leaves the priority as it is, though a file without one gives it the order."""
    book = lorebook("chat", Trigger(order=0, priority=100), Trigger(order=100, priority=100))
    assert of(read(write(book, format), dialect="chat").book) == of(book)


@dialects
@pytest.mark.parametrize("format", FILES)
@brief
@given(before=triggers, after=triggers)
def test_an_edited_trigger_is_read_back(dialect: Dialect, format: str, before: Trigger, after: Trigger) -> None:
    """T13: an entry that was read from a file and edited goes out as it is now."""
    book = read(write(lorebook(dialect, before, before), format), dialect=dialect).book
    assert book is not None
    first, second = book.entries or ()
    edited = replace(book, name="N", entries=(replace(first, trigger=after), second))
    assert of(read(write(edited, format), dialect=dialect).book) == of(lorebook(dialect, after, before))


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("chance", [None, 30])
def test_what_needs_no_key_is_constant_elsewhere(format: str, chance: float | None) -> None:
    """T4, T13: an entry of a server lorebook without a key is on elsewhere too, with its chance, also once edited."""
    keyless, keyed = Trigger(at="before", chance=chance), Trigger(keys=("gate",))
    new = lorebook("server", keyless, keyed)
    read_back = read(write(new, format), dialect="server").book
    assert read_back is not None
    assert of(read_back) == of(new)
    first, second = read_back.entries or ()
    edited = replace(second, trigger=replace(keyed, keys=(), chance=chance))
    for entries, constant in ((new.entries, [True, False]), ((first, edited), [True, True])):
        file = json.loads(write(replace(new, entries=entries), format))
        listed = file.get("data", file)["entries"]
        rows = listed if isinstance(listed, list) else list(listed.values())
        assert [row["constant"] for row in rows] == constant
        assert rows[0].get("probability", rows[0].get("extensions", {}).get("probability")) == (chance or 100)


@dialects
@pytest.mark.parametrize(
    "sample",
    [each for each in SAMPLES if each.format in {"sillytavern", "chub"} and not isinstance(each.file, bytes)],
    ids=str,
)
def test_an_untouched_file_stays(dialect: Dialect, sample: Sample) -> None:
    """T13: what SillyTavern's writer makes of an untouched file does not depend on how the file was read."""
    found, world = read(sample.data, dialect=dialect).book, read(sample.data).book
    assert found is not None
    assert world is not None
    named = found.name or "N"
    assert write(replace(found, name=named), "sillytavern") == write(replace(world, name=named), "sillytavern")


CARDS = [each for each in SAMPLES if each.format.startswith(("character_book", "lorebook"))]


@dialects
@pytest.mark.parametrize("sample", CARDS, ids=str)
def test_an_untouched_character_book_stays(dialect: Dialect, sample: Sample) -> None:
    """T13: the same for character books."""
    found, world = read(sample.data, dialect=dialect).book, read(sample.data).book
    assert found is not None
    assert world is not None
    named = found.name or "N"
    for format in ("character_book_v2", "character_book_v3", "lorebook_v3"):
        assert write(replace(found, name=named), format) == write(replace(world, name=named), format)


JSON = [each for each in SAMPLES if each.inside.lstrip()[:1] in (b"{", b"[") and each.format != "worldbook"]


@dialects
@brief
@given(sample=st.sampled_from(JSON), chance=st.integers(0, 2**32))
def test_whatever_could_be_read_is_a_valid_lorebook(dialect: Dialect, sample: Sample, chance: int) -> None:
    """F5: a file with any settings becomes valid entries, comes out of our own JSON as it was, and is written."""
    data = sample.boxed(mutated_json(sample.inside, random.Random(chance)))
    try:
        found = read(data, dialect=dialect).book
    except WorldbookError:
        return
    if found is not None:
        book = replace(found, name=found.name or "N")
        assert validate(Book, dump(book)) == book
        assert read(write(book, "worldbook")).book == book
        for format in FILES:
            again = read(write(book, format), dialect=dialect).book
            assert again is not None
            lost = {} if format == "sillytavern" else {"characters": CharacterFilter()}
            assert of(again) == [replace(each, **lost) for each in of(book)]


ODD: list[tuple[dict[str, Any], str, Any]] = [
    ({"order": "50"}, "order", 50),
    ({"order": None}, "order", 100),
    ({"order": "soon"}, "order", 100),
    ({"role": None}, "role", "system"),
    ({"role": 2}, "role", "assistant"),
    ({"role": "user"}, "role", "user"),
    ({"role": 7}, "role", "system"),
    ({"position": "before_char"}, "at", "before"),
    ({"position": "after_char"}, "at", "after"),
    ({"position": "4"}, "at", "depth"),
    ({"position": "at_depth"}, "at", "depth"),
    ({"position": "em_top"}, "at", "examples_top"),
    ({"position": "elsewhere"}, "at", "before"),
    ({}, "at", "before"),
    ({"selectiveLogic": "3"}, "logic", "all"),
    ({"selectiveLogic": 9}, "logic", "any"),
    ({"selectiveLogic": None}, "logic", "any"),
    ({"constant": "false"}, "constant", False),
    ({"constant": 1}, "constant", True),
    ({"delayUntilRecursion": True}, "recursion.delay_until", 1),
    ({"delayUntilRecursion": False}, "recursion.delay_until", 0),
    ({"delayUntilRecursion": 2}, "recursion.delay_until", 2),
    ({"sticky": 0}, "sticky", None),
    ({"sticky": "3"}, "sticky", 3),
    ({"scanDepth": None}, "scan_depth", None),
    ({"scanDepth": 5000}, "scan_depth", 1000),
    ({"characterFilter": None}, "characters.names", ()),
    ({"characterFilter": {"isExclude": True, "names": ["a"], "tags": []}}, "characters.exclude", True),
    ({"group": "a, b,c"}, "group.names", ("a", "b", "c")),
    ({"triggers": ["normal", "other"]}, "generations", ("normal",)),
    ({"matchScenario": True}, "sources", ("scenario",)),
    ({"probability": 40, "useProbability": True}, "chance", 40),
    ({"probability": 40, "useProbability": False}, "chance", None),
    ({"probability": 40}, "chance", None),
    ({"probability": None, "useProbability": True}, "chance", None),
    ({"probability": "50", "useProbability": True}, "chance", 50),
    ({"probability": 0, "useProbability": True}, "chance", 0),
    ({"probability": 400, "useProbability": True}, "chance", None),
]


@pytest.mark.parametrize(("settings", "path", "value"), ODD, ids=str)
def test_odd_settings(settings: dict[str, Any], path: str, value: Any) -> None:
    """F1: settings are read whatever their type, and what cannot be read is the default (formats.md 1.2, 1.3)."""
    assert flat(trigger(settings, [], [], "sillytavern"))[path] == value


OF_DIALECTS: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"probability": 40}, "chance", {"server": 40, "chat": 40, "sillytavern": None}),
    ({"scanDepth": 0}, "scan_depth", {"server": 1, "chat": 0, "sillytavern": 0}),
    ({"scanDepth": 500}, "scan_depth", {"server": 100, "chat": 500, "sillytavern": 500}),
    ({"order": 9}, "order", {"server": 9, "chat": 191, "sillytavern": 9}),
    ({}, "order", {"server": 100, "chat": 100, "sillytavern": 100}),
    ({"order": 9}, "priority", {"server": 0, "chat": 9, "sillytavern": 0}),
    ({"order": 9, "priority": 3}, "priority", {"server": 3, "chat": 3, "sillytavern": 3}),
    ({"selective": False}, "secondary_keys", {"server": (), "chat": ("/b/",), "sillytavern": ("/b/",)}),
    ({}, "keys", {"server": ("a b",), "chat": ("a b",), "sillytavern": ("a\nb",)}),
]


@pytest.mark.parametrize(("settings", "path", "values"), OF_DIALECTS, ids=str)
def test_each_dialect_takes_its_own(settings: dict[str, Any], path: str, values: dict[Dialect, Any]) -> None:
    """T12, R01: what a dialect reads otherwise than the others."""
    for dialect, value in values.items():
        assert flat(trigger(settings, [("a\nb", "a b")], [("/b/", "/b/")], dialect))[path] == value


def test_an_order_in_an_inner_object() -> None:
    """F1: any list of lore may have its order where NovelAI has it (formats.md 5.7)."""
    rows = [{"keywords": ["a"], "text": "A", "contextConfig": {"budgetPriority": 7}}]
    found = read(json.dumps(rows).encode(), dialect="sillytavern")
    assert [each.order for each in of(found.book)] == [7]
    assert found.no_home == ()


@dialects
def test_nothing_changed_is_nothing_written(dialect: Dialect) -> None:
    """T13: equal triggers differ in no setting, and different ones in those alone."""
    assert changes(Trigger(), Trigger(), dialect) == {}
    after = Trigger(sticky=3, characters=CharacterFilter(names=("a",)))
    assert changes(Trigger(), after, dialect) == {"sticky": 3, "characterFilter": {"names": ["a"]}}


def test_settings_of_a_chat_lorebook_are_written() -> None:
    """C1: scan depth, budget and recursion stand in the file, where the hub and character books have them."""
    settings = BookSettings(scan_depth=3, token_budget=200, recursive_scanning=True)
    book = Book(name="N", dialect="chat", settings=settings, entries=())
    for format in FILES:
        file = json.loads(write(book, format))
        inside = file.get("data", file)
        assert (inside["scan_depth"], inside["token_budget"], inside["recursive_scanning"]) == (3, 200, True)
        again = read(json.dumps(file).encode(), dialect="chat").book
        assert again is not None
        assert again.settings == settings
