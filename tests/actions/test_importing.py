"""Files into books: new, append, replace; all or nothing."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from service.actions import importing
from service.actions.attaching import Attachment, attach, read_attachments
from service.actions.editing_books import change_book, create_book, list_books, read_book
from service.actions.editing_entries import change_entry
from service.actions.exporting import export_book
from service.actions.importing import ImportReport, import_book
from service.actions.runtime import Runtime
from service.formats import read, write
from service.lore.book import Book, BookSettings, Entry
from service.lore.errors import Invalid, LimitExceeded, NameTaken, NotFound, TooLarge, UnreadableFile, WorldbookError
from service.lore.trigger import Channels
from service.sample import world
from service.store import entries as stored
from service.validation import dump, validate
from tests.formats import boxes
from tests.formats.samples import SAMPLES
from tests.formats.samples.sample import Sample


def file(*contents: str, **top: Any) -> bytes:
    """A SillyTavern file with one entry for each content."""
    rows = {str(uid): {"uid": uid, "key": [f"k{text}"], "content": text} for uid, text in enumerate(contents)}
    return json.dumps({"entries": rows, **top}).encode()


def book_id(report: ImportReport) -> str:
    """The id of the book that was written."""
    assert report.book is not None
    assert report.book.id is not None
    return report.book.id


def contents(rt: Runtime, id_: str) -> list[str]:
    """The contents of a book in list order."""
    return [entry.content for entry in read_book(rt, id_, entries=True).entries or ()]


def test_a_new_book(rt: Runtime) -> None:
    """W14: a file becomes a book; the report says what was added, what has no effect here and what to know."""
    rows = {
        "0": {"uid": 0, "key": ["/a+/"], "comment": "A", "content": "a", "constant": True, "sticky": 3},
        "1": {"uid": 1, "key": ["b"], "content": ""},
    }
    report = import_book(rt, json.dumps({"entries": rows, "name": "Salt"}).encode())
    id_ = book_id(report)
    book = read_book(rt, id_, entries=True)
    assert (report.book and report.book.name, report.book and report.book.version) == ("Salt", 1)
    assert (report.format.name, report.mode, report.added, report.removed) == ("sillytavern", "new", 1, 0)
    assert [(each.index, each.kind) for each in report.skipped] == [(1, "no_content")]
    assert [(each.setting, each.count) for each in report.no_home] == [("sticky", 1)]
    assert [(each.kind, each.index) for each in report.warnings] == [("literal_regex", 0)]
    assert report.pending_vectors == 1
    (entry,) = book.entries or ()
    assert (entry.title, entry.aliases, entry.tier, entry.id) == ("A", ("/a+/",), "canon", 1)
    assert validate(ImportReport, dump(report)) == report


@pytest.mark.parametrize(
    ("name", "inside", "file_name", "expected"),
    [
        (" Given\n", "Inside", "f.json", "Given"),
        (None, "Inside", "f.json", "Inside"),
        (None, None, "Salt Coast.json", "Salt Coast"),
        (None, None, "C:\\worlds\\Salt.JSON", "Salt"),
        (None, None, "../../etc/Salt.worldbook.json", "Salt"),
        (None, None, "Salt", "Salt"),
        (None, None, "Salt.lorebook", "Salt"),
        (None, None, "Salt.2.STORY", "Salt.2"),
        (None, None, "Salt.scenario", "Salt"),
        (None, None, "n" * 300, "n" * 200),
        (None, None, ".json", "Imported book"),
        (None, None, None, "Imported book"),
    ],
)
def test_the_name_of_a_new_book(
    rt: Runtime, name: str | None, inside: str | None, file_name: str | None, expected: str
) -> None:
    """The name is the one given, else the file's own, else that of the file; a made-up one is reported."""
    top = {} if inside is None else {"name": inside}
    report = import_book(rt, file("a", **top), name=name, file_name=file_name)
    assert report.book is not None
    assert report.book.name == expected
    assert [each.kind for each in report.warnings] == (["no_name"] if expected == "Imported book" else [])


@pytest.mark.parametrize("sample", [each for each in SAMPLES if each.every_setting], ids=lambda each: each.format)
def test_a_file_of_every_format(rt: Runtime, sample: Sample) -> None:
    """F1, I20: a file of each format becomes a book, is skipped when it comes again, and comes out as it was read."""
    report = import_book(rt, sample.data, name="Salt")
    assert (report.format.name, report.added) == (sample.format, len(sample.entries))
    assert {each.setting: each.count for each in report.no_home} == sample.no_home
    again = import_book(rt, sample.data, into=book_id(report))
    assert (again.added, [each.kind for each in again.skipped]) == (0, ["duplicate"] * len(sample.entries))
    out = export_book(rt, book_id(report), "worldbook")
    assert read(out.data).book == replace(read(sample.data).book, name="Salt")


