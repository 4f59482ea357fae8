"""The backlog: every text gets its vectors, once, whatever happens in between."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from embeddings import encoding
from embeddings.embedder import EmbedderError, EmbeddingSpace, TextError, Vectors
from embeddings.hashing import HashingEmbedder
from service.actions import editing_books, editing_entries, embedding
from service.actions.loading import load_embedder
from service.actions.presenting import OWNER
from service.actions.runtime import Runtime, running, timestamp
from service.lore.book import Book, Entry
from service.settings import Settings
from service.store import books
from service.store.engine import reading

LONG = 30.0
"""Seconds, far more than anything here takes."""


@dataclass
class Watched:
    """The hashing embedder, which tells what it was given, can be held up, and can fail."""

    inner: HashingEmbedder = field(default_factory=HashingEmbedder)
    texts: list[str] = field(default_factory=list)
    failures: int = 0
    hold: threading.Event | None = None
    entered: threading.Event = field(default_factory=threading.Event)
    max_tokens: int = 512

    @property
    def space(self) -> EmbeddingSpace:
        return self.inner.space

    def next_batch(self, queries: Sequence[str]) -> Sequence[int]:
        return self.inner.next_batch(queries)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.inner.embed_queries(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.entered.set()
        if self.hold is not None:
            assert self.hold.wait(LONG)
        if self.failures:
            self.failures -= 1
            raise EmbedderError("out of order")
        if any("unspeakable" in text for text in texts):
            raise TextError("not finite")
        self.texts += texts
        return self.inner.embed_passages(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.inner.count_tokens(texts)


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.fixture
def rt(settings: Settings, watched: Watched) -> Iterator[Runtime]:
    with running(settings, load=lambda: watched) as runtime:
        yield runtime


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing embedder is tried again at once."""
    monkeypatch.setattr(encoding, "_FIRST_PAUSE", 0.0)
    monkeypatch.setattr("service.actions.backlog._LAST_RETRY", 0.01)


def entries(*contents: str) -> tuple[Entry, ...]:
    return tuple(Entry(title=f"T{place}", content=content) for place, content in enumerate(contents))


def a_book(rt: Runtime, *contents: str, name: str = "Salt Coast") -> str:
    return editing_books.create_book(rt, Book(name=name, entries=entries(*contents))).id


def states(rt: Runtime, book_id: str) -> list[str]:
    return [one.vectors for one in editing_books.read_book(rt, book_id, entries=True).entries or ()]


def ask_for_ever(rt: Runtime) -> None:
    while True:
        rt.encoder.embed_queries([])


def vector_rows(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "worldbook.db")) as conn:
        return int(conn.execute("SELECT count(*) FROM vectors").fetchone()[0])


def test_entries_get_their_vectors(rt: Runtime) -> None:
    """V04: What is created, added or edited can be found by meaning without a further step."""
    book = a_book(rt, "a", "b")
    assert embedding.wait(rt, book, LONG) == 0
    editing_entries.add_entries(rt, book, entries("c"))
    assert embedding.wait(rt, book, LONG) == 0
    editing_entries.change_entry(rt, book, 1, {"content": "edited"})
    assert embedding.wait(rt, book, LONG) == 0
    editing_entries.replace_entry(rt, book, 2, entries("replaced")[0])
    assert embedding.wait(rt, book, LONG) == 0
    assert states(rt, book) == ["ready", "ready", "ready"]


def test_vectors_are_no_edit(rt: Runtime) -> None:
    """Arriving vectors raise the book's counter and leave its version alone."""
    book = a_book(rt, "a")
    embedding.wait(rt, book, LONG)
    with reading(rt.engine) as conn:
        head = books.heads(conn, OWNER, [book])[book]
    assert head.version == 1
    assert head.vector_counter >= 1


def test_only_what_is_new_is_embedded(rt: Runtime, watched: Watched) -> None:
    """A copy, an order, a switch or a tier embeds nothing, and an edit only what it changed."""
    book = a_book(rt, "a", "b", "c")
    embedding.wait(rt, book, LONG)
    watched.texts.clear()
    copy = a_book(rt, "a", "b", "c", name="Copy")
    editing_entries.reorder(rt, book, [3], "top")
    editing_entries.set_entries(rt, book, [1], {"enabled": False, "tier": "canon"})
    editing_entries.change_entry(rt, book, 2, {"gist": "short", "extensions": {"x": 1}})
    assert embedding.pending(rt, [book, copy]) == 0
    editing_entries.change_entry(rt, book, 2, {"content": "new"})
    embedding.wait(rt, book, LONG)
    assert set(watched.texts) == {"T1\nnew"}


