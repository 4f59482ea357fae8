"""What is said before anything is started: help, version, wrong usage, wrong settings."""

from __future__ import annotations

import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import click
import pytest

from service.cli import main
from tests.cli.conftest import Worldbook

HEAVY = ("httpx", "fastapi", "sqlalchemy", "pydantic", "numpy", "torch", "rich")
MACHINE_SLACK = 4
"""The goal of 0.4 s is of a free machine; a busy one may take a few times as long."""


def commands(group: click.Group, prefix: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, command in group.commands.items():
        found.append((*prefix, name))
        if isinstance(command, click.Group):
            found += commands(command, (*prefix, name))
    return found


def test_help_imports_nothing_heavy() -> None:
    """`--help` loads no package that takes long to load."""
    code = (
        "import sys; from service.cli import main; main(['--help'], standalone_mode=False);"
        f" print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert ran.stderr == "[]\n"
    assert "retrieve" in ran.stdout


def test_help_is_instant() -> None:
    """`worldbook --help` answers within 0.4 s, of which a bare interpreter is the smaller part."""
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "service.cli", "--help"], check=True, capture_output=True, cwd=Path(__file__).parents[2]
    )
    assert time.perf_counter() - began < 0.4 * MACHINE_SLACK


@pytest.mark.parametrize("command", commands(main), ids=" ".join)
def test_every_command_says_what_it_does(worldbook: Worldbook, command: tuple[str, ...]) -> None:
    """Every command explains itself, and its first line is whole in the list of commands."""
    said = worldbook(*command, "--help").out
    assert said.startswith("Usage: worldbook " + " ".join(command))
    first = said.splitlines()[2].strip()
    assert first.endswith((".", "…"))
    assert not first.endswith("...")


def test_version(worldbook: Worldbook) -> None:
    """`--version` names the program."""
    assert worldbook("--version").out.startswith("worldbook, version ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("entries", "show", "salt-gate"), "is no handle"),
        (("entries", "disable", "bakiru-1", "todane-2"), "entries of one book at a time"),
        (("entries", "move", "bakiru-1", "--to", "first"), "top, bottom, or a number from 0"),
        (("attach", "bakiru", "ilse"), "is no host"),
        (("retrieve", "--book", "x"), "Nothing was said"),
        (("retrieve", "-m", "hello"), "Nothing to read"),
        (("books", "list", "--url", "localhost:8420"), "is no address"),
        (("backup", "x.db", "--url", "http://127.0.0.1:9"), "--url is for --ndjson"),
        (("import", "-", "--mode", "replace"), "--mode needs --into"),
        (("import", "-", "--name", "x", "--into", "y"), "--name is for a new book"),
        (("books", "edit", "x"), "Nothing to change"),
        (("books", "lst"), "No such command"),
    ],
)
def test_wrong_usage_exits_with_2(worldbook: Worldbook, arguments: tuple[str, ...], said: str) -> None:
    """Wrong usage is told in one sentence on stderr, with exit code 2."""
    ran = worldbook(*arguments, code=2)
    assert said in " ".join(ran.err.split())
    assert ran.out == ""


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("WORLDBOOK_PORT", "many", "WORLDBOOK_PORT"),
        ("WORLDBOOK_PORT", "70000", "WORLDBOOK_PORT"),
        ("WORLDBOOK_CORS_ORIGINS", "https://app.example", "cors_origins"),
        ("WORLDBOOK_LOG_DAYS", "1e6", "WORLDBOOK_LOG_DAYS: Input should be less than or equal to 36500"),
        ("WORLDBOOK_STATE_DAYS", "1e6", "WORLDBOOK_STATE_DAYS: Input should be less than or equal to 36500"),
        ("WORLDBOOK_EMBED_TIMEOUT", "1e10", "WORLDBOOK_EMBED_TIMEOUT: Input should be less than or equal to 3600"),
        ("WORLDBOOK_EMBED_TIMEOUT", "nan", "WORLDBOOK_EMBED_TIMEOUT: Input should be a finite number"),
    ],
)
def test_wrong_setting_is_named(
    worldbook: Worldbook, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    """A setting that is wrong is told by its name, with exit code 1 and no traceback."""
    monkeypatch.setenv(variable, value)
    ran = worldbook("books", "list", code=1)
    assert said in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", ["gpt-4o", "o200k_base"])
def test_a_tokenizer_that_cannot_count(worldbook: Worldbook, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """T07: a tokenizer that is none, or whose vocabulary is not on this machine, is refused before anything starts."""
    monkeypatch.setattr("service.tokenizers._at_hand", lambda _: False)
    monkeypatch.setenv("WORLDBOOK_TOKENIZER", name)
    for command in (("books", "list"), ("serve", "--port", "0"), ("doctor",)):
        said = worldbook(*command, code=1).err
        assert f"WORLDBOOK_TOKENIZER: '{name}'" in said
        assert "one of cl100k_base, or" in said


def test_unreachable_service(worldbook: Worldbook) -> None:
    """An address where nothing answers is told plainly, with what to do."""
    ran = worldbook("books", "list", "--url", "http://127.0.0.1:9", code=1)
    assert "no service answers at http://127.0.0.1:9" in ran.err
    assert "worldbook serve" in ran.err


def test_another_kind_of_service(worldbook: Worldbook) -> None:
    """An address where something else answers is told as such, not as a failure to read its body."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        Thread(target=other.serve_forever, daemon=True).start()
        try:
            ran = worldbook("books", "list", "--url", f"http://127.0.0.1:{other.server_port}", code=1)
        finally:
            other.shutdown()
    assert "that is no Worldbook service" in ran.err


@pytest.mark.parametrize("url", ["http://localhost:port", "http://[::1"])
def test_an_address_that_is_none(worldbook: Worldbook, url: str) -> None:
    """An address that cannot be one is told with what to do."""
    ran = worldbook("books", "list", "--url", url, code=1)
    assert f"'{url}' is no address" in ran.err
    assert "WORLDBOOK_URL" in ran.err


@pytest.mark.parametrize(
    "arguments",
    [("books", "list"), ("import", "{file}"), ("restore", "{file}"), ("backup", "--ndjson", "{file}.lines")],
    ids=str,
)
def test_a_page_where_the_service_should_be(worldbook: Worldbook, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A web page that answers in place of the service is told as such."""
    file = tmp_path / "x.json"
    file.write_text("{}")

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>Hello.</html>")

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Nothing to tell."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as other:
        Thread(target=other.serve_forever, daemon=True).start()
        given = [each.format(file=file) for each in arguments]
        try:
            ran = worldbook(*given, "--url", f"http://127.0.0.1:{other.server_port}", code=1)
        finally:
            other.shutdown()
    assert "that is no Worldbook service" in ran.err
