"""What became of every entry and every book: one status and one reason for each entry, and how many of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from service.lore.reasons import Named, Reason, Status
from service.lore.strict import STRICT

Went = Literal["canon", "whole", "matched", "triggered", "empty", "disabled"]


@dataclass(frozen=True, kw_only=True)
class EntryTrace:
    """What became of one entry, and why."""

    __pydantic_config__ = STRICT

    handle: str
    id: int
    book: str
    label: str | None
    """The character whose book it came from, in a group."""
    title: str
    status: Status
    tokens: int
    """Of the entry in full, as rendered."""
    text: str | None
    """As rendered; only with `texts: entries`."""
    reason: Reason
    hits: tuple[Named, ...] = ()
    """Every name of it that stands in the messages read, whatever its status."""


@dataclass(frozen=True, kw_only=True)
class StatusCount:
    """How many entries have this status for this kind of reason; the counts sum to all entries attached."""

    __pydantic_config__ = STRICT

    status: Status
    reason: str
    count: int


@dataclass(frozen=True, kw_only=True)
class BookTrace:
    """What became of one attached book."""

    __pydantic_config__ = STRICT

    id: str
    version: int
    name: str
    dialect: str
    label: str | None
    via: tuple[str, ...]
    """The hosts that brought it, or `request`."""
    went: Went
    pending_vectors: int
