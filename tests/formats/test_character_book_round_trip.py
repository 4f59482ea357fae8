"""Character books come out as they came in, but for what was edited; and in every other format as far as it goes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.formats import losses, read, write
from service.formats.report import NoHome
from service.lore.book import Book, BookSettings, Entry
from tests.formats.boxes import entry
from tests.formats.worlds import anything, files, keys, scalars, switches, texts, unhurried, words

FORMATS = ("character_book_v2", "character_book_v3", "lorebook_v3")
RAW: dict[str, Any] = {
    "id": 4, "keys": ["orc", " urk "], "secondary_keys": ["war", 5], "comment": "Orcs", "name": "o",
    "content": "Green.",
    "constant": False, "selective": True, "insertion_order": 20, "enabled": True, "position": "after_char",
    "use_regex": False, "priority": 3, "case_sensitive": True, "x_foo": [1, {"a": None}],
    "extensions": {"display_index": 2, "sticky": 3, "hub": True},
}  # fmt: skip

rows: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"keys": keys, "use_regex": st.booleans()},
    optional={
        "id": st.integers(0, 50) | texts | st.none(),
        "secondary_keys": keys,
        "comment": texts | st.none(),
        "name": texts,
        "content": words | texts | st.none() | st.just("@@depth 2\nLore."),
        "constant": switches,
        "selective": switches,
        "enabled": switches,
        "insertion_order": scalars.filter(lambda value: not isinstance(value, int) or abs(value) < 2**53),
        "position": st.sampled_from(["before_char", "after_char", None]),
        "case_sensitive": st.none() | st.booleans(),
        "extensions": st.dictionaries(
            st.sampled_from(["display_index", "selectiveLogic", "sticky", "excludeRecursion", "probability", "hub"]),
            st.integers(0, 5) | anything,
            max_size=4,
        ),
        "x_foo": anything,
    },
)
books: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"entries": st.lists(rows, min_size=1, max_size=5, unique_by=lambda row: json.dumps(str(row.get("id", id(row)))))},
    optional={
        "name": texts,
        "description": texts,
        "extensions": anything,
        "scan_depth": st.integers(0, 9),
        "x_hub": anything,
    },
)


def of(value: Any) -> Book:
    """The book in a file."""
    book = read(json.dumps(value).encode()).book
    assert book is not None
    return replace(book, name=book.name or "Named")


def exported(book: Book, format: str = "character_book_v3") -> dict[str, Any]:
    """The file of a book."""
    value: dict[str, Any] = json.loads(write(book, format))
    return value


def said(book: Book) -> list[tuple[Any, ...]]:
    """What the entries say, the aliases in no order."""
    entries = book.entries or ()
    return [(each.title, each.content, sorted(each.aliases), each.tier, each.enabled) for each in entries]


@unhurried
@given(books)
def test_an_untouched_file_is_identical(file: dict[str, Any]) -> None:
    """F3: import and export give the same bytes: order, ids, unknown fields, left-out entries and all."""
    data = json.dumps(file, indent=4, ensure_ascii=False).encode()
    found = read(data)
    assert found.format.name == "character_book_v3"
    assert found.book is not None
    if not any(each.kind == "duplicate_id" for each in found.warnings):
        assert write(found.book, "character_book_v3") == data


@unhurried
@given(books.map(lambda file: {**file, "entries": [{**row, "use_regex": None} for row in file["entries"]]}))
def test_an_untouched_v2_file_is_identical(file: dict[str, Any]) -> None:
    """F3: the same of V2, where SillyTavern writes `use_regex` too; V3 adds it and nothing else."""
    for row in file["entries"]:
        del row["use_regex"]
    found = read(json.dumps(file).encode())
    assert found.book is not None
    if not any(each.kind == "duplicate_id" for each in found.warnings):
        assert exported(found.book, "character_book_v2") == file
        if not any("selectiveLogic" in (row.get("extensions") or {}) for row in file["entries"]):
            without = [{**row, "use_regex": 0} for row in exported(found.book)["entries"]]
            assert without == [{**row, "use_regex": 0} for row in file["entries"]]


@pytest.mark.parametrize("format", FORMATS)
@unhurried
@given(file=files)
def test_world_info_as_a_character_book(format: str, file: dict[str, Any]) -> None:
    """F2: what a file of SillyTavern says is read back from every kind of character book, unknown fields included."""
    book = of(file)
    again = of(exported(book, format))
    assert said(again) == said(book)
    assert (again.name, again.description) == (book.name, book.description)
    value = exported(book, format)
    inside = value["data"] if format == "lorebook_v3" else value
    strange = {name: each for name, each in file.items() if name.startswith("x_") or name == "scan_depth"}
    assert {name: inside[name] for name in strange} == strange
    ids = [row["id"] for row in inside["entries"]]
    assert all(isinstance(number, int) for number in ids)
    assert len(set(ids)) == len(ids)
    kept = [repr(row["x_foo"]) for row in file["entries"].values() if "x_foo" in row]
    assert sorted(repr(row["x_foo"]) for row in inside["entries"] if "x_foo" in row) == sorted(kept)


OF_UIDS: list[tuple[dict[str, dict[str, Any]], list[int]]] = [
    ({"0": {}, "1": {}}, [0, 1]),
    ({"0": {"uid": 0}, "1": {"uid": 0}}, [0, 1]),
    ({"8": {"uid": 3}, "x": {"uid": "7"}, "3": {}}, [3, 7, 0]),
]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("entries", "ids"), OF_UIDS, ids=str)
def test_every_entry_has_an_id_of_its_own(format: str, entries: dict[str, dict[str, Any]], ids: list[int]) -> None:
    """F2: SillyTavern keeps one of the entries with one id, so each has its uid, else its key, else a free number."""
    rows = {key: {"key": [key], "content": f"Lore {key}.", **row} for key, row in entries.items()}
    value = exported(of({"entries": rows}), format)
    assert [row["id"] for row in value.get("data", value)["entries"]] == ids


@pytest.mark.parametrize(
    ("given", "place", "code"),
    [
        ("before_char", "before_char", 0),
        ("after_char", "after_char", 1),
        ("4", "after_char", 4),
        (None, "before_char", None),
    ],
)
def test_a_place_in_words_is_the_same_place(given: Any, place: str, code: int | None) -> None:
    """F2: a place that a file spells as text is written as it is read (formats.md 1.2)."""
    file = {"entries": {"0": {"key": ["a"], "content": "A", "position": given}}}
    [row] = exported(of(file), "character_book_v2")["entries"]
    assert (row["position"], row["extensions"]["position"]) == (place, code)


def test_entries_of_sillytavern_in_a_list_have_ids() -> None:
    """F2: an entry without a uid in a character book gets no id that says nothing."""
    card = {"spec": "chara_card_v2", "data": {"character_book": {"entries": [{"key": ["a"], "content": "A"}]}}}
    [row] = exported(of(card), "character_book_v2")["entries"]
    assert "id" not in row


@unhurried
@given(files)
def test_there_and_back(file: dict[str, Any]) -> None:
    """F3: SillyTavern's own fields, its order included, survive a detour through a character book."""
    book = of(file)
    back = json.loads(write(of(exported(book, "character_book_v2")), "sillytavern"))
    there = json.loads(write(book, "sillytavern"))

    def shown(value: dict[str, Any]) -> list[str]:
        rows = value["entries"].values()
        return sorted(
            repr(
                [int(row.get("order", 100)), row.get("sticky"), row.get("role") or 0, row.get("x_foo"), row["content"]]
            )
            for row in rows
            if row.get("content") is not None
        )

    assert shown(back) == shown(there)


