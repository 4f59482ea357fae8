"""Rows of a full backup: which columns of each table are carried, and what is right in them.

A field of `Entry` or `Book` comes along by itself. A field without which older backups were written needs a default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge, Le, MaxLen, MinLen, Predicate

from embeddings.embedder import EmbeddingSpace
from service.lore.book import STRICT, Book, Entry, Gist, HostKind, is_host_key
from service.lore.living import Action, EntryText, WriteState
from service.lore.text import clean_line
from service.lore.trigger import Channels

MOST = 2**31 - 1
"""What an integer column of PostgreSQL holds."""
_WORD = re.compile(r"[a-z]{2,16}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z")
_HASH = re.compile(r"[0-9a-f]{64}")
_WRITE = re.compile(r"wr_[0-9A-HJKMNP-TV-Z]{26}")


def is_book_id(given: str) -> bool:
    """Whether it is a word as `ids.issue` makes them."""
    return _WORD.fullmatch(given) is not None


def is_moment(given: str) -> bool:
    """Whether it is a time as it is stored: RFC 3339, UTC, milliseconds."""
    return _MOMENT.fullmatch(given) is not None


def is_hash(given: str) -> bool:
    """Whether it is a SHA-256 in hex."""
    return _HASH.fullmatch(given) is not None


def is_write_id(given: str) -> bool:
    """Whether it is what `sortable_id` makes for a write."""
    return _WRITE.fullmatch(given) is not None


def is_one_line(given: str) -> bool:
    """Whether it is a name as it is stored, without line breaks and blanks around it."""
    return clean_line(given) == given


def is_said(given: str) -> bool:
    """Whether there is more than white space."""
    return bool(given.strip())


BookId = Annotated[str, Predicate(is_book_id)]
Moment = Annotated[str, Predicate(is_moment)]
Line = Annotated[str, MinLen(1), MaxLen(200), Predicate(is_one_line)]
HostKey = Annotated[str, Predicate(is_host_key)]
Place = Annotated[int, Ge(0), Le(MOST)]
Count = Annotated[int, Ge(1), Le(MOST)]
Content = Annotated[str, MaxLen(100_000), Predicate(is_said)]
Aliases = Annotated[tuple[Line, ...], MaxLen(64)]
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
    id: Annotated[str, Predicate(is_write_id)]
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

    conversation: Key
    turn: Large
    state: Mapping[str, Any]
    updated_at: Moment


@dataclass(frozen=True, kw_only=True)
class HostRow:
    """A host."""

    __pydantic_config__ = STRICT

    kind: HostKind
    key: HostKey
    name: Annotated[str, MaxLen(200), Predicate(is_one_line)]
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
    text_hash: Annotated[str, Predicate(is_hash)]
    pieces: Annotated[int, Ge(0), Le(10_000)]
    windows: Annotated[int, Ge(0), Le(10_000)]
    data: str | None
