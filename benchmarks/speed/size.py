"""How much is measured: in earnest, or so little that a test can run it."""

from __future__ import annotations

from dataclasses import dataclass

Figures = dict[str, float]
"""Names to milliseconds, ratios, counts or megabytes, as each name says."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """The defaults are what the goals are about."""

    entries: int = 1000
    """Of each of three attached books."""
    rounds: int = 60
    """Of what takes about a millisecond."""
    slow_rounds: int = 5
    """Of what takes seconds."""
    requests: int = 150
    """Over HTTP, of each kind."""
    aliases: tuple[int, ...] = (100, 1_000, 10_000, 100_000)
    shelf: tuple[int, ...] = (10, 100, 1_000, 10_000, 100_000)
    """Entries attached in all."""
    library: tuple[int, ...] = (10, 100, 1_000, 10_000)
    """Books in the store."""
    imported: int = 1_100
    copied: int = 5_000
    passages: int = 64
    memory_books: int = 10
    lorebooks: int = 100


TINY = Size(
    entries=60,
    rounds=2,
    slow_rounds=1,
    requests=4,
    aliases=(10, 100),
    shelf=(10, 30),
    library=(4, 8),
    imported=11,
    copied=15,
    passages=4,
    memory_books=2,
    lorebooks=1,
)
