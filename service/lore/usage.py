"""How often entries are used."""

from __future__ import annotations

from dataclasses import dataclass

from service.lore.book import Tier
from service.lore.strict import STRICT


@dataclass(frozen=True, kw_only=True)
class EntryUsage:
    """How often an entry went into prompts in full, and how often models fetched it."""

    __pydantic_config__ = STRICT

    handle: str
    title: str
    tier: Tier
    enabled: bool
    uses: int
    """Turns of live retrievals that had it in full; a turn that is generated again counts once."""
    fetches: int
    last_used_at: str | None
    """Of the last use in a prompt. RFC 3339, UTC, milliseconds."""
