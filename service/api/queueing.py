"""The limits of the queue: how many requests may wait for a thread, and how long.

Sync routes run on a pool of threads. When requests come faster than they are answered, all of them wait longer and
longer, and in the end none is answered before its caller has gone; so a few are refused at once instead. A thread
cannot be stopped: work that has begun ends by itself, within the limits of what it waits for (`embed_timeout`,
`max_import_wait`, the busy timeout of the database).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from time import monotonic
from typing import Any

from anyio.to_thread import current_default_thread_limiter

from service.api.refusals import Overloaded

_LATEST: ContextVar[float] = ContextVar("latest start of the request, on the monotonic clock", default=math.inf)


def enter(*, most_waiting: int, seconds: float) -> Overloaded | None:
    """Let a request join the queue, where it may wait so many seconds; or why it may not."""
    limiter = current_default_thread_limiter()
    if limiter.available_tokens <= 0 and (waiting := limiter.statistics().tasks_waiting) >= most_waiting:
        return Overloaded(
            f"{waiting:,} requests wait already",
            remedy="Wait as long as `Retry-After` says and send it again; WORLDBOOK_MAX_WAITING is the limit.",
        )
    _LATEST.set(monotonic() + seconds)
    return None


def begun_in_time(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """The endpoint, refused when it has waited too long for its thread: its caller has most likely gone."""
    if inspect.iscoroutinefunction(endpoint):
        return endpoint

    @wraps(endpoint)
    def begin(*args: Any, **kwargs: Any) -> Any:
        if monotonic() > _LATEST.get():
            raise Overloaded(
                "the request waited too long for its turn and was not begun",
                remedy="Wait as long as `Retry-After` says and send it again; WORLDBOOK_MAX_WAIT is the limit.",
            )
        return endpoint(*args, **kwargs)

    return begin
