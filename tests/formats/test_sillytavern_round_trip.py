"""SillyTavern files come out as they came in, but for what was edited."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.formats import losses, read, write
from service.formats.report import NoHome
from service.formats.sillytavern_fields import DEFAULTS
from service.lore.book import Book, BookSettings, Entry
from service.sample import world
from service.validation import dump, validate
from tests.formats.worlds import files, unhurried, words

RAW: dict[str, Any] = {
    "uid": 4, "key": ["orc", " urk "], "keysecondary": ["war", 5], "comment": "Orcs", "content": "Green.",
    "constant": False, "selective": True, "order": 20, "position": 4, "disable": False, "x_foo": [1, {"a": None}],
    "displayIndex": 2, "extensions": {"hub": True},
}  # fmt: skip


def exported(book: Book) -> dict[str, Any]:
    """The file of a book."""
    value: dict[str, Any] = json.loads(write(book, "sillytavern"))
    return value


def said(book: Book) -> list[tuple[Any, ...]]:
    """What the entries say, the aliases in no order."""
    entries = book.entries or ()
    return [(each.title, each.content, sorted(each.aliases), each.tier, each.enabled) for each in entries]


@unhurried
@given(files)
def test_an_untouched_file_is_identical(file: dict[str, Any]) -> None:
    """I22, F3: import and export give the same bytes: order, unknown fields, left-out entries and all."""
    data = json.dumps(file, indent=4, ensure_ascii=False).encode()
    assert write(read(data).book, "sillytavern") == data


def test_the_sample_is_identical() -> None:
    """The sample that the service ships comes out byte for byte."""
    data = world() if isinstance(world(), bytes) else world().encode()
    assert write(read(data).book, "sillytavern") == data.rstrip(b"\n")


@unhurried
@given(files)
def test_what_is_read_is_valid(file: dict[str, Any]) -> None:
    """Every book that is read passes the domain's own validation, but for a name that the file may not have."""
    book = read(json.dumps(file).encode()).book
    validate(Book, dump(replace(book, name=book.name or "x")))


edits = st.fixed_dictionaries(
    {},
    optional={
        "title": words.map(str.strip).filter(bool),
        "content": words.filter(str.strip),
        "aliases": st.lists(words.map(str.strip).filter(bool), max_size=3, unique=True).map(tuple),
        "tier": st.sampled_from(["canon", "relevant"]),
        "enabled": st.booleans(),
    },
)


@unhurried
@given(files, st.data())
def test_edits_survive_the_round_trip(file: dict[str, Any], data: st.DataObject) -> None:
    """I22: a book edited, reordered, thinned out and extended is read back as it was left, the rest untouched."""
    book = read(json.dumps(file).encode()).book
    new = st.builds(lambda edit: replace(Entry(title="new", content="new"), **edit), edits)
    changed = [replace(entry, **data.draw(edits)) for entry in book.entries or () if data.draw(st.booleans())]
    edited = replace(book, entries=tuple(data.draw(st.permutations([*changed, *data.draw(st.lists(new, max_size=2))]))))
    again = exported(edited)
    assert said(read(json.dumps(again).encode()).book) == said(edited)
    assert {name: value for name, value in again.items() if name != "entries"} == {
        name: value for name, value in file.items() if name != "entries"
    }
    for key in (entry.extensions["sillytavern"]["key"] for entry in changed):
        for name in ("order", "role", "sticky", "characterFilter", "extensions", "x_foo"):
            assert again["entries"][key].get(name) == file["entries"][key].get(name)


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        ({}, {}),
        ({"content": "Grey."}, {"content": "Grey."}),
        ({"title": "Urks"}, {"comment": "Urks"}),
        ({"tier": "canon"}, {"constant": True}),
        ({"enabled": False}, {"disable": True}),
        ({"aliases": ("orc", "urk", "war", "5", "goblin")}, {"key": ["orc", " urk ", "goblin"]}),
        ({"aliases": ("urk", "5")}, {"key": [" urk "], "keysecondary": [5]}),
        ({"aliases": ("war",)}, {"key": ["war"], "keysecondary": []}),
        ({"aliases": ()}, {"key": [], "keysecondary": []}),
        ({"gist": "A gist."}, {}),
    ],
)
def test_only_what_was_edited_changes(edit: dict[str, Any], changed: dict[str, Any]) -> None:
    """W14: export overlays the edit on what was read, and turns the import around."""
    book = read(json.dumps({"entries": {"4": RAW}}).encode()).book
    (entry,) = book.entries or ()
    assert exported(replace(book, entries=(replace(entry, **edit),))) == {"entries": {"4": {**RAW, **changed}}}


