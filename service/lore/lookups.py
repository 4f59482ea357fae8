"""What fetch, search and list answer: entries in full, or a line for each."""

from __future__ import annotations

from dataclasses import dataclass

from service.lore.answer import Degraded
from service.lore.reasons import Matched, Named
from service.lore.strict import STRICT


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
    """Whether the content was shortened to keep `max_tokens`: at a sentence, where one fits."""
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
class SearchAnswer:
    """Named entries first, then the nearest by meaning."""

    __pydantic_config__ = STRICT

    items: tuple[SearchItem, ...]
    next_cursor: str | None
    degraded: tuple[Degraded, ...]


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
