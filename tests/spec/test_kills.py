"""The real service with the default model, killed again and again while it imports and embeds."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from threading import Timer

import httpx
import pytest

from tests.end_to_end.server import Server, environment, serving
from tests.spec.asking import NOTHING_NEW, Json, entry, ok

WARES = ("copper pots", "dried fish", "salt", "rope", "lamp oil", "candles", "apples", "nails", "maps", "bells")
ENTRIES = [entry(f"Merchant {n}", f"Sells {WARES[n % 10]} at stall {n}.") for n in range(2000)]
FILE = json.dumps({"format": "worldbook", "version": 1, "book": {"name": "The market", "entries": ENTRIES}}).encode()
IMPORT_KILLS, BACKLOG_KILLS = 3, 7
DEADLINE = 900.0
"""Seconds for the backlog to get on between two kills, on a machine that is busy."""


def embedded_texts(folder: Path) -> int:
    """How many texts have vectors; the key of the table lets none have them twice."""
    with closing(sqlite3.connect(folder / "data" / "worldbook.db")) as database:
        count: int = database.execute("SELECT count(*) FROM vectors WHERE pieces > 0").fetchone()[0]
    return count


def the_market(client: httpx.Client) -> Json | None:
    """The book, which holds all entries in order, each once; None when the import did not get through."""
    books = ok(client.get("/v1/books"))["items"]
    if not books:
        return None
    [listed] = books
    book: Json = ok(client.get(f"/v1/books/{listed['id']}", params={"entries": True}))
    assert [found["id"] for found in book["entries"]] == list(range(1, 2001))
    assert [(found["title"], found["content"]) for found in book["entries"]] == [
        (written["title"], written["content"]) for written in ENTRIES
    ]
    return book


def import_it(client: httpx.Client) -> str:
    """The id of the book, imported now unless an earlier try got through."""
    book = the_market(client)
    if book is None:
        book = {"id": ok(client.post("/v1/books/import", content=FILE), 201)["book"]["id"]}
    found: str = book["id"]
    return found


def wait_for(client: httpx.Client, book: str, left: int) -> None:
    """Wait until so few entries wait for their vectors; each call waits a second at most."""
    deadline = time.monotonic() + DEADLINE
    while True:
        report = ok(client.post(f"/v1/books/{book}/import", params={"wait": True}, content=NOTHING_NEW))
        if report["pending_vectors"] <= left:
            return
        assert time.monotonic() < deadline, f"{report['pending_vectors']} entries still wait"


def kill(server: Server) -> None:
    """kill -9"""
    server.process.kill()
    server.process.wait()


@pytest.mark.slow
@pytest.mark.model
def test_ten_kills(tmp_path: Path) -> None:
    """B6: killed at ten random moments of an import of 2,000 entries, no entry is lost, none is doubled, no vector that
    was committed is made again, and the backlog finishes.
    """
    moments = Random(20261130)
    env = environment(tmp_path / "data", max_import_wait="1")
    for _ in range(IMPORT_KILLS):
        with serving(tmp_path, "serve", env=env) as server, httpx.Client(base_url=server.url, timeout=60) as client:
            timer = Timer(moments.uniform(0.0, 1.0), kill, [server])
            timer.start()
            with suppress(httpx.TransportError):
                import_it(client)
            timer.join()
    done = 0
    for left in sorted(moments.sample(range(50, 1950), BACKLOG_KILLS), reverse=True):
        with serving(tmp_path, "serve", env=env) as server, httpx.Client(base_url=server.url, timeout=60) as client:
            book = import_it(client)
            wait_for(client, book, left)
            kill(server)
        assert embedded_texts(tmp_path) >= max(done, 2000 - left)
        done = embedded_texts(tmp_path)
    with serving(tmp_path, "serve", env=env) as server, httpx.Client(base_url=server.url, timeout=60) as client:
        wait_for(client, book, 0)
        market = the_market(client)
        assert market is not None
        assert (market["version"], market["counts"]["pending_vectors"], market["counts"]["failed_vectors"]) == (1, 0, 0)
        assert {found["vectors"] for found in market["entries"]} == {"ready"}
        asked = {"query": "Quem vende velas?", "books": [book], "limit": 5}
        answer = ok(client.post("/v1/search", json=asked))
        assert answer["degraded"] == []
    assert embedded_texts(tmp_path) == 2000
