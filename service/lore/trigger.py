"""What wakes an entry of a trigger lorebook, and where its text goes.

One shape for the three dialects. Each dialect reads the fields that it knows (`service.lore.dialects`); the others are
kept, have no effect, and are written back on export.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le, MaxLen

from service.lore.at_most import AtMost
from service.lore.strict import STRICT

Logic = Literal["any", "all", "none", "not_all"]
At = Literal["before", "after", "depth", "note_top", "note_bottom", "examples_top", "examples_bottom", "outlet"]
TriggerRole = Literal["system", "user", "assistant"]
Generation = Literal["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"]
Source = Literal["persona", "description", "personality", "depth_prompt", "scenario", "creator_notes"]

Key = Annotated[str, MaxLen(2000)]
Name = Annotated[str, MaxLen(200)]
Messages = Annotated[int, Ge(0), Le(1_000_000)]
"""A number of messages of the conversation."""


@dataclass(frozen=True, kw_only=True)
class Channels:
    """The channels in which something is in scope; none: in every channel."""

    __pydantic_config__ = STRICT

    ids: Annotated[tuple[Name, ...], AtMost(1000, first_only=True)] = ()
    unresolved: Annotated[tuple[Name, ...], AtMost(1000, first_only=True)] = ()
    """Names of a file that stand for no known channel; any of them counts as every channel until a selection is
    saved without it."""


EVERYWHERE = Channels()


@dataclass(frozen=True, kw_only=True)
class Group:
    """Inclusion groups: of the entries of one group that would activate together, one does."""

    __pydantic_config__ = STRICT

    names: Annotated[tuple[Name, ...], AtMost(64, first_only=True)] = ()
    override: bool = False
    """Wins its groups without a draw; of several the one with the highest order."""
    weight: Annotated[float, Ge(0), Le(1_000_000)] = 100.0
    """Share of the draw."""
    scoring: bool | None = None
    """Whether an entry with fewer matching keys than the best of its group leaves; null: the program's setting."""


@dataclass(frozen=True, kw_only=True)
class Recursion:
    """How the entry takes part when contents of activated entries are scanned again."""

    __pydantic_config__ = STRICT

    exclude: bool = False
    """Contents of other entries do not wake it."""
    prevent: bool = False
    """Its own content wakes no other entry."""
    delay_until: Annotated[int, Ge(0), Le(1000)] = 0
    """0: no delay; else only contents of other entries wake it, and only once this level is open."""


@dataclass(frozen=True, kw_only=True)
class CharacterFilter:
    """The characters for which the entry is in scope."""

    __pydantic_config__ = STRICT

    names: Annotated[tuple[Name, ...], AtMost(1000, first_only=True)] = ()
    tags: Annotated[tuple[Name, ...], AtMost(1000, first_only=True)] = ()
    exclude: bool = False
    """Whether the lists say for whom it is out of scope instead."""


@dataclass(frozen=True, kw_only=True)
class Trigger:
    """What wakes an entry, how long it stays, and where its text goes."""

    __pydantic_config__ = STRICT

    keys: Annotated[tuple[Key, ...], AtMost(1000, first_only=True)] = ()
    """Any of them wakes the entry; blank ones are ignored. Only the `sillytavern` dialect reads `/…/flags` as a
    regular expression; elsewhere it is literal text."""
    secondary_keys: Annotated[tuple[Key, ...], AtMost(1000, first_only=True)] = ()
    """Read after a key was found; without any that is not blank, `logic` does not apply."""
    logic: Logic = "any"
    """Which secondary keys must be there: any, all, none, not all of them."""
    selective: bool = True
    """Whether secondary keys count (chat, sillytavern)."""
    constant: bool = False
    """Needs no key."""
    whole_words: bool | None = None
    """Whether keys match whole words only; null: the dialect's default (chat, sillytavern)."""
    case_sensitive: bool | None = None
    """Null: the program's setting (sillytavern)."""
    scan_depth: Annotated[int, Ge(0), Le(1000)] | None = None
    """How many of the newest messages are searched; 0: none. Null: the book's, else the dialect's default."""
    chance: Annotated[float, Ge(0), Le(100)] | None = None
    """Per cent; null is 100, 0 never activates."""
    order: Annotated[int, Ge(-1_000_000_000), Le(1_000_000_000)] = 100
    """server, sillytavern: lower stands first; chat: higher stands first."""
    priority: Annotated[int, Ge(-1_000_000_000), Le(1_000_000_000)] = 0
    """Higher survives the token budget (chat)."""
    role: TriggerRole = "system"
    """Of the message that carries the text (chat; sillytavern at `depth`)."""
    at: At = "after"
    """server: `before` or `after`, all others count as before; sillytavern: all of them; chat: none."""
    depth: Annotated[int, Ge(0), Le(1_000_000)] = 4
    """Messages from the end, for `at: depth` (sillytavern)."""
    outlet: Name = ""
    """Name of the outlet, for `at: outlet` (sillytavern)."""
    channels: Channels = EVERYWHERE
    """The channels in which the entry is in scope."""
    sticky: Messages | None = None
    """Stays active for so many messages (sillytavern)."""
    cooldown: Messages | None = None
    """Cannot activate for so many messages after it did (sillytavern)."""
    delay: Messages | None = None
    """Cannot activate before the conversation has so many messages (sillytavern)."""
    group: Group = Group()
    """sillytavern."""
    recursion: Recursion = Recursion()
    """sillytavern."""
    ignore_budget: bool = False
    """Still goes in when the budget is spent (sillytavern)."""
    generations: Annotated[tuple[Generation, ...], AtMost(6, first_only=True)] = ()
    """The kinds of generation in which it is in scope; none: all (sillytavern's `triggers`)."""
    characters: CharacterFilter = CharacterFilter()
    """sillytavern."""
    sources: Annotated[tuple[Source, ...], AtMost(6, first_only=True)] = ()
    """Other texts that are searched for its keys (sillytavern)."""