@unhurried
@given(books)
def test_character_books_as_world_info(file: dict[str, Any]) -> None:
    """F2: what a character book says is read back from world info, and from that as a character book again."""
    book = of(file)
    world = of(json.loads(write(book, "sillytavern")))
    assert said(world) == said(book)
    assert said(of(exported(world))) == said(book)
    again = exported(world)
    assert {name: again[name] for name in file if name not in ("entries", "name")} == {
        name: each for name, each in file.items() if name not in ("entries", "name")
    }


def test_what_a_hub_says_twice() -> None:
    """F3: of an entry in both dialects SillyTavern's names count, and what only a character book has is kept."""
    own = {"uid": 4, "key": ["a", 5, " "], "order": "7", "disable": False, "content": "C", "position": 4, "role": None}
    hub = {"keys": ["b"], "insertion_order": 9, "enabled": False, "id": 3}
    only = {"case_sensitive": True, "priority": 5, "name": "N", "x_foo": 1}
    book = of({"entries": {"4": {**own, **hub, **only, "extensions": {"weight": 2, "depth": 9}, "depth": 3}}})
    (row,) = exported(book, "character_book_v2")["entries"]
    assert (row["id"], row["keys"], row["insertion_order"], row["enabled"]) == (4, ["a", "5"], 7, True)
    assert {name: row[name] for name in only} == only
    assert row["position"] == "after_char"
    assert row["extensions"] == {"weight": 2, "depth": 3, "position": 4, "role": None}
    aware = of({"entries": {"4": {**own, "caseSensitive": False, "probability": 50}}})
    (row,) = exported(aware, "character_book_v2")["entries"]
    assert (row["case_sensitive"], row["extensions"]["case_sensitive"]) == (False, False)
    assert (row["extensions"]["probability"], row["extensions"]["useProbability"]) == (50, False)


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


