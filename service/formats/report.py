"""What a reader has to say beside the book: what it left out, what has no meaning here, what an author should know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from service.formats.names import Keys
from service.lore.book import Book
from service.lore.strict import STRICT

Container = Literal["json", "png", "charx", "byaf"]
SkippedKind = Literal["not_an_entry", "no_content", "too_long", "invalid", "duplicate"]


@dataclass(frozen=True, kw_only=True)
class FormatName:
    """What a file was recognised as."""

    __pydantic_config__ = STRICT

    name: str
    """`worldbook`, `sillytavern`, `character_card`, …"""
    version: str | None = None
    """The version that the file states; null when its format has none."""
    container: Container = "json"
    """What the book was wrapped in."""


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """An entry of the file that is not in the book."""

    __pydantic_config__ = STRICT

    index: int
    """Place in the file, from 0."""
    title: str | None
    kind: SkippedKind
    detail: str


@dataclass(frozen=True, kw_only=True)
class NoHome:
    """A setting that has no effect, or that a format cannot hold, and in how many places it was found."""

    __pydantic_config__ = STRICT

    setting: str
    count: int


@dataclass(frozen=True, kw_only=True)
class ImportWarning:
    """Something that was read otherwise than the file may have meant it."""

    __pydantic_config__ = STRICT

    kind: str
    """`literal_regex`, `blank_alias`, `duplicate_id`, …"""
    index: int | None = None
    """Place of the entry in the file, from 0; null when it concerns the file."""
    title: str | None = None
    """Of that entry, when it is in the book."""
    detail: str


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a file says of when and where lore is sent. A world book has no use for it; a lorebook lives by it."""

    keys: Keys = ()
    secondary: Keys = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of an entry: under SillyTavern's names. Of the book: under those of a character book. What is missing is the
    default."""
    no_home: tuple[str, ...] = ()
    """Under the file's own names: what a world book leaves without effect."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A file as a book. The name is empty when the file has none."""

    book: Book | None
    """None: the file is a card without a book."""
    places: tuple[int, ...] = ()
    """Place in the file of each entry of the book, from 0."""
    format: FormatName
    skipped: tuple[Skipped, ...] = ()
    no_home: tuple[NoHome, ...] = ()
    """Kept in the extensions for export, but without effect in a world book."""
    warnings: tuple[ImportWarning, ...] = ()
    rules: tuple[Rules, ...] = ()
    """Of each entry of the book."""
    book_rules: Rules = Rules()


def counted(settings: Iterable[str]) -> tuple[NoHome, ...]:
    """Each name once with its count, the most frequent first, then by name."""
    counts = Counter(settings)
    return tuple(
        NoHome(setting=name, count=count)
        for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    )


def without_home(
    raw: Mapping[str, Any], home: Collection[str], neutral: Mapping[str, tuple[Any, ...]], within: str = ""
) -> Iterator[str]:
    """The names of what is set otherwise than by default and is not among `home`; those of an inner object with a dot.

    `neutral` has the defaults by name. Null and what is empty say nothing, whatever the default.
    """
    for own, value in raw.items():
        name = within + own
        if name in home or value in (None, "", [], {}) or value in neutral.get(name, ()):
            continue
        if isinstance(value, Mapping) and not within:
            yield from without_home(value, home, neutral, f"{name}.")
        else:
            yield name
