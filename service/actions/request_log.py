"""The request log (SPEC C7): which entries each retrieval gave to the model and why, and why no other.

It is written behind the answer, by a thread of its own: a kill may lose the last few requests, and nothing else.
"""

from __future__ import annotations

import hashlib
import logging
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Condition, Lock, Thread
from typing import Any

import orjson
from sqlalchemy import Engine

from service.actions.owning import OWNER
from service.lore.errors import WorldbookError
from service.settings import Settings
from service.store import requests, states
from service.store.engine import writing
from service.store.requests import StoredRequest

log = logging.getLogger(__name__)

MOST_WAITING = 500
"""Requests that wait to be written; beyond them whoever brings one writes them all."""
TIDY_SECONDS = 60.0

Make = Callable[[], StoredRequest]
Stamp = Callable[[datetime], str]


class RequestLog:
    """A thread that writes what it is given, and forgets what is too old or too much."""

    def __init__(self, engine: Engine, settings: Settings, clock: Callable[[], datetime], stamp: Stamp) -> None:
        self._engine = engine
        self._settings = settings
        self._clock = clock
        self._stamp = stamp
        self._waiting: list[Make] = []
        self._changed = Condition()
        self._writing = Lock()
        self._stopped = False
        self._tidied: datetime | None = None
        self._thread = Thread(target=self._run, name="request-log", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def record(self, make: Make) -> None:
        """Write what `make` answers, soon; it is called on another thread."""
        if not self._settings.log_days:
            return
        with self._changed:
            self._waiting.append(make)
            many = len(self._waiting) >= MOST_WAITING
            self._changed.notify_all()
        if many:
            self.flush()

    def flush(self) -> None:
        """Write everything that waits; returns when it can be read."""
        with self._writing:
            with self._changed:
                waiting, self._waiting = self._waiting, []
            if waiting:
                self._write(waiting)
            self._tidy()

    def stop(self) -> None:
        """Write what waits and end."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        self.flush()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stopped)
                if self._stopped:
                    return
            self.flush()

    def _write(self, waiting: Iterable[Make]) -> None:
        try:
            made = [make() for make in waiting]
            with writing(self._engine) as conn:
                requests.add(conn, OWNER, made)
                conn.commit()
        except WorldbookError as error:
            log.warning("requests are missing in the request log: %s", error.detail)
        except Exception:  # whatever it is: the next requests can still be written
            log.exception("requests are missing in the request log")

    def _tidy(self) -> None:
        now = self._clock()
        if self._tidied is not None and (now - self._tidied).total_seconds() < TIDY_SECONDS:
            return
        self._tidied = now
        settings = self._settings
        try:
            with writing(self._engine) as conn:
                before = self._stamp(now - timedelta(days=settings.log_days))
                requests.expire(conn, OWNER, before=before, most_bytes=settings.log_bytes)
                states.expire(conn, self._stamp(now - timedelta(days=settings.state_days)))
                conn.commit()
        except WorldbookError as error:
            log.warning("the request log is not tidied: %s", error.detail)


@dataclass(frozen=True)
class Others:
    """Entries that the answer does not tell of one by one, alike in status and reason."""

    status: str
    reason: str
    handles: tuple[str, ...]


def packed(answer: Mapping[str, Any], others: Iterable[Others]) -> bytes:
    """An account in little room."""
    rows = [[each.status, each.reason, _runs(each.handles)] for each in others]
    return zlib.compress(orjson.dumps({"answer": answer, "others": rows}), 6)


def unpacked(data: bytes) -> dict[str, Any]:
    """The answer, and `others`: handle, status and reason of each."""
    found = orjson.loads(zlib.decompress(data))
    others = [
        {"handle": handle, "status": status, "reason": reason}
        for status, reason, runs in found["others"]
        for handle in _handles(runs)
    ]
    return {"answer": found["answer"], "others": others}


def once(conversation: str | None, turn: int, response_id: str | None) -> str | None:
    """What makes two requests count as one (SPEC C7): a reply that is tried again. None: nothing does."""
    if conversation is None:
        return None
    return hashlib.sha256(orjson.dumps([conversation, turn, response_id])).hexdigest()


def _runs(handles: Iterable[str]) -> dict[str, list[list[int]]]:
    """Handles by book, numbers that follow each other as their first and last."""
    found: dict[str, list[list[int]]] = {}
    for handle in handles:
        book, _, number = handle.rpartition("-")
        runs = found.setdefault(book, [])
        if runs and runs[-1][1] == int(number) - 1:
            runs[-1][1] += 1
        else:
            runs.append([int(number), int(number)])
    return found


def _handles(runs: Mapping[str, list[list[int]]]) -> Iterable[str]:
    return (
        f"{book}-{number}" for book, found in runs.items() for first, last in found for number in range(first, last + 1)
    )
