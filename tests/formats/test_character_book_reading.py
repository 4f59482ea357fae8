"""Character books of V2 and V3 as world books."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.formats import read
from service.formats.report import NoHome, Reading
from service.lore.book import Entry
from service.lore.errors import Invalid, LimitExceeded
from tests.formats.boxes import entry


def reading(*entries: Any, **top: Any) -> Reading:
    """A character book with these entries, read."""
    return read(json.dumps({"extensions": {}, "entries": list(entries), **top}).encode())


def one(**raw: Any) -> Entry:
    """The one entry of a book with it."""
    found = reading({"keys": ["k"], "content": "C", **raw})
    assert found.book is not None
    (only,) = found.book.entries or ()
    return only


@pytest.mark.parametrize(
    ("raw", "title", "aliases", "tier", "enabled"),
    [
        ({}, "k", ("k",), "relevant", True),
        ({"comment": "Oru", "name": "n"}, "Oru", ("k",), "relevant", True),
        ({"name": "Oru"}, "Oru", ("k",), "relevant", True),
        ({"comment": "", "name": " ", "keys": []}, "C", (), "relevant", True),
        ({"keys": ["a", 5, None, "a"], "secondary_keys": ["b"]}, "a", ("a", "5", "b"), "relevant", True),
        ({"keys": ["Paris, Texas"]}, "Paris, Texas", ("Paris, Texas",), "relevant", True),
        ({"keys": "a, b"}, "a", ("a", "b"), "relevant", True),
        ({"keys": [" ", ""], "secondary_keys": None}, "C", (), "relevant", True),
        ({"constant": True}, "k", ("k",), "canon", True),
        ({"constant": True, "use_regex": True}, "k", ("k",), "canon", True),
        ({"enabled": False}, "k", ("k",), "relevant", False),
        ({"enabled": "false", "constant": "false"}, "k", ("k",), "relevant", False),
        ({"enabled": None}, "k", ("k",), "relevant", True),
        ({"extensions": None}, "k", ("k",), "relevant", True),
        ({"extensions": [1], "insertion_order": "x", "id": {}}, "k", ("k",), "relevant", True),
    ],
)
def test_fields(raw: dict[str, Any], title: str, aliases: tuple[str, ...], tier: str, enabled: bool) -> None:
    """W14: keys of both kinds are aliases, comment or name is the title, constant is canon; missing is enabled."""
    found = one(**raw)
    assert (found.title, found.aliases, found.tier, found.enabled) == (title, aliases, tier, enabled)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"entries": [entry()]}, "character_book_v2"),
        ({"entries": [entry(use_regex=False)]}, "character_book_v3"),
        ({"entries": [entry(), entry(use_regex=True)]}, "character_book_v3"),
        ({"entries": [7, None, entry()]}, "character_book_v2"),
        ({"entries": [], "extensions": {}}, "character_book_v2"),
        ({"entries": [{"keys": ["a"], "key": ["a"], "content": "A", "disable": False}]}, "character_book_v2"),
        ({"entries": [{"key": ["a"], "content": "A"}, {"keys": ["a"], "content": "A"}]}, "sillytavern"),
        ({"entries": {"1": entry()}}, "sillytavern"),
        ({"spec": "lorebook_v3", "data": {"entries": [entry()]}}, "lorebook_v3"),
        ({"spec": "lorebook_v3", "data": {"lorebook": {"entries": [entry()]}}}, "lorebook_v3"),
    ],
)
def test_recognition(value: Any, name: str) -> None:
    """F4: a list with a character book's names is one, of V3 when it says `use_regex`; `lorebook_v3` says so itself."""
    found = read(json.dumps(value).encode())
    assert found.format.name == name


def test_a_lorebook_one_level_deeper() -> None:
    """F1: a `lorebook_v3` whose book stands at `data.lorebook` is the same book, named from around it."""
    inner = {"entries": [entry(use_regex=False)], "extensions": {}}
    flat = read(json.dumps({"spec": "lorebook_v3", "data": {"name": "N", **inner}}).encode())
    deep = read(json.dumps({"spec": "lorebook_v3", "data": {"name": "N", "lorebook": inner}}).encode())
    assert flat.book == deep.book
    assert flat.book is not None
    assert flat.book.name == "N"


@pytest.mark.parametrize("data", [None, 7, [], {"entries": 7}, {"entries": "x"}])
def test_a_lorebook_without_a_book(data: Any) -> None:
    """F5: a file that says it is a lorebook and holds none is refused, with the field."""
    with pytest.raises(Invalid):
        read(json.dumps({"spec": "lorebook_v3", "data": data}).encode())


def test_list_order() -> None:
    """The list order comes from `display_index`, where an entry has one, else from its place, as SillyTavern has it."""
    rows = [
        entry(str(shown), extensions={} if shown is None else {"display_index": shown}) for shown in (3, None, 0, "x")
    ]
    found = reading(*rows)
    assert found.book is not None
    assert [each.content for each in found.book.entries or ()] == ["0", "None", "3", "x"]
    assert found.places == (2, 1, 0, 3)


