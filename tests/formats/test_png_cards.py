"""Cards in PNG images: out of text chunks of every kind, and into them."""

from __future__ import annotations

import base64
import io
import json
import struct
from typing import Any

import pytest
from PIL import Image, PngImagePlugin

from service.formats import into_png, read
from service.formats.containers import Limits
from service.formats.report import Reading
from service.lore.book import Book, Entry
from service.lore.errors import Invalid, TooLarge, UnreadableFile
from tests.formats.boxes import SIGNATURE, based, card, chunk, entry, itxt, png, text, ztxt

V2 = card(entry("V2"))
V3 = card(entry("V3", use_regex=False), version=3)
GOOD = based(V2)
BOOK = Book(name="Salt", entries=(Entry(title="塩の門", content="The gate.", aliases=("門", "gate"), tier="canon"),))


def contents(found: Reading) -> list[str]:
    """The contents of the entries."""
    assert found.book is not None
    return [each.content for each in found.book.entries or ()]


def kinds(found: Reading) -> list[str]:
    """The warnings about the file itself."""
    return [each.kind for each in found.warnings]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (png(text("chara", GOOD)), "V2"),
        (png(behind=(text("chara", GOOD),)), "V2"),
        (png(ztxt("chara", GOOD)), "V2"),
        (png(itxt("chara", GOOD)), "V2"),
        (png(itxt("chara", GOOD, packed=True)), "V2"),
        (png(text("Chara", GOOD)), "V2"),
        (png(text("CCV3", based(V3))), "V3"),
        (png(text("char", GOOD)), "V2"),
        (png(text("chara", GOOD), text("ccv3", based(V3))), "V3"),
        (png(text("ccv3", based(V3)), behind=(text("chara", GOOD),)), "V3"),
        (png(ztxt("ccv3", based(V3)), text("char", GOOD)), "V3"),
        (png(text("chara", GOOD), text("chara", based(card(entry("later"))))), "V2"),
        (png(text("Comment", b"made by hand"), text("chara", GOOD), text("chara-ext-asset_:0", b"AAAA")), "V2"),
        (png(text("chara", GOOD)) + b"trailing \x00 bytes" * 9, "V2"),
        (png(text("naidata", based({"entries": {"0": {"key": ["a"], "content": "N"}}}))), "N"),
    ],
    ids=str,
)
def test_every_kind_of_chunk(file: bytes, content: str) -> None:
    """F1, I10: tEXt, zTXt and iTXt are read anywhere in the image; `ccv3` counts more than `chara`."""
    found = read(file)
    assert contents(found) == [content]
    assert found.format.container == "png"
    assert kinds(found) == []


@pytest.mark.parametrize(
    "payload",
    [
        GOOD.rstrip(b"="),
        GOOD + b"\n",
        b"\n".join(GOOD[at : at + 76] for at in range(0, len(GOOD), 76)),
        base64.urlsafe_b64encode(json.dumps(V2).encode()),
        json.dumps(V2).encode(),
        b"\xef\xbb\xbf " + json.dumps(V2).encode(),
        base64.b64encode(b"\xef\xbb\xbf" + json.dumps(V2).encode()),
        base64.b64encode(json.dumps(V2).encode("utf-16")),
    ],
    ids=["no padding", "line end", "lines", "URL alphabet", "plain", "plain with BOM", "BOM inside", "UTF-16 inside"],
)
def test_base64_as_it_occurs(payload: bytes) -> None:
    """Base64 is read as programs write it, and JSON that is not encoded at all."""
    assert contents(read(png(text("chara", payload)))) == ["V2"]


def test_the_url_alphabet_differs() -> None:
    """The base64 of this card does hold characters in which the alphabets differ."""
    value = json.dumps(card(entry("~~~???>>>ÿÿÿ")), ensure_ascii=False).encode()
    payload = base64.urlsafe_b64encode(value)
    assert set(payload) & set(b"-_")
    assert contents(read(png(text("chara", payload)))) == ["~~~???>>>ÿÿÿ"]


