"""Commands run in this process, on a database of their own, with the instant embedder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from service.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Worldbook = Callable[..., Ran]


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the machine and its .env stay out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORLDBOOK_URL", raising=False)
    monkeypatch.setenv("WORLDBOOK_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("WORLDBOOK_MODEL", "hashing")


@pytest.fixture
def worldbook() -> Worldbook:
    """`worldbook ARGUMENTS`; it is to succeed unless another exit code is said."""

    def run(*arguments: str, code: int = 0, input: str | None = None) -> Ran:
        result = CliRunner().invoke(main, arguments, input=input, prog_name="worldbook")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return Ran(result.exit_code, result.stdout, result.stderr)

    return run
