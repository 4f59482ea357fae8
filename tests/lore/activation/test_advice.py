"""What an author is told about a trigger."""

from __future__ import annotations

from typing import Any

import pytest

from service.lore.activation.advice import trigger_warnings
from service.lore.book import Dialect, Entry
from service.lore.trigger import Recursion
from tests.lore.activation.worlds import entry

CASES: list[tuple[str, Dialect, dict[str, Any], list[str]]] = [
    (
        "R09: dead",
        "sillytavern",
        {"keys": ("a",), "recursion": Recursion(exclude=True, delay_until=1)},
        ["dead_trigger"],
    ),
    ("R09: not read elsewhere", "chat", {"keys": ("a",), "recursion": Recursion(exclude=True, delay_until=1)}, []),
    ("no key", "chat", {}, ["no_key"]),
    ("blank keys", "sillytavern", {"keys": (" ",)}, ["no_key", "blank_key"]),
    ("no key is always on", "server", {"keys": (" ",)}, ["blank_key"]),
    ("constant", "chat", {"constant": True}, []),
    ("forced", "chat", {"content": "@@activate\nx"}, []),
    ("chance 0", "server", {"chance": 0}, ["chance_0"]),
    ("a pattern that is text", "server", {"keys": ("/a/i",)}, ["literal_pattern"]),
    ("a pattern", "sillytavern", {"keys": ("/a/i",), "secondary_keys": ("/b/",)}, []),
    ("a broken pattern", "sillytavern", {"keys": ("/(/",)}, ["broken_pattern"]),
    ("decorators alone", "chat", {"content": "@@activate"}, ["no_content"]),
    ("a world book", "world", {"content": "@@activate"}, []),
]


@pytest.mark.parametrize(("dialect", "fields", "kinds"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_warnings(dialect: Dialect, fields: dict[str, Any], kinds: list[str]) -> None:
    """R09: settings that keep an entry from ever activating, and keys that are not read as they look, are told."""
    fields = dict(fields)
    made = entry("a", fields.pop("content", None), **fields)
    assert [warning.kind for warning in trigger_warnings(made, dialect)] == kinds


def test_no_trigger() -> None:
    """An entry without a trigger has nothing to warn about."""
    assert list(trigger_warnings(Entry(title="a", content="b"), "chat")) == []
