"""docs/formats.md says of each format what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service.formats import FORMATS, NAMES, WRITTEN, generic, losses, read
from service.formats.trigger_fields import FIELDS, has_effect
from service.lore.book import Book, BookSettings, Entry
from service.lore.dialects import DIALECTS
from service.lore.trigger import Channels, CharacterFilter, Trigger
from tests.formats.samples import SAMPLES

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def listed(name: str, line: str) -> set[str]:
    """What a line of a section lists; `and those of` another format adds what that one lists."""
    found = re.search(rf"^- {line}: (.*?)(?=^- |\Z)", SECTIONS[name], re.MULTILINE | re.DOTALL)
    assert found, f"{name} has no line {line!r}"
    own, _, other = " ".join(found[1].split()).partition("and those of ")
    names = set(re.findall(r"`([^`]+)`", own))
    assert names or other or own == "nothing."
    return names | (listed(other.strip("`."), line) if other else set())


def test_every_format_has_its_row() -> None:
    """F1: the table has a row for each format, in the order of recognition, and says which are written."""
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (yes|no) \|$", PAGE, re.MULTILINE)
    assert rows == [(name, "yes" if name in WRITTEN else "no") for name in NAMES]
    assert set(SECTIONS) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_settings_without_effect_are_listed(name: str) -> None:
    """F3: a section lists exactly the settings that the reader reports of a file that sets all it knows."""
    (sample,) = (each for each in SAMPLES if each.format == name and each.every_setting)
    assert listed(name, "Without effect") == {each.setting for each in read(sample.data).no_home}


@pytest.mark.parametrize("name", WRITTEN)
def test_losses_are_listed(name: str) -> None:
    """F3: a section lists exactly what the writer cannot hold of a book with everything."""
    entry = Entry(title="T", content="C", aliases=("a",), gist="G", tier="canon", enabled=False, extensions={"app": 1})
    settings = BookSettings(places=3, floor=0.5, living=True)
    book = Book(name="N", description="D", enabled=False, settings=settings, entries=(entry,), extensions={"app": 1})
    lost = {each.setting.replace("extensions.app", "extensions.*") for each in losses(book, name)}
    assert listed(name, "Lost when written") == lost


def test_fields_of_triggers_are_listed() -> None:
    """T12: the table has every setting that a trigger has a field for, and says in which dialects it counts."""
    dialects = [row.dialect for row in DIALECTS]
    rows = re.findall(r"^\| (`[^|]+`) \| `([\w.]+)` \| (yes|no) \| (yes|no) \| (yes|no) \|$", PAGE, re.MULTILINE)
    told = {
        name: dict(zip(dialects, map("yes".__eq__, counts), strict=True))
        for names, _, *counts in rows
        for name in re.findall(r"`(\w+)`", names)
    }
    for name in ("key", "keysecondary"):
        assert told.pop(name) == dict.fromkeys(dialects, True)
    said = {"position": 1}
    known = {name for field in FIELDS for name in field.names}
    assert told == {name: {dialect: has_effect(name, said, dialect) for dialect in dialects} for name in known}


def test_names_of_settings_are_listed() -> None:
    """T12: the page says what the settings of other programs are, for each format that has names of its own."""
    rows = set(re.findall(r"^\| `(\w+)` \| `([\w.]+)` \| `(\w+)` \|$", PAGE, re.MULTILINE))
    formats = {format for format, _, _ in rows}
    assert formats == {"novelai", "agnai", "risuai", "tavern_helper", "generic"}
    spelled = {(row.name, *pair) for row in FORMATS for pair in row.spelled.items() if row.name in formats}
    assert rows == {row for row in spelled if row[1] != row[2]}


@pytest.mark.parametrize("name", WRITTEN)
def test_losses_of_lorebooks_are_listed(name: str) -> None:
    """T13: of a trigger a written file loses the channels alone, and a character book the filter of characters too."""
    trigger = Trigger(channels=Channels(ids=("1",)), characters=CharacterFilter(names=("Ilse",)))
    entry = Entry(title="T", content="C", trigger=trigger)
    book = Book(name="N", dialect="sillytavern", channels=Channels(ids=("1",)), entries=(entry,))
    lost = {each.setting: each.count for each in losses(book, name)}
    channels = {} if name == "worldbook" else {"channels": 2}
    assert lost == channels | ({} if name in ("worldbook", "sillytavern") else {"characterFilter": 1})


def test_names_of_the_generic_mapper_are_listed() -> None:
    """The section of the generic mapper lists the names that it knows, in their order."""
    told = [f"`{name}`" for name in re.findall(r"`(\w+)`", SECTIONS["generic"].partition("- Without")[0])][1:]
    known = (
        generic.TITLE,
        generic.CONTENT,
        generic.KEYS,
        generic.SECONDARY,
        generic.CONSTANT,
        ("enabled",),
        generic.DISABLED,
    )
    assert told == [f"`{name}`" for names in known for name in names]
