"""What one turn of a conversation gets to read, and what a tool call fetches or finds."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Sequence
from dataclasses import fields, replace

from embeddings.embedder import EmbedderError, EmbedderTimeout
from service.actions.hosting import Attached, resolve
from service.actions.presenting import OWNER, default_tokenizer
from service.actions.runtime import Runtime
from service.lore import fetching, retrieval, searching
from service.lore.answer import (
    Degraded,
    FetchAnswer,
    RetrieveAnswer,
    Retrieved,
    Run,
    SearchAnswer,
    Timings,
)
from service.lore.errors import FieldError, Invalid
from service.lore.open_book import AttachedBook
from service.lore.queries import Query
from service.lore.ranking import SPELLING, Meaning
from service.lore.request import FetchRequest, RetrieveRequest, SearchRequest, turn_of
from service.tokenizers import tokenizer_for

MAX_OFFSET = 1_000_000


def retrieve(rt: Runtime, request: RetrieveRequest, request_id: str | None = None) -> RetrieveAnswer:
    """Decide what the model gets to read in this turn."""
    return _run(rt, request, request_id)


def preview(rt: Runtime, request: RetrieveRequest) -> RetrieveAnswer:
    """The same decision, told in full, recording nothing."""
    return _run(rt, replace(request, trace=request.trace or "full", texts=request.texts or "sections"), request_id=None)


def _run(rt: Runtime, request: RetrieveRequest, request_id: str | None) -> RetrieveAnswer:
    began = time.perf_counter()
    books = attached(rt, request.hosts, request.books, request.conversation)
    opened = time.perf_counter()
    tokenizer = tokenizer_for(
        tokenizer=request.tokenizer,
        model=request.model,
        default=rt.settings.tokenizer,
        margin=rt.settings.unknown_model_margin,
    )
    defaults = retrieval.Defaults(budget_tokens=rt.settings.budget_tokens, places=rt.settings.places)
    prepared = retrieval.prepare(books, request, tokenizer, defaults)
    started = time.perf_counter()
    meaning, degraded = understand(rt, prepared.queries)
    embedded = time.perf_counter()
    if meaning is not None:
        degraded += pending(rt, [prepared.shelf.books[number] for number in prepared.searched])
    answer = retrieval.retrieve(prepared, meaning, degraded)
    ended = time.perf_counter()
    timings = Timings(
        open=_milliseconds(began, opened),
        embed=_milliseconds(started, embedded),
        retrieve=_milliseconds(opened, started) + _milliseconds(embedded, ended),
        total=_milliseconds(began, ended),
    )
    run = Run(request_id=request_id, turn=turn_of(request), timings_ms=timings)
    return RetrieveAnswer(**{item.name: getattr(answer, item.name) for item in fields(Retrieved)}, run=run)


def fetch(rt: Runtime, request: FetchRequest) -> FetchAnswer:
    """The entries of these handles, titles or aliases, and the nearest titles for names that are nobody's."""
    books = attached(rt, request.hosts, request.books, request.conversation)
    most = rt.settings.max_fetch_tokens
    tokenizer = tokenizer_for(
        tokenizer=request.tokenizer,
        model=request.model,
        default=rt.settings.tokenizer,
        margin=rt.settings.unknown_model_margin,
    )
    return fetching.fetch(
        books, request.names, most if request.max_tokens is None else min(most, request.max_tokens), tokenizer
    )


def search(rt: Runtime, request: SearchRequest) -> SearchAnswer:
    """Entries that the query names, then the nearest by meaning, a page at a time."""
    offset = _offset(request.cursor)
    books = attached(rt, request.hosts, request.books, request.conversation)
    meaning, degraded = understand(rt, [Query(text=request.query, message=0, voice="last")])
    found = searching.search(books, request.query, meaning, default_tokenizer(rt), offset=offset, limit=request.limit)
    return SearchAnswer(
        items=found.items,
        next_cursor=_cursor(offset + request.limit) if found.more else None,
        degraded=degraded + pending(rt, books),
    )


def attached(rt: Runtime, hosts: Sequence[str], books: Sequence[str], conversation: str | None) -> list[AttachedBook]:
    """The books that these hosts and ids make readable, opened, each once, in reading order."""
    if not hosts and not books and conversation is None:
        raise Invalid(
            [
                FieldError(
                    pointer="#/hosts",
                    detail="nothing says which books to read",
                    remedy="give hosts, books or conversation",
                )
            ]
        )
    found: Sequence[Attached] = resolve(rt, hosts, books, conversation)
    opened = rt.opened.open(rt.engine, OWNER, rt.encoder.space, [each.book_id for each in found])
    return [AttachedBook(open=book, label=each.label, via=each.via) for book, each in zip(opened, found, strict=True)]


def understand(rt: Runtime, queries: Sequence[Query]) -> tuple[Meaning | None, tuple[Degraded, ...]]:
    """The vectors of the queries, or why there are none within the time limit."""
    if not queries:
        return None, ()
    try:
        vectors = rt.encoder.embed_queries([query.text for query in queries], rt.settings.embed_timeout)
    except EmbedderTimeout as error:
        return None, (Degraded(kind="timeout", detail=str(error)),)
    except EmbedderError as error:
        return None, (Degraded(kind="embedder_unavailable", detail=str(error)),)
    floor = rt.encoder.floor
    # Scores of a space that is not calibrated lie so close together that spelling would drown them.
    spelling = SPELLING if floor is not None else 0.0
    return Meaning(queries=tuple(queries), vectors=vectors, floor=floor, spelling=spelling), ()


def pending(rt: Runtime, books: Sequence[AttachedBook]) -> tuple[Degraded, ...]:
    """What of these books cannot be found by meaning."""
    told: list[Degraded] = []
    for book in books:
        text, number = book.open.text, book.open.pending
        if number:
            rt.backlog.nudge()
            detail = f"embedding: {number} of {int(text.enabled.sum())} entries wait and answer to their names only"
            told.append(Degraded(kind="vectors_pending", detail=detail, book=text.book.id, count=number))
        if book.open.failed:
            detail = f"{book.open.failed} entries cannot be embedded and answer to their names only"
            told.append(Degraded(kind="vectors_failed", detail=detail, book=text.book.id, count=book.open.failed))
    return tuple(told)


def _milliseconds(began: float, ended: float) -> float:
    return round((ended - began) * 1000, 3)


def _cursor(offset: int) -> str:
    return base64.urlsafe_b64encode(str(offset).encode()).decode()


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        offset = int(base64.urlsafe_b64decode(cursor.encode()).decode())
    except (ValueError, binascii.Error):
        offset = -1
    if not 0 <= offset <= MAX_OFFSET:
        raise Invalid(
            [FieldError(pointer="#/cursor", detail="not a cursor", remedy="send next_cursor of the page before")]
        )
    return offset
