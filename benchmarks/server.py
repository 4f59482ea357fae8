"""A real server for a benchmark: its own process, a free port, an empty database."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx


@dataclass(frozen=True)
class Served:
    """A server that answers."""

    address: str
    pid: int
    client: httpx.Client

    @property
    def resident_mb(self) -> float:
        """Memory of the process now, in MB (10^6 bytes)."""
        return resident_mb(self.pid)


def resident_mb(pid: int) -> float:
    """Resident memory of a process, in MB (10^6 bytes); Linux only."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def serving(
    environment: Mapping[str, str] | None = None, *, seconds: float = 120.0, module: str = "service.cli"
) -> Iterator[Served]:
    """Start `worldbook serve`, wait until it answers, stop it after the block."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", module, "serve", "--port", "0"],
            env={**os.environ, "WORLDBOOK_DATA_DIR": folder, "PYTHONUNBUFFERED": "1", **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            address = _address(process, Path(folder) / "log")
            with httpx.Client(base_url=address, timeout=seconds) as client:
                yield Served(address, process.pid, client)
        finally:
            process.terminate()
            process.communicate(timeout=30)


@contextmanager
def running_server(environment: Mapping[str, str] | None = None, *, seconds: float = 120.0) -> Iterator[httpx.Client]:
    """A client of a server that runs for the block."""
    with serving(environment, seconds=seconds) as served:
        yield served.client


def wait_until_ready(client: httpx.Client, *, seconds: float = 300.0) -> None:
    """Until database and model answer. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while (embedding := client.get("/v1").json()["embedding"])["state"] != "ready":
        if time.monotonic() > end:
            raise TimeoutError(f"the model is not ready: {embedding}")
        time.sleep(0.02)


def _address(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        for word in line.split():
            if word.startswith("http://"):
                port = word.rstrip("/.,").rpartition(":")[2].partition("/")[0]
                return f"http://127.0.0.1:{port}"
    raise RuntimeError(f"the server did not start: {log.read_text()}")
