"""The request log (SPEC C7): which entries each retrieval gave to the model and why, and why no other.

It is written behind the answer, by a thread of its own: a kill may lose the last few requests, and nothing else.
"""

from __future__ import annotations

import hashlib
import logging
import zlib
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from datetime import datetime, timedelta
from threading import Condition, Lock, Thread
from typing import Any

import orjson
from sqlalchemy import Engine

from service.actions.owning import OWNER
from service.lore.activation.answer import LorebookGroups
from service.lore.answer import Prompt, RetrieveAnswer, Section
from service.lore.book import handle_of
from service.lore.errors import WorldbookError
from service.lore.traces import EntryTrace
from service.lore.unlisted import Unlisted
from service.settings import Settings
from service.store import requests, states, writes
from service.store.engine import writing
from service.store.requests import StoredRequest
from service.validation import adapter

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
                self._changed.wait_for(lambda: self._stopped, GATHERING_SECONDS)
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
                writes.forget_discarded(conn, self._stamp(now - DISCARDED_KEPT))
                conn.commit()
        except WorldbookError as error:
            log.warning("the request log is not tidied: %s", error.detail)


def packed(answer: RetrieveAnswer, others: Iterable[Unlisted]) -> bytes:
    """An account in little room."""
    rows = [[each.status, each.reason, each.book, each.runs] for each in others]
    answer_json = orjson.Fragment(adapter(RetrieveAnswer).dump_json(answer))
    return zlib.compress(orjson.dumps({"answer": answer_json, "others": rows}), 1)


def unpacked(data: bytes) -> dict[str, Any]:
    """The answer, and `others`: handle, status and reason of each."""
    found = orjson.loads(zlib.decompress(data))
    others = [
        {"handle": handle_of(book, number), "status": status, "reason": reason}
        for status, reason, book, runs in found["others"]
        for first, last in runs
        for number in range(first, last + 1)
    ]
    return {"answer": found["answer"], "others": others}


def once(conversation: str | None, turn: int, response_id: str | None) -> str | None:
    """What makes two requests count as one (SPEC C7): a reply that is tried again. None: nothing does."""
    if conversation is None:
        return None
    return hashlib.sha256(orjson.dumps([conversation, turn, response_id])).hexdigest()


def without_texts(answer: RetrieveAnswer) -> RetrieveAnswer:
    """The answer, but for the texts that it gave to the model."""
    prompt, sections, lorebook = answer.prompt, answer.sections, answer.lorebook
    silent = {
        item.name: replace(section, text=None, entries=_silent(section.entries))
        for item in fields(sections)
        if isinstance(section := getattr(sections, item.name), Section)
    }
    groups = lorebook.groups
    return replace(
        answer,
        prompt=Prompt(stable=replace(prompt.stable, text=""), volatile=replace(prompt.volatile, text="")),
        sections=replace(sections, index=replace(sections.index, text=None), **silent),
        lorebook=replace(
            lorebook,
            messages=tuple(replace(message, content="") for message in lorebook.messages),
            entries=_silent(lorebook.entries),
            groups=None if groups is None else _without_lore(groups),
        ),
        over_budget=_silent(answer.over_budget),
        rest=(),
    )


def _silent(entries: Iterable[EntryTrace]) -> tuple[EntryTrace, ...]:
    return tuple(replace(entry, text=None) for entry in entries)


def _without_lore(groups: LorebookGroups) -> LorebookGroups:
    return replace(
        groups,
        always_before=replace(groups.always_before, text=""),
        always_after=replace(groups.always_after, text=""),
        triggered_before=replace(groups.triggered_before, text=""),
        triggered_after=replace(groups.triggered_after, text=""),
    )


def entered(answer: RetrieveAnswer) -> tuple[str, ...]:
    """The entries that the model got to read."""
    sections = answer.sections
    shown = (*sections.canon.entries, *sections.whole.entries, *sections.named.entries, *sections.matched.entries)
    return tuple(entry.handle for entry in (*shown, *answer.lorebook.entries))
