"""What the tests of the speed and load benchmarks share."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def instant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The hashing embedder, also for the servers that a benchmark starts, and nothing of the user's."""
    monkeypatch.setenv("WORLDBOOK_MODEL", "hashing")
    monkeypatch.setenv("WORLDBOOK_DATA_DIR", str(tmp_path / "data"))
