"""The backlog: texts that have no vectors in the encoder's space yet, embedded one batch after the other.

The database says what is pending, so a kill at any point loses nothing, and what another process imported or embedded
counts as well. No transaction is open while a batch is encoded.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from threading import Condition, Thread

from embeddings.encoding import Encoder
from sqlalchemy import Engine

from embeddings.embedder import EmbedderError, EmbeddingSpace
from service.lore.errors import WorldbookError
from service.lore.recipe import embedding_text
from service.store import vectors
from service.store.engine import reading, writing
from service.store.vectors import PendingText, StoredVectors

log = logging.getLogger(__name__)

_BATCH = 16
"""Texts between two commits: seconds of work on a slow machine, and all that a kill repeats."""
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
        self._closed = False
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
            if not left or patience <= 0 or self._closed:
                return left
            with self._changed:
                if self._commits == seen and not self._closed:
                    self._changed.wait(min(patience, _LOOK_AGAIN))

    def close(self) -> None:
        """Stop after the batch in hand."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        delay = self._retry_seconds
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._nudged)
                if self._closed:
                    return
                self._nudged = False
            if self._attempt():
                delay = self._retry_seconds
                continue
            with self._changed:
                self._changed.wait_for(lambda: self._closed, delay)
                self._nudged = True
            delay = min(2 * delay, _LAST_RETRY)

    def _attempt(self) -> bool:
        try:
            return self._pass()
        except (EmbedderError, WorldbookError) as error:
            log.warning("embedding paused: %s", error)
        except Exception:
            log.exception("embedding failed")
        return False

    def _pass(self) -> bool:
        """Go once over everything that is pending, a batch of each nudged book in turn; answers whether all is done."""
        space = self._encoder.space
        if space is None:
            raise EmbedderError("the model is not loaded yet")
        with writing(self._engine) as conn:
            vectors.record_space(conn, space, self._now())
            conn.commit()
        done = True
        everything = self._batches(space, None)
        first: deque[Iterator[list[PendingText]]] = deque()
        while not self._closed:
            while self._first:
                first.append(self._batches(space, self._first.popleft()))
            turn = first.popleft() if first else everything
            batch = next(turn, None)
            if batch is not None:
                done &= self._embed(space, batch)
                if turn is not everything:
                    first.append(turn)
            elif turn is everything:
                return done
        return True

    def _batches(self, space: EmbeddingSpace, book_id: str | None) -> Iterator[list[PendingText]]:
        after = (book_id or "", 0)
        while True:
            with reading(self._engine) as conn:
                batch = vectors.pending(conn, space.id, _BATCH, after=after, book_id=book_id)
            if not batch:
                return
            yield batch
            after = (batch[-1].book_id, batch[-1].entry.id)

    def _embed(self, space: EmbeddingSpace, batch: Sequence[PendingText]) -> bool:
        """Embed and commit; answers whether no text has to be tried again. Raises EmbedderError when all have to."""
        texts = {one.text_hash: embedding_text(one.entry) for one in batch}
        embedded: dict[str, StoredVectors | None] = {}
        failure = None
        for hash_, result in zip(texts, self._encoder.embed_texts(list(texts.values())), strict=True):
            if isinstance(result, EmbedderError):
                failure = result
            else:
                embedded[hash_] = StoredVectors(result.pieces, result.windows)
        if failure is not None and not embedded:
            raise failure
        with writing(self._engine) as conn:
            vectors.put(conn, space.id, embedded)
            conn.commit()
        with self._changed:
            self._commits += 1
            self._changed.notify_all()
        return failure is None
