"""Whose books these are. There is one owner until there are keys."""

from __future__ import annotations

OWNER = "local"
