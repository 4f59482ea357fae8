"""What the routes of hosts and attachments take and answer."""

from __future__ import annotations

from typing import Any

HOST_IN: dict[str, Any] = {"name": "The Salt Coast, a story", "cast": ["character:ilse", "character:mira"]}
HOST: dict[str, Any] = {
    **HOST_IN,
    "lineage": None,
    "kind": "story",
    "key": "salt-coast",
    "created_at": "2026-11-02T09:10:00.000Z",
}
HOSTS = {"items": [HOST], "next_cursor": None, "total": None}
LABEL = {"label": "Ilse"}
ATTACHED = [{"book_id": "bakiru", "label": None, "via": ["story:salt-coast"]}]
ATTACHMENTS = [{"book": "bakiru", "label": None}]
