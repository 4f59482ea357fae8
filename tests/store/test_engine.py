"""The engine: pragmas, transactions, migration, and what is said when the database is out of reach."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, text

from service.lore.book import Book
from service.lore.errors import SchemaMismatch, Unavailable
from service.settings import Settings
from service.store import books
from service.store.engine import check_schema, make_engine, migrate, reading, writing
from service.store.tables import metadata

NOW = "2026-11-30T17:24:05.120Z"


def at(folder: Path, query: str = "") -> Settings:
    return Settings(data_dir=folder, database_url=f"sqlite:///{folder / 'worldbook.db'}{query}", threads=3)


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("foreign_keys", 1), ("synchronous", 1), ("busy_timeout", 5000)]
)
def test_pragmas(tmp_path: Path, pragma: str, value: object) -> None:
    """D22: Every SQLite connection has the pragmas that a service needs."""
    engine = make_engine(at(tmp_path))
    with engine.connect() as first, engine.connect() as second:
        assert {conn.exec_driver_sql(f"PRAGMA {pragma}").scalar() for conn in (first, second)} == {value}
    engine.dispose()


def test_pool_size(tmp_path: Path) -> None:
    """C05: Each thread can have a connection at once, and the backlog one more."""
    engine = make_engine(Settings(data_dir=tmp_path, threads=3))
    connections = [engine.connect() for _ in range(4)]
    assert engine.pool.checkedout() == 4  # type: ignore[attr-defined]
    for connection in connections:
        connection.close()
    engine.dispose()


def test_a_bare_postgresql_url_means_psycopg_3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A bare `postgresql://` uses psycopg 3, and without that driver the error names the package to install."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Unavailable) as caught:
        make_engine(Settings(data_dir=tmp_path, database_url="postgresql://localhost/lore"))
    assert "psycopg" in caught.value.detail
    assert "pip install" in caught.value.remedy


def test_memory_is_refused(tmp_path: Path) -> None:
    """A database in memory, which each thread would see differently, is refused."""
    with pytest.raises(Unavailable, match="not shared"):
        make_engine(Settings(data_dir=tmp_path, database_url="sqlite://"))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """A data folder that cannot be made is named with the setting to change."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable) as caught:
        make_engine(at(tmp_path / "file"))
    assert "WORLDBOOK_DATA_DIR" in caught.value.remedy


def test_migrations_make_the_tables(engine: Engine) -> None:
    """The migrations bring an empty database to exactly the tables that the code uses."""
    with engine.connect() as conn:
        context = MigrationContext.configure(conn, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []


def test_migrating_twice(engine: Engine) -> None:
    """Migrating a current database keeps what it holds."""
    with writing(engine) as conn:
        book = books.insert_book(conn, "local", Book(name="Salt Coast"), NOW)
        conn.commit()
    migrate(engine)
    check_schema(engine)
    with reading(engine) as conn:
        assert books.read(conn, "local", book).name == "Salt Coast"


def test_two_processes_start_together(tmp_path: Path) -> None:
    """Two processes that migrate the same new file at once both succeed."""
    script = (
        "import sys; from pathlib import Path; from service.settings import Settings;"
        "from service.store.engine import make_engine, migrate, check_schema;"
        "sys.stdin.readline();"
        "engine = make_engine(Settings(data_dir=Path(sys.argv[1]))); migrate(engine); check_schema(engine)"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", script, tmp_path], stdin=subprocess.PIPE, cwd=Path(__file__).parents[2])
        for _ in range(2)
    ]
    for process in processes:
        process.communicate(b"go\n")
    assert [process.returncode for process in processes] == [0, 0]


def test_threads_start_together(tmp_path: Path) -> None:
    """Engines that migrate the same new file at the same moment wait for each other."""
    barrier = Barrier(4)

    def start(_: int) -> None:
        engine = make_engine(at(tmp_path))
        barrier.wait()
        migrate(engine)
        check_schema(engine)
        engine.dispose()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(start, range(4)))


def test_a_newer_schema(engine: Engine) -> None:
    """A database that a newer version wrote is refused with a remedy and left as it is."""
    with engine.begin() as conn:
        current = conn.scalar(text("SELECT version_num FROM alembic_version"))
        conn.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for check in (migrate, check_schema):
        with pytest.raises(SchemaMismatch, match="newer version") as caught:
            check(engine)
        assert caught.value.remedy
    with engine.begin() as conn:
        assert conn.scalar(text("SELECT version_num FROM alembic_version")) == "9999"
        conn.execute(text("UPDATE alembic_version SET version_num = :current"), {"current": current})


def test_an_older_schema(tmp_path: Path) -> None:
    """A database that was never migrated is told apart from a current one."""
    engine = make_engine(at(tmp_path))
    with pytest.raises(SchemaMismatch) as caught:
        check_schema(engine)
    assert "migrate" in caught.value.remedy
    engine.dispose()


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    """V18: A damaged file is refused loudly and not written to."""
    path = tmp_path / "worldbook.db"
    path.write_bytes(b"no database " * 1000)
    engine = make_engine(at(tmp_path))
    with pytest.raises(SchemaMismatch, match="no database"):
        migrate(engine)
    assert path.read_bytes() == b"no database " * 1000
    engine.dispose()


def test_a_locked_database(tmp_path: Path) -> None:
    """D23: A database that another writer keeps locked is `Unavailable`, for a writer and for a migration."""
    engine = make_engine(at(tmp_path, "?timeout=0.05"))
    migrate(engine)
    holder = sqlite3.connect(tmp_path / "worldbook.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked"), writing(engine) as conn:
        books.count(conn, "local")
    with pytest.raises(Unavailable, match="locked"):
        migrate(engine)
    with reading(engine) as conn:
        assert books.count(conn, "local") == 0
    holder.close()
    engine.dispose()


def test_a_writer_rolls_back_by_default(engine: Engine) -> None:
    """Nothing is stored without a visible commit."""
    with writing(engine) as conn:
        books.insert_book(conn, "local", Book(name="Salt Coast"), NOW)
    with reading(engine) as conn:
        assert books.count(conn, "local") == 0


def test_a_reader_sees_one_moment(engine: Engine) -> None:
    """All statements of one reader see the books as they were at its first."""
    with writing(engine) as conn:
        book = books.insert_book(conn, "local", Book(name="Salt Coast"), NOW)
        conn.commit()
    with reading(engine) as reader:
        before = books.heads(reader, "local", [book])
        with writing(engine) as conn:
            books.advance(conn, "local", book, NOW)
            conn.commit()
        assert books.read(reader, "local", book).version == before[book].version == 1
    with reading(engine) as reader:
        assert books.read(reader, "local", book).version == 2


def test_writers_wait_for_each_other(engine: Engine) -> None:
    """D23: Writers that read before they write do not fail and lose no change."""
    with writing(engine) as conn:
        book = books.insert_book(conn, "local", Book(name="Salt Coast"), NOW)
        conn.commit()

    def edit(_: int) -> None:
        with writing(engine) as conn:
            books.count(conn, "local")
            books.advance(conn, "local", book, NOW)
            conn.commit()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(edit, range(20)))
    with reading(engine) as conn:
        assert books.read(conn, "local", book).version == 21
