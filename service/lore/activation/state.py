"""What one turn of a conversation leaves to the next: an immutable value, with a JSON form.

Effects belong to handles, so a state that was written for other versions of the books, or for books that are no longer
attached, is still read: an effect without an entry, or of a kind that the entry no longer has, does nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

EffectKind = Literal["sticky", "cooldown", "matched"]
_KINDS: dict[str, EffectKind] = {kind: kind for kind in get_args(EffectKind)}
MAX_EFFECTS = 20_000
"""Effects that a state keeps; the oldest leave first."""
_VERSION = 1


@dataclass(frozen=True, order=True)
class Effect:
    """Something that an activation began, counted in messages of the conversation."""

    handle: str
    kind: EffectKind
    """`matched`: it activated once, which `keep` and `dont_activate_after_match` ask."""
    start: int
    end: int
    """First message count at which it is over; for `matched` the same as `start`, since that lasts."""
    protected: bool = False
    """Stays when the conversation becomes shorter than its start."""


@dataclass(frozen=True)
class State:
    """The effects in force after a turn."""

    effects: tuple[Effect, ...] = ()

    @classmethod
    def of(cls, effects: Iterable[Effect]) -> State:
        """The newest `MAX_EFFECTS` of these, in the order of their handles."""
        newest = sorted(effects, key=lambda effect: (-effect.start, effect))[:MAX_EFFECTS]
        return cls(tuple(sorted(newest)))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, rows of a list for the least room."""
        rows = [[e.handle, e.kind, e.start, e.end, int(e.protected)] for e in self.effects]
        return {"version": _VERSION, "effects": rows}

    @classmethod
    def from_json(cls, value: object) -> State:
        """What `to_json` wrote; rows that this version does not understand are left out."""
        rows = value.get("effects") if isinstance(value, dict) else None
        rows = rows if isinstance(rows, list) else []
        return cls.of(effect for row in rows if (effect := _effect(row)) is not None)


EMPTY = State()


def _effect(row: object) -> Effect | None:
    match row:
        case [str(handle), str(kind), int(start), int(end), protected] if kind in _KINDS:
            return Effect(handle, _KINDS[kind], start, end, bool(protected))
    return None
