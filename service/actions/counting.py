"""Counting which entries retrievals use, beside the hot path: a retrieval leaves its answer, a thread counts it.

A kill loses at most what was not written by then, never counts twice.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Condition, Lock, Thread

from sqlalchemy import Engine

from service.lore.answer import Retrieved
from service.lore.book import parts_of
from service.lore.errors import WorldbookError
from service.lore.lookups import FetchAnswer
from service.lore.traces import EntryTrace
from service.store import usage
from service.store.engine import writing
from service.store.usage import Count, EntryKey, TurnKey

log = logging.getLogger(__name__)

KEPT = timedelta(days=30)
"""A turn that is generated again after so long counts once more."""
_PAUSE = 1.0
_BATCH = 200
"""Answers in one transaction, which keeps other writers waiting."""
_MOST = 5_000
"""Answers that wait at most, when the database is out of reach; then the oldest are not counted."""


@dataclass(frozen=True)
class _Used:
    owner: str
    conversation: str | None
    turn: int
    at: datetime
    in_full: tuple[tuple[EntryTrace, ...], ...]
    """By section, and those that lorebooks activated."""


class UsageCounter:
    """A thread that counts what retrievals used and models fetched."""

    def __init__(self, engine: Engine, stamp: Callable[[datetime], str]) -> None:
        self._engine = engine
        self._stamp = stamp
        self._waiting: deque[_Used] = deque(maxlen=_MOST)
        self._fetched: Counter[EntryKey] = Counter()
        self._changed = Condition()
        self._writing = Lock()
        self._stopped = False
        self._thread = Thread(target=self._run, name="usage", daemon=True)

    def start(self) -> None:
        """Begin to count."""
        self._thread.start()

    def used(self, owner: str, answer: Retrieved, conversation: str | None, turn: int, at: datetime) -> None:
        """A live retrieval answered this; without a conversation each counts."""
        sections = (answer.sections.canon, answer.sections.whole, answer.sections.named, answer.sections.matched)
        in_full = (*(section.entries for section in sections), answer.lorebook.entries)
        with self._changed:
            self._waiting.append(_Used(owner, conversation, turn, at, in_full))
            if len(self._waiting) == 1:  # for more the thread, which gathers, would wake in vain
                self._changed.notify()

    def fetched(self, answer: FetchAnswer) -> None:
        """A model fetched these entries."""
        keys = [parts_of(found.handle) for found in answer.entries]
        with self._changed:
            self._fetched.update(keys)
            self._changed.notify()

    def flush(self) -> None:
        """Count what waits. Raises `Unavailable`; what could not be counted goes on waiting."""
        most = _BATCH
        with self._writing:
            while True:
                with self._changed:
                    batch = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
                    fetched: Counter[EntryKey] = Counter()
                    if most > 1 or not batch:
                        fetched, self._fetched = self._fetched, fetched
                if not batch and not fetched:
                    return
                try:
                    self._write(batch, fetched)
                except WorldbookError:
                    self._wait_again(batch, fetched)
                    raise
                except Exception:
                    if len(batch) + bool(fetched) > 1:
                        # One by one, since what the database does not take must not take the others with it.
                        self._wait_again(batch, fetched)
                        most = 1
                    else:
                        log.exception("usage was not counted")
                        most = _BATCH

    def _wait_again(self, batch: list[_Used], fetched: Counter[EntryKey]) -> None:
        with self._changed:
            self._waiting = deque([*batch, *self._waiting], maxlen=_MOST)
            self._fetched.update(fetched)

    def stop(self) -> None:
        """Count what waits, and end."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or self._waiting or self._fetched)
                self._changed.wait_for(lambda: self._stopped, _PAUSE)
                stopped = self._stopped
            try:
                self.flush()
            except WorldbookError as error:
                log.warning("usage is not counted yet: %s", error)
            except Exception:
                log.exception("usage was not counted")
            if stopped:
                return

    def _write(self, batch: list[_Used], fetched: Counter[EntryKey]) -> None:
        turns: defaultdict[str, defaultdict[TurnKey, set[EntryKey]]] = defaultdict(lambda: defaultdict(set))
        uses: Counter[EntryKey] = Counter()
        at = self._stamp(batch[-1].at) if batch else ""
        for one in batch:
            keys = {(trace.book, trace.id) for entries in one.in_full for trace in entries}
            if one.conversation is None:
                uses.update(keys)
            else:
                turns[one.owner][one.conversation, one.turn] |= keys
        with writing(self._engine) as conn:
            for owner, theirs in sorted(turns.items()):
                for new in usage.newly_used(conn, owner, theirs, at):
                    uses.update(new)
            counts = {
                key: Count(uses=uses[key], fetches=fetched[key], last_used_at=at if key in uses else None)
                for key in {*uses, *fetched}
            }
            usage.add(conn, counts)
            if batch:
                usage.forget_turns(conn, self._stamp(batch[-1].at - KEPT))
            conn.commit()
