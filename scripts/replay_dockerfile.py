"""Replay a Dockerfile in a folder, without a container engine: `python scripts/replay_dockerfile.py FOLDER`.

FROM becomes a virtual environment, absolute paths become paths under FOLDER, COPY, RUN, ENV, ARG and WORKDIR do what
they say there, USER takes effect when this runs as root. In the end CMD is started and HEALTHCHECK asked until it is
content, then CMD is told to end. `--build-arg NAME=VALUE` as for docker build. Commands must name files by relative
paths or by ENV, so that nothing outside FOLDER is touched.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEALTHY_WITHIN_SECONDS = 120
NOBODY = 65534


@dataclass
class Image:
    """What the steps so far have made."""

    root: Path
    python: str
    python_for_all: bool
    arguments: Mapping[str, str]
    environment: dict[str, str] = field(default_factory=dict)
    folder: Path = Path("/")
    user: int | None = None
    command: list[str] = field(default_factory=list)
    health: str = ""

    def inside(self, path: str) -> Path:
        """The place under the root of an absolute path, or of one relative to WORKDIR."""
        return self.root / (self.folder / path).relative_to("/")

    def run(self, command: list[str]) -> subprocess.Popen[bytes]:
        print("$", shlex.join(command), flush=True)
        environment = {**os.environ, **self.environment}
        return subprocess.Popen(command, cwd=self.inside("."), env=environment, user=self.user)  # noqa: S603 - our own Dockerfile

    def shell(self, command: str) -> int:
        return self.run(["/bin/sh", "-c", command]).wait()


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Instruction and rest of each step; comments dropped, continued lines joined."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for line in lines.replace("\\\n", " ").splitlines():
        if line.strip():
            instruction, _, rest = line.strip().partition(" ")
            yield instruction.upper(), rest.strip()


def take(image: Image, instruction: str, rest: str) -> None:
    """One step. Raises SystemExit on a step that fails or that this script does not know."""
    match instruction:
        case "FROM":
            subprocess.run([image.python, "-m", "venv", image.inside("/venv")], check=True)  # noqa: S603
            image.environment["PATH"] = f"{image.inside('/venv/bin')}{os.pathsep}{os.environ['PATH']}"
            image.environment["HOME"] = str(image.root)
        case "ARG" | "ENV":
            name, _, value = rest.partition("=")
            value = "".join(shlex.split(value))
            if instruction == "ARG":
                value = image.arguments.get(name, value)
            image.environment[name] = str(image.inside(value)) if value.startswith("/") else value
        case "WORKDIR":
            image.folder = Path(rest)
            image.inside(".").mkdir(parents=True, exist_ok=True)
        case "COPY":
            *sources, target = rest.split()
            for source in sources:
                _copy(ROOT / source, image.inside(target) / (Path(source).name if target.endswith("/") else ""))
        case "RUN":
            if image.shell(rest):
                raise SystemExit(f"failed: RUN {rest}")
        case "USER":
            if image.python_for_all:
                image.user = int(rest.partition(":")[0])
            else:
                print("left out: only root can change the user, and only to one who can run this Python")
        case "CMD":
            image.command = json.loads(rest)
        case "HEALTHCHECK":
            image.health = re.split(r"\bCMD\b", rest, maxsplit=1)[1].strip()
        case "VOLUME" | "EXPOSE":
            pass
        case _:
            raise SystemExit(f"this script does not know {instruction}")


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _python_for_all() -> str | None:
    """A Python that another user can run as well: root's own may lie in a folder that only root can enter."""
    for python in (sys.executable, "/usr/bin/python3"):
        wanted = "import sys, ensurepip; sys.exit(sys.version_info < (3, 11))"
        try:
            if os.getuid() == 0 and not subprocess.run([python, "-c", wanted], user=NOBODY, check=False).returncode:  # noqa: S603
                return python
        except OSError:
            continue
    return None


def check(image: Image) -> None:
    """Start the command and wait until the health check is content. Raises SystemExit when it never is."""
    process = image.run(image.command)
    deadline = time.monotonic() + HEALTHY_WITHIN_SECONDS
    try:
        while image.shell(image.health):
            if process.poll() is not None:
                raise SystemExit(f"CMD ended with {process.returncode}")
            if time.monotonic() > deadline:
                raise SystemExit("HEALTHCHECK never was content")
            time.sleep(1)
    finally:
        process.terminate()
        code = process.wait()
    if code:
        raise SystemExit(f"told to end, CMD ended with {code}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--build-arg", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--port", help="Listen there instead of the port that the Dockerfile names.")
    given = parser.parse_args()
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    if given.port:
        text = text.replace("8420", given.port)
    arguments = dict(pair.split("=", 1) for pair in given.build_arg)
    python = _python_for_all()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    image = Image(folder, python or sys.executable, python is not None, arguments)
    for instruction, rest in steps(text):
        print(instruction, rest, flush=True)
        take(image, instruction, rest)
    check(image)
    print("The image is healthy.")


if __name__ == "__main__":
    main()