@pytest.mark.parametrize("format", [*FORMATS, "sillytavern"])
@unhurried
@given(file=books | files, data=st.data())
def test_edits_survive_the_round_trip(format: str, file: dict[str, Any], data: st.DataObject) -> None:
    """F2: a book edited, reordered, thinned out and extended is read back from each format as it was left."""
    book = of(file)
    new = st.builds(lambda edit: replace(Entry(title="new", content="new"), **edit), edits)
    changed = [replace(each, **data.draw(edits)) for each in book.entries or () if data.draw(st.booleans())]
    edited = replace(book, entries=tuple(data.draw(st.permutations([*changed, *data.draw(st.lists(new, max_size=2))]))))
    again = of(exported(edited, format))
    if format == "character_book_v2" and "@@depth" in json.dumps(file):
        assert [row[:1] + row[2:] for row in said(again)] == [row[:1] + row[2:] for row in said(edited)]
    else:
        assert said(again) == said(edited)


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        ({}, {}),
        ({"content": "Grey."}, {"content": "Grey."}),
        ({"title": "Urks"}, {"comment": "Urks", "name": "Urks"}),
        ({"tier": "canon"}, {"constant": True}),
        ({"enabled": False}, {"enabled": False}),
        ({"aliases": ("orc", "urk", "war", "5", "goblin")}, {"keys": ["orc", " urk ", "goblin"]}),
        ({"aliases": ("urk", "5")}, {"keys": [" urk "], "secondary_keys": [5]}),
        ({"aliases": ()}, {"keys": [], "secondary_keys": []}),
        ({"gist": "A gist."}, {}),
    ],
)
def test_only_what_was_edited_changes(edit: dict[str, Any], changed: dict[str, Any]) -> None:
    """F3: export overlays the edit on what was read."""
    book = of({"entries": [RAW]})
    (only,) = book.entries or ()
    assert exported(replace(book, entries=(replace(only, **edit),))) == {"entries": [{**RAW, **changed}]}


def test_a_moved_entry() -> None:
    """The entries stand in our order once it is another than the file's; a `display_index` follows, none appears."""
    raws = [entry(str(place), id=place, extensions={"display_index": place * 10}) for place in range(3)]
    raws += [entry("", id=3), entry("4", id=4, extensions={"display_index": 40})]
    book = of({"entries": raws})
    first, second, third, last = book.entries or ()
    assert [row["id"] for row in exported(replace(book, entries=(first, third, last)))["entries"]] == [0, 2, 3, 4]
    moved = exported(replace(book, entries=(third, first, second, last)))["entries"]
    assert [(row["id"], row["extensions"].get("display_index")) for row in moved] == [
        (2, 0), (0, 1), (1, 2), (4, 3), (3, None),
    ]  # fmt: skip


