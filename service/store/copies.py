"""Copies of an SQLite database that is in use."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path


def copy_sqlite(source: Path, target: Path) -> None:
    """Write the database as of one moment to a new file, which appears under its name only when it is whole.

    Writers go on meanwhile. Raises `FileExistsError` for a target that is there, `OSError` or `sqlite3.Error` when
    reading or writing fails.
    """
    _must_be_new(target)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    os.close(handle)
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as original,
            closing(sqlite3.connect(name)) as copy,
        ):
            original.backup(copy)
        _must_be_new(target)
        os.replace(name, target)
    finally:
        Path(name).unlink(missing_ok=True)


def _must_be_new(target: Path) -> None:
    if target.exists():
        raise FileExistsError(target)