@pytest.mark.parametrize(
    ("file", "warnings"),
    [
        (png(text("chara", GOOD, crc=1)), ["bad_crc"]),
        (png(text("chara", GOOD), end=b""), ["cut_off"]),
        (png(text("chara", GOOD), end=struct.pack(">I", 5000) + b"IDAT" + b"x" * 9), ["cut_off"]),
        (png(text("chara", GOOD), end=b"\0\0\0\1\0\0\0\0"), ["cut_off"]),
        (png(text("ccv3", b"!!!"), text("chara", GOOD)), ["unreadable_part"]),
        (png(text("ccv3", base64.b64encode(b"{")), text("chara", GOOD)), ["unreadable_part"]),
        (png(text("ccv3", based({"a": 1})), text("chara", GOOD)), ["unreadable_part"]),
        (png(chunk(b"zTXt", b"ccv3\0\0\xff"), text("chara", GOOD)), ["unreadable_part"]),
        (png(text("ccv3", b"rcc||rccv1||a||b||c"), text("chara", GOOD)), ["unreadable_part"]),
        (png(text("chara", b"!!!"), text("chara", GOOD)), ["unreadable_part"]),
    ],
    ids=range(10),
)
def test_damage_that_leaves_a_card(file: bytes, warnings: list[str]) -> None:
    """I12: a wrong checksum, a missing end or a broken chunk before a good one is read all the same, and told."""
    found = read(file)
    assert contents(found) == ["V2"]
    assert kinds(found) == warnings


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        (SIGNATURE, "bad_png_chunk"),
        (png(text("chara", GOOD))[:100], "bad_png_chunk"),
        (png(text("chara", b"!!!")), "bad_png_chunk"),
        (png(text("chara", GOOD[:-3] + b"*")), "bad_png_chunk"),
        (png(text("chara", b"a")), "bad_png_chunk"),
        (png(chunk(b"tEXt", b"chara")), "bad_png_chunk"),
        (png(chunk(b"zTXt", b"chara")), "bad_png_chunk"),
        (png(chunk(b"zTXt", b"chara\0")), "bad_png_chunk"),
        (png(chunk(b"zTXt", b"chara\0\0nonsense")), "bad_png_chunk"),
        (png(chunk(b"zTXt", ztxt("chara", GOOD)[8:-60])), "bad_png_chunk"),
        (png(chunk(b"iTXt", b"chara\0\1\0en")), "bad_png_chunk"),
        (png(chunk(b"iTXt", b"chara\0\1\0en\0\0\xff\xff")), "bad_png_chunk"),
        (png(text("chara", b"")), "not_json"),
        (png(text("chara", base64.b64encode(b"\xff\xfe\xff"))), "encoding"),
        (png(text("chara", b"{")), "not_json"),
        (png(text("chara", b"rcc||rccv1||a||b||c")), "encrypted"),
        (png(text("ccv3", base64.b64encode(b"rcc||rccv1||a||b||c"))), "encrypted"),
        (png(text("chara", based({"a": 1}))), "unknown_format"),
        (png(), "no_card"),
        (png(text("Comment", b"nothing")), "no_card"),
    ],
    ids=range(20),
)
def test_images_that_cannot_be_read(file: bytes, fault: str) -> None:
    """F5, I12: every other image is refused with the fault that it has and with what to do."""
    with pytest.raises(UnreadableFile) as caught:
        read(file)
    assert caught.value.fault == fault
    assert caught.value.remedy


@pytest.mark.parametrize("bad", ['{"content":"\\ud83d"}', '{"a":NaN}', '{"a":1e999}', "[" * 5000, "9" * 5000])
def test_json_that_no_store_keeps(bad: str) -> None:
    """I16, I17, I18: what is refused in a file of JSON is refused in a card."""
    with pytest.raises((Invalid, UnreadableFile)):
        read(png(text("chara", base64.b64encode(bad.encode()))))


def test_the_same_as_json() -> None:
    """A card in a PNG and the same in JSON give the same book."""
    assert read(png(text("chara", GOOD))).book == read(json.dumps(V2).encode()).book


@pytest.mark.parametrize("kind", ["tEXt", "zTXt", "iTXt", "packed iTXt"])
def test_images_of_another_program(kind: str) -> None:
    """I10: the text chunks that Pillow writes are read."""
    info = PngImagePlugin.PngInfo()
    if "iTXt" in kind:
        info.add_itxt("chara", GOOD.decode(), zip=kind != "iTXt")
    else:
        info.add_text("chara", GOOD.decode(), zip=kind == "zTXt")
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "teal").save(file, "PNG", pnginfo=info)
    assert contents(read(file.getvalue())) == ["V2"]


def pillow(file: bytes) -> tuple[dict[str, Any], bytes]:
    """The text chunks of an image in their order, and its pixels, as Pillow reads them with all checksums."""
    with Image.open(io.BytesIO(file)) as image:
        image.verify()
    with Image.open(io.BytesIO(file)) as image:
        assert isinstance(image, PngImagePlugin.PngImageFile)
        image.load()
        return dict(image.text), image.tobytes()


def told(payload: str) -> Any:
    """The card in a text chunk."""
    return json.loads(base64.b64decode(payload))


