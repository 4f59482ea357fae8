"""The limits of the queue: who is refused at once, who when his turn comes, and who never."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Semaphore
from typing import Any

import pytest
from anyio.to_thread import current_default_thread_limiter
from fastapi.testclient import TestClient
from httpx import Response

from service.actions import editing_books
from service.api import queueing

LONG = 60.0
READ = ("GET", "/v1/books")


class Stuck:
    """Requests that stay in their threads until they are let go."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._began, self._go_on = Semaphore(0), Event()
        self._pool = ThreadPoolExecutor(16)
        list_books = editing_books.list_books

        def stay(*given: Any, **named: Any) -> Any:
            self._began.release()
            assert self._go_on.wait(LONG)
            return list_books(*given, **named)

        patch.setattr(editing_books, "list_books", stay)

    def send(self, client: TestClient, *call: str, **body: Any) -> Future[Response]:
        """Send a request that will get stuck, or wait for a thread."""
        return self._pool.submit(client.request, *call, **body)

    def wait_until_busy(self, threads: int) -> None:
        """Until so many more are stuck in their threads."""
        for _ in range(threads):
            assert self._began.acquire(timeout=LONG)

    def let_go(self) -> None:
        self._go_on.set()

    def close(self) -> None:
        self.let_go()
        self._pool.shutdown()


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    requests = Stuck(monkeypatch)
    yield requests
    requests.close()


def wait_until_waiting(client: TestClient, requests: int) -> None:
    """Until so many requests wait for a thread."""

    async def waiting() -> int:
        return current_default_thread_limiter().statistics().tasks_waiting

    assert client.portal is not None
    end = time.monotonic() + LONG
    while client.portal.call(waiting) < requests:
        assert time.monotonic() < end


def test_a_full_queue_refuses_at_once(service: Callable[..., TestClient], stuck: Stuck) -> None:
    """C05: when as many wait as the setting allows, the next is refused with 503 and Retry-After; the others are
    answered."""
    client = service(threads=2, max_waiting=3)
    running = [stuck.send(client, *READ) for _ in range(2)]
    stuck.wait_until_busy(2)
    waiting = [stuck.send(client, *READ) for _ in range(3)]
    wait_until_waiting(client, 3)
    refused = client.request(*READ)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    problem = refused.json()
    assert problem["type"] == "/problems/overloaded"
    assert problem["detail"] == "3 requests wait already"
    assert "WORLDBOOK_MAX_WAITING" in problem["remedy"]
    stuck.let_go()
    assert [answer.result(LONG).status_code for answer in running + waiting] == [200] * 5
    assert client.request(*READ).status_code == 200


def test_probes_are_not_refused(service: Callable[..., TestClient], stuck: Stuck) -> None:
    """C02: with every thread busy and no room to wait, /healthz answers at once, and /readyz when a thread is free."""
    client = service(threads=1, max_waiting=0)
    running = stuck.send(client, *READ)
    stuck.wait_until_busy(1)
    assert client.request(*READ).status_code == 503
    assert client.get("/healthz").text == "ok"
    ready = stuck.send(client, "GET", "/readyz")
    wait_until_waiting(client, 1)
    stuck.let_go()
    assert (running.result(LONG).status_code, ready.result(LONG).status_code) == (200, 200)


def test_who_has_waited_too_long_is_not_begun(
    service: Callable[..., TestClient], stuck: Stuck, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request whose turn comes after its time is refused and changes nothing; work that had begun is answered."""
    client = service(threads=1, max_wait=5.0)
    now = [100.0]
    monkeypatch.setattr(queueing, "monotonic", lambda: now[0])
    running = stuck.send(client, *READ)
    stuck.wait_until_busy(1)
    late = stuck.send(client, "POST", "/v1/books", json={"name": "Late"})
    wait_until_waiting(client, 1)
    now[0] += 5.1
    stuck.let_go()
    assert running.result(LONG).status_code == 200
    refused = late.result(LONG)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert "WORLDBOOK_MAX_WAIT " in refused.json()["remedy"]
    assert client.request(*READ).json()["items"] == []
