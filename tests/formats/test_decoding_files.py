"""Bytes to JSON."""

from __future__ import annotations

import codecs
import json

import pytest

from service.formats.decoding import Repeating, decode
from service.lore.errors import Invalid, TooLarge, UnreadableFile

EMPTY = '{"entries":{}}'


@pytest.mark.parametrize(
    "data",
    [
        EMPTY.encode(),
        codecs.BOM_UTF8 + EMPTY.encode(),
        codecs.BOM_UTF16_LE + EMPTY.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + EMPTY.encode("utf-16-be"),
    ],
)
def test_byte_order_marks_are_accepted(data: bytes) -> None:
    """I14: UTF-8 with a byte-order mark and UTF-16 with one are read."""
    assert decode(data).value == {"entries": {}}


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "not_json"),
        (b"{", "not_json"),
        (b"{} {}", "not_json"),
        ("Ä".encode("latin-1"), "encoding"),
        (EMPTY.encode("utf-16-le"), "encoding"),
        (EMPTY.encode("utf-16-be"), "encoding"),
        (codecs.BOM_UTF32_LE + EMPTY.encode("utf-32-le"), "encoding"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8", "encoding"),
        (b"\x89PNG\r\n\x1a\n", "encoding"),
        (b"\xff\xd8\xff", "encoding"),
    ],
)
def test_other_bytes_name_their_fault(data: bytes, fault: str) -> None:
    """What cannot be read is refused with its fault and a remedy."""
    with pytest.raises(UnreadableFile) as caught:
        decode(data)
    assert caught.value.fault == fault
    assert caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        '{"content":"\\ud83d"}',
        '{"content":"\\u0000"}',
        '{"probability":NaN}',
        '{"order":1e999}',
        '{"priority":9223372036854775808}',
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        "1" * 5000,
    ],
)
def test_what_no_store_keeps_is_refused(text: str) -> None:
    """I16, I17, I18: lone surrogates, NUL, NaN, huge numbers and deep nesting are errors, not crashes."""
    with pytest.raises((Invalid, UnreadableFile)):
        decode(text.encode())


@pytest.mark.parametrize(
    "hidden",
    ['"a\\u0000b"', '{"\\u0000": 1}', "9223372036854775807", "[" * 300 + "]" * 300, "[" * 1000 + "]" * 1000],
    ids=["NUL", "NUL in a key", "huge number", "deep", "very deep"],
)
def test_what_stands_under_a_repeated_key_is_checked_too(hidden: str) -> None:
    """F5, I08: a value that a later one of the same key hides is refused like any other, since both are read."""
    with pytest.raises(Invalid) as caught:
        decode(f'{{"entries":{{"0":{{"x":{hidden}}},"0":{{"x":1}}}}}}'.encode())
    assert caught.value.errors[0].pointer == "#"


def test_a_flood_of_lists_is_refused() -> None:
    """F5: a file of more lists and objects than any lorebook has is refused before they fill the memory."""
    with pytest.raises(TooLarge) as caught:
        decode(b"[" + b"[],{}," * 500_000 + b"1]")
    assert (caught.value.limit, caught.value.actual) == (1_000_000, 1_000_001)
    assert decode(b"[" + b"[],{}," * 100_000 + b"1]").value


def test_repeated_keys_are_kept() -> None:
    """I08: an object that repeats a key keeps all pairs; as an object the last one wins."""
    decoded = decode(b'{"entries":{"0":1,"0":2},"a":{"b":{"c":0,"c":1}}}')
    entries = decoded.value["entries"]
    assert isinstance(entries, Repeating)
    assert entries.pairs == [("0", 1), ("0", 2)]
    assert entries == {"0": 2}
    assert [each.pairs for each in decoded.repeating] == [[("0", 1), ("0", 2)], [("c", 0), ("c", 1)]]


def test_numbers_stay_what_they_are() -> None:
    """Integers, fractions and null come through as they stand in the file."""
    text = '{"a": 1, "b": 1.5, "c": null, "d": true}'
    assert json.dumps(decode(text.encode()).value) == text
