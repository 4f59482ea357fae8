"""The database is the truth: nothing else is kept on disk, and no book answers for another."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import ask, embedded, entry, fetch, find, in_full, new_book, ok, prompt
from tests.spec.conftest import Serving

ROOT = Path(__file__).parents[2]
SECRET = "The quicksilver bell rings under the harbour at midnight."
FILL = " Nothing else of it was ever written down." * 20


def test_only_the_database_is_on_disk(serving: Serving, tmp_path: Path) -> None:
    """V18: after imports, edits, retrievals and restarts there is one database on disk, and no index file beside it."""
    for start in range(2):
        with serving() as client:
            book = embedded(client, new_book(client, entry("Bell", SECRET), name=f"V18 {start}"))
            ok(client.patch(f"/v1/books/{book}/entries/1", json={"gist": "rings"}))
            assert find(client, SECRET, books=[book]) == ["Bell"]
            assert in_full(ask(client, "Bell?", books=[book])) == ["Bell"]
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert "data/worldbook.db" in left
    assert left <= {"data/worldbook.db", "data/worldbook.db-wal", "data/worldbook.db-shm"}


def test_what_is_derived_is_made_again(serving: Serving, tmp_path: Path) -> None:
    """V18: vectors that are lost from the database are made again, and no entry answers with another's text."""
    with serving() as client:
        book = embedded(client, new_book(client, *(entry(f"N{n}", f"Merchant {n}.{FILL}") for n in range(9))))
        ok(client.post(f"/v1/books/{book}/entries", json=entry("Bell", SECRET + FILL)), 201)
        embedded(client, book)
        before = ask(client, SECRET, books=[book], budget_tokens=900, trace="full")
    with closing(sqlite3.connect(tmp_path / "data" / "worldbook.db")) as database:
        database.execute("DELETE FROM vectors WHERE rowid % 2 = 0")
        database.commit()
    with serving() as client:
        embedded(client, book)
        after = ask(client, SECRET, books=[book], budget_tokens=900, trace="full")
    assert {**after, "run": None, "scope": None} == {**before, "run": None, "scope": None}
    assert in_full(after)[0] == "Bell"


@pytest.mark.parametrize("damage", [lambda data: data[:2000], lambda _: b"no database", lambda data: data[4096:]])
def test_a_damaged_database_is_refused(serving: Serving, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    """V18: a truncated or foreign database file is refused at the start with a reason, and left as it is."""
    with serving() as client:
        embedded(client, new_book(client, entry("Bell", SECRET)))
    file = tmp_path / "data" / "worldbook.db"
    file.write_bytes(damage(file.read_bytes()))
    found = file.read_bytes()
    with pytest.raises(Exception, match=r"(?i)database|schema"), serving():
        pass
    assert file.read_bytes() == found


def test_books_that_are_not_attached(client: TestClient) -> None:
    """S04: what a request does not attach reaches it by no path, though names and meaning fit."""
    secret = embedded(client, new_book(client, entry("The Bell", SECRET + FILL, aliases=["Glocke"])))
    book = embedded(client, new_book(client, *(entry(f"N{n}", f"Merchant {n}.{FILL}") for n in range(9))))
    answer = ask(client, f"The Bell? Glocke! {SECRET}", books=[book], trace="full", budget_tokens=900)
    got = fetch(client, "The Bell", "Glocke", f"{secret}-1", books=[book])
    seen = (
        f"{prompt(answer)} {answer['sections']} {answer['rest']} {got['entries']} {find(client, SECRET, books=[book])}"
    )
    assert "Bell" not in seen.replace("'name': 'The Bell'", "")
    assert "quicksilver" not in f"{seen} {got}"
    assert [each["name"] for each in got["missing"]] == ["The Bell", "Glocke", f"{secret}-1"]


def test_no_pickle() -> None:
    """V22: nothing that is read can run code: no pickle, marshal, shelve or joblib, and arrays only without objects."""
    danger = re.compile(
        r"\b(pickle|cPickle|dill|marshal|shelve|joblib)\b|allow_dangerous|allow_pickle\s*=\s*True|weights_only\s*=\s*False"
        r"|trust_remote_code\s*=\s*True|\btorch\.load\(|yaml\.(unsafe_)?load\("
    )
    sources = [path for folder in ("service", "embeddings") for path in (ROOT / folder).rglob("*.py")]
    assert len(sources) > 50
    assert {str(path): found[0] for path in sources if (found := danger.search(path.read_text("utf-8")))} == {}
