"""The few words in which the tests speak of full backups, and how one is broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fastapi.testclient import TestClient

from tests.spec.asking import ok, read_book

Lines = list[dict[str, Any]]


def saved(client: TestClient, **options: Any) -> bytes:
    answer = client.get("/v1/backup", params=options)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert int(answer.headers["content-length"]) == len(answer.content)
    return answer.content


def restored(client: TestClient, file: bytes, status: int = 200) -> Any:
    return ok(client.post("/v1/restore", content=file), status)


def lines(file: bytes) -> Lines:
    return [json.loads(line) for line in file.splitlines()]


def packed(given: Lines) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in given).encode()


def counted(given: Lines) -> bytes:
    """The lines with their true counts in the last one."""
    counts: dict[str, int] = {}
    for line in given[1:-1]:
        counts[line["table"]] = counts.get(line["table"], 0) + 1
    return packed([*given[:-1], {"end": counts}])


def body(file: bytes) -> list[bytes]:
    """The lines without those that have the time of a service's own: the first, and the spaces."""
    return [line for line in file.splitlines()[1:] if not line.startswith(b'{"table":"spaces"')]


def everything(client: TestClient) -> list[Any]:
    """All that an author sees."""
    books = ok(client.get("/v1/books"))["items"]
    hosts = ok(client.get("/v1/hosts"))["items"]
    resolved = [ok(client.get(f"/v1/hosts/{host['kind']}/{host['key']}/books")) for host in hosts]
    return [*(read_book(client, book["id"]) for book in books), hosts, resolved]


def broken(line: int, **row: Any) -> Callable[[Lines], bytes]:
    """Row number `line` with other values."""

    def change(given: Lines) -> bytes:
        given[line]["row"].update(row)
        return packed(given)

    return change


def place(given: Lines, table: str) -> int:
    return next(number for number, line in enumerate(given) if line.get("table") == table)


def with_row(table: str, **row: Any) -> Callable[[Lines], bytes]:
    """The first row of the table with other values."""
    return lambda given: broken(place(given, table), **row)(given)


def twice(table: str) -> Callable[[Lines], bytes]:
    """The first row of the table stands there twice."""
    return lambda given: counted(
        [*given[: place(given, table)], given[place(given, table)], *given[place(given, table) :]]
    )


def without(*tables: str) -> Callable[[Lines], bytes]:
    """All rows of the tables are missing."""
    return lambda given: counted([line for line in given if line.get("table") not in tables])
