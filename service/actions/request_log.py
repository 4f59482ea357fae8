"""The request log (SPEC C7): which entries each retrieval gave to the model and why, and why no other.

It is written behind the answer, by a thread of its own: a kill may lose the last few requests, and nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from threading import Condition, Lock, Thread

from sqlalchemy import Engine

from service.actions.owning import OWNER
from service.lore.errors import WorldbookError
from service.settings import Settings
from service.store import requests, states, writes
from service.store.engine import writing
from service.store.requests import StoredRequest

log = logging.getLogger(__name__)

MOST_WAITING = 500
"""Requests that wait to be written; beyond them whoever brings one writes them all."""
GATHERING_SECONDS = 0.2
"""Until the requests that came meanwhile are written in one transaction."""
TIDY_SECONDS = 60.0
DISCARDED_KEPT = timedelta(days=40)
"""A discarded reply is remembered for longer than any scope lives, so that no late call writes for it."""

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
            if len(self._waiting) == 1:  # for more the thread, which gathers, would wake in vain
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
                # By time too: what is old is forgotten also when nothing is asked or logged.
                self._changed.wait_for(lambda: self._waiting or self._stopped, TIDY_SECONDS)
                self._changed.wait_for(lambda: self._stopped, GATHERING_SECONDS)
                if self._stopped:
                    return
            self.flush()

    def _write(self, waiting: Iterable[Make]) -> None:
        made = [account for make in waiting if (account := _made(make)) is not None]
        try:
            self._store(made)
        except WorldbookError as error:
            log.warning("requests are missing in the request log: %s", error.detail)
        except Exception:  # one that the database does not take must not take the others with it
            for one in made:
                self._write_alone(one)

    def _write_alone(self, one: StoredRequest) -> None:
        try:
            self._store([one])
        except WorldbookError as error:
            log.warning("a request is missing in the request log: %s", error.detail)
        except Exception:  # whatever it is: the next requests can still be written
            log.exception("a request is missing in the request log")

    def _store(self, made: Sequence[StoredRequest]) -> None:
        with writing(self._engine) as conn:
            requests.add(conn, OWNER, made)
            conn.commit()

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
                writes.forget_discarded(conn, self._stamp(now - DISCARDED_KEPT))
                conn.commit()
        except WorldbookError as error:
            log.warning("the request log is not tidied: %s", error.detail)
        except Exception:  # whatever it is: the thread goes on writing
            log.exception("the request log is not tidied")


def _made(make: Make) -> StoredRequest | None:
    try:
        return make()
    except Exception:  # one that cannot be told must not take the others with it
        log.exception("a request is missing in the request log")
        return None
