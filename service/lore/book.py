"""Books and entries: the values that the domain, the HTTP schema and the file formats share.

A value is written and read in the same shape. Fields marked "the service's" are set by the service and ignored when
sent, so that what was read can be edited and sent back. The plain constructors do not validate: every way in goes
through `service.validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal
from unicodedata import category

from annotated_types import Ge, Le, MaxLen, MinLen

from service.lore.at_most import AtMost
from service.lore.strict import STRICT, Whole
from service.lore.trigger import EVERYWHERE, Channels, Trigger

Tier = Literal["canon", "relevant"]
Dialect = Literal["world", "server", "chat", "sillytavern"]
WORLD: Dialect = "world"
"""The dialect of books that are read by meaning; all others are trigger lorebooks."""
VectorState = Literal["ready", "pending", "failed", "none"]
HostKind = Literal["character", "story", "novel", "server", "persona", "conversation"]
HOST_KINDS: tuple[HostKind, ...] = ("character", "story", "novel", "server", "persona", "conversation")
MAX_HOST_KEY = 200
MAX_ROWS = 100_000
"""Entries of a request or file; how many a book may have is a setting."""

Title = Annotated[str, MinLen(1), MaxLen(200)]
Alias = Annotated[str, MinLen(1), MaxLen(200)]
Gist = Annotated[str, MaxLen(300)]


@dataclass(frozen=True, kw_only=True)
class Warning:
    """Something an author should know about a book or an entry; nothing was refused."""

    __pydantic_config__ = STRICT

    kind: str
    """`heavy_canon`, `long_entry`, `blank_alias`, …"""
    detail: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One piece of lore."""

    __pydantic_config__ = STRICT

    title: Title
    """A short noun phrase. Line breaks and control characters become one blank."""
    content: Annotated[str, MinLen(1), MaxLen(100_000)]
    """The lore, stored and returned exactly as sent."""
    aliases: Annotated[tuple[Alias, ...], AtMost(64, first_only=True)] = ()
    """Other names under which the entry is found literally, in any script."""
    gist: Gist | None = None
    """One sentence for the index; none: the first sentence of the content."""
    tier: Tier = "relevant"
    """`canon` goes into every prompt, `relevant` when it fits or is asked for."""
    enabled: bool = True
    """A disabled entry never reaches the model by any path."""
    trigger: Trigger | None = None
    """What wakes it, in a trigger lorebook; null in a world book."""
    extensions: Mapping[str, Any] = field(default_factory=dict)
    """What an imported file said that has no field here; kept and written back on export."""

    id: Whole = 0
    """The service's: number from the book's own counter, never reused."""
    handle: str = ""
    """The service's: book id, `-`, entry id. The name under which a model fetches the entry."""
    version: Whole = 0
    """The service's: version of the book in which the entry last changed."""
    position: Whole = 0
    """The service's: place in the list order of the book, from 0."""
    tokens: Whole = 0
    """The service's: tokens of title and content as rendered, with the default tokenizer."""
    vectors: VectorState = "pending"
    """The service's: whether the entry can be found by meaning yet; `none`: entries of lorebooks never are."""
    warnings: tuple[Warning, ...] = ()
    """The service's."""
    updated_at: str | None = None
    """The service's: RFC 3339, UTC, milliseconds."""


@dataclass(frozen=True, kw_only=True)
class BookSettings:
    """How a book is read, where null means the setting of the service, and whether models write in it.

    World books read `places`, `floor` and `living`, chat lorebooks the other three, other lorebooks none.
    """

    __pydantic_config__ = STRICT

    places: Annotated[int, Ge(0), Le(100)] | None = None
    """How many entries may come by meaning."""
    floor: Annotated[float, Ge(-1.0), Le(2.0)] | None = None
    """Score below which nothing is claimed by meaning, instead of the model's calibrated floor."""
    scan_depth: Annotated[int, Ge(0), Le(100)] | None = None
    """How many of the newest messages are searched for keys, both sides counted; 0: only constants (chat)."""
    token_budget: Annotated[int, Ge(100), Le(32_000)] | None = None
    """Tokens of all attached chat lorebooks together; the largest of theirs wins (chat)."""
    recursive_scanning: bool | None = None
    """Whether contents of activated entries, of any book, wake entries of this book (chat)."""
    living: bool = False
    """Whether models may write lasting changes into the book; every write is logged and can be undone (world)."""


SETTINGS_READ: Mapping[Dialect, tuple[str, ...]] = {
    "world": ("places", "floor", "living"),
    "server": (),
    "chat": ("scan_depth", "token_budget", "recursive_scanning"),
    "sillytavern": (),
}


@dataclass(frozen=True, kw_only=True)
class EntryCounts:
    """How many entries a book has, and how far their vectors are."""

    __pydantic_config__ = STRICT

    entries: Whole = 0
    enabled: Whole = 0
    canon: Whole = 0
    pending_vectors: Whole = 0
    failed_vectors: Whole = 0


@dataclass(frozen=True, kw_only=True)
class BookTokens:
    """What the enabled entries of a book cost."""

    __pydantic_config__ = STRICT

    canon: Whole = 0
    """Tokens that go into every prompt."""
    relevant: Whole = 0
    tokenizer: str = ""


@dataclass(frozen=True, kw_only=True)
class Book:
    """A reusable, ordered list of entries about a setting."""

    __pydantic_config__ = STRICT

    name: Annotated[str, MinLen(1), MaxLen(200)]
    description: Annotated[str, MaxLen(10_000)] = ""
    dialect: Dialect = "world"
    """`world`: read by meaning; `server`, `chat`, `sillytavern`: entries activated by their triggers."""
    enabled: bool = True
    """Turns the whole book off and leaves the switch of each entry untouched."""
    settings: BookSettings = BookSettings()
    channels: Channels = EVERYWHERE
    """The channels in which the book is in scope as a whole."""
    entries: Annotated[tuple[Entry, ...], AtMost(MAX_ROWS)] | None = None
    """In list order; null unless asked for."""
    extensions: Mapping[str, Any] = field(default_factory=dict)
    """What an imported file said about the book that has no field here."""

    id: str = ""
    """The service's: a pronounceable word, unique in the store, never reused."""
    version: Whole = 0
    """The service's: counts the edits. Send it as `If-Match` to be refused rather than to overwrite."""
    counts: EntryCounts = EntryCounts()
    """The service's."""
    tokens: BookTokens | None = None
    """The service's; null where they were not counted: in lists, and in the answer to a copy."""
    warnings: tuple[Warning, ...] = ()
    """The service's."""
    created_at: str | None = None
    """The service's: RFC 3339, UTC, milliseconds."""
    updated_at: str | None = None
    """The service's."""


def unread_settings(book: Book) -> tuple[str, ...]:
    """The names of the settings that the book has and its dialect does not read."""
    usual = BookSettings()
    return tuple(
        item.name
        for item in fields(BookSettings)
        if getattr(book.settings, item.name) != getattr(usual, item.name)
        and item.name not in SETTINGS_READ[book.dialect]
    )


def handle_of(book_id: str, entry_id: int) -> str:
    """The short stable name of an entry: `bakiru-17`."""
    return f"{book_id}-{entry_id}"


def parts_of(handle: str) -> tuple[str, int]:
    """Book id and entry id of a handle that `handle_of` made."""
    book_id, _, number = handle.rpartition("-")
    return book_id, int(number)


def is_host_key(key: str) -> bool:
    """Whether an app may call a host so: 1 to 200 characters, none of them a control character."""
    return 0 < len(key) <= MAX_HOST_KEY and not any(category(letter) == "Cc" for letter in key)
