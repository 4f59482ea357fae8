"""What a hand-written file is expected to become."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from service.lore.book import Entry


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A file of one format, and what reading it answers."""

    shows: str
    """What the sample is about."""
    format: str
    file: Any
    """A JSON value, or the bytes of the file."""
    box: Callable[[bytes], bytes] | None = None
    """What puts the JSON into its container; None: it is the file."""
    version: str | None = None
    name: str = ""
    description: str = ""
    entries: tuple[Entry, ...] = ()
    """In list order, without extensions."""
    places: tuple[int, ...] | None = None
    """Place in the file of each entry; None: 0, 1, 2, …"""
    skipped: tuple[tuple[int, str], ...] = ()
    """Index and kind."""
    no_home: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[tuple[str, int | None], ...] = ()
    """Kind and index."""
    lost: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What is lost by a format that it is exported to, where that is anything."""
    every_setting: bool = False
    """Whether it sets all that the format knows otherwise than by default; docs/formats.md lists the same."""

    @property
    def inside(self) -> bytes:
        """The file without its container."""
        return self.file if isinstance(self.file, bytes) else json.dumps(self.file).encode()

    @property
    def data(self) -> bytes:
        """The file."""
        return self.boxed(self.inside)

    def boxed(self, inside: bytes) -> bytes:
        """Another text in the container of this file."""
        return inside if self.box is None else self.box(inside)

    def __str__(self) -> str:
        return f"{self.format}: {self.shows}"


def lore(title: str, content: str, *aliases: str, **fields: Any) -> Entry:
    """An entry."""
    return Entry(title=title, content=content, aliases=aliases, **fields)


def once(names: str) -> dict[str, int]:
    """Settings that each stand in one place."""
    return dict.fromkeys(names.split(), 1)
