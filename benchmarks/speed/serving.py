"""POST /v1/retrieve of a running service: beside a bare query embedding, beside an echo, and sixteen at once."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from benchmarks.server import serving, wait_until_ready
from benchmarks.speed.embedding import PAUSE
from benchmarks.speed.library import fill
from benchmarks.speed.lore import words
from benchmarks.speed.size import Figures, Size
from benchmarks.speed.timing import alternate, median, percentile
from embeddings.embedder import Embedder
from service.actions.loading import load_embedder
from service.lore.queries import read_by_meaning
from service.lore.request import Message
from service.settings import Settings

AT_ONCE = 16
WORDS_A_MESSAGE = 100
WORDS_OF_A_QUESTION = 12


class Caller:
    """One kept connection; `http.client`, since a richer client costs as much as the service."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)

    def close(self) -> None:
        self._connection.close()

    def post(self, path: str, body: Any) -> Any:
        """The JSON answer. Raises RuntimeError for any status but 200."""
        try:
            status, told = self._post(path, body)
        except ConnectionError:  # a server ends a connection that was idle for some seconds
            self._connection.close()
            status, told = self._post(path, body)
        if status != 200:
            raise RuntimeError(f"{path}: {status} {told[:200]!r}")
        return json.loads(told)

    def _post(self, path: str, body: Any) -> tuple[int, bytes]:
        self._connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        return answer.status, answer.read()


class Chat:
    """Bodies of requests: five messages that stay and a new question, or six new messages."""

    def __init__(self, books: Sequence[str], seed: int = 23) -> None:
        self._books = list(books)
        self._random = np.random.default_rng(seed)
        self._vocabulary = words(self._random, 4000)
        self._earlier = [self._said(WORDS_A_MESSAGE) for _ in range(5)]

    def _said(self, length: int) -> str:
        return " ".join(self._vocabulary[word] for word in self._random.integers(0, len(self._vocabulary), length))

    def one_new(self) -> dict[str, Any]:
        return self._body([*self._earlier, self._said(WORDS_OF_A_QUESTION) + "?"])

    def all_new(self) -> dict[str, Any]:
        return self._body([*(self._said(WORDS_A_MESSAGE) for _ in range(5)), self._said(WORDS_OF_A_QUESTION) + "?"])

    def _body(self, contents: Sequence[str]) -> dict[str, Any]:
        messages = [
            {"role": "assistant" if (5 - place) % 2 else "user", "content": content}
            for place, content in enumerate(contents)
        ]
        return {"books": self._books, "messages": messages, "budget_tokens": 2000}


def queries_of(body: dict[str, Any]) -> list[str]:
    """What a service must embed for the request when it has seen none of it."""
    return [query.text for query in read_by_meaning([Message(**message) for message in body["messages"]])]


def measure_serve(size: Size) -> Figures:
    """Milliseconds of whole requests over three books of 1,000, with the model and backend of the settings."""
    embedder = load_embedder(Settings())
    with TemporaryDirectory() as folder:
        books = fill(Path(folder), embedder.space, [size.entries] * 3)
        environment = {"WORLDBOOK_DATA_DIR": folder, "WORLDBOOK_EMBED_TIMEOUT": "60"}
        with serving(environment) as served, closing(Caller(served.address)) as caller:
            wait_until_ready(served.client)
            chat = Chat(books)
            beside = _beside_bare(size, chat, caller, embedder) | _beside_echo(size, chat.one_new(), caller)
            return beside | _at_once(size, books, served.address)


def _beside_bare(size: Size, chat: Chat, caller: Caller, embedder: Embedder) -> Figures:
    caller.post("/v1/retrieve", chat.one_new())

    def ask(body: dict[str, Any]) -> None:
        if caller.post("/v1/retrieve", body)["degraded"]:
            raise RuntimeError("an answer was degraded")

    seconds = alternate(
        {
            "one new": lambda: ask(chat.one_new()),
            "bare query": lambda: embedder.embed_queries([chat.one_new()["messages"][-1]["content"]]),
            "all new": lambda: ask(chat.all_new()),
            "bare batch": lambda: embedder.embed_queries(queries_of(chat.all_new())),
        },
        rounds=size.requests,
        pause=PAUSE,
    )
    ms = {name: 1000 * median(found) for name, found in seconds.items()}
    return {
        "one_new_message_ms": ms["one new"],
        "one_new_message_p95_ms": 1000 * percentile(seconds["one new"], 95),
        "bare_query_ms": ms["bare query"],
        "one_new_less_2_ms_over_bare": (ms["one new"] - 2) / ms["bare query"],
        "all_new_messages_ms": ms["all new"],
        "bare_batch_ms": ms["bare batch"],
        "all_new_less_2_ms_over_bare": (ms["all new"] - 2) / ms["bare batch"],
        "queries_of_all_new": float(len(queries_of(chat.all_new()))),
    }


def _beside_echo(size: Size, body: Any, caller: Caller) -> Figures:
    """The time of a request whose queries are cached, less what the service says it worked, beside an echo.

    The echo gets the same request and gives the same answer.
    """
    around: list[float] = []

    def ask() -> None:
        began = time.perf_counter()
        told = caller.post("/v1/retrieve", body)
        around.append(time.perf_counter() - began - told["run"]["timings_ms"]["total"] / 1000)

    rounds = 2 * size.requests
    with _echo(caller.post("/v1/retrieve", body)) as address, closing(Caller(address)) as echo:
        seconds = alternate({"cached": ask, "echo": lambda: echo.post("/echo", body)}, rounds=rounds)
    overhead = median(around[1:])
    return {
        "cached_request_ms": 1000 * median(seconds["cached"]),
        "http_overhead_ms": 1000 * overhead,
        "echo_ms": 1000 * median(seconds["echo"]),
        "http_overhead_over_echo": overhead / median(seconds["echo"]),
    }


def _at_once(size: Size, books: Sequence[str], address: str) -> Figures:
    """Requests a second, one caller after the other and sixteen at once, every question new; in two rounds each."""
    chat, numbers = Chat(books, seed=29), count()
    bodies = [chat.one_new() for _ in range(4 * size.requests)]
    parts = [bodies[start::4] for start in range(4)]

    def alone(part: Sequence[Any]) -> None:
        with closing(Caller(address)) as caller:
            for body in part:
                caller.post("/v1/retrieve", body)

    def crowd(part: Sequence[Any]) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(alone, [part[start::AT_ONCE] for start in range(AT_ONCE)]))

    alone([chat.one_new()])
    rates: dict[str, list[float]] = {"alone": [], "crowd": []}
    for name, work in (("alone", alone), ("crowd", crowd), ("alone", alone), ("crowd", crowd)):
        part = parts[next(numbers)]
        began = time.perf_counter()
        work(part)
        rates[name].append(len(part) / (time.perf_counter() - began))
    return {
        "one_at_a_time_per_second": median(rates["alone"]),
        "sixteen_at_once_per_second": median(rates["crowd"]),
        "sixteen_over_one": median(rates["crowd"]) / median(rates["alone"]),
    }


@contextmanager
def _echo(answer: Any) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.speed.echo"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        json.dump(answer, process.stdin)
        process.stdin.close()
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(30)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
