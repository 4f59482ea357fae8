"""The backlog: texts that have no vectors in the encoder's space yet, embedded one batch after the other.

The database says what is pending, so a kill at any point loses nothing, and what another process imported or embedded
counts as well. No transaction is open while a batch is encoded.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from threading import Condition, Thread

from sqlalchemy import Engine

from embeddings.embedder import EmbedderError, EmbeddingSpace
from embeddings.encoding import Encoder
from service.lore.errors import WorldbookError
from service.lore.recipe import embedding_text
from service.store import vectors
from service.store.engine import reading, writing
from service.store.vectors import PendingText, StoredVectors

log = logging.getLogger(__name__)

_BATCH = 16
_BATCH_CHARACTERS = 30_000
"""Between two commits: seconds of work on a slow machine, and all that a kill repeats."""
_LAST_RETRY = 60.0
_LOOK_AGAIN = 0.5
"""Seconds after which a waiting caller counts again, since another process may do the work."""


class Backlog:
    """A thread that embeds whatever is pending when it is nudged, and tries again later what failed."""

    def __init__(self, engine: Engine, encoder: Encoder, now: Callable[[], str], *, retry_seconds: float = 0.5) -> None:
        self._engine = engine
        self._encoder = encoder
        self._now = now
        self._retry_seconds = retry_seconds
        self._changed = Condition()
        self._first: deque[str] = deque()
        self._nudged = True
        self._stopped = False
        self._commits = 0
        self._thread = Thread(target=self._run, name="backlog", daemon=True)

    def start(self) -> None:
        """Begin with what earlier runs left."""
        self._thread.start()

    def nudge(self, book_id: str | None = None) -> None:
        """Say that something is pending; that of the book named is done before all else."""
        with self._changed:
            if book_id is not None and book_id not in self._first:
                self._first.append(book_id)
            self._nudged = True
            self._changed.notify_all()

    def pending(self, book_ids: Sequence[str]) -> int:
        """How many entries of the books wait for their vectors."""
        space = self._encoder.space
        with reading(self._engine) as conn:
            counts = vectors.counts(conn, space.id if space else "", book_ids)
        return sum(count.pending for count in counts.values())

    def wait(self, book_id: str, seconds: float) -> int:
        """Wait until the book's vectors are there, at most so long; answers how many are still missing."""
        deadline = time.monotonic() + seconds
        self.nudge(book_id)
        while True:
            seen = self._commits
            left = self.pending([book_id])
            patience = deadline - time.monotonic()
            if not left or patience <= 0 or self._stopped:
                return left
            with self._changed:
                if self._commits == seen and not self._stopped:
                    self._changed.wait(min(patience, _LOOK_AGAIN))

    def stop(self) -> None:
        """Begin no further batch. Close the encoder then, which gives up the batch in hand, and `join`."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join()

    def _run(self) -> None:
        delay = self._retry_seconds
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopped or self._nudged)
                if self._stopped:
                    return
                self._nudged = False
            if self._attempt():
                delay = self._retry_seconds
                continue
            with self._changed:
                self._changed.wait_for(lambda: self._stopped, delay)
                self._nudged = True
            delay = min(2 * delay, _LAST_RETRY)

    def _attempt(self) -> bool:
        try:
            self._pass()
        except (EmbedderError, WorldbookError) as error:
            if not self._stopped:
                log.warning("embedding paused: %s", error)
            return False
        except Exception:
            log.exception("embedding failed")
            return False
        return True

    def _pass(self) -> None:
        """Go once over everything that is pending, a batch of each nudged book in turn."""
        space = self._loaded_space()
        with writing(self._engine) as conn:
            vectors.record_space(conn, space, self._now())
            conn.commit()
        everything = self._batches(space, None)
        first: deque[Iterator[list[PendingText]]] = deque()
        while not self._stopped:
            with self._changed:
                first.extend(self._batches(space, book_id) for book_id in self._first)
                self._first.clear()
            turn = first.popleft() if first else everything
            batch = next(turn, None)
            if batch is not None:
                self._embed(space, batch)
                if turn is not everything:
                    first.append(turn)
            elif turn is everything:
                return

    def _loaded_space(self) -> EmbeddingSpace:
        self._encoder.embed_texts([])  # waits for the model, and has it loaded again after a failure
        if self._encoder.space is None:
            raise EmbedderError("the model is not loaded")
        return self._encoder.space

    def _batches(self, space: EmbeddingSpace, book_id: str | None) -> Iterator[list[PendingText]]:
        after = (book_id or "", 0)
        while True:
            with reading(self._engine) as conn:
                batch = vectors.pending(conn, space.id, _BATCH, after=after, book_id=book_id)
            if not batch:
                return
            batch = batch[: _fitting(batch)]
            yield batch
            after = (batch[-1].book_id, batch[-1].entry.id)

    def _embed(self, space: EmbeddingSpace, batch: Sequence[PendingText]) -> None:
        texts = {one.text_hash: embedding_text(one.entry) for one in batch}
        results = self._encoder.embed_texts(list(texts.values()))
        embedded = {
            # an error in place of vectors is the text's own fault; a failing embedder raises
            hash_: None if isinstance(result, EmbedderError) else StoredVectors(result.pieces, result.windows)
            for hash_, result in zip(texts, results, strict=True)
        }
        with writing(self._engine) as conn:
            vectors.put(conn, space.id, embedded)
            conn.commit()
        with self._changed:
            self._commits += 1
            self._changed.notify_all()


def _fitting(batch: Sequence[PendingText]) -> int:
    """How many of the texts go together, at least one."""
    sums = accumulate(len(one.entry.content) for one in batch)
    return max(1, sum(characters <= _BATCH_CHARACTERS for characters in sums))
