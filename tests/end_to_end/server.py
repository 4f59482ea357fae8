"""The real service as a process of its own, on a free port and with a folder of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ADDRESS = re.compile(r"Worldbook runs at (http://\S+?),")


@dataclass(frozen=True)
class Server:
    """A service that answers."""

    url: str
    said: str
    """What it printed until it was ready."""
    process: subprocess.Popen[str]

    def interrupt(self) -> int:
        """Ctrl-C; its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)


def environment(data: Path, **settings: str) -> dict[str, str]:
    """The environment without settings of this machine, with these."""
    machine = {name: value for name, value in os.environ.items() if not name.startswith("WORLDBOOK_")}
    own = {f"WORLDBOOK_{name.upper()}": value for name, value in settings.items()}
    return {**machine, "WORLDBOOK_DATA_DIR": str(data), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **own}


@contextmanager
def serving(folder: Path, *arguments: str, env: Mapping[str, str]) -> Iterator[Server]:
    """`worldbook ARGUMENTS --port 0`, from the moment it says where it runs. Fails with its output when it ends."""
    command = [sys.executable, "-m", "service.cli", *arguments, "--port", "0"]
    with (folder / "stderr").open("w+") as errors:
        process = subprocess.Popen(command, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert process.stdout is not None
        try:
            said = ""
            while not (address := ADDRESS.search(said)):
                line = process.stdout.readline()
                assert line, f"{said}\n{(folder / 'stderr').read_text()}"
                said += line
            yield Server(address[1], said, process)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