def test_settings_without_a_home() -> None:
    """F3, I06: what has no effect is counted under its name in the file; both spellings are one, defaults are none."""
    found = reading(
        entry(
            insertion_order=7, priority=5, case_sensitive=True, position="after_char", selective=True, id=4,
            secondary_keys=["s"], use_regex=True, name="n", x_foo=1,
            extensions={
                "excludeRecursion": True, "sticky": 2, "cooldown": None, "role": 0, "position": 4, "probability": 100,
                "depth": 4, "selectiveLogic": 3, "display_index": 2, "vectorized": True, "hub": {"a": 1},
            },
        ),
        entry(position="before_char", selective=False, secondary_keys=[], extensions={"exclude_recursion": True}),
        entry(extensions={"case_sensitive": True}),
        scan_depth=4,
        token_budget=None,
        extensions={"book_hub": 1},
    )  # fmt: skip
    counts = {each.setting: each.count for each in found.no_home}
    assert counts == {
        "insertion_order": 1, "priority": 1, "case_sensitive": 1, "position": 1, "x_foo": 1,
        "extensions.exclude_recursion": 2, "extensions.sticky": 1, "extensions.selectiveLogic": 1,
        "extensions.case_sensitive": 1, "extensions.hub": 1, "extensions.book_hub": 1, "scan_depth": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("@@depth 4\n@@@instruct_depth 2\r\n@@role user\n\nLore.", ["@@@instruct_depth", "@@depth", "@@role"]),
        ("\n @@depth 4\nLore.", ["@@depth"]),
        ("@@activate", []),
        ("@@x\n@@y\n", []),
        ("Lore @@depth 4\n@@depth 4", []),
        ("@@depth 4\nLore.\n@@role user", ["@@depth"]),
    ],
)
def test_decorators_are_told(content: str, names: list[str]) -> None:
    """T12: decorators at the top of a content have no effect: they stay there, are counted and warned about."""
    found = reading(entry(content, use_regex=False))
    assert found.book is not None
    assert [each.content for each in found.book.entries or ()] == [content]
    assert [each.setting for each in found.no_home] == names
    assert [each.kind for each in found.warnings] == ["decorator"] * bool(names)


@pytest.mark.parametrize(
    ("logic", "lines", "read_as"),
    [
        (2, "@@exclude_keys s,t\n", ""),
        (3, "@@additional_keys s\n@@additional_keys t\n", ""),
        (1, "@@exclude_keys s,t\n", "@@exclude_keys s,t\n"),
        (2, "@@exclude_keys s\n", "@@exclude_keys s\n"),
        (2, "@@exclude_keys s,t\n@@depth 2\n", "@@depth 2\n"),
    ],
)
def test_decorators_that_repeat_the_logic(logic: int, lines: str, read_as: str) -> None:
    """Decorators that only say `selectiveLogic` again are no part of the content."""
    raw = entry(f"{lines}Lore.", "k", secondary_keys=["s", "t"], selective=True, use_regex=False)
    raw["extensions"] = {"selectiveLogic": logic}
    found = reading(raw)
    assert found.book is not None
    assert [each.content for each in found.book.entries or ()] == [f"{read_as}Lore."]


def test_bad_entries_are_skipped() -> None:
    """I04: of one good and three bad entries one is read and three are told, with place and reason."""
    found = reading({"keys": ["a"], "content": "A"}, 7, None, {"keys": "str"})
    assert found.book is not None
    assert [each.title for each in found.book.entries or ()] == ["a"]
    assert [(each.index, each.kind) for each in found.skipped] == [
        (1, "not_an_entry"),
        (2, "not_an_entry"),
        (3, "no_content"),
    ]


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        ((0, 0), [0, 1]),
        ((1, "1", 0), [1, 2, 0]),
        (("a", "a"), ["a", 0]),
        ((None, None, True), [None, None, True]),
        ((2**53 - 1, 2**53 - 1), [2**53 - 1, 0]),
    ],
)
def test_two_entries_with_one_id(ids: tuple[Any, ...], kept: list[Any]) -> None:
    """I08: no entry overwrites another; the later one gets a free id and the report says so."""
    found = reading(*(entry(str(place), id=own) for place, own in enumerate(ids)))
    assert found.book is not None
    assert [each.extensions["character_book"]["entry"]["id"] for each in found.book.entries or ()] == kept
    assert [each.kind for each in found.warnings] == ["duplicate_id"] * sum(
        a != b for a, b in zip(ids, kept, strict=True)
    )


def test_what_is_told_of_keys() -> None:
    """T12: keys that are regular expressions or blank are named."""
    found = reading(entry("C", "/a+/", " "))
    assert [(each.kind, each.index) for each in found.warnings] == [("blank_alias", 0), ("literal_regex", 0)]


def test_too_many_entries() -> None:
    """F5: a book of more entries than any is refused before work is done on it."""
    with pytest.raises(LimitExceeded):
        read(b'{"entries":[{"keys":["a"],"content":"a"}' + b",0" * 100_000 + b"]}")


def test_an_ordinary_book_warns_of_nothing() -> None:
    """A plain book is read without a word."""
    found = reading(entry(), name="N")
    assert (found.warnings, found.no_home, found.skipped) == ((), (), ())
    assert found.no_home == tuple[NoHome, ...]()
