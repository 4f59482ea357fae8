"""What a retrieval answers: two texts, and for every entry one status and one reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from service.lore.book import STRICT
from service.lore.reasons import Matched, Named, Reason, Status
from service.lore.trigger import TriggerRole

Went = Literal["canon", "whole", "matched", "triggered", "empty", "disabled"]
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
IndexShape = Literal["long_gists", "short_gists", "titles", "none"]
ToolName = Literal["fetch", "list", "search", "write"]
DegradedKind = Literal["embedder_unavailable", "timeout", "vectors_pending", "vectors_failed", "space_mismatch"]


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
class Section:
    """One part of the prompt; its tokens include its headings and its share of the frame."""

    __pydantic_config__ = STRICT

    tokens: int
    text: str | None
    entries: tuple[EntryTrace, ...]


@dataclass(frozen=True, kw_only=True)
class IndexSection:
    """One line per entry that is not in full."""

    __pydantic_config__ = STRICT

    tokens: int
    text: str | None
    lines: int
    shape: IndexShape
    more: int
    """Entries that got no line and are only counted."""


@dataclass(frozen=True, kw_only=True)
class Sections:
    """canon + whole (+ index, with `index: all`) make the stable part, the others the volatile part."""

    __pydantic_config__ = STRICT

    canon: Section
    whole: Section
    named: Section
    matched: Section
    index: IndexSection


@dataclass(frozen=True, kw_only=True)
class PromptPart:
    """Text ready to inject; "" when there is nothing: send no block for it."""

    __pydantic_config__ = STRICT

    text: str
    tokens: int
    hash: str
    """32 hex digits of SHA-256 of the text."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """`stable` stays byte-identical while the books do not change; `volatile` follows the conversation."""

    __pydantic_config__ = STRICT

    stable: PromptPart
    volatile: PromptPart


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


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Tokens of world books."""

    __pydantic_config__ = STRICT

    limit: int
    used: int
    canon_limit: int
    canon_used: int


@dataclass(frozen=True, kw_only=True)
class TokenizerTrace:
    """Which tokenizer counted."""

    __pydantic_config__ = STRICT

    name: str
    exact: bool
    detail: str | None


@dataclass(frozen=True, kw_only=True)
class Degraded:
    """Why the answer is poorer than it could be; an empty list means healthy."""

    __pydantic_config__ = STRICT

    kind: DegradedKind
    detail: str
    book: str | None = None
    count: int | None = None


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


@dataclass(frozen=True, kw_only=True)
class Retrieved:
    """What the model gets to read, and what became of every entry. A function of the request and the books."""

    __pydantic_config__ = STRICT

    prompt: Prompt
    sections: Sections
    lorebook: Lorebook
    over_budget: tuple[EntryTrace, ...]
    """Canon, and activated entries of lorebooks, that did not fit; complete in every trace."""
    rest: tuple[EntryTrace, ...]
    """With `trace: full`: every entry not listed above, in book order."""
    counts: tuple[StatusCount, ...]
    books: tuple[BookTrace, ...]
    budget: Budget
    tokenizer: TokenizerTrace
    degraded: tuple[Degraded, ...]


@dataclass(frozen=True, kw_only=True)
class Timings:
    """Milliseconds of each step."""

    __pydantic_config__ = STRICT

    open: float
    embed: float
    retrieve: float
    total: float


@dataclass(frozen=True, kw_only=True)
class Run:
    """About this call; differs from call to call."""

    __pydantic_config__ = STRICT

    request_id: str | None
    """Null in a preview, which records nothing."""
    turn: int
    timings_ms: Timings


@dataclass(frozen=True, kw_only=True)
class ScopeTrace:
    """What the model's tools may reach until the next turn."""

    __pydantic_config__ = STRICT

    token: str
    """Signed; send it as the field `scope` or as bearer with fetch, search, tools/call and /mcp."""
    expires_at: str
    """RFC 3339, UTC, milliseconds."""
    tools: tuple[ToolName, ...]
    """`write` only with a living book, and with conversation, turn and response_id in the request."""


@dataclass(frozen=True, kw_only=True)
class RetrieveAnswer(Retrieved):
    """`Retrieved` with what is about this call."""

    run: Run
    scope: ScopeTrace | None
    """Null in a preview, and when the names of the hosts together are too long to be signed (about 2,900 bytes)."""


@dataclass(frozen=True, kw_only=True)
class FetchedEntry:
    """One entry in full."""

    __pydantic_config__ = STRICT

    handle: str
    title: str
    book: str
    label: str | None
    content: str
    tokens: int
    cut: bool
    """Whether the content was shortened at a sentence to keep `max_tokens`."""
    asked: tuple[str, ...]
    """The names of the request that found it."""


@dataclass(frozen=True, kw_only=True)
class NearTitle:
    """A title that resembles a name."""

    __pydantic_config__ = STRICT

    handle: str
    title: str


@dataclass(frozen=True, kw_only=True)
class MissingName:
    """A name that no enabled entry in reach has."""

    __pydantic_config__ = STRICT

    name: str
    nearest: tuple[NearTitle, ...]


@dataclass(frozen=True, kw_only=True)
class FetchAnswer:
    """The entries found and the names that were not."""

    __pydantic_config__ = STRICT

    entries: tuple[FetchedEntry, ...]
    missing: tuple[MissingName, ...]
    tokens: int


@dataclass(frozen=True, kw_only=True)
class SearchItem:
    """One line per entry found; no bodies."""

    __pydantic_config__ = STRICT

    handle: str
    title: str
    gist: str
    book: str
    label: str | None
    tokens: int
    reason: Named | Matched


@dataclass(frozen=True, kw_only=True)
class ListItem:
    """One line per entry; no bodies."""

    __pydantic_config__ = STRICT

    handle: str
    title: str
    gist: str
    book: str
    label: str | None
    tokens: int


@dataclass(frozen=True, kw_only=True)
class ListedBook:
    """A book that can be listed."""

    __pydantic_config__ = STRICT

    id: str
    name: str
    label: str | None
    entries: int
    """How many of its entries are enabled."""


@dataclass(frozen=True, kw_only=True)
class ListAnswer:
    """A page of the enabled entries, book by book in list order."""

    __pydantic_config__ = STRICT

    books: tuple[ListedBook, ...]
    """All that are listed, whatever the page."""
    items: tuple[ListItem, ...]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class SearchAnswer:
    """Named entries first, then the nearest by meaning."""

    __pydantic_config__ = STRICT

    items: tuple[SearchItem, ...]
    next_cursor: str | None
    degraded: tuple[Degraded, ...]
