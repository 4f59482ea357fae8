"""Broken and hostile files: a clear error or a report, never a crash, in bounded time."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from service.formats import losses, read, write
from service.lore.book import Book, Entry
from service.lore.errors import Invalid, TooLarge, UnreadableFile
from service.sample import world

SEEDS: tuple[bytes, ...] = (
    json.dumps(
        {
            "name": "N",
            "entries": {
                "0": {
                    "uid": 0,
                    "key": ["a", "/b,c/i"],
                    "keysecondary": "d, e",
                    "comment": "A",
                    "content": "C",
                    "order": 1,
                },
                "1": {"keys": ["x"], "content": "X", "enabled": True, "id": 1, "extensions": {"position": 4}},
                "2": {"content": None, "displayIndex": 0},
            },
            "originalData": {"entries": []},
        }
    ).encode(),
    json.dumps(
        {"entries": [{"key": "a", "content": "Ж漢"}, 7, {"keys": [1, None], "content": 2.5, "constant": "false"}]}
    ).encode(),
    write(Book(name="N", entries=(Entry(title="T", content="C", aliases=("a",), gist="g"),)), "worldbook"),
)
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**53, 1.5, "", " ", "\u200b", "漢", "/(/", "a,b", [], [[]], {}, {"a": {}}, "x" * 300,
    list(range(80)),
)  # fmt: skip
TOKENS = (
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b'"',
    b"null",
    b"NaN",
    b"1e999",
    b"\\ud83d",
    b"\\u0000",
    b"\xff",
    b"\0",
    b"\xef\xbb\xbf",
)


def mutated_bytes(data: bytes, chance: random.Random) -> bytes:
    """The file with a few bytes cut, doubled or replaced."""
    for _ in range(chance.randint(1, 2)):
        at, length = chance.randrange(len(data) + 1), chance.randint(0, 6)
        piece = chance.choice([b"", data[at : at + length] * 2, chance.choice(TOKENS), chance.randbytes(2)])
        data = data[:at] + piece + data[at + length :]
    return data


def mutated_value(value: Any, chance: random.Random) -> Any:
    """The JSON value with some of its parts replaced by others."""
    if chance.random() < 0.12:
        return chance.choice(VALUES)
    if isinstance(value, dict):
        return {key: mutated_value(each, chance) for key, each in value.items() if chance.random() > 0.05}
    return [mutated_value(each, chance) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("how", ["bytes", "values"])
def test_mutated_files_raise_domain_errors_only(how: str) -> None:
    """F5: of 4,000 mutated files each is read, exported and read again, or refused with a domain error."""
    chance = random.Random(how)
    outcomes = {"read": 0, "refused": 0}
    for _ in range(2000):
        seed = chance.choice(SEEDS)
        if how == "bytes":
            data = mutated_bytes(seed, chance)
        else:
            data = json.dumps(mutated_value(json.loads(seed), chance)).encode()
        try:
            book = read(data).book
        except (UnreadableFile, Invalid, TooLarge):
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        for format in ("sillytavern", "worldbook"):
            losses(book, format)
            again = write(book, format)
            if book.name:
                assert len(read(again).book.entries or ()) == len(book.entries or ())
    assert min(outcomes.values()) > 100, outcomes


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
