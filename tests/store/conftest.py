"""Engines to test on: SQLite always, PostgreSQL where its server and driver are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from service.settings import Settings
from service.store.engine import make_engine, migrate
from service.store.tables import metadata


def _postgres_binaries() -> Path | None:
    found = shutil.which("initdb")
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return Path(found).parent if found else installed[-1] if installed else None


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a server of our own, started once; it refuses to run as root, so root runs it as `postgres`."""
    binaries = _postgres_binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed")
    if find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed")
    user = "postgres" if os.getuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="worldbook-pg-"))
    if user:
        shutil.chown(folder, user)

    def run(*command: object) -> None:
        subprocess.run(list(map(str, command)), user=user, check=True, stdout=subprocess.DEVNULL, cwd=folder)

    run(binaries / "initdb", "-D", folder / "data", "-A", "trust", "-U", "worldbook", "-N", "-E", "UTF8")
    run(
        binaries / "pg_ctl",
        "-D", folder / "data", "-l", folder / "log", "-w",
        "-o", f"-c listen_addresses='' -k {folder} -c fsync=off",
        "start",
    )  # fmt: skip
    try:
        yield f"postgresql://worldbook@/postgres?host={folder}"
    finally:
        run(binaries / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A migrated and empty database."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else ""
    engine = make_engine(Settings(data_dir=tmp_path, database_url=url, threads=4))
    migrate(engine)
    if url:
        with engine.begin() as conn:
            conn.execute(text(f"TRUNCATE {', '.join(metadata.tables)} CASCADE"))
    yield engine
    engine.dispose()