def test_the_same_text_twice(rt: Runtime, watched: Watched) -> None:
    """V20: Two entries with one text keep apart, and the text is embedded once."""
    book = editing_books.create_book(rt, Book(name="A", entries=(entries("a")[0], entries("a")[0]))).id
    assert embedding.wait(rt, book, LONG) == 0
    assert states(rt, book) == ["ready", "ready"]
    assert len(watched.texts) == len(set(watched.texts))


def test_a_text_at_fault(rt: Runtime) -> None:
    """A text that the model cannot embed is marked failed, keeps no other waiting, and is tried anew once edited."""
    book = a_book(rt, "a", "unspeakable", "c")
    assert embedding.wait(rt, book, LONG) == 0
    assert states(rt, book) == ["ready", "failed", "ready"]
    assert editing_books.read_book(rt, book).counts.failed_vectors == 1
    editing_entries.change_entry(rt, book, 2, {"content": "fine"})
    assert embedding.wait(rt, book, LONG) == 0
    assert states(rt, book) == ["ready", "ready", "ready"]


@pytest.mark.usefixtures("no_pause")
def test_a_failing_embedder(rt: Runtime, watched: Watched) -> None:
    """B6: While the embedder fails nothing is marked failed, and once it works everything gets its vectors."""
    watched.failures = 3
    book = a_book(rt, "a", "b")
    assert embedding.wait(rt, book, LONG) == 0
    assert watched.failures == 0
    assert states(rt, book) == ["ready", "ready"]


@pytest.mark.usefixtures("no_pause")
def test_a_model_that_loads_late(settings: Settings) -> None:
    """B6: The service starts without its model, and embeds once the model can be loaded."""
    ready = threading.Event()

    def load() -> HashingEmbedder:
        if not ready.is_set():
            raise EmbedderError("no such model")
        return HashingEmbedder()

    with running(settings, load=load) as rt:
        book = a_book(rt, "a")
        assert embedding.wait(rt, book, 0.05) == 1
        assert states(rt, book) == ["pending"]
        ready.set()
        assert embedding.wait(rt, book, LONG) == 0


def test_no_connection_is_held_while_encoding(rt: Runtime, watched: Watched, tmp_path: Path) -> None:
    """C05, D23: While a batch is encoded the backlog holds no connection, and another process may write."""
    watched.hold = threading.Event()
    watched.entered.clear()
    book = a_book(rt, "a")
    assert watched.entered.wait(LONG)
    assert rt.engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    with closing(sqlite3.connect(tmp_path / "worldbook.db", timeout=0)) as other:
        other.execute("UPDATE books SET description = 'written meanwhile'")
        other.commit()
    assert embedding.wait(rt, book, 0.01) == 1
    watched.hold.set()
    assert embedding.wait(rt, book, LONG) == 0


def test_a_text_edited_while_it_is_encoded(rt: Runtime, watched: Watched) -> None:
    """Vectors that arrive for a text that is no longer there are kept for later and given to no other text."""
    watched.hold = threading.Event()
    watched.entered.clear()
    book = a_book(rt, "old")
    assert watched.entered.wait(LONG)
    editing_entries.change_entry(rt, book, 1, {"content": "new"})
    watched.hold.set()
    assert embedding.wait(rt, book, LONG) == 0
    assert {"T0\nold", "T0\nnew"} <= set(watched.texts)
    watched.texts.clear()
    editing_entries.change_entry(rt, book, 1, {"content": "old"})
    assert embedding.pending(rt, [book]) == 0


def test_the_end_does_not_wait_for_a_long_job(settings: Settings, watched: Watched) -> None:
    """Closing gives up what is in hand after the current call of the model; the next start does it again."""
    watched.hold = threading.Event()
    with ExitStack() as stack:
        rt = stack.enter_context(running(settings, load=lambda: watched))
        book = a_book(rt, *("sentence. " * 300 + str(n) for n in range(16)))
        assert watched.entered.wait(LONG)
        ending = threading.Thread(target=stack.close)
        ending.start()
        with pytest.raises(EmbedderError, match="closed"):
            ask_for_ever(rt)
        watched.hold.set()
        ending.join(LONG)
        assert not ending.is_alive()
    assert 0 < len(watched.texts) <= 16
    with running(settings, load=Watched) as rt:
        assert embedding.wait(rt, book, LONG) == 0


def test_another_model(settings: Settings, tmp_path: Path) -> None:
    """V05, V06: Another model embeds everything again beside the old vectors, and the way back costs nothing."""
    with running(settings, load=HashingEmbedder) as rt:
        book = a_book(rt, "a", "b")
        assert embedding.wait(rt, book, LONG) == 0
    with running(settings, load=lambda: HashingEmbedder(64)) as rt:
        assert embedding.wait(rt, book, LONG) == 0
        assert states(rt, book) == ["ready", "ready"]
    assert vector_rows(tmp_path) == 4
    again = Watched()
    with running(settings, load=lambda: again) as rt:
        assert embedding.wait(rt, book, LONG) == 0
    assert again.texts == []


