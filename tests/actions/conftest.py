"""A running service on a database file of its own, with the hashing embedder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from service.actions.runtime import Runtime, running
from service.settings import Settings
from service.store.engine import make_engine, migrate
from service.store.tables import metadata
from tests.store.conftest import postgres_url

__all__ = ["postgres_url"]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """SQLite in a folder of the test, small limits."""
    return Settings(
        data_dir=tmp_path,
        model="hashing",
        tokenizer="cl100k_base",
        threads=4,
        max_entries=1500,
        max_entries_a_call=20,
        max_books=5,
    )


@pytest.fixture
def rt(settings: Settings) -> Iterator[Runtime]:
    """The service, running."""
    with running(settings) as runtime:
        yield runtime


@pytest.fixture
def migrated_postgres(postgres_url: str) -> str:
    """The URL of an empty PostgreSQL database with this version's tables."""
    engine = make_engine(Settings(database_url=postgres_url, threads=1))
    migrate(engine)
    with engine.begin() as conn:
        conn.execute(text(f"TRUNCATE {', '.join(metadata.tables)} CASCADE"))
    engine.dispose()
    return postgres_url
