"""What an author learns about a book."""

from __future__ import annotations

USAGE = {
    "items": [
        {
            "handle": "bakiru-17",
            "title": "The Salt Gate",
            "tier": "relevant",
            "enabled": True,
            "uses": 41,
            "fetches": 3,
            "last_used_at": "2026-11-30T17:24:05.120Z",
        }
    ],
    "next_cursor": None,
    "total": None,
}
HEALTH = {
    "version": 41,
    "findings": [
        {
            "kind": "shared_alias",
            "handles": ["bakiru-17", "bakiru-31"],
            "measure": 2,
            "detail": "'the gate' names 2 entries",
            "remedy": "Leave the name to the entry that it means first.",
        }
    ],
}
