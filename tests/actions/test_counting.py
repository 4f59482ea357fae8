"""Counting beside the hot path."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from service.actions import counting, editing_books, editing_entries, retrieving, reviewing
from service.actions.counting import UsageCounter
from service.actions.runtime import Runtime, running, timestamp
from service.lore.book import Book, Entry
from service.lore.errors import Unavailable
from service.lore.request import FetchRequest, Message, RetrieveRequest
from service.settings import Settings

LONG = 30.0
"""Seconds, far more than anything takes; whoever waits so long has hung."""


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Runtime]:
    """The service on either database."""
    url = request.getfixturevalue("migrated_postgres") if request.param == "postgresql" else ""
    with running(settings.model_copy(update={"database_url": url})) as rt:
        yield rt


def a_book(rt: Runtime, *titles: str) -> str:
    entries = tuple(Entry(title=title, content=f"All about {title}.") for title in titles)
    return editing_books.create_book(rt, Book(name="Coast", entries=entries)).id


def ask(rt: Runtime, book: str, conversation: str | None = None, turn: int = 1) -> None:
    message = Message(role="user", content="Hm.")
    retrieving.retrieve(rt, RetrieveRequest(messages=(message,), books=(book,), conversation=conversation, turn=turn))


def uses(rt: Runtime, book: str) -> list[int]:
    return [row.uses for row in reviewing.entry_usage(rt, book).items]


def test_retrievals_at_the_same_moment(either: Runtime) -> None:
    """W16: Of many retrievals at once each turn of each conversation counts once, also beside another process."""
    book = a_book(either, "A", "B")
    other = UsageCounter(either.engine, timestamp)
    other.start()

    def turn(number: int) -> None:
        ask(either, book, "c", number % 3)
        ask(either, book)
        message = Message(role="user", content="Hm.")
        answer = retrieving.preview(either, RetrieveRequest(messages=(message,), books=(book,)))
        other.used("local", answer, "c", number % 3, either.clock())
        retrieving.fetch(either, FetchRequest(names=("A",), books=(book,)))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(turn, range(12)))
    other.stop()
    assert uses(either, book) == [15, 15]
    assert [row.fetches for row in reviewing.entry_usage(either, book).items] == [12, 0]


def test_deleted_meanwhile(either: Runtime) -> None:
    """W16: What was deleted before it could be counted hinders nothing else."""
    book = a_book(either, "A", "B")
    gone = editing_books.create_book(either, Book(name="Gone", entries=(Entry(title="C", content="c"),))).id
    ask(either, book)
    ask(either, gone)
    editing_entries.delete_entry(either, book, 1)
    editing_books.delete_book(either, gone)
    assert uses(either, book) == [1]


def test_a_database_out_of_reach(rt: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    """W16: While the database is out of reach, retrievals answer and what they used waits to be counted."""
    book = a_book(rt, "A")
    monkeypatch.setattr(counting, "_PAUSE", 0.0)
    tried = threading.Event()

    def fail(*_: object) -> None:
        tried.set()
        raise Unavailable("locked")

    with monkeypatch.context() as broken:
        broken.setattr("service.store.usage.add", fail)
        ask(rt, book)
        retrieving.fetch(rt, FetchRequest(names=("A",), books=(book,)))
        assert tried.wait(LONG)
        with pytest.raises(Unavailable):
            rt.usage.flush()
    ask(rt, book)
    assert uses(rt, book) == [2]
    assert reviewing.entry_usage(rt, book).items[0].fetches == 1


def test_a_fault_while_counting(rt: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    """W16: A fault of the counting itself costs what it was counting, and the next retrievals are counted."""
    book = a_book(rt, "A")
    monkeypatch.setattr(counting, "_PAUSE", 0.0)
    failed = threading.Event()

    def fail(*_: object) -> None:
        failed.set()
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr("service.store.usage.add", fail)
        ask(rt, book)
        assert failed.wait(LONG)
    ask(rt, book)
    assert uses(rt, book) == [1]


def test_one_that_cannot_be_counted(either: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    """W16: What the database does not take costs only itself; what waits beside it is counted, and counted once."""
    monkeypatch.setattr(counting, "_PAUSE", LONG)
    book = a_book(either, "A")
    message = Message(role="user", content="Hm.")
    answer = retrieving.preview(either, RetrieveRequest(messages=(message,), books=(book,)))
    for turn in (1, 2, 2**63, 3, 2**64, 4):
        either.usage.used("local", answer, "c", turn, either.clock())
    retrieving.fetch(either, FetchRequest(names=("A",), books=(book,)))
    assert uses(either, book) == [4]
    assert reviewing.entry_usage(either, book).items[0].fetches == 1


def test_turns_are_forgotten(rt: Runtime) -> None:
    """W16: After thirty days without a word a turn may count again, so that the table does not grow for ever."""
    book = a_book(rt, "A")
    message = Message(role="user", content="Hm.")
    answer = retrieving.preview(rt, RetrieveRequest(messages=(message,), books=(book,)))
    now = datetime(2026, 11, 1, tzinfo=UTC)
    for conversation, days, expected in (("c", 0, 1), ("c", 29, 1), ("d", 60, 2), ("c", 61, 3)):
        rt.usage.used("local", answer, conversation, 1, now + timedelta(days=days))
        assert uses(rt, book) == [expected]