def test_what_another_process_imported(rt: Runtime, settings: Settings) -> None:
    """A nudge makes the backlog look at what another process wrote into the same database."""

    def broken() -> HashingEmbedder:
        raise EmbedderError("no model in that process")

    with running(settings, load=broken) as other:
        book = a_book(other, "a", "b")
    assert embedding.wait(rt, book, LONG) == 0


def test_two_processes_embed_the_same(settings: Settings, tmp_path: Path) -> None:
    """V12: Two services on one database embed the same texts, and each text has one row."""
    first, second = Watched(hold=threading.Event()), Watched(hold=threading.Event())
    with running(settings, load=lambda: first) as one, running(settings, load=lambda: second) as two:
        book = a_book(one, "a", "b", "c")
        two.backlog.nudge()
        assert first.entered.wait(LONG)
        assert second.entered.wait(LONG)
        for watched in (first, second):
            assert watched.hold is not None
            watched.hold.set()
        assert embedding.wait(one, book, LONG) == embedding.wait(two, book, LONG) == 0
    assert vector_rows(tmp_path) == 3


def test_a_nudged_book_goes_first(rt: Runtime, watched: Watched) -> None:
    """The book that somebody waits for is embedded before a long backlog."""
    watched.hold = threading.Event()
    watched.entered.clear()
    long = a_book(rt, *(f"long {n}" for n in range(100)), name="Long")
    assert watched.entered.wait(LONG)
    short = a_book(rt, "short", name="Short")
    watched.hold.set()
    assert embedding.wait(rt, long, LONG) == embedding.wait(rt, short, LONG) == 0
    assert watched.texts.index("T0\nshort") < 50


def test_a_kill_loses_nothing_and_repeats_little(settings: Settings, tmp_path: Path) -> None:
    """V18: After a kill in the middle of the backlog, the next start embeds exactly what was not committed."""
    script = f"""
import sys, threading
from pathlib import Path
from embeddings.hashing import HashingEmbedder
from service.actions import editing_books, editing_entries
from service.actions.runtime import running
from service.lore.book import Book, Entry
from service.settings import Settings

class Stuck(HashingEmbedder):
    def embed_passages(self, texts):
        if any("number 30" in text for text in texts):
            print("stuck", flush=True)
            threading.Event().wait()
        return super().embed_passages(texts)

with running(Settings(data_dir=Path({str(tmp_path)!r}), tokenizer="cl100k_base"), load=Stuck) as rt:
    entries = tuple(Entry(title=str(n), content=f"number {{n}}") for n in range(40))
    print(editing_books.create_book(rt, Book(name="Killed", entries=entries)).id, flush=True)
    threading.Event().wait()
"""
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=root, text=True) as process:
        assert process.stdout is not None
        said = {process.stdout.readline().strip() for _ in range(2)}
        process.kill()
    (book,) = said - {"stuck"}
    committed = vector_rows(tmp_path)
    assert committed == 16
    watched = Watched()
    with running(settings, load=lambda: watched) as rt:
        assert embedding.wait(rt, book, LONG) == 0
    assert vector_rows(tmp_path) == 40
    assert {text for text in watched.texts if "\n" in text} == {f"{n}\nnumber {n}" for n in range(16, 40)}


def test_waiting_ends(rt: Runtime, watched: Watched) -> None:
    """A caller waits no longer than it said, and learns how many are left."""
    watched.hold = threading.Event()
    book = a_book(rt, "a", "b")
    assert embedding.wait(rt, book, 0.02) == 2
    watched.hold.set()


def test_vectors_survive_storage(rt: Runtime) -> None:
    """What is read back is what the encoder gave, within float16."""
    from service.store import vectors

    book = a_book(rt, "The gate opens at low tide. " * 20)
    embedding.wait(rt, book, LONG)
    assert rt.encoder.space is not None
    with reading(rt.engine) as conn:
        (stored,) = vectors.of_books(conn, rt.encoder.space.id, [book]).values()
    (given,) = rt.encoder.embed_texts(["T0\n" + "The gate opens at low tide. " * 20])
    assert not isinstance(given, EmbedderError)
    np.testing.assert_allclose(stored.pieces, given.pieces, atol=1e-3)
    np.testing.assert_allclose(stored.windows, given.windows, atol=1e-3)


def test_the_setting_model() -> None:
    """The setting `model` chooses the embedder."""
    assert load_embedder(Settings(model="hashing")).space.model == "hashing"


def test_timestamps(rt: Runtime) -> None:
    """Times are RFC 3339 in UTC with milliseconds."""
    moment = rt.clock().replace(year=2026, month=11, day=30, hour=17, minute=24, second=5, microsecond=120_999)
    assert timestamp(moment) == "2026-11-30T17:24:05.120Z"
    assert replace(rt, clock=lambda: moment).now() == "2026-11-30T17:24:05.120Z"
