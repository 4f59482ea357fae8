"""The Dockerfile, replayed without a container engine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.server import ROOT


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that the image's user can enter too, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.slow
def test_dockerfile_makes_a_healthy_service(public_folder: Path) -> None:
    """Every step of the Dockerfile succeeds, and what it makes answers its own health check and ends when told to."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    folder = str(public_folder / "image")
    command = [sys.executable, "scripts/replay_dockerfile.py", folder, "--build-arg", "TORCH_SOURCE="]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WORLDBOOK_", "VIRTUAL_ENV"))}
    ran = subprocess.run(
        [*command, "--port", port], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=1500
    )
    assert ran.returncode == 0, f"{ran.stdout[-5000:]}\n{ran.stderr[-5000:]}"
    assert ran.stdout.endswith("The image is healthy.\n")
