"""Preview is live retrieval that records nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.lore import retrieval
from tests.spec.asking import Json, answered_bytes, ask, attach, canon, embedded, entry, new_book, ok, said, statuses
from tests.spec.conftest import Serving

BODY = "Nobody on the coast remembers who built it first, or why. " * 8
WORLD = [canon("Law"), canon("Wards", BODY * 4), entry("Off", enabled=False), *(entry(f"E{n}", BODY) for n in range(9))]
BODIES: list[Json] = [
    {},
    {"budget_tokens": 700},
    {"budget_tokens": 700, "canon_tokens": 60, "index": "all"},
    {"budget_tokens": 0, "index": "none"},
    {"budget_tokens": 700, "tools": False, "places": 2, "exclude": ["{book}-4"]},
    {"budget_tokens": 700, "model": "claude-opus-4"},
]


@pytest.fixture(scope="module")
def book(client: TestClient) -> str:
    return embedded(client, new_book(client, *WORLD))


@pytest.mark.parametrize("fields", BODIES)
def test_the_same_as_live(client: TestClient, book: str, fields: Json) -> None:
    """W15: a preview is exactly what a retrieval told in full is, byte for byte, whatever is asked."""
    asked = {"messages": said("E3?", ("assistant", "No, E5."), "Who built it?"), "books": [book], **fields}
    asked["exclude"] = [handle.format(book=book) for handle in fields.get("exclude", [])]
    live = answered_bytes(client, {**asked, "trace": "full", "texts": "sections"})
    assert answered_bytes(client, asked, "preview") == live
    assert ok(client.post("/v1/retrieve", json=asked))["prompt"] == ok(client.post("/v1/preview", json=asked))["prompt"]


def test_one_function(client: TestClient, book: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """W15: both answer what the one function of the domain decides, so a change of it changes both."""
    decide = retrieval.decide
    calls: list[retrieval.Prepared] = []

    def only_canon(prepared: retrieval.Prepared, *_: Any) -> Any:
        calls.append(prepared)
        return decide(retrieval.prepare(prepared.shelf.books[:0], prepared.request, prepared.shelf.tokenizer, NONE))

    monkeypatch.setattr(retrieval, "decide", only_canon)
    for route in ("retrieve", "preview"):
        answer = ask(client, "E3?", books=[book], route=route)
        assert (answer["prompt"]["stable"]["text"], answer["books"]) == ("", [])
    assert len(calls) == 2


NONE = retrieval.Defaults(budget_tokens=0, places=0)


def test_what_an_author_reads(client: TestClient, book: str) -> None:
    """W15: a preview tells what would be injected, what would only be indexed, and which canon is over budget."""
    answer = ask(client, "E3?", books=[book], route="preview", budget_tokens=700, canon_tokens=60, places=0)
    assert answer["sections"]["canon"]["text"].startswith("# Canon: ")
    assert answer["sections"]["named"]["text"].startswith("# Named in the conversation\n## E3 ")
    assert [left["title"] for left in answer["over_budget"]] == ["Wards"]
    assert {title for title, status in statuses(answer).items() if status == "indexed"} == {
        f"E{n}" for n in range(9) if n != 3
    }
    assert statuses(answer)["Off"] == "disabled"
    assert (answer["run"]["request_id"], answer["degraded"]) == (None, [])


def dumped(folder: Path) -> list[str]:
    """Every row of every table."""
    with closing(sqlite3.connect(folder / "data" / "worldbook.db")) as database:
        return list(database.iterdump())


@pytest.mark.parametrize("hosted", [True, False])
def test_nothing_is_recorded(serving: Serving, tmp_path: Path, hosted: bool) -> None:
    """W15: after previews every table of the database is as it was, also for hosts that nobody declared."""
    with serving() as client:
        book = embedded(client, new_book(client, *WORLD))
        if hosted:
            attach(client, "conversation:w15", book)
            attach(client, "character:w15", book)
        before = dumped(tmp_path)
        assert any("Who built" not in row and "Nobody on the coast" in row for row in before)
        for turn in range(3):
            ask(
                client, "E3? Who built it?", books=[book], hosts=["character:w15"], conversation="w15", turn=turn,
                route="preview", budget_tokens=700,
            )  # fmt: skip
        assert dumped(tmp_path) == before


def test_a_preview_has_no_id(client: TestClient, book: str) -> None:
    """W15: a live retrieval has a request id, a preview none, for it is not a request that happened."""
    live, preview = (ask(client, "Hm.", books=[book], route=route) for route in ("retrieve", "preview"))
    assert live["run"]["request_id"].startswith("rq_")
    assert preview["run"]["request_id"] is None
