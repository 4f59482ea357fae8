"""Cards made to harm: bombs, floods of chunks and members, and texts that would make a careless reader quadratic."""

from __future__ import annotations

import base64
import io
import json
import struct
import time
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable

import pytest

from service.formats import into_png, losses, read, write
from service.lore.book import Book
from service.lore.errors import Invalid, TooLarge, UnreadableFile
from tests.formats.boxes import archive, card, chunk, entry, itxt, png, text

MEGABYTE = 1_000_000


def bomb(megabytes: int) -> bytes:
    """A zlib stream of a kilobyte for each megabyte that it unpacks to; only its checksum, at the end, is wrong."""
    packer = zlib.compressobj(9)
    head = packer.compress(b" " * MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(b" " * MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + again * (megabytes - 1) + packer.flush()


def many(count: int) -> bytes:
    """An archive of so many empty members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as opened:
        for number in range(count):
            opened.writestr(zipfile.ZipInfo(f"{number}.txt"), b"")
        opened.writestr("card.json", json.dumps(card(entry())))
    return file.getvalue()


def lying_size(data: bytes, size: int) -> bytes:
    """An archive with a member that says another size of itself than it unpacks to."""
    file = archive({"card.json": data})
    packed = bytearray(file)
    for at in (file.index(b"PK\x03\x04") + 22, file.index(b"PK\x01\x02") + 24):
        packed[at : at + 4] = struct.pack("<L", size)
    return bytes(packed)


def claiming_fewer(file: bytes) -> bytes:
    """The archive whose record at the end counts one member."""
    end = file.rindex(b"PK\x05\x06")
    return file[: end + 8] + struct.pack("<HH", 1, 1) + file[end + 12 :]


HOSTILE: dict[str, tuple[Callable[[], bytes], type[Exception]]] = {
    "zTXt of 1 MB that unpacks to 1 GB": (lambda: png(chunk(b"zTXt", b"ccv3\0\0" + bomb(1000))), TooLarge),
    "iTXt that unpacks to 100 MB": (lambda: png(chunk(b"iTXt", b"chara\0\1\0\0\0" + bomb(100))), TooLarge),
    "a bomb before a card that is good": (
        lambda: png(chunk(b"zTXt", b"ccv3\0\0" + bomb(100)), text("chara", base64.b64encode(b"{}"))),
        TooLarge,
    ),
    "a bomb under another keyword": (lambda: png(chunk(b"zTXt", b"xmp\0\0" + bomb(1000))), UnreadableFile),
    "base64 of 30 MB of JSON": (lambda: png(text("chara", b"A" * 40 * MEGABYTE)), TooLarge),
    "30 MB of JSON that is not encoded": (lambda: png(text("chara", b'{"a":"' + b"x" * 30 * MEGABYTE)), TooLarge),
    "a compressed text that ends early": (lambda: png(chunk(b"zTXt", b"ccv3\0\0" + bomb(60)[:-100])), UnreadableFile),
    "100,000 chunks": (lambda: png(chunk(b"tEXt", b"a\0") * 100_000), UnreadableFile),
    "40,000 chunks of cards": (lambda: png(text("chara", b"!") * 40_000), UnreadableFile),
    "a chunk of 2 GB": (lambda: png(struct.pack(">I", 2**31 - 1) + b"tEXt" + b"chara\0" + b"A" * 99), UnreadableFile),
    "a chunk of 4 GB": (lambda: png(b"\xff\xff\xff\xff" + b"tEXtchara\0"), UnreadableFile),
    "an iTXt of many separators": (lambda: png(chunk(b"iTXt", b"chara" + b"\0" * MEGABYTE)), UnreadableFile),
    "a member of 100 MB": (lambda: archive({"card.json": b" " * 100 * MEGABYTE}), TooLarge),
    "a member that says it is of 3 GB": (lambda: lying_size(b"{}", 3 * 2**30), TooLarge),
    "a member that says it is small": (lambda: lying_size(b" " * 100 * MEGABYTE, 5), UnreadableFile),
    "a member that says it is empty": (lambda: lying_size(b" " * 100 * MEGABYTE, 0), UnreadableFile),
    "a manifest of 100 MB": (lambda: archive({"manifest.json": b" " * 100 * MEGABYTE}), TooLarge),
    "100,000 members": (lambda: many(100_000), TooLarge),
    "20,000 members": (lambda: many(20_000), TooLarge),
    "20,000 members that say they are one": (lambda: claiming_fewer(many(20_000)), TooLarge),
    "deep JSON in a PNG": (lambda: png(text("chara", base64.b64encode(b"[" * 100_000))), Invalid),
    "deep JSON in an archive": (lambda: archive({"card.json": b'{"a":' * 100_000}), Invalid),
    "five million lists in an archive": (
        lambda: archive({"card.json": b"[" + b"[]," * 5 * MEGABYTE + b"1]"}),
        TooLarge,
    ),
    "a number of a million digits": (lambda: png(text("chara", b'{"a":' + b"9" * MEGABYTE + b"}")), Invalid),
    "an archive in the comment of an archive": (
        lambda: archive({"card.json": card(entry())}) + archive({"x": b""})[-22:] * 3,
        UnreadableFile,
    ),
}
_MADE: dict[str, bytes] = {}


def made(name: str) -> bytes:
    """The file, made once, since making some of them takes longer than reading."""
    if name not in _MADE:
        _MADE[name] = HOSTILE[name][0]()
    return _MADE[name]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_in_little_memory(name: str) -> None:
    """I13, F5: the file is refused, and what is allocated for it is a few times its own size at most."""
    file = made(name)
    tracemalloc.start()
    try:
        with pytest.raises(HOSTILE[name][1]) as caught:
            read(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.remedy  # type: ignore[attr-defined]
    assert peak < 40 * MEGABYTE + 3 * len(file)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_soon(name: str) -> None:
    """I13, F5: refusing takes seconds at most, whatever the file would unpack to; a book is not written into one."""
    file = made(name)
    begun = time.perf_counter()
    with pytest.raises(HOSTILE[name][1]):
        read(file)
    with pytest.raises((UnreadableFile, Invalid, TooLarge)):
        into_png(file, Book(name="N", entries=()))
    assert time.perf_counter() - begun < 15  # measured: at most 1.5 s on a quiet machine


def repeated(text: str, length: int = 200_000) -> str:
    """The text repeated to about this length."""
    return text * (length // len(text))


@pytest.mark.parametrize(
    "value",
    [
        {"entries": [entry(repeated("@@") + "\nLore.", use_regex=False)]},
        {"entries": [entry(repeated("@@\n") + "Lore.", use_regex=False)]},
        {"entries": [entry(repeated("@@@a b\n"), use_regex=False)]},
        {"entries": [entry(repeated("\n ", 90_000) + "@@a\nLore.", use_regex=False)]},
        {"entries": [entry("C", repeated("/a,"), secondary_keys=[repeated("b,")] * 9)]},
        {"entries": [entry("C", secondary_keys=["s"] * 30_000, extensions={"selectiveLogic": 3}, use_regex=False)]},
        {"entries": [entry(str(number), id=0) for number in range(3000)]},
        {"entries": [entry(str(number), id=str(number % 7)) for number in range(3000)]},
        {"entries": [entry("C", extensions={"a" * 9 + str(number): 1 for number in range(30_000)})]},
        {"entries": [entry("C", extensions={"display_index": repeated("9")})]},
        {"entries": [entry(str(number), extensions={"display_index": -number}) for number in range(3000)]},
        {"entries": [entry("C", **{f"x{number}": 1 for number in range(30_000)})]},
        {"loreItems": [{"key": repeated(","), "value": repeated("{user}")[:90_000]}]},
        {"loreItems": [{"key": repeated("a,"), "value": repeated("#{", 90_000)}]},
    ],
    ids=range(14),
)
def test_hostile_books_take_linear_time(value: object) -> None:
    """F5: what would make a careless reader or writer quadratic is read, written and read again in a moment."""

    begun = time.perf_counter()
    book = read(json.dumps(value).encode()).book
    assert book is not None
    for format in ("character_book_v2", "lorebook_v3", "sillytavern"):
        losses(book, format)
        assert read(write(book, format)).book is not None
    assert time.perf_counter() - begun < 30  # measured: at most 3 s on a quiet machine


def test_a_large_card_is_no_bomb() -> None:
    """A card of nearly 20 MB, of which 15 MB are JSON, is read."""
    entries = [entry("lore " * 18_000, id=number) for number in range(150)]
    value = json.dumps(card(*entries)).encode()
    assert 13 * MEGABYTE < len(value) < 16 * MEGABYTE
    for file in (
        png(text("chara", base64.b64encode(value))),
        png(itxt("chara", value, packed=True)),
        archive({"card.json": value}),
    ):
        book = read(file).book
        assert book is not None
        assert len(book.entries or ()) == 150
