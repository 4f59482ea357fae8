"""A running service on a database file of its own, with the hashing embedder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.actions.runtime import Runtime, running
from service.settings import Settings


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
