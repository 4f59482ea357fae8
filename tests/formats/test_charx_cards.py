"""Books into CHARX cards."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from service.formats import Limits, into_charx, read
from service.lore.book import Book, Entry
from service.lore.errors import TooLarge, UnreadableFile
from tests.formats.boxes import archive, card, entry, png

BOOK = Book(name="Salt", entries=(Entry(title="塩の門", content="The gate.", aliases=("門",), tier="canon"),))
LISTED = b"PK\x01\x02\x14\x03\x14\x00"
"""How the list of members begins, before the flags of the first."""
CARD = card(entry("old"), version=3, character="Ilse")
ASSETS: dict[str, Any] = {"assets/": b"", "assets/icon/images/ícone.png": png(), "module.risum": b"\x6f\x00risu"}


def opened(file: bytes) -> dict[str, bytes]:
    """The members of an archive in their order, as `zipfile` reads them with all checksums."""
    with zipfile.ZipFile(io.BytesIO(file)) as found:
        assert found.testzip() is None
        return {name: found.read(name) for name in found.namelist()}


@pytest.mark.parametrize("before", [b"", b"\xff\xd8\xff" + b"picture" * 99], ids=["plain", "behind a JPEG"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_all_else_of_the_archive_stays(before: bytes, method: int) -> None:
    """F2: `zipfile` finds our book in the card, and each other member and the picture before it as they were."""
    file = archive({"a.json": b"{}", "card.json": CARD, **ASSETS}, before=before, method=method)
    made = into_charx(file, BOOK)
    assert made.startswith(before)
    members = opened(made)
    told = json.loads(members.pop("card.json"))
    assert list(members) == ["a.json", *ASSETS]
    assert members == {"a.json": b"{}", **ASSETS}
    kept = {name: told["data"][name] for name in CARD["data"] if name != "character_book"}
    assert {"character_book": CARD["data"]["character_book"], **kept} == CARD["data"]
    assert [row["content"] for row in told["data"]["character_book"]["entries"]] == ["The gate."]
    with zipfile.ZipFile(io.BytesIO(made)) as found:
        assert {member.compress_type for member in found.infolist() if not member.is_dir()} == {method}
    assert into_charx(made, BOOK) == made


def test_a_card_in_a_folder() -> None:
    """The member that is read is the member that is written, also in a folder."""
    made = into_charx(archive({"Ilse/Card.json": CARD}), BOOK)
    assert list(opened(made)) == ["Ilse/Card.json"]
    found = read(made)
    assert found.book is not None
    assert [(made.title, made.aliases) for made in found.book.entries or ()] == [("塩の門", ("門",))]


def test_two_members_of_one_name() -> None:
    """Of two members of one name the last counts, for readers too, and the written archive has it once."""
    file = archive({"card.json": CARD, "x": b"1"})
    box = io.BytesIO(file)
    with zipfile.ZipFile(box, "a") as found, pytest.warns(UserWarning, match="Duplicate"):
        found.writestr("x", b"2")
    assert opened(into_charx(box.getvalue(), BOOK))["x"] == b"2"


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        (archive({"x.json": b"{}"}), "no_card"),
        (archive({"card.json": b"[]"}), "no_card"),
        (archive({"card.json": b"{"}), "not_json"),
        (archive({"card.json": CARD, "../x": b"1"}), "unsafe_path"),
        (archive({"card.json": CARD, "x": b"pixel"}, method=zipfile.ZIP_STORED).replace(b"pixel", b"PIXEL"), "bad_zip"),
        (archive({"card.json": CARD}).replace(LISTED + b"\0", LISTED + b"\1"), "encrypted"),
        (png(), "unknown_format"),
        (b"{}", "bad_zip"),
    ],
)  # fmt: skip
def test_files_that_are_no_such_card(file: bytes, fault: str) -> None:
    """F5: an archive that has no card, or of which a member cannot be copied, is refused with its fault."""
    with pytest.raises(UnreadableFile) as caught:
        into_charx(file, BOOK)
    assert caught.value.fault == fault


def test_an_archive_that_unpacks_to_too_much() -> None:
    """F5: pictures that together unpack to more than the limit are refused before they are unpacked."""
    file = archive({"card.json": CARD, "a": bytes(60_000), "b": bytes(60_000)})
    with pytest.raises(TooLarge) as caught:
        into_charx(file, BOOK, Limits(unpacked=100_000))
    assert caught.value.limit == 100_000