def test_mirrored_fields_of_a_hub_follow() -> None:
    """An entry that says everything twice, as Chub writes it, does not contradict itself after an edit."""
    raw = {**RAW, "keys": ["orc", "urk"], "secondary_keys": ["war", 5], "enabled": True, "name": "Orcs"}
    book = read(json.dumps({"entries": {"4": raw}}).encode()).book
    edited = replace((book.entries or ())[0], title="T", aliases=("a",), enabled=False)
    (found,) = exported(replace(book, entries=(edited,)))["entries"].values()
    assert (found["key"], found["keys"], found["keysecondary"], found["secondary_keys"]) == (["a"], ["a"], [], [])
    assert (found["disable"], found["enabled"], found["comment"], found["name"]) == (True, False, "T", "T")


def test_a_title_taken_from_a_key_survives_its_removal() -> None:
    """An entry that was called after its first key keeps its title when the key goes."""
    book = read(b'{"entries":{"0":{"key":["orc"],"comment":"","content":"C"}}}').book
    edited = replace((book.entries or ())[0], aliases=())
    assert exported(replace(book, entries=(edited,)))["entries"]["0"]["comment"] == "orc"


def test_a_moved_entry_renumbers_the_display() -> None:
    """W14: the list order is written to displayIndex, and only when it changed."""
    raws = {str(place): {"key": [str(place)], "content": "C", "displayIndex": place * 10} for place in range(3)}
    book = read(json.dumps({"entries": raws}).encode()).book
    first, second, third = book.entries or ()
    moved = exported(replace(book, entries=(third, first, second)))["entries"]
    assert {key: raw["displayIndex"] for key, raw in moved.items()} == {"0": 1, "1": 2, "2": 0}
    assert list(moved) == ["0", "1", "2"]
    without = exported(replace(book, entries=(first, third)))["entries"]
    assert {key: raw["displayIndex"] for key, raw in without.items()} == {"0": 0, "2": 20}


def test_our_own_entries_have_all_fields() -> None:
    """An entry made here is written with SillyTavern's full set of fields and a free uid."""
    book = read(json.dumps({"entries": {"4": RAW}}).encode()).book
    new = Entry(title="T", content="C", aliases=("a", "b"), tier="canon", enabled=False)
    row = exported(replace(book, entries=(*(book.entries or ()), new)))["entries"]["5"]
    expected = {
        "uid": 5, "key": ["a", "b"], "comment": "T", "content": "C", "constant": True, "disable": True, "addMemo": True,
    }  # fmt: skip
    assert {name: value for name, value in row.items() if name != "displayIndex"} == {**DEFAULTS, **expected}


def test_our_own_book_names_itself() -> None:
    """A book made here is written with its name and description."""
    book = Book(name="Salt", description="d", entries=())
    assert exported(book) == {"entries": {}, "name": "Salt", "description": "d"}
    assert exported(replace(book, description="")) == {"entries": {}, "name": "Salt"}


@pytest.mark.parametrize(
    ("top", "edit", "expected"),
    [
        ({"name": "Old"}, {"name": "New"}, {"name": "New"}),
        ({"name": "Old", "description": "d"}, {"description": "e"}, {"name": "Old", "description": "e"}),
        ({}, {"name": "From the file name"}, {}),
        ({}, {"description": "e"}, {"description": "e"}),
    ],
)
def test_edits_of_the_book(top: dict[str, Any], edit: dict[str, Any], expected: dict[str, Any]) -> None:
    """Name and description are overlaid where they were edited; a file without a name stays without."""
    book = read(json.dumps({"entries": {}, **top}).encode()).book
    assert exported(replace(book, **edit)) == {"entries": {}, **expected}


