"""Without its model, or with half of its vectors, the service answers what it can and says what is missing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from embeddings.embedder import Embedder, EmbedderError, TextError, Vectors
from service.actions import retrieving
from service.actions.runtime import Runtime
from service.lore.queries import Query
from tests.spec.asking import (
    Json,
    ask,
    canon,
    embedded,
    entry,
    fetch,
    find,
    framed,
    in_full,
    index_lines,
    new_book,
    ok,
    read_book,
    titles,
)
from tests.spec.conftest import Serving
from tests.spec.embedders import LONG, Scripted, nothing, refuse

BODY = "Nobody on the coast remembers who built it first, or why. " * 12
WORLD = [
    canon("Law", "Drown nobody."),
    entry("Gate", BODY, aliases=["塩の門"]),
    *(entry(f"Place {n}", BODY) for n in range(8)),
]
QUESTION = "Who built the 塩の門?"


class Trouble:
    """An embedder that is in trouble until it recovers."""

    def __init__(self) -> None:
        self.scripted = Scripted()
        self.recovered = threading.Event()

    def missing(self) -> Embedder:
        """No model where the settings say."""
        if not self.recovered.is_set():
            raise EmbedderError("no model in this folder")
        return self.scripted

    def crashing(self) -> Embedder:
        """A library that fails in its own way."""
        if not self.recovered.is_set():
            raise MemoryError("out of memory")
        return self.scripted

    def loading(self) -> Embedder:
        """A model that takes long to load."""
        assert self.recovered.wait(LONG)
        return self.scripted

    def failing(self) -> Embedder:
        return self._answering(refuse)

    def empty(self) -> Embedder:
        return self._answering(nothing)

    def stuck(self) -> Embedder:
        def late(vectors: Vectors) -> Vectors:
            assert self.recovered.wait(LONG)
            return vectors

        return self._answering(late)

    def _answering(self, trouble: Callable[[Vectors], object]) -> Embedder:
        self.scripted.answers = lambda vectors: vectors if self.recovered.is_set() else trouble(vectors)
        return self.scripted


@pytest.fixture
def trouble() -> Trouble:
    return Trouble()


KINDS = [
    # how, the seconds that a retrieval waits, what it says then
    ("missing", LONG, "embedder_unavailable", "no model in this folder"),
    ("crashing", LONG, "embedder_unavailable", "MemoryError: out of memory"),
    ("loading", 0.05, "timeout", "no query vectors within 0.05 s"),
    ("failing", LONG, "embedder_unavailable", "out of order"),
    ("empty", LONG, "embedder_unavailable", "shape (0,) for 1 texts"),
    ("stuck", 0.05, "timeout", "no query vectors within 0.05 s"),
]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("how", "seconds", "kind", "detail"), KINDS, ids=[row[0] for row in KINDS])
def test_an_embedder_in_trouble(
    serving: Serving, trouble: Trouble, how: str, seconds: float, kind: str, detail: str
) -> None:
    """B6, C10: with a model that is missing, failing, empty-handed or late, canon, named and index still answer, with
    the reason; and when the model recovers the next answers are whole.
    """
    with serving(load=getattr(trouble, how), embed_timeout=seconds) as client:
        book = new_book(client, *WORLD)
        answer = ask(client, QUESTION, books=[book], budget_tokens=900)
        assert in_full(answer) == ["Law", "Gate"]
        assert len(index_lines(answer)) == 8
        assert [why["kind"] for why in answer["degraded"]] == [kind]
        assert detail in answer["degraded"][0]["detail"]
        searched = ok(client.post("/v1/search", json={"query": "Is the Gate open?", "books": [book]}))
        assert [item["title"] for item in searched["items"]] == ["Gate"]
        assert kind in {why["kind"] for why in searched["degraded"]}
        assert fetch(client, "Place 3", books=[book])["entries"][0]["content"] == BODY
        trouble.recovered.set()
        embedded(client, book)
        whole = recovered(client, book)
        assert whole["degraded"] == []
        assert len(titles(whole, "matched")) == 2
        assert whole["prompt"]["stable"] == answer["prompt"]["stable"]


def recovered(client: TestClient, book: str) -> Json:
    """The first answer that is not degraded: on a busy machine the small limit may pass once more."""
    for _ in range(100):
        answer = ask(client, QUESTION, books=[book], budget_tokens=900, places=2)
        if not answer["degraded"]:
            break
    return answer


def test_a_retrieval_that_waits_for_the_model(
    serving: Serving, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B6: books that were opened before the model was loaded answer to names, though the messages have vectors."""
    understand = retrieving.understand

    def loaded_meanwhile(runtime: Runtime, queries: Sequence[Query]) -> object:
        trouble.recovered.set()
        return understand(runtime, queries)

    monkeypatch.setattr(retrieving, "understand", loaded_meanwhile)
    with serving(load=trouble.loading) as client:
        book = new_book(client, *WORLD)
        answer = ask(client, QUESTION, books=[book], budget_tokens=900)
        assert in_full(answer) == ["Law", "Gate"]
        assert [(why["kind"], why["count"]) for why in answer["degraded"]] == [("vectors_pending", 10)]
        embedded(client, book)
        assert recovered(client, book)["degraded"] == []


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("how", ["missing", "failing", "stuck"])
def test_what_goes_whole_needs_no_model(serving: Serving, trouble: Trouble, how: str) -> None:
    """B6: a retrieval that compares nothing is whole without a model."""
    with serving(load=getattr(trouble, how), embed_timeout=0.05) as client:
        answer = ask(client, "Hm.", books=[new_book(client, canon("Law"), entry("Gate"))])
        assert (in_full(answer), answer["degraded"]) == (["Law", "Gate"], [])
        trouble.recovered.set()


