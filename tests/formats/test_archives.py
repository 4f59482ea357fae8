"""Cards in archives: CHARX, also behind a JPEG, and Backyard's BYAF."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import Any

import pytest
from PIL import Image

from service.formats import read
from service.formats.report import Reading
from service.lore.errors import Invalid, TooLarge, UnreadableFile
from tests.formats.boxes import archive, card, entry

CARD = card(entry("Lore.", use_regex=False), version=3)


def contents(found: Reading) -> list[str]:
    """The contents of the entries."""
    assert found.book is not None
    return [each.content for each in found.book.entries or ()]


def jpeg() -> bytes:
    """A small picture, of which the bytes look like the start of an archive in one place."""
    file = io.BytesIO()
    Image.new("RGB", (16, 16), "teal").save(file, "JPEG", comment=b"PK\x03\x04")
    return file.getvalue()


@pytest.mark.parametrize(
    "file",
    [
        archive({"card.json": CARD}),
        archive({"card.json": CARD}, method=zipfile.ZIP_STORED),
        archive({"assets/icon/images/main.png": b"\x89PNG" * 99, "card.json": CARD, "x_meta/1.json": {}}),
        archive({"card.json": CARD}, before=jpeg()),
        archive({"Ilse/Card.JSON": CARD}),
        archive({"a/b/card.json": {}, "a/CARD.json": CARD}),
        archive({"a/card.json": {}, "card.json": CARD}),
        archive({"card.json": CARD}) + b"",
    ],
    ids=["deflated", "stored", "assets", "behind a JPEG", "other case", "least deep", "exact name first", "plain"],
)
def test_charx(file: bytes) -> None:
    """F1: `card.json` is read wherever it is in the archive and wherever the archive is in the file."""
    found = read(file)
    assert contents(found) == ["Lore."]
    assert (found.format.name, found.format.version, found.format.container) == ("character_card", "3.0", "charx")
    assert found.warnings == ()


def test_a_comment_behind_the_archive() -> None:
    """An archive with the longest comment there can be is recognised."""
    file = io.BytesIO(archive({"card.json": CARD}))
    with zipfile.ZipFile(file, "a") as opened:
        opened.comment = b"c" * 65_535
    assert contents(read(file.getvalue())) == ["Lore."]


ITEMS = [
    {"key": "Oru, warden , ", "value": "{character} fears {user}. #{user}: hi {{user}} {other}", "id": "i1"},
    {"key": "", "value": "Keyless."},
    7,
    {"key": "x", "value": ""},
]
CHARACTER = {"schemaVersion": 1, "name": "ilse", "displayName": "Ilse", "persona": "Shy.", "loreItems": ITEMS}
MANIFEST = {"schemaVersion": 1, "characters": ["characters/a/character.json"], "scenarios": []}
BYAF = {"manifest.json": MANIFEST, "characters/a/character.json": CHARACTER}


def test_byaf() -> None:
    """F1: the lore items of the first character are entries; keys are split at commas, names become macros."""
    found = read(archive(BYAF))
    assert found.book is not None
    assert found.book.name == "Ilse's Lorebook"
    assert [(each.title, each.aliases) for each in found.book.entries or ()] == [
        ("Oru", ("Oru", "warden")),
        ("Keyless.", ()),
    ]
    assert contents(found)[0] == "{{char}} fears {{user}}. {{user}}: hi {{user}} {other}"
    assert (found.format.name, found.format.version, found.format.container) == ("backyard", "1", "byaf")
    assert [(each.index, each.kind) for each in found.skipped] == [(2, "not_an_entry"), (3, "no_content")]
    assert (found.book.entries or ())[0].extensions["character_book"]["entry"]["extensions"] == {
        "backyard": {"id": "i1"}
    }


def test_byaf_with_more_characters() -> None:
    """Only the first character is read, and the report says so."""
    more = {**MANIFEST, "characters": [*MANIFEST["characters"], "characters/b/character.json"]}
    found = read(archive({**BYAF, "manifest.json": more}))
    assert [each.kind for each in found.warnings] == ["more_characters"]


def test_byaf_without_lore() -> None:
    """T11: a character without lore is a card without a book."""
    found = read(archive({**BYAF, "characters/a/character.json": {**CHARACTER, "loreItems": []}}))
    assert (found.book, found.format.name) == (None, "backyard")


def with_flag(file: bytes, bit: int) -> bytes:
    """The archive with a flag set at its first member, in both of its headers."""
    start, listed = file.index(b"PK\x03\x04") + 6, file.index(b"PK\x01\x02") + 8
    changed = bytearray(file)
    for at in (start, listed):
        changed[at : at + 2] = struct.pack("<H", struct.unpack_from("<H", changed, at)[0] | bit)
    return bytes(changed)


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        (archive({"card.json": CARD})[:-30], "bad_zip"),
        (archive({"card.json": CARD})[:60], "bad_zip"),
        (archive({"card.json": CARD}).replace(b"PK\x01\x02", b"PK\x01\x03"), "bad_zip"),
        (archive({"card.json": CARD}).replace(b"PK\x03\x04", b"PK\x03\x05"), "bad_zip"),
        (archive({"card.json": CARD}, method=zipfile.ZIP_STORED).replace(b"Lore.", b"lore."), "bad_zip"),
        (archive({"card.json": CARD}, method=zipfile.ZIP_BZIP2), "bad_zip"),
        (archive({"card.json": CARD}, method=zipfile.ZIP_LZMA), "bad_zip"),
        (with_flag(archive({"card.json": CARD}), 1), "encrypted"),
        (archive({"card.json": CARD, "../evil.json": b""}), "unsafe_path"),
        (archive({"../card.json": CARD}), "unsafe_path"),
        (archive({"card.json": CARD, "/etc/cron": b""}), "unsafe_path"),
        (archive({"card.json": CARD, "C:/x": b""}), "unsafe_path"),
        (archive({"card.json": CARD, "a\\..\\b": b""}), "unsafe_path"),
        (archive({"readme.txt": b"x"}), "no_card"),
        (archive({"manifest.json": {}}), "no_card"),
        (archive({"manifest.json": []}), "no_card"),
        (archive({"manifest.json": {"characters": [7]}}), "no_card"),
        (archive({"manifest.json": {"characters": []}}), "no_card"),
        (archive({"manifest.json": {"characters": ["gone.json"]}}), "bad_zip"),
        (archive({"manifest.json": b"{"}), "not_json"),
        (archive({"card.json": b""}), "not_json"),
        (archive({"card.json": {"a": 1}}), "unknown_format"),
        (jpeg(), "unknown_format"),
        (b"PK\x03\x04", "bad_zip"),
        (b"PK\x05\x06" + bytes(18), "no_card"),
    ],
    ids=range(25),
)
def test_archives_that_cannot_be_read(file: bytes, fault: str) -> None:
    """F5: every other archive is refused with the fault that it has and with what to do."""
    with pytest.raises(UnreadableFile) as caught:
        read(file)
    assert caught.value.fault == fault
    assert caught.value.remedy


def test_json_that_no_store_keeps() -> None:
    """I18: deep nesting in a card is an error, not a crash."""
    with pytest.raises(Invalid):
        read(archive({"card.json": b'{"data":' + b"[" * 50_000 + b"]" * 50_000 + b"}"}))


def lying(file: bytes, at: int, value: int) -> bytes:
    """The archive whose record at the end says something else."""
    end = file.rindex(b"PK\x05\x06")
    return file[: end + at] + struct.pack("<L" if at == 12 else "<H", value) + file[end + at + (4 if at == 12 else 2) :]


@pytest.mark.parametrize(
    ("file", "limit"),
    [
        (lying(archive({"card.json": CARD}), 10, 60_000), 10_000),
        (lying(archive({"card.json": CARD}), 12, 2**31), 4_000_000),
    ],
)
def test_what_an_archive_says_of_itself(file: bytes, limit: int) -> None:
    """I13: an archive that only claims to be huge is refused by its claim."""
    with pytest.raises(TooLarge) as caught:
        read(file)
    assert caught.value.limit == limit


def test_an_archive_of_the_large_kind() -> None:
    """An archive whose numbers stand in a record for more than 4 GB is refused: no card is so large."""
    file = archive({"card.json": CARD})
    end = file.rindex(b"PK\x05\x06")
    locator = b"PK\x06\x07" + bytes(16)
    with pytest.raises(UnreadableFile) as caught:
        read(file[:end] + locator + file[end:])
    assert caught.value.fault == "bad_zip"


def test_what_is_unpacked_is_bounded() -> None:
    """A member larger than it may be is refused by what it says of its size."""
    members: dict[str, Any] = {"card.json": b" " * 16_000_001}
    with pytest.raises(TooLarge) as caught:
        read(archive(members))
    assert (caught.value.limit, caught.value.actual) == (16_000_000, 16_000_001)
