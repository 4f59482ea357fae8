"""Everything that can go wrong in the domain, as an outline.

WorldbookError
├── Unauthenticated      no scope or key, or a wrong one
│   └── ScopeExpired     a scope whose time is over, or that was revoked
├── NotFound             absent, or not visible to the caller
├── Invalid              fields that are wrong, all of them at once
├── UnreadableFile       an import that cannot be read; `fault` names how
├── TooLarge             more bytes than a limit allows
├── LimitExceeded        more things than a limit allows
├── NameTaken            the name is another book's
├── VersionMismatch      the caller edits something older than what is stored
├── Conflict             the state does not allow it
│   ├── RestoreConflict  an id of a backup is taken by something else
│   └── UndoRefused      a write is not the newest of its entry, or its text has changed since
├── Unavailable          the store is busy or cannot be reached
└── SchemaMismatch       the database was written by another version of the program

Every error has a `detail` (what is wrong) and a `remedy` (what to do). None of them knows HTTP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class WorldbookError(Exception):
    """The root: something the caller can be told plainly."""

    def __init__(self, detail: str, *, remedy: str = "") -> None:
        super().__init__(detail)
        self.detail = detail
        self.remedy = remedy


class Unauthenticated(WorldbookError):
    """Who calls did not show the right to; why is not told."""


class ScopeExpired(Unauthenticated):
    """A scope that was good once."""


class NotFound(WorldbookError):
    """Absent, or not visible: the two are told alike."""


@dataclass(frozen=True, kw_only=True)
class FieldError:
    """One wrong field of a request."""

    pointer: str | None = None
    """JSON pointer into the body, as a URI fragment: `#/messages/2/role`."""
    parameter: str | None = None
    """Name of the query, header or path parameter."""
    detail: str
    remedy: str = ""


class Invalid(WorldbookError):
    """Fields that are wrong, all of them at once."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        count = len(errors)
        detail = errors[0].detail if count == 1 else f"{count} fields are wrong."
        super().__init__(detail, remedy="Correct the fields below and send it again.")
        self.errors = tuple(errors)


class UnreadableFile(WorldbookError):
    """A file that cannot be imported."""

    def __init__(self, detail: str, *, fault: str, remedy: str = "") -> None:
        super().__init__(detail, remedy=remedy)
        self.fault = fault


class TooLarge(WorldbookError):
    """A body, a file or an unpacked size above its limit."""

    def __init__(self, detail: str, *, limit: int, actual: int | None = None, remedy: str = "") -> None:
        super().__init__(detail, remedy=remedy)
        self.limit = limit
        self.actual = actual


class LimitExceeded(TooLarge):
    """A count above its limit: entries of a book, names of a fetch."""


class NameTaken(WorldbookError):
    """Another book of the owner has this name."""


class VersionMismatch(WorldbookError):
    """`If-Match` named an older version than the stored one."""

    def __init__(self, detail: str, *, current: int) -> None:
        super().__init__(detail, remedy="Read it again, apply your change to what you read, and send it anew.")
        self.current = current


class Conflict(WorldbookError):
    """The state does not allow it; the remedy names the way out."""


class RestoreConflict(Conflict):
    """An id or a name of the backup is taken by something else; nothing was restored."""


class UndoRefused(Conflict):
    """A write that cannot be taken back; the detail names what stands in the way."""


class Unavailable(WorldbookError):
    """The store is busy or cannot be reached; trying again may work."""


class SchemaMismatch(WorldbookError):
    """The database was written by a newer version of the program."""
