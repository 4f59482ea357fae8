"""What lorebooks remember from turn to turn of a conversation.

A turn begins with what the greatest turn below it left. So a regenerated turn begins where it began before, and what it
leaves replaces what it left then.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.lore.activation.state import State
from service.store import states
from service.store.engine import reading, writing


@dataclass(frozen=True)
class Memory:
    """What a turn begins with."""

    state: State
    answered: bool
    """Whether the turn was answered before, and left something."""


def recall(rt: Runtime, conversation: str, turn: int) -> Memory:
    """What the lorebooks remember at the beginning of this turn."""
    with reading(rt.engine) as conn:
        found, answered = states.before(conn, OWNER, conversation, turn)
    return Memory(State.from_json(found), answered)


def remember(rt: Runtime, conversation: str, turn: int, memory: Memory, after: State) -> None:
    """Keep what the turn leaves; nothing is written when that is what it began with."""
    if after == memory.state and not memory.answered:
        return
    with writing(rt.engine) as conn:
        states.put(conn, OWNER, conversation, turn, after.to_json(), rt.now(), keep=rt.settings.state_turns)
        conn.commit()
