"""Chance that is drawn from what is asked about: the same for every regeneration of a turn, uniform over turns."""

from __future__ import annotations

import hashlib

STEPS = 100_000
"""A draw is a multiple of 0.001 below 100."""


def drawn(conversation: str | None, turn: int, about: str) -> float:
    """Per cent in [0, 100) for an entry's handle, or for a group, in a turn; `drawn < chance` activates."""
    digest = hashlib.sha256(repr((conversation or "", turn, about)).encode()).digest()
    return int.from_bytes(digest[:8], "big") % STEPS / (STEPS / 100)
