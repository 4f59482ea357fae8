"""What lives as long as the service: settings, database, encoder, opened books, backlog."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Engine

from embeddings import calibration
from embeddings.embedder import Embedder
from embeddings.encoding import Encoder
from service.actions.backlog import Backlog
from service.actions.calibrating import folder
from service.actions.counting import UsageCounter
from service.actions.loading import load_embedder
from service.actions.opening import OpenBooks
from service.actions.request_log import RequestLog
from service.settings import Settings
from service.store.engine import check_schema, make_engine, migrate


@dataclass(frozen=True)
class Runtime:
    """The collaborators of every action."""

    settings: Settings
    engine: Engine
    encoder: Encoder
    opened: OpenBooks
    backlog: Backlog
    log: RequestLog
    clock: Callable[[], datetime]
    usage: UsageCounter

    def now(self) -> str:
        """The time, as it is stored and answered."""
        return timestamp(self.clock())


@contextmanager
def running(settings: Settings, *, load: Callable[[], Embedder] | None = None) -> Iterator[Runtime]:
    """Bring up the service; what it began ends with the block.

    `load` makes the embedder instead of the setting `model`; it runs on the encoder's own thread, so that a slow or
    failing model does not keep the service from starting. SQLite is migrated here, PostgreSQL by `worldbook migrate`.
    Raises `SchemaMismatch`, `Unavailable`.
    """
    with ExitStack() as ending:
        engine = make_engine(settings)
        ending.callback(engine.dispose)
        (migrate if engine.dialect.name == "sqlite" else check_schema)(engine)
        encoder = Encoder(
            load or partial(load_embedder, settings), calibrate=partial(calibration.known, folder=folder(settings))
        )
        backlog = Backlog(engine, encoder, lambda: timestamp(utc_now()))
        log = RequestLog(engine, settings, utc_now, timestamp)
        usage = UsageCounter(engine, timestamp)
        encoder.start()
        backlog.start()
        log.start()
        usage.start()
        # In this order backwards: a batch in hand is given up rather than waited for.
        ending.callback(log.stop)
        ending.callback(backlog.join)
        ending.callback(encoder.close)
        ending.callback(backlog.stop)
        ending.callback(usage.stop)
        yield Runtime(settings, engine, encoder, OpenBooks(settings.cache_bytes), backlog, log, utc_now, usage)


def utc_now() -> datetime:
    """The clock of the service."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds: `2026-11-30T17:24:05.120Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
