"""The whole service over HTTP as a system: a real server, its own embedding and storage, the answer's sections."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from benchmarks.recall.lab import Lab, Result
from benchmarks.recall.trials import Corpus, Trial
from benchmarks.server import running_server
from embeddings.calibration import kept_in
from service.actions.calibrating import folder
from service.settings import Settings


class DegradedAnswerError(Exception):
    """The service answered without matching by meaning, so nothing was measured."""


@contextmanager
def serving(corpus: Corpus, lab: Lab, model: str | None = None) -> Iterator[tuple[httpx.Client, str]]:
    """A server with the constants of the lab, the book and all its vectors; gives a client and the book's id."""
    with ExitStack() as stack:
        data = stack.enter_context(tempfile.TemporaryDirectory())
        space = lab.store.embedder.space
        lab.calibration.save(kept_in(folder(Settings(data_dir=Path(data))), space), space)
        environment = {"WORLDBOOK_EMBED_TIMEOUT": "60", "WORLDBOOK_DATA_DIR": data}
        client = stack.enter_context(running_server(environment | ({"WORLDBOOK_MODEL": model} if model else {})))
        rows = [{"title": entry.title, "content": entry.content, "aliases": entry.aliases} for entry in corpus.entries]
        made = client.post("/v1/books", json={"name": corpus.name, "entries": rows}).raise_for_status().json()
        book: str = made["id"]
        while client.get(f"/v1/books/{book}").raise_for_status().json()["counts"]["pending_vectors"]:
            time.sleep(0.5)
        yield client, book


def run(client: httpx.Client, book: str, trial: Trial, *, budget: int = 6000, places: int = 8) -> list[Result]:
    """Named, then matched entries of each ask, as the answer lists them."""
    return [_asked(client, book, trial, number, budget, places) for number in range(len(trial.asks))]


def _asked(client: httpx.Client, book: str, trial: Trial, number: int, budget: int, places: int) -> Result:
    ask = trial.asks[number]
    body = {
        "books": [book],
        "messages": [{"role": message.role, "content": message.content} for message in ask.messages],
        "budget_tokens": budget,
        "places": places,
    }
    answer = client.post("/v1/retrieve", json=body).raise_for_status().json()
    if answer["degraded"]:
        raise DegradedAnswerError(f"the service is degraded: {answer['degraded']}")
    titles = {entry.title: place for place, entry in enumerate(trial.corpus.entries)}
    traces = [trace for section in ("named", "matched") for trace in answer["sections"][section]["entries"]]
    return Result(
        ask=ask,
        places=tuple(titles[trace["title"]] for trace in traces),
        scores=tuple(trace["reason"].get("score", float("nan")) for trace in traces),
    )
