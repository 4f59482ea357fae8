"""What an entry may say in each dialect, beyond the types of its fields."""

from __future__ import annotations

from collections.abc import Mapping

from service.lore.book import Dialect

MAX_MESSAGES = 200
"""Of one retrieval."""
MAX_CONTENT: Mapping[Dialect, int] = {"world": 100_000, "server": 4_000, "chat": 100_000, "sillytavern": 100_000}
"""Characters of an entry."""
SEARCHED: Mapping[Dialect, tuple[int, int]] = {"server": (1, 100), "chat": (0, 1000), "sillytavern": (0, 1000)}
"""How many messages an entry may ask to search, at least and at most."""
