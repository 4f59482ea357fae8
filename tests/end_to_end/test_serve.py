"""The real server: start, first retrieval, clear refusals, a clean end."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import httpx
import pytest

from tests.end_to_end.server import Server, environment, serving


def test_demo_shows_a_first_retrieval(demo: Server) -> None:
    """`make run` shows canon, named, matched and index with reasons and costs, and where the docs are."""
    assert "Imported The Salt Coast" in demo.said
    assert "93 entries added" in demo.said
    for part in ("canon: ", "named: ", "index: "):
        assert f"\n{part}" in demo.said
    assert "“Porta de Sal” stands in message 5" in demo.said
    assert "tokens" in demo.said
    assert f"{demo.url}/docs" in demo.said
    assert httpx.get(f"{demo.url}/docs").status_code == 200


def test_demo_attaches_the_sample(demo: Server) -> None:
    """W11: the sample book is attached to character:ilse, so that the first request of an app already works."""
    asked = {"hosts": ["character:ilse"], "messages": [{"role": "user", "content": "Porta de Sal?"}]}
    answer = httpx.post(f"{demo.url}/v1/retrieve", json=asked).json()
    assert [entry["title"] for entry in answer["sections"]["named"]["entries"]] == ["The Salt Gate"]


def test_second_start_imports_nothing(tmp_path: Path) -> None:
    """A second `demo` finds its book, imports nothing, and both end cleanly on Ctrl-C and SIGTERM."""
    env = environment(tmp_path / "data", model="hashing")
    with serving(tmp_path, "demo", env=env) as first:
        assert "Imported" in first.said
        assert first.interrupt() == 0
    with serving(tmp_path, "demo", env=env) as second:
        assert "Imported" not in second.said
        assert len(httpx.get(f"{second.url}/v1/books").json()["items"]) == 1
        second.process.send_signal(signal.SIGTERM)
        assert second.process.wait(30) == 0
    [warning] = (tmp_path / "stderr").read_text().splitlines()
    assert "worldbook calibrate" in warning


def refused(folder: Path, *arguments: str, **settings: str) -> str:
    """What `worldbook serve` says when it does not start."""
    command = [sys.executable, "-m", "service.cli", "serve", *arguments]
    env = environment(folder / "data", model="hashing", **settings)
    ran = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    return ran.stderr


def test_port_in_use(tmp_path: Path) -> None:
    """A port in use is told by its number."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"port {port} of 127.0.0.1 is in use" in refused(tmp_path, "--port", str(port))


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_other_machines_are_kept_out(tmp_path: Path, host: str) -> None:
    """An address that other machines can reach is refused with the reason, unless --insecure is said."""
    said = refused(tmp_path, "--host", host, "--port", "0")
    assert "can be reached from other machines" in said
    assert "--insecure" in said


def test_insecure_serves(tmp_path: Path) -> None:
    """With --insecure it listens on every address, says which names it answers to, and answers."""
    env = environment(tmp_path / "data", model="hashing")
    with serving(tmp_path, "serve", "--host", "0.0.0.0", "--insecure", env=env) as server:
        assert "WORLDBOOK_ALLOWED_HOSTS" in server.said
        assert httpx.get(f"{server.url}/healthz").status_code == 200


def test_locked_database(tmp_path: Path) -> None:
    """A database that another program keeps locked is told plainly."""
    env = environment(tmp_path / "data", model="hashing")
    migrate = [sys.executable, "-m", "service.cli", "migrate"]
    subprocess.run(migrate, env=env, cwd=tmp_path, check=True, capture_output=True)
    file = tmp_path / "data" / "worldbook.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("UPDATE alembic_version SET version_num = version_num")
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE alembic_version SET version_num = version_num")
        said = refused(tmp_path, "--port", "0", database_url=f"sqlite:///{file}?timeout=0.2")
    assert "locked" in said


def test_commands_on_a_running_service(demo: Server, tmp_path: Path) -> None:
    """With --url a command works on the service that runs there, and sees its problems the same way."""
    command = [sys.executable, "-m", "service.cli", "books", "show", "The Salt Coast", "--url", demo.url]
    env = environment(tmp_path / "data")
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert "93 entries" in ran.stdout
    command[-3] = "No Such Book"
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "no book has the id or the name" in ran.stderr
    assert not (tmp_path / "data").exists()


def test_a_backup_over_the_network(demo: Server, tmp_path: Path) -> None:
    """Backup: with --url a running service is backed up into a file, which is whole, and restored from it."""
    env = environment(tmp_path / "data")
    file = tmp_path / "all.ndjson"

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "service.cli", *arguments, "--url", demo.url]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    assert "Wrote" in run("backup", "--ndjson", str(file))
    first, *_, last = file.read_bytes().splitlines()
    books = len(httpx.get(f"{demo.url}/v1/books", params={"limit": 200}).json()["items"])
    assert (json.loads(first)["format"], json.loads(last)["end"]["books"]) == ("worldbook-backup", books)
    assert f"0 books restored, {books} there already" in run("restore", str(file))
    assert [each.name for each in tmp_path.iterdir()] == ["all.ndjson"]


@pytest.mark.model
def test_lore_answers_a_french_chat(tmp_path: Path) -> None:
    """W7, W14: with the default model, a French chat finds the Japanese entry on salt lung by meaning."""
    machine = environment(tmp_path / "data")
    with serving(tmp_path, "demo", env=machine) as server:
        messages = json.loads(files("service.sample").joinpath("chat.json").read_bytes())
        asked = {"hosts": ["character:ilse"], "messages": messages}
        answer = httpx.post(f"{server.url}/v1/retrieve", json=asked, timeout=60).json()
    sections = answer["sections"]
    assert answer["degraded"] == []
    assert "The Salt Gate" in [entry["title"] for entry in sections["named"]["entries"]]
    assert "塩肺" in [entry["title"] for entry in sections["matched"]["entries"]]
    assert sections["index"]["lines"] > 0
