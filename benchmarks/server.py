"""A real server for a benchmark: its own process, a free port, an empty database."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx


@contextmanager
def running_server(environment: Mapping[str, str] | None = None, *, seconds: float = 120.0) -> Iterator[httpx.Client]:
    """Start `worldbook serve`, wait until it answers, give a client, stop it."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "service.cli", "serve", "--port", "0"],
            env={**os.environ, "WORLDBOOK_DATA_DIR": folder, "PYTHONUNBUFFERED": "1", **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            address = _address(process, Path(folder) / "log")
            with httpx.Client(base_url=address, timeout=seconds) as client:
                yield client
        finally:
            process.terminate()
            process.wait(30)


def _address(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        for word in line.split():
            if word.startswith("http://"):
                port = word.rstrip("/.,").rpartition(":")[2].partition("/")[0]
                return f"http://127.0.0.1:{port}"
    raise RuntimeError(f"the server did not start: {log.read_text()}")
