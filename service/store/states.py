"""What lorebooks remember of a conversation: one row per turn, bounded in number and expiring."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, and_, delete, insert, select

from service.store.tables import conversation_states as states


def before(conn: Connection, owner: str, conversation: str, turn: int) -> Any:
    """The state that the greatest turn below `turn` left, as JSON; None when there is none."""
    query = (
        select(states.c.state)
        .where(states.c.owner_id == owner, states.c.conversation == conversation, states.c.turn < turn)
        .order_by(states.c.turn.desc())
        .limit(1)
    )
    return conn.scalar(query)


def has(conn: Connection, owner: str, conversation: str, turn: int) -> bool:
    """Whether this very turn left a state."""
    query = select(states.c.turn).where(
        states.c.owner_id == owner, states.c.conversation == conversation, states.c.turn == turn
    )
    return conn.scalar(query) is not None


def put(conn: Connection, owner: str, conversation: str, turn: int, state: Any, now: str, *, keep: int) -> None:
    """The turn leaves this state, whatever it left when it was answered before; of the turns the newest `keep` stay."""
    mine = and_(states.c.owner_id == owner, states.c.conversation == conversation)
    conn.execute(delete(states).where(mine, states.c.turn == turn))
    values = {"owner_id": owner, "conversation": conversation, "turn": turn, "state": state, "updated_at": now}
    conn.execute(insert(states).values(values))
    oldest = select(states.c.turn).where(mine).order_by(states.c.turn.desc()).offset(keep).limit(1)
    last: int | None = conn.scalar(oldest)
    if last is not None:
        conn.execute(delete(states).where(mine, states.c.turn <= last))


def forget(conn: Connection, owner: str, conversation: str) -> None:
    """The conversation begins anew."""
    conn.execute(delete(states).where(states.c.owner_id == owner, states.c.conversation == conversation))


def expire(conn: Connection, before: str) -> None:
    """Forget what was left before this time."""
    conn.execute(delete(states).where(states.c.updated_at < before))
