"""What models write into living books, and when a write can be taken back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from service.lore.book import Entry
from service.lore.strict import STRICT

Action = Literal["create", "edit"]
WriteState = Literal["live", "undone", "discarded"]


@dataclass(frozen=True, kw_only=True)
class EntryText:
    """What a model may write of an entry. Tier, switch and place stay the author's."""

    __pydantic_config__ = STRICT

    title: str
    content: str
    aliases: tuple[str, ...] = ()
    gist: str | None = None


@dataclass(frozen=True, kw_only=True)
class Write:
    """One write of a model, as it is logged."""

    __pydantic_config__ = STRICT

    id: str
    """Sorts by time."""
    handle: str
    """Of the entry."""
    version: int
    """The version of the book that the write made."""
    action: Action
    before: EntryText | None
    """Null when the write created the entry."""
    after: EntryText
    conversation: str
    turn: int
    response_id: str
    """The reply that the model was writing."""
    at: str
    """RFC 3339, UTC, milliseconds."""
    state: WriteState = "live"
    """`undone` by the author, or `discarded` with its reply; both are taken back."""


@dataclass(frozen=True)
class Obstacle:
    """Why a write cannot be taken back."""

    detail: str
    remedy: str


def text_of(entry: Entry) -> EntryText:
    """The text of an entry as it stands."""
    return EntryText(title=entry.title, content=entry.content, aliases=entry.aliases, gist=entry.gist)


def with_text(entry: Entry, text: EntryText) -> Entry:
    """The entry saying something else."""
    return replace(entry, title=text.title, content=text.content, aliases=text.aliases, gist=text.gist)


def as_written(write: Write, newest: str | None, entry: Entry | None) -> Entry | Obstacle:
    """The entry, when the write can be taken back: it is the newest, and the text is unchanged since (SPEC W21).

    `newest` is the id of the newest live write of the entry; `entry` is None when it was deleted.
    """
    if write.state != "live":
        return Obstacle(f"{write.id} is {write.state} already", "Nothing is left of it to take back.")
    if newest is not None and newest != write.id:
        return Obstacle(f"{newest}, a later write of {write.handle}, stands in the way", f"Undo {newest} first.")
    if entry is None:
        return Obstacle(f"{write.handle} was deleted after {write.id}", "Add it again from the log if you want it.")
    if text_of(entry) != write.after:
        return Obstacle(
            f"{write.handle} was edited by hand (version {entry.version}) after {write.id}",
            "Edit the entry yourself; the log has the text before the write.",
        )
    return entry
