"""Rows of a full backup: which columns of each table are carried, and what is right in them.

A field of `Entry` or `Book` comes along by itself. A field without which older backups were written needs a default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import AfterValidator

from embeddings.embedder import EmbeddingSpace
from service.lore.at_most import AtMost
from service.lore.book import Book, Entry, Gist, HostKind, is_host_key
from service.lore.living import Action, EntryText, WriteState
from service.lore.strict import STRICT
from service.lore.text import clean_line
from service.lore.trigger import Channels

MOST = 2**31 - 1
"""What an integer column of PostgreSQL holds."""


def _only(is_right: Callable[[str], object], otherwise: str) -> AfterValidator:
    """Takes what is right; of anything else the error says what it is."""

    def checked(given: str) -> str:
        if not is_right(given):
            raise ValueError(f"{given[:80]!r} is {otherwise}")
        return given

    return AfterValidator(checked)


def _like(pattern: str, otherwise: str) -> AfterValidator:
    return _only(re.compile(pattern).fullmatch, otherwise)


def _is_line(given: str) -> bool:
    return clean_line(given) == given


BookId = Annotated[str, _like(r"[a-z]{2,16}", "no id of a book")]
Moment = Annotated[
    str, _like(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z", "no time such as 2026-11-30T17:20:11.480Z")
]
OneLine = Annotated[str, MaxLen(200), _only(_is_line, "not one line without blanks around it")]
Line = Annotated[OneLine, MinLen(1)]
HostKey = Annotated[str, _only(is_host_key, "no key of a host")]
Place = Annotated[int, Ge(0), Le(MOST)]
Count = Annotated[int, Ge(1), Le(MOST)]
Content = Annotated[str, MaxLen(100_000), _only(str.strip, "no text")]
Aliases = Annotated[tuple[Line, ...], AtMost(64, first_only=True)]
Key = Annotated[str, MinLen(1), MaxLen(200)]
"""What an app calls a conversation or a reply."""
Large = Annotated[int, Ge(0), Le(2**53 - 1)]


@dataclass(frozen=True, kw_only=True)
class IssuedRow:
    """A book id that was given out, whether the book is still there or not."""

    __pydantic_config__ = STRICT

    book_id: BookId


@dataclass(frozen=True, kw_only=True)
class BookRow(Book):
    """A book; what only the service computes is not carried."""

    __pydantic_config__ = STRICT

    id: BookId
    version: Count
    next_entry_id: Count
    name: Line
    channels: Channels | None = None  # type: ignore[assignment]  # as it is stored: null is everywhere
    created_at: Moment
    updated_at: Moment
    entries: None = None


@dataclass(frozen=True, kw_only=True)
class EntryRow(Entry):
    """An entry of the book `book_id`."""

    __pydantic_config__ = STRICT

    book_id: BookId
    id: Count
    position: Place
    version: Count
    title: Line
    content: Content
    aliases: Aliases
    updated_at: Moment


@dataclass(frozen=True, kw_only=True)
class UsageRow:
    """How often an entry was used."""

    __pydantic_config__ = STRICT

    book_id: BookId
    entry_id: Count
    uses: Large
    fetches: Large
    last_used_at: Moment | None


@dataclass(frozen=True, kw_only=True)
class TextRow(EntryText):
    """The text of an entry in the log of writes. An undo brings it back, so it is right as an entry is."""

    __pydantic_config__ = STRICT

    title: Line
    content: Content
    aliases: Aliases
    gist: Gist | None


@dataclass(frozen=True, kw_only=True)
class WriteRow:
    """What a model wrote."""

    __pydantic_config__ = STRICT

    book_id: BookId
    id: Annotated[str, _like(r"wr_[0-9A-HJKMNP-TV-Z]{26}", "no id of a write")]
    entry_id: Count
    version: Count
    action: Action
    before: TextRow | None
    after: TextRow
    conversation: Key
    turn: Large
    response_id: Key
    call_id: Key | None
    at: Moment
    state: WriteState


@dataclass(frozen=True, kw_only=True)
class ResponseRow:
    """A reply that wrote something or was discarded."""

    __pydantic_config__ = STRICT

    conversation: Key
    response_id: Key
    discarded_at: Moment | None


@dataclass(frozen=True, kw_only=True)
class StateRow:
    """What lorebooks remember after a turn."""

    __pydantic_config__ = STRICT

    conversation: Annotated[str, MaxLen(200)]
    """Once any text was taken, "" as well."""
    turn: Large
    state: Mapping[str, Any]
    updated_at: Moment


@dataclass(frozen=True, kw_only=True)
class HostRow:
    """A host."""

    __pydantic_config__ = STRICT

    kind: HostKind
    key: HostKey
    name: OneLine
    lineage: HostKey | None = None
    created_at: Moment


@dataclass(frozen=True, kw_only=True)
class CastRow:
    """Someone who belongs to the cast of a host."""

    __pydantic_config__ = STRICT

    kind: HostKind
    key: HostKey
    position: Place
    member_kind: HostKind
    member_key: HostKey


@dataclass(frozen=True, kw_only=True)
class AttachmentRow:
    """A book on a host."""

    __pydantic_config__ = STRICT

    kind: HostKind
    key: HostKey
    book_id: BookId
    position: Place
    label: Annotated[str, MaxLen(200)] | None


@dataclass(frozen=True, kw_only=True)
class SpaceRow:
    """A vector space, with the stamp that its id is made of."""

    __pydantic_config__ = STRICT

    id: Annotated[str, MaxLen(64)]
    stamp: EmbeddingSpace
    created_at: Moment


@dataclass(frozen=True, kw_only=True)
class VectorRow:
    """The vectors of a text: float16 rows in base64; null for a text that cannot be embedded."""

    __pydantic_config__ = STRICT

    space_id: Annotated[str, MaxLen(64)]
    text_hash: Annotated[str, _like(r"[0-9a-f]{64}", "no SHA-256 in hex")]
    pieces: Annotated[int, Ge(0), Le(10_000)]
    windows: Annotated[int, Ge(0), Le(10_000)]
    data: str | None