def test_two_files_in_one_book() -> None:
    """Entries of two files that used the same keys are all exported, each under a key and uid of its own."""
    one, two = (read(json.dumps({"entries": {"4": {**RAW, "comment": title}}}).encode()).book for title in ("A", "B"))
    rows = exported(replace(one, entries=(*(one.entries or ()), *(two.entries or ()))))["entries"]
    assert {key: (raw["uid"], raw["comment"], raw["x_foo"]) for key, raw in rows.items()} == {
        "4": (4, "A", RAW["x_foo"]),
        "5": (5, "B", RAW["x_foo"]),
    }


def test_a_character_book_list_is_exported_as_sillytavern_wants_it() -> None:
    """I01: a list with the names of a character book comes out as an object that SillyTavern can use."""
    data = b'{"name":"N","entries":[{"keys":["bob"],"content":"B","id":1,"priority":3}]}'
    out = write(read(data).book, "sillytavern")
    value = json.loads(out)
    assert list(value) == ["name", "entries"]
    assert value["entries"]["1"]["key"] == ["bob"]
    assert value["entries"]["1"]["priority"] == 3
    assert write(read(out).book, "sillytavern") == out


@pytest.mark.parametrize(
    ("entries", "uids"),
    [
        ('{"1": {"keys": ["a"], "content": "A"}, "2": {"keys": ["b"], "content": "B"}}', {"1": 1, "2": 2}),
        ('{"1": {"keys": ["a"], "content": "A", "id": 5}}', {"1": 5}),
        ('[{"keys": ["a"], "content": "A", "id": 1}, {"keys": ["b"], "content": "B"}]', {"1": 1, "0": 0}),
    ],
)
def test_entries_without_an_id_have_their_key(entries: str, uids: dict[str, int]) -> None:
    """F2: SillyTavern edits by key what it activates by uid, so an entry that states no id has its key for one."""
    book = read(b'{"name": "N", "entries": ' + entries.encode() + b"}", "sillytavern").book
    assert book is not None
    assert {key: row["uid"] for key, row in exported(book)["entries"].items()} == uids


@pytest.mark.parametrize(
    "extensions",
    [
        {"sillytavern": 7},
        {"sillytavern": {"key": 7, "entry": []}},
        {"sillytavern": {"key": "0", "entry": {"key": 7, "comment": [], "content": {}, "displayIndex": []}}},
        {"sillytavern": {"entries": [1]}},
        {"sillytavern": {"entries": {"0": 7, "1": None, "x": {"uid": {}}}, "name": {}}},
    ],
)
def test_extensions_of_any_shape_are_survived(extensions: dict[str, Any]) -> None:
    """Extensions are free for clients to write; nonsense in them cannot break an export or change what it says."""
    book = Book(name="N", entries=(Entry(title="T", content="C", extensions=extensions),), extensions=extensions)
    assert said(read(write(book, "sillytavern")).book) == said(book)


def test_losses_are_counted() -> None:
    """F3: what SillyTavern's format cannot hold is told by name and count; ours holds everything."""
    entry = Entry(title="T", content="C", gist="G", extensions={"app": 1, "sillytavern": {}})
    book = Book(name="N", enabled=False, settings=BookSettings(places=3), entries=(entry, entry), extensions={"app": 2})
    assert losses(book, "sillytavern") == (
        NoHome(setting="extensions.app", count=3),
        NoHome(setting="gist", count=2),
        NoHome(setting="book.enabled", count=1),
        NoHome(setting="book.settings.places", count=1),
    )
    assert losses(book, "worldbook") == ()
    assert losses(Book(name="N", entries=(Entry(title="T", content="C"),)), "sillytavern") == ()
