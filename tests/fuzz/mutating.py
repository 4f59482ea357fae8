"""Files made a little wrong, at the level of bytes and at that of JSON values; the same chance makes the same file."""

from __future__ import annotations

import json
import random
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**53, 1.5, "", " ", "\u200b", "漢", "/(/", "a,b", [], [[]], {}, {"a": {}}, "x" * 300,
    list(range(80)),
)  # fmt: skip
FOREIGN = (
    "spec", "kind", "format", "type", "data", "entries", "loreItems", "lorebookVersion", "worldinfo", "worldInfos",
    "character_book", "originalData", "extensions", "strategy", "keywords", "entry", "key", "keys", "content",
    "disable", "enabled", "use_regex", "uid", "id", "display_index", "is_creation",
)  # fmt: skip
"""Names by which formats are told from each other."""
TOKENS = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"null", b"NaN", b"1e999", b"\\ud83d", b"\\u0000", b"\xff", b"\0",
    b"\xef\xbb\xbf",
)  # fmt: skip


def mutated_bytes(data: bytes, chance: random.Random) -> bytes:
    """The file with a few bytes cut, doubled or replaced."""
    for _ in range(chance.randint(1, 2)):
        at, length = chance.randrange(len(data) + 1), chance.randint(0, 6)
        piece = chance.choice([b"", data[at : at + length] * 2, chance.choice(TOKENS), chance.randbytes(2)])
        data = data[:at] + piece + data[at + length :]
    return data


def mutated_json(data: bytes, chance: random.Random) -> bytes:
    """The JSON file with some of its values replaced, left out, made long, or put under another name of the file."""
    value = json.loads(data)
    names = sorted(_names(value))
    return json.dumps(_mutated(value, chance, [*names, *FOREIGN] if chance.random() < 0.5 else names)).encode()


def _mutated(value: Any, chance: random.Random, names: list[str]) -> Any:
    if chance.random() < 0.05:
        return chance.choice(VALUES)
    if isinstance(value, (str, list)) and chance.random() < 0.01 and len(json.dumps(value)) < 2000:
        return value * 200
    if isinstance(value, dict):
        return {
            chance.choice(names) if chance.random() < 0.02 else key: _mutated(each, chance, names)
            for key, each in value.items()
            if chance.random() > 0.03
        }
    return [_mutated(each, chance, names) for each in value] if isinstance(value, list) else value


def _names(value: Any) -> set[str]:
    """All keys of all objects in a JSON value."""
    if isinstance(value, list):
        return {name for each in value for name in _names(each)}
    return {*value, *(name for each in value.values() for name in _names(each))} if isinstance(value, dict) else set()