@pytest.mark.parametrize("name", ["", " \n", "n" * 201])
def test_a_bad_name_is_refused(rt: Runtime, name: str) -> None:
    """A blank or too long name is refused by the name of its parameter."""
    with pytest.raises(Invalid) as caught:
        import_book(rt, file("a"), name=name)
    assert [error.parameter for error in caught.value.errors] == ["name"]


def test_a_taken_name_is_refused(rt: Runtime) -> None:
    """T11: an existing name is refused, and nothing is written."""
    import_book(rt, file("a"), name="Salt")
    with pytest.raises(NameTaken):
        import_book(rt, file("b"), name="Salt")
    assert len(list_books(rt).items) == 1


def test_append_skips_what_is_there(rt: Runtime) -> None:
    """I20: the same entries again are skipped, whatever the file is called, and the book is not edited."""
    id_ = book_id(import_book(rt, file("a", "b"), name="Salt"))
    again = import_book(rt, file("a", "b", name="Other"), into=id_)
    assert (again.added, again.mode) == (0, "append")
    assert [(each.index, each.kind, each.detail) for each in again.skipped] == [
        (0, "duplicate", f"same content as {id_}-1"),
        (1, "duplicate", f"same content as {id_}-2"),
    ]
    assert (again.book and again.book.version, read_book(rt, id_).version) == (1, 1)

    more = import_book(rt, file("c", "a", ""), into=id_)
    assert (more.added, more.book and more.book.version) == (1, 2)
    assert [(each.index, each.kind) for each in more.skipped] == [(1, "duplicate"), (2, "no_content")]
    assert contents(rt, id_) == ["a", "b", "c"]
    assert read_book(rt, id_).name == "Salt"


def test_append_adds_what_differs_in_any_of_three(rt: Runtime) -> None:
    """Title, content and aliases make an entry; one that differs in one of them is another, and edits keep it apart."""
    id_ = book_id(import_book(rt, file("a"), name="Salt"))
    change_entry(rt, id_, 1, {"title": "renamed"})
    assert import_book(rt, file("a"), into=id_).added == 1
    assert import_book(rt, file("a"), into=id_).added == 0


def test_equal_entries_of_one_file_are_both_kept(rt: Runtime) -> None:
    """V20: two entries of one file with the same text keep their identity."""
    assert import_book(rt, file("a", "a"), name="Salt").added == 2


def test_replace_takes_the_old_entries_out(rt: Runtime) -> None:
    """T11: replace changes this book only, keeps its id, name, switch and settings, and never reuses an entry id."""
    other = book_id(import_book(rt, file("x"), name="Other"))
    id_ = book_id(import_book(rt, file("a", "b", description="old"), name="Salt"))
    change_book(rt, id_, {"settings": {"places": 3}, "enabled": False})
    report = import_book(rt, file("c", name="Renamed", x_hub=1), into=id_, mode="replace")
    assert (report.mode, report.added, report.removed) == ("replace", 1, 2)
    book = read_book(rt, id_, entries=True)
    assert (book.name, book.description, book.enabled, book.settings.places, book.version) == (
        "Salt", "old", False, 3, 3,
    )  # fmt: skip
    assert [(entry.id, entry.content, entry.position) for entry in book.entries or ()] == [(3, "c", 0)]
    assert book.extensions["sillytavern"]["x_hub"] == 1
    assert contents(rt, other) == ["x"]


def test_replace_with_what_a_file_of_ours_says(rt: Runtime) -> None:
    """Description, settings and extensions of our own format arrive when it states them."""
    id_ = book_id(import_book(rt, file("a", description="old"), name="Salt"))
    told = Book(name="N", description="new", settings=BookSettings(places=5), extensions={"app": 1}, entries=())
    import_book(rt, write(told, "worldbook"), into=id_, mode="replace")
    book = read_book(rt, id_, entries=True)
    assert (book.description, book.settings, dict(book.extensions)) == ("new", BookSettings(places=5), {"app": 1})
    assert (book.name, book.entries) == ("Salt", ())


