"""Broken and hostile files: a clear error or a report, never a crash, in bounded time."""

from __future__ import annotations

import json
import time

import pytest

from service.formats import read, write
from service.sample import world


def hostile(text: str, length: int = 100_000) -> str:
    """The text repeated to about this length."""
    return text * (length // len(text))


@pytest.mark.parametrize(
    "data",
    [
        '{"entries":[{"content":"a","key":"' + hostile(" /") + '"}]}',
        '{"entries":[{"content":"a","key":"/' + hostile("(") + '/"}]}',
        '{"entries":[{"content":"a","key":"' + hostile("/,") + '"}]}',
        '{"entries":[{"content":"a","key":[' + hostile('"",') + '""]}]}',
        '{"entries":[{"content":"a","key":[' + hostile('"/(a+)+$/",') + '""]}]}',
        '{"entries":[{"key":["a"],"content":"' + hostile(" ") + '"}]}',
        '{"entries":[{"key":["a"],"content":"' + hostile("\u200b") + '"}]}',
        '{"entries":[{"content":"a","comment":"' + hostile("\u200b\\n") + '"}]}',
        '{"entries":{' + hostile('"0":{},') + '"0":{"content":"a"}}}',
        '{"entries":[' + hostile('{"uid":0,"content":"a"},') + '{"content":"a"}]}',
        '{"entries":{"0":{' + hostile('"a":1,') + '"content":"a"}}}',
        '{"entries":[{"content":"a","x":' + "[" * 190 + "]" * 190 + "}]}",
        '{"lorebookVersion":5,"entries":[{"text":"a"}],"order":[' + hostile('"a",') + '"b"]}',
        '{"lorebookVersion":5,"entries":[{"text":"a"}],"categories":[' + hostile('{"id":"a","enabled":false},') + "7]}",
        '{"lorebookVersion":5,"entries":[' + hostile('{"text":"a","keys":["b & c"],"category":"d"},') + "7]}",
        '{"type":"risu","data":[{"key":"' + hostile("(a|b)*") + '","useRegex":true,"content":"a"}]}',
        '{"type":"risu","data":[{"key":"' + hostile(",") + '","content":"a"}]}',
        '{"kind":"memory","entries":[{"entry":"a","keywords":"' + hostile("*?,") + '"}]}',
        '{"worldinfo":[{"key":"a","content":"a"}],' + hostile('"x":1,') + '"y":1}',
        '{"worldInfos":[{"keys":"' + hostile("#[(|,") + '","entry":"a"}]}',
        '{"entries":{' + hostile('"a":{"strategy":{},"content":"a"},') + '"b":7}}',
        '{"is_creation":1,"entries":{' + hostile('"1":{"key":"a","keys":"b","content":"a"},') + '"2":{}}}',
        "[" + hostile('{"keywords":["a"],"text":"a"},') + "7]",
        '[{"keywords":["a"],"text":"a","x":{' + hostile('"x":{},') + '"y":1}}]',
    ],
    ids=lambda data: data[:40],
)
def test_hostile_files_take_linear_time(data: str) -> None:
    """F5: 100 kB of what would make a careless reader quadratic are read in a moment."""
    begun = time.perf_counter()
    book = read(data.encode()).book
    write(book, "sillytavern")
    assert time.perf_counter() - begun < 10


def test_a_large_book_reads_quickly() -> None:
    """1,100 entries in 2 MB are read in well under a second and written back the same."""
    (first, *_) = json.loads(world())["entries"].values()
    rows = {
        str(uid): {**first, "uid": uid, "displayIndex": 1100 - uid, "content": "lore " * 250} for uid in range(1100)
    }
    data = json.dumps({"entries": rows}, indent=4, ensure_ascii=False).encode()
    assert len(data) > 2_000_000
    begun = time.perf_counter()
    found = read(data)
    assert time.perf_counter() - begun < 5  # measured: 0.25 s on a quiet machine
    assert len(found.book.entries or ()) == 1100
    assert write(found.book, "sillytavern") == data
