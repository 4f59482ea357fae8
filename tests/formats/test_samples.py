"""Hand-written files of every format: what they become, what is said about them, and that nothing of them is lost."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.formats import FORMATS, WRITTEN, losses, read, recognise, write
from service.lore.book import Book
from service.lore.errors import WorldbookError
from service.validation import dump, validate
from tests.formats.samples import SAMPLES
from tests.formats.samples.sample import Sample
from tests.formats.worlds import unhurried
from tests.fuzz.mutating import mutated_json

KEPT_ALIKE = {"sillytavern", "chub", "character_card", "backyard"}
"""Kept as the files of a format that is written are, whose round trips have tests of their own."""
FOREIGN = [each for each in SAMPLES if each.format not in {*KEPT_ALIKE, *WRITTEN}]
samples = pytest.mark.parametrize("sample", SAMPLES, ids=str)


def named_book(data: bytes) -> Book:
    """The book of a file, with a name as an import gives it."""
    book = read(data).book
    assert book is not None
    return replace(book, name=book.name or "Named")


def said(book: Book) -> list[tuple[Any, ...]]:
    """What the entries say."""
    return [(each.title, each.content, each.aliases, each.tier, each.enabled) for each in book.entries or ()]


@samples
def test_entries(sample: Sample) -> None:
    """F1, F4, W14: the file is recognised by its content and has the expected entries in list order."""
    found = read(sample.data)
    assert recognise(sample.data) == sample.format
    assert (found.format.name, found.format.version) == (sample.format, sample.version)
    assert (found.book.name, found.book.description) == (sample.name, sample.description)
    assert tuple(replace(entry, extensions={}) for entry in found.book.entries or ()) == sample.entries
    assert found.places == (tuple(range(len(sample.entries))) if sample.places is None else sample.places)


@samples
def test_report(sample: Sample) -> None:
    """T12: what was skipped, what has no effect here and what to know is told by place, name and count."""
    found = read(sample.data)
    assert [(each.index, each.kind) for each in found.skipped] == list(sample.skipped)
    assert {each.setting: each.count for each in found.no_home} == sample.no_home
    assert [(each.kind, each.index) for each in found.warnings] == list(sample.warnings)
    assert all(each.detail for each in (*found.skipped, *found.warnings))


@samples
def test_a_named_format_reads_the_same(sample: Sample) -> None:
    """A file read under the name of its format is read as when it is recognised."""
    assert read(sample.data, sample.format) == read(sample.data)


@samples
def test_our_own_format_loses_nothing(sample: Sample) -> None:
    """F3: a book of any origin comes out of our own JSON as it went in, and is valid."""
    book = named_book(sample.data)
    assert losses(book, "worldbook") == ()
    assert read(write(book, "worldbook")).book == book
    assert validate(Book, dump(book)) == book


@samples
@pytest.mark.parametrize("format", WRITTEN)
def test_every_writer_takes_every_book(sample: Sample, format: str) -> None:
    """W14, F2: what a book says survives the export to each format that is written; the rest is told as lost."""
    book = named_book(sample.data)
    assert said(read(write(book, format)).book) == said(book)
    told = {each.setting: each.count for each in losses(book, format)}
    foreign = format != "worldbook" and sample in FOREIGN
    extensions = {f"extensions.{sample.format}": len(book.entries or ()) + 1} if foreign else {}
    assert told == {**extensions, **sample.lost.get(format, {})}


def rows(value: Any) -> list[Any]:
    """The rows of a file, wherever they stand in it."""
    if isinstance(value, list):
        return value
    book = value.get("content", value).get("lorebook", value)
    (found,) = (book[name] for name in ("entries", "data", "worldinfo", "worldInfos") if name in book)
    return list(found.values()) if isinstance(found, dict) else found


@pytest.mark.parametrize("sample", [each for each in FOREIGN if not isinstance(each.file, bytes)], ids=str)
def test_what_was_read_is_kept(sample: Sample) -> None:
    """F3: every row of a file is in the book: as the extensions of its entry, or beside the entries if it is none."""
    found = read(sample.data)
    expected = rows(sample.file)
    for place, entry in zip(found.places, found.book.entries or (), strict=True):
        raw = entry.extensions[sample.format]
        assert raw.keys() == expected[place].keys()
        changed = [name for name in raw if raw[name] != expected[place][name]]
        assert [(raw[name], expected[place][name]) for name in changed] in ([], [(None, entry.content)])
    left_out = {str(place): row for place, row in enumerate(expected) if place not in found.places}
    assert left_out in found.book.extensions[sample.format].values()


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_has_samples(row: Any) -> None:
    """Each format has samples, and one that sets everything it knows."""
    assert [each.every_setting for each in SAMPLES if each.format == row.name].count(True) == 1


JSON = [each for each in SAMPLES if each.inside.lstrip()[:1] in (b"{", b"[")]


@unhurried
@given(st.sampled_from(JSON), st.integers(0, 2**32))
def test_no_book_loses_anything_in_our_own_format(sample: Sample, chance: int) -> None:
    """F3: whatever could be read comes out of our own JSON as it was, and says the same in every other."""
    data = sample.boxed(mutated_json(sample.inside, random.Random(chance)))
    try:
        if read(data).book is None:
            return
    except WorldbookError:
        return
    book = named_book(data)
    assert read(write(book, "worldbook")).book == book
    for format in ("sillytavern", "character_book_v2", "character_book_v3", "lorebook_v3"):
        assert said(read(write(book, format)).book) == said(book)