def test_a_card_that_was_written_is_read_by_others() -> None:
    """F2: Pillow finds V2 in `chara`, then V3 in `ccv3`, and the same pixels; what else the card said is there."""
    before = png(text("Comment", b"hand made"), text("chara", GOOD))
    after = into_png(before, BOOK)
    texts, pixels = pillow(after)
    assert list(texts) == ["Comment", "chara", "ccv3"]
    assert pixels == pillow(before)[1]
    for keyword, version in (("chara", 2), ("ccv3", 3)):
        value = told(texts[keyword])
        assert (value["spec"], value["spec_version"]) == (f"chara_card_v{version}", f"{version}.0")
        assert {name: value["data"][name] for name in ("name", "first_mes", "extensions", "tags")} == {
            name: V2["data"][name] for name in ("name", "first_mes", "extensions", "tags")
        }
        (row,) = value["data"]["character_book"]["entries"]
        assert (row["keys"], row["content"], row["comment"], row["constant"], row["id"]) == (
            ["門", "gate"], "The gate.", "塩の門", True, 0,
        )  # fmt: skip
        assert ("use_regex" in row) == (version == 3)
    assert value["data"]["group_only_greetings"] == []


def test_all_else_of_the_file_is_untouched() -> None:
    """F2: old cards go whatever their chunk and case, and every other byte stays, broken checksums included."""
    before, behind = text("Comment", b"x", crc=7), chunk(b"prVt", b"private", crc=8)
    old = (ztxt("Chara", GOOD), itxt("CCV3", based(V3)), text("chara", b"!!!"))
    tail = b"trailing"
    bare = png(before, behind=(behind,)) + tail
    made = into_png(png(before, *old, behind=(behind, text("chara", GOOD))) + tail, BOOK)
    end = chunk(b"IEND", b"") + tail
    assert made.startswith(bare.removesuffix(end))
    assert made.endswith(end)
    assert into_png(made, BOOK) == made


def test_two_cards_keep_what_each_says() -> None:
    """A card whose V2 and V3 differ keeps both; one that has only V1 or V3 gets the other made of it."""
    one, other = card(entry("a"), character="Two"), card(entry("b"), version=3, character="Three")
    texts, _ = pillow(into_png(png(text("chara", based(one)), text("ccv3", based(other))), BOOK))
    assert [told(texts[each])["data"]["name"] for each in ("chara", "ccv3")] == ["Two", "Three"]
    texts, _ = pillow(into_png(png(text("ccv3", based({**other, "x_root": 1, "spec_version": "3.1"}))), BOOK))
    assert [told(texts[each])["spec_version"] for each in ("chara", "ccv3")] == ["2.0", "3.1"]
    assert all(told(texts[each])["x_root"] == 1 for each in texts)
    texts, _ = pillow(into_png(png(text("chara", based({"name": "One", "first_mes": "Hi", "x_junk": 1}))), BOOK))
    for value in map(told, texts.values()):
        assert (value["data"]["name"], value["data"]["first_mes"], value["x_junk"]) == ("One", "Hi", 1)
        assert value["data"]["alternate_greetings"] == []


def test_a_card_by_another_keyword_is_written_to() -> None:
    """F2: what is read as a card can be written to: a chunk `char` gives way to the usual two."""
    written = into_png(png(text("char", GOOD)), BOOK)
    assert contents(read(written)) == ["The gate."]
    assert b"char\0" not in written
    both = into_png(png(text("char", b"another thing"), text("chara", GOOD)), BOOK)
    assert b"char\0another thing" in both


def test_a_written_card_is_read_back() -> None:
    """F2: what was written into a card comes back from it, and losing nothing else."""
    found = read(into_png(png(text("chara", GOOD)), BOOK))
    assert found.book is not None
    assert found.book.name == "Salt"
    assert [(each.title, each.aliases, each.tier) for each in found.book.entries or ()] == [
        ("塩の門", ("門", "gate"), "canon")
    ]
    assert (found.format.name, found.format.version, found.format.container) == ("character_card", "3.0", "png")


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        (b"{}", "unknown_format"),
        (png(), "no_card"),
        (png(text("chara", based({"entries": {}}))), "no_card"),
        (png(text("chara", b"!!!")), "bad_png_chunk"),
        (png(text("chara", GOOD), end=struct.pack(">I", 99) + b"IEND"[:3] + b"X"), "bad_png_chunk"),
        (png(text("chara", b"rcc||x")), "encrypted"),
    ],
)
def test_what_is_no_card_is_not_written_to(file: bytes, fault: str) -> None:
    """F5: a book goes only into a PNG card that can be read."""
    with pytest.raises(UnreadableFile) as caught:
        into_png(file, BOOK)
    assert caught.value.fault == fault


def test_an_image_without_its_end_gets_one() -> None:
    """A card that lacks its last chunk is whole after a book was written into it."""
    assert list(pillow(into_png(png(text("chara", GOOD), end=b""), BOOK))[0]) == ["chara", "ccv3"]


def test_limits_are_those_given() -> None:
    """I13: the JSON of a card is bounded, before it is decoded, in reading and in writing."""
    file = png(text("chara", GOOD))
    small = Limits(json=100)
    for act in (lambda: read(file, limits=small), lambda: into_png(file, BOOK, small)):
        with pytest.raises(TooLarge) as caught:
            act()
        assert caught.value.limit == 100
