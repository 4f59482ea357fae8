"""What the attached trigger lorebooks give: messages, the groups of server lorebooks, and what their budgets left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from service.lore.strict import STRICT
from service.lore.traces import EntryTrace
from service.lore.trigger import TriggerRole

Slot = Literal[
    "system_before",
    "system_after",
    "note_top",
    "note_bottom",
    "examples_top",
    "examples_bottom",
    "depth",
    "slot",
    "outlet",
]


@dataclass(frozen=True, kw_only=True)
class LorebookMessage:
    """One message to insert, from one activated entry."""

    __pydantic_config__ = STRICT

    handle: str
    role: TriggerRole
    content: str
    at: Slot
    depth: int | None
    """With `at: depth`: messages from the end, 0 for the very end."""
    before_message: int | None
    """With `at: depth`: place in the request of the message to stand before; their number for the end."""
    outlet: str | None
    """With `at: outlet`: its name."""


@dataclass(frozen=True, kw_only=True)
class LorebookGroup:
    """The texts of one group of server lorebooks, in order, one to a line; "" when it is empty."""

    __pydantic_config__ = STRICT

    text: str = ""
    handles: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LorebookGroups:
    """The activated entries of server lorebooks, in the four groups of their placement.

    `always_*` go into the system part, before and after the persona; `triggered_*` just above the four newest turns,
    ahead of the retrieved text of world books.
    """

    __pydantic_config__ = STRICT

    always_before: LorebookGroup = LorebookGroup()
    always_after: LorebookGroup = LorebookGroup()
    triggered_before: LorebookGroup = LorebookGroup()
    triggered_after: LorebookGroup = LorebookGroup()
    before_message: int = 0
    """Place in the request of the message to stand before, for the triggered groups."""


@dataclass(frozen=True, kw_only=True)
class LorebookBudget:
    """The budget that the lorebooks of one dialect share."""

    __pydantic_config__ = STRICT

    books: tuple[str, ...]
    dialect: str
    unit: Literal["tokens", "characters"]
    limit: int
    used: int


@dataclass(frozen=True, kw_only=True)
class Lorebook:
    """What the attached trigger lorebooks give."""

    __pydantic_config__ = STRICT

    messages: tuple[LorebookMessage, ...] = ()
    """In prompt order; empty with `lorebooks: inline`, which puts their contents into the volatile part."""
    entries: tuple[EntryTrace, ...] = ()
    """The activated entries, in the same order."""
    groups: LorebookGroups | None = None
    """The same texts of server lorebooks, by placement; null when none is attached."""
    budgets: tuple[LorebookBudget, ...] = ()
