"""Doing what a request asks for once, however often it is sent: Idempotency-Key.

The answer of the first call is kept for a day and repeated. A call that fails leaves no trace, so that it can be
corrected and sent again with the same key.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from service.actions.presenting import OWNER
from service.actions.runtime import Runtime, timestamp
from service.lore.errors import Unavailable, WorldbookError
from service.store import idempotency as answers
from service.store.engine import writing

log = logging.getLogger(__name__)

KEPT = timedelta(hours=24)
ABANDONED = timedelta(minutes=10)
"""A call that has not ended by then died with its process, and its key is free again."""


class IdempotencyMismatch(WorldbookError):
    """The key was used for another request."""


class InProgress(WorldbookError):
    """The first call with this key has not ended yet."""


@dataclass(frozen=True)
class StoredAnswer:
    """An answer as it is sent, and sent again."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def once(
    rt: Runtime, key: str, route: str, body_hash: str, act: Callable[[], StoredAnswer]
) -> tuple[StoredAnswer, bool]:
    """The answer of `act`, or that of an earlier call with the same key; and whether it is the earlier one.

    `route` and `body_hash` tell whether it is the same request. Raises `IdempotencyMismatch` when it is not,
    `InProgress` when the earlier call has not ended, and whatever `act` raises.
    """
    now = rt.clock()
    with writing(rt.engine) as conn:
        kept = answers.reserve(
            conn,
            OWNER,
            key,
            route=route,
            body_hash=body_hash,
            now=timestamp(now),
            forget=timestamp(now - KEPT),
            abandoned=timestamp(now - ABANDONED),
        )
        conn.commit()
    if kept is not None:
        return _again(kept, route, body_hash), True
    try:
        answer = act()
    except BaseException:
        with writing(rt.engine) as conn:
            answers.release(conn, OWNER, key)
            conn.commit()
        raise
    try:
        with writing(rt.engine) as conn:
            answers.keep(conn, OWNER, key, status=answer.status, headers=answer.headers, body=answer.body)
            conn.commit()
    except Unavailable:
        # It is done: who is told of a fault would do it again.
        log.warning("%s is done, but its answer could not be kept for its Idempotency-Key", route.partition("?")[0])
    return answer, False


def _again(kept: answers.KeptAnswer, route: str, body_hash: str) -> StoredAnswer:
    if (kept.route, kept.body_hash) != (route, body_hash):
        raise IdempotencyMismatch(
            "this Idempotency-Key was used for another request",
            remedy="Use a new key for every new request; repeat a key only to repeat the same request.",
        )
    if kept.status is None:
        raise InProgress(
            "the first request with this Idempotency-Key is still running",
            remedy="Wait a moment and send it again with the same key.",
        )
    return StoredAnswer(status=kept.status, headers=kept.headers, body=kept.body)