def test_a_book_that_is_half_embedded(serving: Serving) -> None:
    """B6: what has vectors is found by meaning, what waits for them by its names, and the answer counts what waits."""
    scripted = Scripted()
    with serving(load=lambda: scripted) as client:
        book = embedded(client, new_book(client, *WORLD))
        find(client, QUESTION, books=[book])
        scripted.holds = lambda text: "Late" in text
        late = [entry("Late 1", BODY), entry("Late 2", BODY), canon("Late 3", "x"), entry("Late 4", enabled=False)]
        ok(client.post(f"/v1/books/{book}/entries", json=late), 201)
        assert scripted.held.wait(LONG)
        answer = ask(client, QUESTION, books=[book], budget_tokens=900, places=1)
        assert (titles(answer, "named"), len(titles(answer, "matched"))) == (["Gate"], 1)
        [why] = answer["degraded"]
        assert (why["kind"], why["book"], why["count"]) == ("vectors_pending", book, 3)
        assert why["detail"].startswith("embedding: 3 of 13 entries wait")
        assert answer["books"][0]["pending_vectors"] == 3
        counts = read_book(client, book)["counts"]
        assert (counts["entries"], counts["enabled"], counts["pending_vectors"]) == (14, 13, 4), "the disabled too"
        scripted.release.set()
        embedded(client, book)
        assert ask(client, QUESTION, books=[book], budget_tokens=900)["degraded"] == []


def spaces(folder: Path) -> list[int]:
    """How many texts have vectors in each space."""
    with closing(sqlite3.connect(folder / "data" / "worldbook.db")) as database:
        return sorted(n for (n,) in database.execute("SELECT count(*) FROM vectors GROUP BY space_id"))


def test_another_model(serving: Serving, tmp_path: Path, backlog_begins: Callable[[TestClient], None]) -> None:
    """V05, V06, V08: over the vectors of another model, of another dimension, names answer, the answer says how many
    entries wait, the old vectors stay, and the way back embeds nothing.
    """
    with serving(load=Scripted) as client:
        backlog_begins(client)
        book = embedded(client, new_book(client, *WORLD))
        before = ask(client, QUESTION, books=[book], budget_tokens=900, places=2)
        assert len(titles(before, "matched")) == 2
    with serving(load=lambda: Scripted(dimension=64)) as client:
        during = ask(client, QUESTION, books=[book], budget_tokens=900, places=2)
        assert in_full(during) == ["Law", "Gate"]
        assert [(why["kind"], why["count"]) for why in during["degraded"]] == [("vectors_pending", 10)]
        assert during["prompt"]["stable"] == before["prompt"]["stable"]
        assert spaces(tmp_path) == [10]
        backlog_begins(client)
        embedded(client, book)
        after = ask(client, QUESTION, books=[book], budget_tokens=900, places=2)
        assert (after["degraded"], len(titles(after, "matched"))) == ([], 2)
        assert ok(client.get("/v1"))["embedding"]["dimension"] == 64
    assert spaces(tmp_path) == [10, 10]
    again = Scripted()
    with serving(load=lambda: again) as client:
        answer = ask(client, QUESTION, books=[book], budget_tokens=900, places=2)
        assert (answer["sections"], answer["degraded"]) == (before["sections"], [])
        backlog_begins(client)
    assert again.passages == []


def test_a_model_that_changes_halfway(serving: Serving, tmp_path: Path) -> None:
    """C09: what one model had embedded when the service ended stays its own, and another embeds everything itself."""
    first = Scripted()
    first.fault = lambda text: EmbedderError("out of order") if "Place 30" in text else None
    with serving(load=lambda: first) as client:
        book = new_book(client, *(entry(f"Place {n}", f"Nobody knows {n}.") for n in range(40)))
        assert first.failed.wait(LONG)
    assert spaces(tmp_path) == [16]
    second = Scripted(dimension=64)
    with serving(load=lambda: second) as client:
        embedded(client, book)
        assert len(find(client, "Nobody knows 7.", books=[book], limit=50)) == 40
    assert spaces(tmp_path) == [16, 40]


def test_texts_that_cannot_be_embedded(serving: Serving) -> None:
    """B6: an entry that the model has no vector for is told as such, found by its names, and keeps nobody waiting."""
    scripted = Scripted()
    scripted.fault = lambda text: TextError("not finite") if "Gate" in text else None
    with serving(load=lambda: scripted) as client:
        book = embedded(client, new_book(client, *WORLD))
        answer: Json = ask(client, QUESTION, books=[book], budget_tokens=900)
        assert titles(answer, "named") == ["Gate"]
        assert [(why["kind"], why["count"]) for why in answer["degraded"]] == [("vectors_failed", 1)]
        assert read_book(client, book)["counts"]["failed_vectors"] == 1
        assert framed(answer, "volatile").startswith("# Named")
