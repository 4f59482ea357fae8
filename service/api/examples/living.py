"""What the routes of living books take and answer."""

from __future__ import annotations

from typing import Any

from service.api.examples.entries import ENTRY_IN

WRITE: dict[str, Any] = {
    "id": "wr_01KBAZ3T5YJ8W2M6N4QX7C9DEF",
    "handle": "bakiru-17",
    "version": 42,
    "action": "edit",
    "before": ENTRY_IN,
    "after": {**ENTRY_IN, "content": "The gate fell in the night of the spring tide."},
    "conversation": "c-81",
    "turn": 22,
    "response_id": "r-22b",
    "at": "2026-11-30T17:24:05.120Z",
    "state": "live",
}
WRITES = {"items": [WRITE], "next_cursor": None, "total": None}
UNDONE = {**WRITE, "state": "undone"}
DISCARD = {"response_id": "r-22b"}
DISCARDED = {"reverted": [{**WRITE, "state": "discarded"}], "kept": []}