def test_our_own_book() -> None:
    """F2: a book made here is written with all that the versions ask for, and what SillyTavern needs to find it."""
    new = Entry(title="T", content="C", aliases=("a", "b"), tier="canon", enabled=False)
    book = Book(name="Salt", description="d", entries=(new, replace(new, aliases=("/a/",), tier="relevant")))
    for format, version in (("character_book_v2", 2), ("character_book_v3", 3)):
        value = exported(book, format)
        assert {name: each for name, each in value.items() if name != "entries"} == {
            "name": "Salt", "description": "d", "extensions": {},
        }  # fmt: skip
        row, other = value["entries"]
        expected = {
            "id": 0, "keys": ["a", "b"], "secondary_keys": [], "comment": "T", "name": "T", "content": "C",
            "constant": True,
            "selective": False, "insertion_order": 100, "enabled": False, "position": "before_char",
        }  # fmt: skip
        assert {name: each for name, each in row.items() if name not in ("extensions", "use_regex")} == expected
        assert (row.get("use_regex"), other.get("use_regex")) == ((False, True) if version == 3 else (None, None))
        assert (row["extensions"]["vectorized"], other["extensions"]["vectorized"]) == (False, True)
        assert other["id"] == 1
    assert exported(book, "lorebook_v3") == {"spec": "lorebook_v3", "data": exported(book)}


@pytest.mark.parametrize(
    ("logic", "keys", "more", "lines"),
    [
        (0, ["s"], {}, ""),
        (1, ["s"], {}, ""),
        (2, ["s", "t u"], {}, "@@exclude_keys s,t u\n"),
        (3, ["s", "t u"], {}, "@@additional_keys s\n@@additional_keys t u\n"),
        (3, ["s", " "], {}, "@@additional_keys s\n"),
        (2, [], {}, ""),
        (2, ["s, t"], {}, ""),
        (2, ["/s/"], {}, ""),
        (2, ["s"], {"selective": False}, ""),
    ],
)
def test_the_logic_of_secondary_keys(logic: int, keys: list[str], more: dict[str, Any], lines: str) -> None:
    """`selectiveLogic` is told in the extensions, and to V3 readers in decorators, which are not read as content."""
    raw = {"key": ["k"], "keysecondary": keys, "selective": True, "selectiveLogic": logic, "content": "Lore.", **more}
    book = of({"entries": {"0": raw}})
    (two,), (three,) = (exported(book, format)["entries"] for format in FORMATS[:2])
    assert (two["content"], three["content"]) == ("Lore.", f"{lines}Lore.")
    assert two["extensions"]["selectiveLogic"] == three["extensions"]["selectiveLogic"] == logic
    assert (three["selective"], three["secondary_keys"]) == (raw["selective"], [key for key in keys if key.strip()])
    assert said(of(exported(book))) == said(book)
    once = of(exported(book))
    assert exported(once) == exported(book)
    assert exported(once, "character_book_v2")["entries"][0]["content"] == "Lore."


def test_edited_secondary_keys_change_their_decorators() -> None:
    """Decorators that repeat the secondary keys follow an edit of these."""
    raw = {**RAW, "secondary_keys": ["war", "peace"], "content": "@@exclude_keys war,peace\nGreen."}
    book = of({"entries": [{**raw, "extensions": {"selectiveLogic": 2}}]})
    (only,) = book.entries or ()
    edited = replace(book, entries=(replace(only, aliases=("orc", "urk", "war"), content="Grey."),))
    (row,) = exported(edited)["entries"]
    assert (row["secondary_keys"], row["content"]) == (["war"], "@@exclude_keys war\nGrey.")


