"""What lorebooks remember of a conversation: one row per turn, bounded in number and expiring."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, select, update

from service.store.dialects import insert_new
from service.store.tables import conversation_states as states

# Built once, since each retrieval with a lorebook runs it and building costs as much as running.
_UP_TO = (
    select(states.c.turn, states.c.state)
    .where(
        states.c.owner_id == bindparam("owner"),
        states.c.conversation == bindparam("conversation"),
        states.c.turn <= bindparam("turn"),
    )
    .order_by(states.c.turn.desc())
    .limit(2)
)


def before(conn: Connection, owner: str, conversation: str, turn: int) -> tuple[Any, bool]:
    """The state that the greatest turn below `turn` left, as JSON, and whether this very turn left one before.

    The state is None when there is none.
    """
    rows = conn.execute(_UP_TO, {"owner": owner, "conversation": conversation, "turn": turn}).all()
    answered = bool(rows) and rows[0].turn == turn
    below = rows[1:] if answered else rows
    return below[0].state if below else None, answered


def put(conn: Connection, owner: str, conversation: str, turn: int, state: Any, now: str, *, keep: int) -> None:
    """The turn leaves this state, whatever it left when it was answered before; of the turns the newest `keep` stay."""
    mine = and_(states.c.owner_id == owner, states.c.conversation == conversation)
    row = {"owner_id": owner, "conversation": conversation, "turn": turn, "state": state, "updated_at": now}
    if not insert_new(conn, states, [row]):
        conn.execute(update(states).where(mine, states.c.turn == turn).values(state=state, updated_at=now))
    oldest = select(states.c.turn).where(mine).order_by(states.c.turn.desc()).offset(keep).limit(1)
    last: int | None = conn.scalar(oldest)
    if last is not None:
        conn.execute(delete(states).where(mine, states.c.turn <= last))


def forget(conn: Connection, owner: str, conversation: str) -> bool:
    """The conversation begins anew; answers whether anything was remembered of it."""
    mine = and_(states.c.owner_id == owner, states.c.conversation == conversation)
    return bool(conn.execute(delete(states).where(mine)).rowcount)


def expire(conn: Connection, before: str) -> None:
    """Forget what was left before this time."""
    conn.execute(delete(states).where(states.c.updated_at < before))
