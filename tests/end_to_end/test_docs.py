"""The README and the pages of docs/ are true: every block marked as Python or shell is run against a real service."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.server import ROOT, Server, environment

BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DEFAULT_ADDRESS = "http://127.0.0.1:8420"
RUNNERS = {"python": [sys.executable, "-W", "error", "-c"], "sh": ["/bin/sh", "-euc"]}


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks() -> Iterator[tuple[str, str, str]]:
    """Name, language and text of every block that can be run."""
    for page in pages():
        for number, (language, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1):
            if language in RUNNERS:
                yield f"{page.relative_to(ROOT)}:{number}", language, text


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `worldbook`, also where the package is not installed."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "worldbook"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m service.cli "$@"\n')
    script.chmod(0o755)
    return folder


@pytest.mark.parametrize(("language", "text"), [pytest.param(*rest, id=name) for name, *rest in blocks()])
def test_block_runs(demo: Server, programs: Path, tmp_path: Path, language: str, text: str) -> None:
    """The block does its work without an error, as it is printed, against a service with the sample world; Python,
    which one tries in an editor, also when it is run again.
    """
    env = environment(tmp_path / "data", model="hashing")
    env["PATH"] = f"{programs}:{env['PATH']}"
    command = [*RUNNERS[language], text.replace(DEFAULT_ADDRESS, demo.url)]
    for _ in range(2 if language == "python" else 1):
        ran = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"


def test_readme_is_run() -> None:
    """The README shows the integration in Python and in shell, and the author's round, as blocks that are run."""
    readme = [(language, text) for name, language, text in blocks() if name.startswith("README")]
    assert {language for language, _ in readme} == {"python", "sh"}
    assert any("worldbook preview" in text for _, text in readme)


def test_settings_page_is_complete() -> None:
    """docs/settings.md lists every setting with its default and its meaning."""
    command = [sys.executable, "scripts/write_settings.py", "--check"]
    env = environment(ROOT)
    ran = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_links_lead_somewhere() -> None:
    """Every relative link of the pages names a file that is there."""
    for page in pages():
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
