"""The one thread that touches the embedder: a queue, micro-batches, and a cache of recent query vectors.

Tokenizers and models are not safe from several threads ("Already borrowed"), grow when each call comes from a new
thread, and may fail with errors that are no Exception. So one thread loads the model and runs it; all others wait for
it here, with a limit. Queries go first: passages are embedded in small batches, and queries run between two of them.
Queries too go in small batches, each answered at its end, in the order they came; but who brings many takes turns with
those who come after: a new chat of a dozen messages holds up the next message of every other chat only a little.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from embeddings import passages
from embeddings.calibration import Calibration, shipped_or_identity
from embeddings.embedder import Embedder, EmbedderError, EmbedderTimeout, EmbeddingSpace, TextError, Vectors
from embeddings.passages import TextVectors

log = logging.getLogger(__name__)

RECIPE = "windows-2"
"""Changes when a text is cut another way."""
QUERY_CHARACTERS = 20_000
_LOOK_AHEAD = 32
"""Waiting queries that are looked at for those that go well together."""
_A_MESSAGE = 4
"""Queries of a caller that go one after the other, as the pieces of one long message do. If they took turns with those
of others, many who come at once would all be late together."""
_TURN, _TURNS = 0.02, 25
"""Seconds by which each query behind those stands back for others, about what a query takes, and for how many: no query
stands back for longer than half a second."""
_SPARE_TOKENS = 8
"""Tokens of sentences counted alone may be a few less than those of the sentences together."""
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0


@dataclass(frozen=True)
class EncoderState:
    status: Literal["loading", "ready", "failed"]
    reason: str = ""
    """Why it failed; tried again at the next call after a pause."""


@dataclass(eq=False)
class _Query:
    due: float
    """Those that are due earlier go first."""
    result: Future[Vectors] = field(default_factory=Future)
    waiting: int = 0
    """Callers that still want it."""


@dataclass(eq=False)
class _Job:
    texts: Sequence[str]
    result: Future[list[TextVectors | EmbedderError]] = field(default_factory=Future)
    abandoned: bool = False
    steps: Generator[None, None, list[TextVectors | EmbedderError]] | None = None


class Encoder:
    """Give it a way to `load` an embedder, `start` it, ask it from any thread, `close` it.

    `load` and `calibrate` run on the encoder's own thread. A failed load or a failing embedder is tried again by later
    calls, after a pause that doubles up to a minute; calls within the pause fail at once with the last reason.
    """

    def __init__(
        self,
        load: Callable[[], Embedder],
        *,
        calibrate: Callable[[Embedder], Calibration] = shipped_or_identity,
        cached_queries: int = 4096,
    ) -> None:
        self._load = load
        self._calibrate = calibrate
        self._cached_queries = cached_queries
        self._changed = threading.Condition()
        self._queries: dict[str, _Query] = {}
        self._jobs: deque[_Job] = deque()
        self._cache: OrderedDict[str, Vectors] = OrderedDict()
        self._loaded: tuple[Embedder, Calibration] | None = None
        self._state = EncoderState("loading")
        self._space: EmbeddingSpace | None = None
        self._max_tokens: int | None = None
        self._closed = False
        self._pause = _FIRST_PAUSE
        self._not_before = 0.0
        self._thread = threading.Thread(target=self._run, name="encoder", daemon=True)

    def start(self) -> None:
        """Begin to load the model; returns at once."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the call in hand. Whoever still waits gets an EmbedderError."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def state(self) -> EncoderState:
        return self._state

    @property
    def space(self) -> EmbeddingSpace | None:
        """The stamp of the vectors given out, calibration included; None until the model is loaded."""
        return self._space

    @property
    def max_tokens(self) -> int | None:
        """Tokens of one piece; None until the model is loaded."""
        return self._max_tokens

    @property
    def floor(self) -> Callable[[int], float] | None:
        """Number of groups searched to the score below which nothing is claimed; None where nobody measured it."""
        return self._loaded[1].floor if self._loaded else None

    def embed_queries(self, texts: Sequence[str], timeout: float | None = None) -> Vectors:
        """Shape (texts, dimension), with the same bits whatever else is asked at the same time.

        A text is read to its first 20,000 characters. `timeout` is in seconds. Raises EmbedderTimeout, EmbedderError.
        """
        texts = [text[:QUERY_CHARACTERS] for text in texts]
        with self._changed:
            self._refuse_if_unable()
            known = {text: row for text in texts if (row := self._cached(text)) is not None}
            unknown = dict.fromkeys(text for text in texts if text not in known)
            now = time.monotonic()
            asked = {text: self._asked(text, now + _standing_back(index)) for index, text in enumerate(unknown)}
            self._changed.notify_all()
        try:
            _, unfinished = wait([query.result for query in asked.values()], timeout)
        finally:
            with self._changed:
                for query in asked.values():
                    query.waiting -= 1
        if unfinished:
            raise EmbedderTimeout(f"no query vectors within {timeout} s")
        for text, query in asked.items():
            known[text] = query.result.result()
        if not texts:
            return np.zeros((0, self._space.dimension if self._space else 0), np.float32)
        return np.stack([known[text] for text in texts])

    def embed_texts(self, texts: Sequence[str], timeout: float | None = None) -> list[TextVectors | EmbedderError]:
        """Cut each text and embed its pieces and windows; in place of one that cannot be embedded there is a TextError.

        Raises EmbedderError when the embedder fails whatever the text, EmbedderTimeout after `timeout` seconds.
        """
        job = _Job(list(texts))
        with self._changed:
            self._refuse_if_unable()
            self._jobs.append(job)
            self._changed.notify_all()
        try:
            return job.result.result(timeout)
        except TimeoutError as late:
            job.abandoned = True
            raise EmbedderTimeout(f"no passage vectors within {timeout} s") from late

    def _refuse_if_unable(self) -> None:
        if self._closed:
            raise EmbedderError("the encoder is closed")
        if self._state.status == "failed" and time.monotonic() < self._not_before:
            raise EmbedderError(self._state.reason)

    def _cached(self, text: str) -> Vectors | None:
        row = self._cache.get(text)
        if row is not None:
            self._cache.move_to_end(text)
        return row

    def _asked(self, text: str, due: float) -> _Query:
        query = self._queries.setdefault(text, _Query(due))
        query.due = min(query.due, due)
        query.waiting += 1
        return query

    # From here on: the encoder's own thread.

    def _run(self) -> None:
        self._attempt(self._bring_up)
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._queries or self._jobs)
                if self._closed:
                    self._fail_all(EmbedderError("the encoder is closed"))
                    return
            self._attempt(self._step)

    def _attempt(self, action: Callable[[], None]) -> None:
        try:
            action()
        except BaseException as problem:  # Rust panics are no Exception, and this thread must not end
            known = isinstance(problem, EmbedderError)
            error = problem if known else EmbedderError(f"{type(problem).__name__}: {problem}")
            log.warning("the embedder fails: %s", error, exc_info=not known)
            with self._changed:
                self._state = EncoderState("failed", str(error))
                self._not_before = time.monotonic() + self._pause
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
                self._fail_all(error)

    def _fail_all(self, error: BaseException) -> None:
        for query in self._queries.values():
            query.result.set_exception(error)
        for job in self._jobs:
            job.result.set_exception(error)
        self._queries.clear()
        self._jobs.clear()

    def _bring_up(self) -> None:
        embedder = self._load()
        calibration = self._calibrate(embedder)
        self._loaded = embedder, calibration
        self._max_tokens = max(1, embedder.max_tokens - _SPARE_TOKENS)
        self._space = replace(embedder.space, recipe=f"{RECIPE};{calibration.version}")
        self._succeeded()

    def _succeeded(self) -> None:
        self._state = EncoderState("ready")
        self._pause = _FIRST_PAUSE

    def _step(self) -> None:
        if self._loaded is None:
            self._bring_up()
        if self._queries:
            self._answer_queries()
        else:
            self._advance_a_job()
        self._succeeded()

    def _answer_queries(self) -> None:
        embedder, calibration = self._working
        with self._changed:
            for text in [text for text, query in self._queries.items() if not query.waiting]:
                del self._queries[text]
            waiting = sorted(self._queries.items(), key=lambda each: each[1].due)[:_LOOK_AHEAD]
        if not waiting:
            return
        batch = [waiting[index] for index in embedder.next_batch([text for text, _ in waiting])]
        answers = passages.embed_each(
            [text for text, _ in batch], lambda texts: calibration.queries(embedder.embed_queries(texts))
        )
        with self._changed:
            for (text, query), answer in zip(batch, answers, strict=True):
                del self._queries[text]
                if isinstance(answer, TextError):
                    query.result.set_exception(answer)
                    continue
                row = answer.copy()  # a row alone does not keep its whole batch in memory
                self._cache[text] = row
                query.result.set_result(row)
            while len(self._cache) > self._cached_queries:
                self._cache.popitem(last=False)

    def _advance_a_job(self) -> None:
        job = self._jobs[0]
        finished = job.abandoned
        if job.steps is None:
            embedder, calibration = self._working
            job.steps = passages.steps(
                job.texts,
                count=embedder.count_tokens,
                embed=lambda texts: calibration.passages(embedder.embed_passages(texts)),
                piece_tokens=self._max_tokens or 1,
            )
        if not finished:
            try:
                next(job.steps)
            except StopIteration as done:
                job.result.set_result(done.value)
                finished = True
        with self._changed:
            self._jobs.popleft()
            if not finished:
                self._jobs.append(job)

    @property
    def _working(self) -> tuple[Embedder, Calibration]:
        if self._loaded is None:
            raise EmbedderError("the model is not loaded")
        return self._loaded


def _standing_back(index: int) -> float:
    """Seconds for a caller's query of this index."""
    return _TURN * min(max(index + 1 - _A_MESSAGE, 0), _TURNS)
