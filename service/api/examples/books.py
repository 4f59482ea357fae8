"""What the routes of books take and answer."""

from __future__ import annotations

from typing import Any

from service.api.examples.entries import ENTRY_IN

BOOK_IN: dict[str, Any] = {
    "name": "Salt Coast",
    "description": "The shore between the two tides.",
    "entries": [
        {"title": "The Drowning Law", "content": "No ship leaves on a spring tide.", "tier": "canon"},
        ENTRY_IN,
    ],
}
BOOK: dict[str, Any] = {
    "id": "bakiru",
    "version": 41,
    "name": "Salt Coast",
    "description": "The shore between the two tides.",
    "dialect": "world",
    "enabled": True,
    "settings": {
        "places": None,
        "floor": None,
        "scan_depth": None,
        "token_budget": None,
        "recursive_scanning": None,
        "living": False,
    },
    "channels": {"ids": [], "unresolved": []},
    "entries": None,
    "extensions": {},
    "counts": {"entries": 93, "enabled": 90, "canon": 2, "pending_vectors": 0, "failed_vectors": 0},
    "tokens": {"canon": 1126, "relevant": 14880, "tokenizer": "o200k_base"},
    "warnings": [{"kind": "heavy_canon", "detail": "canon: 1,126 tokens every turn"}],
    "created_at": "2026-11-02T09:10:00.000Z",
    "updated_at": "2026-11-30T17:20:11.480Z",
}
BOOKS = {"items": [BOOK], "next_cursor": None, "total": None}
BOOK_PATCH = {"name": "Salt Coast", "enabled": True, "settings": {"places": 6}}
COPY = {"name": "Salt Coast, after the flood"}
