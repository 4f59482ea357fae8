"""The Dockerfile, replayed without a container engine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.server import ROOT


@pytest.mark.slow
def test_dockerfile_makes_a_healthy_service(tmp_path: Path) -> None:
    """Every step of the Dockerfile succeeds, and what it makes answers its own health check and ends when told to."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)  # the image's user is not the one who builds it
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [sys.executable, "scripts/replay_dockerfile.py", str(tmp_path / "image"), "--build-arg", "TORCH_SOURCE="]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WORLDBOOK_", "VIRTUAL_ENV"))}
    ran = subprocess.run(
        [*command, "--port", port], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=1500
    )
    assert ran.returncode == 0, f"{ran.stdout[-5000:]}\n{ran.stderr[-5000:]}"
    assert ran.stdout.endswith("The image is healthy.\n")