def test_decorators_do_not_reach_readers_of_v2() -> None:
    """F3: V2 written from V3 is without decorators, which are told as lost; V2's own contents are left alone."""
    content = "@@depth 4\n@@@instruct_depth 2\n\nLore."
    book = of({"entries": [entry(content, use_regex=False), entry("@@depth 1", use_regex=False)]})
    assert [row["content"] for row in exported(book, "character_book_v2")["entries"]] == ["Lore.", "@@depth 1"]
    assert losses(book, "character_book_v2") == (
        NoHome(setting="@@@instruct_depth", count=1),
        NoHome(setting="@@depth", count=1),
    )
    assert losses(book, "character_book_v3") == ()
    plain = of({"entries": [entry(content)]})
    assert exported(plain, "character_book_v2")["entries"][0]["content"] == content
    assert losses(plain, "character_book_v2") == ()


def test_losses_are_counted() -> None:
    """F3: what a character book cannot hold is told by name and count, and nothing else."""
    mine = Entry(title="T", content="C", gist="G", extensions={"app": 1})
    names = {"isExclude": True, "names": ["x"], "tags": []}
    rows = {
        "0": {"key": ["a"], "comment": "A", "content": "A", "addMemo": True, "useGroupScoring": None},
        "1": {"key": ["b"], "comment": "", "content": "B", "addMemo": True, "characterFilter": names},
        "2": {"key": ["c"], "comment": "C", "content": "", "addMemo": False, "characterFilter": names},
    }
    book = of({"entries": rows, "originalData": {"entries": []}})
    settings = BookSettings(places=3)
    book = replace(book, enabled=False, settings=settings, entries=(*(book.entries or ()), mine))
    expected = {
        "addMemo": 2, "characterFilter": 2, "originalData": 1, "gist": 1, "extensions.app": 1, "book.enabled": 1,
        "book.settings.places": 1,
    }  # fmt: skip
    for format in FORMATS:
        assert {each.setting: each.count for each in losses(book, format)} == expected
    assert of(exported(book)).extensions["character_book"].keys() == {"extensions", "name", "entries"}
    assert all("characterFilter" not in row and "addMemo" not in row for row in exported(book)["entries"])


def test_two_files_in_one_book() -> None:
    """Entries of several files that used the same ids and places are all exported, each under an id of its own."""
    one, two = (of({"entries": [{**RAW, "comment": title}]}) for title in ("A", "B"))
    world = of({"entries": {"4": {"uid": 4, "key": ["w"], "comment": "W", "content": "W"}}})
    both = replace(one, entries=(*(one.entries or ()), *(two.entries or ()), *(world.entries or ())))
    assert [(row["id"], row["comment"], row.get("x_foo")) for row in exported(both)["entries"]] == [
        (4, "A", RAW["x_foo"]), (5, "B", RAW["x_foo"]), (6, "W", None),
    ]  # fmt: skip
    other = replace(world, entries=(*(world.entries or ()), *(one.entries or ()), *(two.entries or ())))
    found = json.loads(write(other, "sillytavern"))["entries"]
    assert [(key, row["uid"], row["comment"]) for key, row in found.items()] == [
        ("4", 4, "W"),
        ("5", 5, "A"),
        ("6", 6, "B"),
    ]


@pytest.mark.parametrize(
    "extensions",
    [
        {"character_book": 7},
        {"character_book": {"place": "0", "entry": []}},
        {"character_book": {"place": 0, "version": {}, "entry": {"keys": 7, "comment": [], "extensions": []}}},
        {"character_book": {"entries": [1, None]}},
        {"character_book": {"entries": {"0": 7}, "name": {}}},
        {"character_book": {"entries": [None], "place": True}, "sillytavern": {"entries": {"0": None}}},
        {"lorebook_v3": 7, "sillytavern": {"key": "0", "entry": {"key": 7, "extensions": 7, "order": []}}},
    ],
)
@pytest.mark.parametrize("format", [*FORMATS, "sillytavern"])
def test_extensions_of_any_shape_are_survived(extensions: dict[str, Any], format: str) -> None:
    """Extensions are free for clients to write; nonsense in them cannot break an export or change what it says."""
    book = Book(name="N", entries=(Entry(title="T", content="C", extensions=extensions),), extensions=extensions)
    losses(book, format)
    assert said(of(exported(book, format))) == said(book)
