"""What the routes of entries take and answer."""

from __future__ import annotations

from typing import Any

ENTRY_IN: dict[str, Any] = {
    "title": "The Salt Gate",
    "content": "The gate opens at low tide, and only to those who carry salt.",
    "aliases": ["Porta de Sal", "塩の門"],
    "gist": "the only way through the sea wall",
}
ENTRY: dict[str, Any] = {
    **ENTRY_IN,
    "tier": "relevant",
    "enabled": True,
    "trigger": None,
    "extensions": {},
    "id": 17,
    "handle": "bakiru-17",
    "version": 38,
    "position": 16,
    "tokens": 21,
    "vectors": "ready",
    "warnings": [],
    "updated_at": "2026-11-29T20:01:33.002Z",
}
LORE_IN: dict[str, Any] = {
    "title": "Spring tide",
    "content": "Twice a month the sea comes over the wall.",
    "trigger": {"keys": ["spring tide", "maré viva"], "chance": 50, "order": 120},
}
ENTRIES = {"items": [{**ENTRY, "content": ""}], "next_cursor": None, "total": 93}
ENTRIES_IN = [ENTRY_IN, {"title": "Spring tide", "content": "Twice a month the sea comes over the wall."}]
ADDED = {"items": [ENTRY]}
ENTRY_PATCH = {"aliases": ["Porta de Sal"], "tier": "canon"}
BATCH = {"ids": [3, 9], "set": {"enabled": False}}
ORDER = {"ids": [9, 3], "to": "top"}
ORDERED = {"version": 42, "canon_tokens": 1126}
