"""Many callers at once, and long work in the background."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import Json, ask, embedded, entry, new_book, ok, read_book, said, titles
from tests.spec.conftest import Serving
from tests.spec.embedders import LONG, Scripted

FILL = " Nothing else of it was ever written down." * 20


def thirty_two(client: TestClient, ask_one: Callable[[int], Json]) -> list[Json]:
    """What 32 callers at once are answered."""
    with ThreadPoolExecutor(32) as pool:
        return list(pool.map(ask_one, range(32)))


def merchants(number: int) -> list[Json]:
    return [entry(f"N{n}", f"Merchant number {n} sells {n} copper pots.{FILL}") for n in range(number)]


def test_many_at_once(client: TestClient) -> None:
    """C01: 32 retrievals at once, each about something else, are all answered by name and by meaning."""
    book = embedded(client, new_book(client, *merchants(12)))

    def one(number: int) -> Json:
        text = f"Is N{number % 12} the one who sells {number} pots?"
        return ask(client, text, books=[book], budget_tokens=900, places=2)

    for number, answer in enumerate(thirty_two(client, one)):
        assert titles(answer, "named") == [f"N{number % 12}"]
        assert (len(titles(answer, "matched")), answer["degraded"]) == (2, [])


@pytest.mark.model
def test_many_at_once_with_the_default_model(multilingual: TestClient) -> None:
    """C01: with the default model, too, none of 32 retrievals at once fails, and none gets the answer of another."""
    book = embedded(multilingual, new_book(multilingual, *merchants(6)))

    def one(number: int) -> Json:
        text = f"Who is N{number % 6}, and what are the {number} pots made of?"
        return ask(multilingual, text, books=[book], budget_tokens=900)

    for number, answer in enumerate(thirty_two(multilingual, one)):
        assert titles(answer, "named") == [f"N{number % 6}"]
        assert answer["degraded"] == []


def test_health_while_embedding(serving: Serving) -> None:
    """C02: while 500 entries wait for an embedder that takes its time, /healthz answers in less than 100 ms."""
    scripted = Scripted()
    with serving(load=lambda: scripted) as client:
        first = embedded(client, new_book(client, entry("Oru", "The warden.")))
        scripted.holds = lambda _: True
        book = new_book(client, *(entry(f"N{n}", f"Sells {n} copper pots.") for n in range(500)))
        assert scripted.held.wait(LONG)
        seconds = []
        for _ in range(50):
            began = time.perf_counter()
            assert client.get("/healthz").text == "ok"
            seconds.append(time.perf_counter() - began)
        assert not scripted.release.is_set(), "all of them were answered while one batch was being embedded"
        assert median(seconds) < 0.1, "the machine may stop for a moment, the service may not"
        assert ok(client.get("/readyz"))["status"] == "ready"
        assert read_book(client, book)["counts"]["pending_vectors"] == 500
        assert titles(ask(client, "Oru?", books=[first]), "whole") == ["Oru"]
        scripted.release.set()
        embedded(client, book)


def test_a_hundred_at_once(client: TestClient) -> None:
    """C04, C05: a hundred callers at once, who retrieve, preview, fetch, search, read and write, are all answered."""
    book = embedded(client, new_book(client, *merchants(9)))
    body = {"messages": said("What does N3 sell?"), "books": [book], "budget_tokens": 900}
    calls: list[tuple[str, Json]] = [
        ("retrieve", body),
        ("preview", body),
        ("fetch", {"names": ["N3"], "books": [book]}),
        ("search", {"query": "pots", "books": [book]}),
        (f"books/{book}/entries", entry("Oru", "The warden.")),
    ] * 20
    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(lambda call: client.post(f"/v1/{call[0]}", json=call[1]), calls))
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 201] * 20
    assert read_book(client, book)["counts"]["entries"] == 29


def test_writers_and_readers_at_once(client: TestClient) -> None:
    """C04: while an entry is switched off and on, every reader sees it wholly there or wholly gone."""
    book = new_book(client, entry("Oru", "The warden."), entry("Tide", "Twice a day."))
    states = {("Oru", "Tide"), ("Tide",)}

    def one(number: int) -> tuple[str, ...]:
        if number % 2:
            ok(client.patch(f"/v1/books/{book}/entries/1", json={"enabled": number % 4 == 1}))
        answer = ask(client, "Oru?", books=[book], trace="full")
        assert sum(each["count"] for each in answer["counts"]) == 2
        return tuple(titles(answer, "whole"))

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(one, range(64))) <= states
