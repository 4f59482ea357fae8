"""What a retrieval answers: two texts to inject, what went into each of their parts, and what is about the call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from service.lore.activation.answer import Lorebook
from service.lore.strict import STRICT
from service.lore.traces import BookTrace, EntryTrace, StatusCount

IndexShape = Literal["long_gists", "short_gists", "titles", "none"]
ToolName = Literal["fetch", "list", "search", "write"]
DegradedKind = Literal["embedder_unavailable", "timeout", "vectors_pending", "vectors_failed", "space_mismatch"]


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