def test_replace_with_the_channels_of_a_file_of_ours(rt: Runtime) -> None:
    """T11: channels of a file arrive, as its settings do; a file that names none leaves those of the book."""
    id_ = book_id(import_book(rt, file("a"), name="Salt"))
    told = Book(name="N", channels=Channels(ids=("general",)), entries=())
    import_book(rt, write(told, "worldbook"), into=id_, mode="replace")
    assert read_book(rt, id_).channels == told.channels
    import_book(rt, file("b"), into=id_, mode="replace")
    assert read_book(rt, id_).channels == told.channels


def test_replace_with_nothing_usable_is_refused(rt: Runtime) -> None:
    """F5: a file whose entries are all unusable does not empty a book; an empty one does."""
    id_ = book_id(import_book(rt, file("a"), name="Salt"))
    with pytest.raises(UnreadableFile) as caught:
        import_book(rt, file("", " "), into=id_, mode="replace")
    assert caught.value.fault == "no_entries"
    assert contents(rt, id_) == ["a"]
    assert import_book(rt, file(), into=id_, mode="replace").removed == 1


@pytest.mark.parametrize("mode", ["append", "replace"])
def test_a_book_that_is_not_there(rt: Runtime, mode: importing.Mode) -> None:
    """Importing into an unknown book is refused."""
    with pytest.raises(NotFound):
        import_book(rt, file("a"), into="nobook", mode=mode)


def test_a_name_for_an_existing_book_is_refused(rt: Runtime) -> None:
    """A name that would be ignored is refused instead."""
    id_ = book_id(import_book(rt, file("a"), name="Salt"))
    with pytest.raises(Invalid):
        import_book(rt, file("b"), into=id_, name="New")


def limited(rt: Runtime, **limits: int) -> Runtime:
    """The service with other limits."""
    return replace(rt, settings=rt.settings.model_copy(update=limits))


def test_limits_refuse_all_of_an_import(rt: Runtime) -> None:
    """I24: an import that would exceed a limit is refused whole, with the limit and the count."""
    tight = limited(rt, max_entries=3, max_books=1)
    id_ = book_id(import_book(tight, file("a", "b"), name="Salt"))
    with pytest.raises(LimitExceeded) as caught:
        import_book(tight, file("c", "d"), into=id_)
    assert (caught.value.limit, caught.value.actual) == (3, 4)
    with pytest.raises(LimitExceeded):
        import_book(tight, file(*"cdef"), into=id_, mode="replace")
    assert import_book(tight, file("a", "b", "c"), into=id_).added == 1
    with pytest.raises(LimitExceeded):
        import_book(tight, file("a"), name="Second")
    with pytest.raises(LimitExceeded):
        import_book(limited(rt, max_entries=3), file(*"abcd"), name="Second")
    assert [book.name for book in list_books(rt).items] == ["Salt"]
    assert contents(rt, id_) == ["a", "b", "c"]
    assert read_book(rt, id_).version == 2


def test_a_file_that_is_too_large(rt: Runtime) -> None:
    """F5: a file above the limit is refused before it is read."""
    with pytest.raises(TooLarge) as caught:
        import_book(limited(rt, max_import_bytes=10), b"x" * 11)
    assert (caught.value.limit, caught.value.actual) == (10, 11)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"a":NaN}', b"{}", b"[" * 5000])
def test_broken_files_change_nothing(rt: Runtime, data: bytes) -> None:
    """F5: a broken file is refused in every mode and changes nothing."""
    id_ = book_id(import_book(rt, file("a"), name="Salt"))
    for into, mode in ((None, "append"), (id_, "append"), (id_, "replace")):
        with pytest.raises((UnreadableFile, Invalid)):
            import_book(rt, data, into=into, mode=mode)  # type: ignore[arg-type]
    assert len(list_books(rt).items) == 1
    assert (contents(rt, id_), read_book(rt, id_).version) == (["a"], 1)


