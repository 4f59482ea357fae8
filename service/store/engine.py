"""The engine: SQLite with the pragmas a service needs, or PostgreSQL; reading and writing transactions; migration."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from service.lore.errors import SchemaMismatch, Unavailable
from service.settings import Settings

_BUSY_SECONDS = 5.0
_RETRY_SECONDS = 0.01
_MIGRATIONS = Path(__file__).parent / "migrations"
_MIGRATION_LOCK = 0x776F726C64  # any constant: "world"
# Result codes of SQLite that say the file is in use or out of reach, not that a statement is wrong.
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_OUT_OF_REACH = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY}
_NOT_A_DATABASE = {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}


def make_engine(settings: Settings) -> Engine:
    """An engine with a connection for each request worked on at once, one for the backlog and one for the request log.

    A bare `postgresql://` means psycopg 3. SQLite waits five seconds for a lock unless the URL says `?timeout=`.
    Raises `Unavailable` when the folder cannot be made or the driver is missing.
    """
    url = make_url(settings.url)
    if url.drivername in {"postgresql", "postgres"}:
        url = url.set(drivername="postgresql+psycopg")
    options: dict[str, Any] = {
        "pool_size": settings.threads + 2,
        "max_overflow": 0,
        "hide_parameters": True,  # lore has no place in a log
        "json_serializer": _to_json,
        "json_deserializer": orjson.loads,
    }
    if url.get_backend_name() == "sqlite":
        return _sqlite_engine(url, options)
    try:
        return create_engine(url, pool_pre_ping=True, **options)
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"the driver of {url.drivername} is not installed: {error}", remedy='pip install "psycopg[binary]>=3.2"'
        ) from None


@contextmanager
def opened(settings: Settings) -> Iterator[Engine]:
    """An engine for the block alone, with no connection left open behind it. Raises what `make_engine` raises."""
    engine = make_engine(settings)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection whose statements all see the same moment. Raises `Unavailable` when the database is out of reach."""
    if engine.dialect.name == "postgresql":
        engine = engine.execution_options(isolation_level="REPEATABLE READ")
    with _plainly(), engine.connect() as conn:
        yield conn


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A connection that rolls back unless the caller says `conn.commit()`.

    On SQLite it is the only writer from its first statement on, so that no reader has to become a writer and fail.
    Never keep it open across an encode. Raises `Unavailable` when the database stays locked or is out of reach.
    """
    with _plainly(), engine.execution_options(begin="IMMEDIATE").connect() as conn:
        yield conn


def migrate(engine: Engine) -> None:
    """Bring the database to this version of the tables; safe when two processes start together.

    Raises `SchemaMismatch` when a newer version of the program wrote it, or when it is no database at all;
    `Unavailable` when it stays locked.
    """
    from alembic import command
    from alembic.config import Config

    with _a_database(engine), writing(engine) as conn:
        if engine.dialect.name == "postgresql":
            conn.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
        if not _is_current(conn):
            config = Config()
            config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
            config.attributes["connection"] = conn
            command.upgrade(config, "head")
            conn.commit()


def check_schema(engine: Engine) -> None:
    """Raises `SchemaMismatch` when the database is older or newer than this version of the program."""
    with _a_database(engine), reading(engine) as conn:
        if not _is_current(conn):
            raise SchemaMismatch("the database needs a migration", remedy="Run: worldbook migrate")


def _is_current(conn: Connection) -> bool:
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(_MIGRATIONS))
    found = MigrationContext.configure(conn).get_current_revision()
    if found is not None and found not in {revision.revision for revision in script.walk_revisions()}:
        raise SchemaMismatch(
            f"the database was written by a newer version of the program (revision {found})",
            remedy="Install that version again, or set WORLDBOOK_DATA_DIR to another folder.",
        )
    return found == script.get_current_head()


def _to_json(value: object) -> str:
    return orjson.dumps(value).decode()


def _sqlite_engine(url: URL, options: dict[str, Any]) -> Engine:
    if not url.database or url.database == ":memory:":
        raise Unavailable("SQLite in memory is not shared by threads", remedy="Name a file in the database URL.")
    try:
        Path(url.database).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"cannot make the folder of the database: {error}",
            remedy="Set WORLDBOOK_DATA_DIR to a folder that can be written to.",
        ) from None
    if "timeout" not in url.query:
        options = {**options, "connect_args": {"timeout": _BUSY_SECONDS}}
    engine = create_engine(url, **options)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # the driver's own BEGIN would come late and deferred; see _begin_sqlite
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    mode = _journal_mode(connection)
    if mode != "wal":
        raise Unavailable(
            f"SQLite cannot keep a write-ahead log here (journal mode {mode})",
            remedy="Put the database on a local disk.",
        )
    # SQLite's own lower() knows ASCII only
    connection.create_function("lower", 1, lambda value: value and value.lower(), deterministic=True)


def _journal_mode(connection: sqlite3.Connection) -> str:
    """Switch to the write-ahead log. SQLite does not wait for a lock here, so two first starts need a retry."""
    (milliseconds,) = connection.execute("PRAGMA busy_timeout").fetchone()
    deadline = time.monotonic() + milliseconds / 1000
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if _code(error) not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)


def _begin_sqlite(conn: Connection) -> None:
    conn.exec_driver_sql(f"BEGIN {conn.get_execution_options().get('begin', 'DEFERRED')}")


def _code(error: object) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF  # extended codes keep the primary one in the low byte


@contextmanager
def _plainly() -> Iterator[None]:
    """What the database says when it is busy or out of reach, as `Unavailable`."""
    try:
        yield
    except PoolTimeout:
        raise Unavailable("all connections to the database are in use", remedy="Try again in a moment.") from None
    except OperationalError as error:
        if isinstance(error.orig, sqlite3.Error):
            if _code(error.orig) in _BUSY:
                raise Unavailable("the database is locked by another writer", remedy="Try again in a moment.") from None
            if _code(error.orig) not in _OUT_OF_REACH:
                raise
        raise Unavailable(
            f"the database cannot be used: {error.orig}", remedy="Check that it runs, is reachable and has room."
        ) from None


@contextmanager
def _a_database(engine: Engine) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        if _code(error.orig) not in _NOT_A_DATABASE:
            raise
        raise SchemaMismatch(
            f"{engine.url.database} is damaged or no database: {error.orig}",
            remedy="Restore a backup of it, or name another file.",
        ) from None
