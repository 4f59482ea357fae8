"""SillyTavern world info as a world book."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.formats import read, write
from service.formats.report import NoHome, Reading
from service.lore.book import Entry
from service.lore.errors import LimitExceeded


def reading(*entries: Any, **top: Any) -> Reading:
    """A file with these entries, read."""
    return read(json.dumps({"entries": {str(place): entry for place, entry in enumerate(entries)}, **top}).encode())


def entry(**raw: Any) -> Entry:
    """The one entry of a file with it."""
    (found,) = reading({"content": "C", **raw}).book.entries or ()
    return found


def kinds(found: Reading) -> list[tuple[str, int | None]]:
    """The warnings of a reading."""
    return [(each.kind, each.index) for each in found.warnings]


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ({"comment": "Oru", "key": ["x"]}, "Oru"),
        ({"comment": " a\nb ", "key": []}, "a b"),
        ({"comment": "", "key": ["first", "second"]}, "first"),
        ({"comment": "\u200b", "key": [" ", "first"]}, "first"),
        ({"content": "\x1b"}, "Untitled"),
        ({"comment": None, "keysecondary": ["second"]}, "second"),
        ({"comment": 7}, "7"),
        ({"content": "word " * 30}, ("word " * 12).strip()),
        ({"content": "漢" * 100}, "漢" * 60),
        ({"comment": "t" * 300}, "t" * 200),
        ({"comment": "", "name": "Oru", "key": ["x"]}, "Oru"),
    ],
)
def test_titles(raw: dict[str, Any], title: str) -> None:
    """W14: the comment is the title, else the first key, else the first 60 characters."""
    assert entry(**raw).title == title


@pytest.mark.parametrize(
    ("raw", "aliases"),
    [
        ({"key": ["a", "b"], "keysecondary": ["c", "a"]}, ("a", "b", "c")),
        ({"key": ["a", 5, None, True, 1.5]}, ("a", "5", "true", "1.5")),
        ({"key": ["Paris, Texas"]}, ("Paris, Texas",)),
        ({"key": "a, b"}, ("a", "b")),
        ({"key": "/a,b/i, c"}, ("/a,b/i", "c")),
        ({"key": "orc,"}, ("orc",)),
        ({"key": [" ", "\n", "", "\u200b", "\u00ad"]}, ()),
        ({"key": None}, ()),
        ({"key": 7}, ("7",)),
        ({"key": {"a": "b"}}, ()),
        ({"key": [["a"], {"b": 1}]}, ()),
        ({"key": [" a ", "b\nc", "/(/"]}, ("a", "b c", "/(/")),
        ({"key": ["k" * 200, "k" * 201]}, ("k" * 200,)),
        ({"key": [str(number) for number in range(70)]}, tuple(str(number) for number in range(64))),
    ],
)
def test_aliases(raw: dict[str, Any], aliases: tuple[str, ...]) -> None:
    """W14, I05, I25, M29: primary and secondary keys are aliases; a string is split; what is blank is dropped."""
    assert entry(**raw).aliases == aliases


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ({"key": ["/or[uo]/"]}, "literal_regex"),
        ({"keysecondary": "/a,b/i"}, "literal_regex"),
        ({"key": [" "]}, "blank_alias"),
        ({"key": "orc,"}, "blank_alias"),
        ({"key": [None]}, "blank_alias"),
        ({"key": {"a": "b"}}, "blank_alias"),
        ({"key": ["k" * 201]}, "long_alias"),
        ({"key": [str(number) for number in range(65)]}, "too_many_aliases"),
        ({"key": [""] * 999 + ["a", "b"]}, "too_many_aliases"),
        ({"comment": "t" * 201}, "long_title"),
    ],
)
def test_what_was_not_taken_as_it_stands_is_told(raw: dict[str, Any], kind: str) -> None:
    """T12: regular expressions, blank, long and surplus keys and cut titles are named with their entry."""
    found = reading({"content": "first"}, {"content": "C", **raw})
    assert (kind, 1) in kinds(found)


def test_plain_entries_warn_of_nothing() -> None:
    """An ordinary entry is read without a warning."""
    assert kinds(reading({"key": ["a", "/(/"], "comment": "A", "content": "C"})) == []


@pytest.mark.parametrize(
    ("raw", "tier", "enabled"),
    [
        ({}, "relevant", True),
        ({"constant": True}, "canon", True),
        ({"constant": 1, "disable": "true"}, "canon", False),
        ({"constant": "false", "disable": "false"}, "relevant", True),
        ({"constant": None, "disable": None}, "relevant", True),
        ({"disable": False, "enabled": False}, "relevant", True),
        ({"enabled": False}, "relevant", False),
    ],
)
def test_constant_and_disable(raw: dict[str, Any], tier: str, enabled: bool) -> None:
    """W14: constant is canon, disabled is not enabled, however the switch is written."""
    found = entry(**raw, key=["a"])
    assert (found.tier, found.enabled) == (tier, enabled)


def test_list_order() -> None:
    """W14: the list order comes from displayIndex, then from the file; entries without one come last."""
    raws: list[dict[str, Any]] = [
        {"content": "no index"},
        {"content": "2", "displayIndex": 2},
        {"content": "1", "displayIndex": "1"},
        {"content": "also 2", "displayIndex": 2},
        {"content": "nan", "displayIndex": "nan"},
    ]
    found = reading(*raws)
    assert [each.content for each in found.book.entries or ()] == ["1", "2", "also 2", "no index", "nan"]
    assert found.places == (2, 1, 3, 0, 4)


def test_settings_without_a_home_are_kept_and_counted() -> None:
    """W14, F3: what has no effect here is counted by name when it is not the default, and kept untouched."""
    raw = {
        "uid": 0, "key": ["a"], "content": "C", "order": 20, "position": 4, "role": None, "sticky": 0, "cooldown": 3,
        "probability": 100, "useProbability": True, "group": "g", "characterFilter": None, "triggers": [],
        "selective": False, "vectorized": True, "addMemo": True, "displayIndex": 0, "x_foo": {"a": 1}, "extensions": {},
    }  # fmt: skip
    found = reading(raw, {**raw, "order": 100, "selective": True, "selectiveLogic": 3, "keysecondary": ["b"]}, depth=5)
    assert found.no_home == (
        NoHome(setting="cooldown", count=2),
        NoHome(setting="group", count=2),
        NoHome(setting="position", count=2),
        NoHome(setting="x_foo", count=2),
        NoHome(setting="depth", count=1),
        NoHome(setting="order", count=1),
        NoHome(setting="selectiveLogic", count=1),
    )
    first = (found.book.entries or ())[0]
    assert first.extensions == {"sillytavern": {"key": "0", "entry": {**raw, "content": None}}}


BOOK_ENTRY = {"keys": ["bob"], "content": "B", "enabled": True, "insertion_order": 20, "id": 1}


def test_character_book_names_in_a_list() -> None:
    """I01: a list with the names of a character book is read, and the same as an object gives the same entry."""
    for entries in ([BOOK_ENTRY], {"1": BOOK_ENTRY}):
        book = read(json.dumps({"entries": entries}).encode()).book
        assert book is not None
        (found,) = book.entries or ()
        assert (found.title, found.content, found.aliases, found.enabled) == ("bob", "B", ("bob",), True)
        raw = json.loads(write(book, "sillytavern"))["entries"]["1"]
        assert (raw["uid"], raw["key"], raw["order"], raw["disable"]) == (1, ["bob"], 20, False)


def test_character_book_fields() -> None:
    """I06: the settings of a character-book entry arrive under SillyTavern's names, and the rest is kept beside."""
    extensions = {
        "exclude_recursion": True, "preventRecursion": True, "probability": None, "selectiveLogic": 3, "position": 4,
        "hub": 1,
    }  # fmt: skip
    given = {
        "keys": ["a"], "secondary_keys": ["b"], "comment": "", "name": "Bob", "content": "B", "case_sensitive": True,
        "constant": True, "selective": True, "priority": 7, "extensions": extensions,
    }  # fmt: skip
    (found,) = read(json.dumps({"entries": {"0": given}}).encode()).book.entries or ()
    assert (found.title, found.aliases, found.tier, found.enabled) == ("Bob", ("a", "b"), "canon", True)
    raw = found.extensions["sillytavern"]["entry"]
    expected = {
        "excludeRecursion": True, "preventRecursion": True, "probability": 100, "selectiveLogic": 3, "position": 4,
        "caseSensitive": True, "selective": True, "order": 100, "priority": 7, "name": "Bob", "extensions": extensions,
    }  # fmt: skip
    assert {name: raw[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("entries", "uids"),
    [
        ('{"0":{"uid":0,"content":"A"},"0":{"uid":0,"content":"B"}}', [0, 1]),
        ('{"0":{"content":"A"},"1":{"uid":1,"content":"B"},"0":{"content":"C"}}', [None, 1, 2]),
        ('[{"uid":0,"key":["a"],"content":"A","displayIndex":0},{"id":0,"keys":["b"],"content":"B"}]', [0, 1]),
        ('[{"uid":3,"key":["a"],"content":"A"},{"uid":"3","key":["b"],"content":"B"}]', [3, 0]),
    ],
)
def test_two_entries_with_one_id_are_both_kept(entries: str, uids: list[int | None]) -> None:
    """I08: no entry overwrites another; the later one gets a free id and the report says so."""
    found = read(f'{{"entries":{entries}}}'.encode())
    kept = [each.extensions["sillytavern"]["entry"].get("uid") for each in found.book.entries or ()]
    assert kept == uids
    assert [kind for kind, _ in kinds(found)] == ["duplicate_id"]


def test_a_repeated_field_is_told() -> None:
    """I08: a field that stands twice in one entry is read as JavaScript would, and the report says so."""
    found = read(b'{"entries":{"0":{"content":"A","content":"B"}}}')
    assert [each.content for each in found.book.entries or ()] == ["B"]
    assert kinds(found) == [("duplicate_key", None)]


def test_bad_entries_are_skipped_with_a_reason() -> None:
    """I04: one bad entry does not sink the book; each has its place and reason."""
    found = read(json.dumps({"entries": [{"keys": ["a"], "content": "A"}, 7, None, {"keys": "str"}]}).encode())
    assert [each.title for each in found.book.entries or ()] == ["a"]
    assert [(each.index, each.kind) for each in found.skipped] == [
        (1, "not_an_entry"),
        (2, "not_an_entry"),
        (3, "no_content"),
    ]


@pytest.mark.parametrize(("content", "told"), [([], "a list"), (["x"], "a list"), ({"en": "x"}, "an object")])
def test_content_that_is_no_text_is_called_so(content: Any, told: str) -> None:
    """T12: the report says of an entry whose content is no text what it is."""
    (skipped,) = reading({"content": content, "comment": "Oru", "key": ["a"]}).skipped
    assert told in skipped.detail


def test_null_in_the_extensions_sets_nothing() -> None:
    """T12: a field of the extensions that is null is no setting without effect."""
    found = reading({"content": "A", "key": ["a"], "extensions": {"characterFilter": None, "weight": 10}})
    assert [each.setting for each in found.no_home] == ["extensions.weight"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [("", "no_content"), (" \n", "no_content"), (None, "no_content"), ({}, "no_content"),
     ("x" * 100_001, "too_long")],
)  # fmt: skip
def test_unusable_content(content: Any, kind: str) -> None:
    """T12: an entry without content, or with more than fits, is left out and reported, never cut."""
    found = reading({"content": content, "comment": "Oru", "key": ["a"]})
    assert found.book.entries == ()
    assert [(each.index, each.title, each.kind) for each in found.skipped] == [(0, "Oru", kind)]


@pytest.mark.parametrize("content", ["@@depth 0", "@@x\n@@@y\r\ntext", "a\r\nb\u2028c", "{{char}} <b>", 7])
def test_content_is_kept_as_it_stands(content: Any) -> None:
    """Decorators, line ends, macros and markup of the content are not touched."""
    assert entry(content=content, key=["a"]).content == str(content)


@pytest.mark.parametrize(
    ("top", "name", "description"),
    [
        ({}, "", ""),
        ({"name": " Salt\nCoast ", "description": " d\n"}, "Salt Coast", " d\n"),
        ({"name": 7, "description": None}, "7", ""),
        ({"name": "\u200b"}, "", ""),
        ({"name": "n" * 300, "description": "d" * 10_001}, "n" * 200, "d" * 10_000),
    ],
)
def test_name_and_description_of_the_book(top: dict[str, Any], name: str, description: str) -> None:
    """The name is the one inside the file, or empty; what does not fit is cut and kept for export."""
    found = reading(**top)
    assert (found.book.name, found.book.description) == (name, description)
    assert found.book.extensions["sillytavern"] == {"entries": {}, **top}


def test_too_many_entries() -> None:
    """F5: a file of more entries than any book is refused before work is done on it."""
    with pytest.raises(LimitExceeded):
        read(b'{"entries":[{"content":"a"}' + b",0" * 100_000 + b"]}")