@pytest.mark.parametrize("mode", ["new", "append", "replace"])
def test_a_failure_half_way_changes_nothing(rt: Runtime, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that breaks off after its entries were written leaves everything as it was."""
    id_ = book_id(import_book(rt, file("a"), name="Salt"))
    add = stored.add

    def then_fail(*arguments: Any) -> None:
        add(*arguments)
        raise RuntimeError("the power went out")

    monkeypatch.setattr(stored, "add", then_fail)
    target: dict[str, Any] = {"name": "New"} if mode == "new" else {"into": id_, "mode": mode}
    with pytest.raises(RuntimeError, match="power"):
        import_book(rt, file("b"), **target)
    assert len(list_books(rt).items) == 1
    assert (contents(rt, id_), read_book(rt, id_).version) == (["a"], 1)


def test_a_dry_run_writes_nothing_and_says_the_same(rt: Runtime) -> None:
    """A dry run reports what the import would do, and does not do it."""
    data = file("a", "", name="Salt")
    dry = import_book(rt, data, dry_run=True)
    assert list_books(rt).items == ()
    real = import_book(rt, data)
    id_ = book_id(real)
    assert real.book is not None
    assert dry == replace(real, book=replace(real.book, id=None))

    for mode in importing.Mode.__args__:  # type: ignore[attr-defined]
        planned = import_book(rt, file("a", "b"), into=id_, mode=mode, dry_run=True)
        assert (planned.added, planned.removed) == ((1, 0) if mode == "append" else (2, 1))
    assert (contents(rt, id_), read_book(rt, id_).version) == (["a"], 1)
    with pytest.raises(NameTaken):
        import_book(rt, data, dry_run=True)


def test_waiting_for_the_vectors(rt: Runtime) -> None:
    """`wait` answers when the vectors are in; the same texts again need none."""
    report = import_book(rt, file("a", "b"), name="Salt", wait=True)
    assert report.pending_vectors == 0
    assert read_book(rt, book_id(report)).counts.pending_vectors == 0
    assert import_book(rt, file("a", "b"), name="Copy").pending_vectors == 0


def test_twenty_imports_at_once(rt: Runtime) -> None:
    """I21: of twenty imports of one file into one book one adds all entries, the others none; each counts its own."""
    id_ = book_id(import_book(rt, file(), name="Salt"))
    data = file(*map(str, range(49)))
    with ThreadPoolExecutor(20) as pool:
        reports = list(pool.map(lambda _: import_book(rt, data, into=id_), range(20)))
    assert sorted(report.added for report in reports) == [0] * 19 + [49]
    assert len(contents(rt, id_)) == 49
    assert read_book(rt, id_).version == 2


def test_twenty_new_books_at_once(rt: Runtime) -> None:
    """I21: twenty imports at once each report their 49 entries."""
    data = file(*map(str, range(49)))
    roomy = limited(rt, max_books=100)
    with ThreadPoolExecutor(20) as pool:
        reports = list(pool.map(lambda number: import_book(roomy, data, name=f"Salt {number}"), range(20)))
    assert [report.added for report in reports] == [49] * 20


def test_entries_go_behind_those_that_are_there(rt: Runtime) -> None:
    """Append keeps the order of the book and of the file."""
    book = create_book(rt, Book(name="Salt", entries=(Entry(title="own", content="own"),)))
    rows = {str(place): {"key": ["k"], "content": text, "displayIndex": 5 - place} for place, text in enumerate("abc")}
    import_book(rt, json.dumps({"entries": rows}).encode(), into=book.id)
    assert contents(rt, book.id) == ["own", "c", "b", "a"]


def test_the_sample_book(rt: Runtime) -> None:
    """The sample of the service is imported whole and without anything to complain of."""
    report = import_book(rt, world() if isinstance(world(), bytes) else world().encode())
    assert report.added > 20
    assert (report.skipped, report.warnings) == ((), ())


def test_every_error_is_of_the_domain(rt: Runtime) -> None:
    """A format that does not exist is told as one of the domain's errors."""
    with pytest.raises(WorldbookError):
        import_book(rt, file("a"), format="novelai")


def test_a_large_file_is_imported_quickly(rt: Runtime) -> None:
    """1,100 entries in 2 MB are in the database in well under a second; their vectors come after."""
    data = file(*(f"{number} " + "lore " * 360 for number in range(1100)))
    assert len(data) > 2_000_000
    begun = time.perf_counter()
    report = import_book(rt, data, name="Salt")
    assert time.perf_counter() - begun < 5  # measured: 0.4 s on a busy machine
    assert report.added == 1100


def card(*contents: str, **book: Any) -> bytes:
    """A V2 card with one entry for each content; without any it has no book."""
    rows = [{"keys": [f"k{text}"], "content": text, "enabled": True} for text in contents]
    data = {"name": "Ilse", "character_book": {"entries": rows, **book} if rows else None}
    return json.dumps({"spec": "chara_card_v2", "spec_version": "2.0", "data": data}).encode()


@pytest.mark.parametrize("host", [None, "character:ilse"])
def test_a_card_without_a_book_changes_nothing(rt: Runtime, host: str | None) -> None:
    """T11, I02: a card without a book is answered without a book, and neither a new nor an old one is touched."""
    id_ = book_id(import_book(rt, file("a"), name="Salt"))
    for into, mode in ((None, "append"), (id_, "append"), (id_, "replace")):
        report = import_book(rt, card(), into=into, mode=mode, host=host)  # type: ignore[arg-type]  # a table
        assert (report.book, report.added, report.removed, report.pending_vectors) == (None, 0, 0, 0)
        assert (report.mode, report.format.name) == ("new" if into is None else mode, "character_card")
        assert [each.kind for each in report.warnings] == ["no_book"]
        assert validate(ImportReport, dump(report)) == report
    assert (read_book(rt, id_).version, contents(rt, id_)) == (1, ["a"])
    assert len(list_books(rt).items) == 1
    assert read_attachments(rt, "character", "ilse") == ()
    with pytest.raises(NotFound):
        import_book(rt, card(), into="nobook")


def test_the_book_of_a_card(rt: Runtime) -> None:
    """T11: the book of a card becomes a book, named by itself or after the character, and is exported as it was."""
    report = import_book(rt, card("a", "b"), file_name="ilse.png")
    assert (report.book and report.book.name, report.added) == ("Ilse's Lorebook", 2)
    assert (report.format.name, report.format.version, report.format.container) == ("character_card", "2.0", "json")
    again = import_book(rt, card("b", "c"), into=book_id(report))
    assert (again.added, [each.kind for each in again.skipped]) == (1, ["duplicate"])
    whole = read_book(rt, book_id(report), entries=True)
    assert [row["content"] for row in json.loads(write(whole, "character_book_v2"))["entries"]] == ["a", "b", "c"]


@pytest.mark.parametrize("ending", ["png", "CHARX", "byaf", "jpg", "jpeg", "json"])
def test_a_book_called_after_its_card_file(rt: Runtime, ending: str) -> None:
    """The ending of a card's file name is no part of the book's name."""
    nameless = json.dumps({"character_book": {"entries": [{"keys": ["a"], "content": "a"}]}}).encode()
    report = import_book(rt, nameless, file_name=f"Salt.{ending}")
    assert report.book is not None
    assert report.book.name == "Salt"


def test_an_import_attaches_the_book(rt: Runtime) -> None:
    """`host` attaches the book behind those that are there, once, in the transaction of the import."""
    other = book_id(import_book(rt, file("x"), name="Other"))
    attach(rt, "persona", "p9", Attachment(book=other, label="o"))
    id_ = book_id(import_book(rt, card("a"), host="persona:p9"))
    expected = (Attachment(book=other, label="o"), Attachment(book=id_))
    assert read_attachments(rt, "persona", "p9") == expected
    for mode, data in (("append", card("a")), ("append", card("b")), ("replace", card("c"))):
        import_book(rt, data, into=id_, mode=mode, host="persona:p9")  # type: ignore[arg-type]  # a table
        assert read_attachments(rt, "persona", "p9") == expected
    version = read_book(rt, id_).version
    again = import_book(rt, card("c"), into=id_, host="story:salt")
    assert (again.added, read_book(rt, id_).version) == (0, version)
    assert read_attachments(rt, "story", "salt") == (Attachment(book=id_),)


def test_nothing_is_attached_without_an_import(rt: Runtime) -> None:
    """A dry run, a refused import and a host that is none attach nothing and write nothing."""
    import_book(rt, card("a"), host="persona:p9", dry_run=True)
    import_book(rt, file("x"), name="Salt")
    with pytest.raises(NameTaken):
        import_book(rt, file("x"), name="Salt", host="persona:p9")
    for host in ("p9", "nobody:p9", "persona:", "persona:a\n"):
        with pytest.raises(Invalid) as caught:
            import_book(rt, card("a"), host=host)
        assert [(each.parameter, each.pointer) for each in caught.value.errors] == [("host", None)]
    assert read_attachments(rt, "persona", "p9") == ()
    assert len(list_books(rt).items) == 1


def test_cards_have_a_limit_of_their_own(rt: Runtime) -> None:
    """T11, I13: a file of a card may be larger than one of JSON, and what it unpacks to is bounded too."""
    data = card("a")
    image = boxes.png(boxes.chunk(b"prVt", b"x" * 2000), boxes.ztxt("chara", boxes.encoded(data)))
    small = limited(rt, max_import_bytes=len(data), max_card_bytes=len(image), max_unpacked_bytes=1000)
    assert import_book(small, image).added == 1
    for settings in (
        {"max_card_bytes": len(image) - 1},
        {"max_import_bytes": len(data) - 1},
        {"max_unpacked_bytes": len(boxes.encoded(data)) - 1},
    ):
        with pytest.raises(TooLarge) as caught:
            import_book(limited(rt, **settings), image, name="Again")
        assert [caught.value.limit] == list(settings.values())
    assert len(list_books(rt).items) == 1
