"""What a restore reports."""

from __future__ import annotations

RESTORED = {
    "restored": {"issued_ids": 2, "books": 2, "entries": 93, "hosts": 1, "cast_members": 0, "attachments": 1},
    "present": {"issued_ids": 0, "books": 0, "entries": 0, "hosts": 0, "cast_members": 0, "attachments": 0},
}
