"""What imports and exports report."""

from __future__ import annotations

from typing import Any

IMPORTED: dict[str, Any] = {
    "book": {"id": "bakiru", "version": 1, "name": "Salt Coast", "dialect": "world"},
    "format": {"name": "sillytavern", "version": None, "container": "json"},
    "mode": "new",
    "added": 91,
    "removed": 0,
    "skipped": [{"index": 40, "title": None, "kind": "no_content", "detail": "entry without content"}],
    "no_home": [{"setting": "sticky", "count": 3}, {"setting": "group", "count": 1}],
    "warnings": [
        {
            "kind": "literal_regex",
            "index": 7,
            "title": "Oru",
            "detail": "/or[uo]/ is kept as written and matches nothing else",
        }
    ],
    "pending_vectors": 91,
}
DRY_RUN: dict[str, Any] = {**IMPORTED, "book": {**IMPORTED["book"], "id": None}}
IMPORTED_INTO: dict[str, Any] = {
    **IMPORTED,
    "book": {"id": "bakiru", "version": 42, "name": "Salt Coast", "dialect": "world"},
    "mode": "append",
    "added": 1,
    "skipped": [{"index": 12, "title": "Oru", "kind": "duplicate", "detail": "same content as bakiru-4"}],
    "no_home": [],
    "warnings": [],
    "pending_vectors": 1,
}
EXPORTED: dict[str, Any] = {"format": "sillytavern", "losses": [{"setting": "gist", "count": 12}]}
