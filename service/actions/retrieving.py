"""What one turn of a conversation gets to read, and what a tool call fetches or finds."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial

from sqlalchemy import Connection

from embeddings.embedder import EmbedderError, EmbedderTimeout
from service.actions.accounts import entered, once, packed, without_texts
from service.actions.presenting import OWNER, default_tokenizer
from service.actions.remembering import Memory, recall, remember
from service.actions.resolving import Attached, resolved
from service.actions.runtime import Runtime
from service.actions.scoping import mint, scope_of
from service.lore import fetching, retrieval, searching
from service.lore.activation.state import EMPTY, State
from service.lore.answer import Degraded, RetrieveAnswer, Retrieved, Run, Timings
from service.lore.book import WORLD
from service.lore.errors import FieldError, Invalid
from service.lore.lookups import FetchAnswer, SearchAnswer
from service.lore.open_book import AttachedBook
from service.lore.queries import Query
from service.lore.ranking import SPELLING, Meaning
from service.lore.request import FetchRequest, RetrieveRequest, SearchRequest, turn_of
from service.lore.scope import Scope, SigningKey
from service.store import scope_keys
from service.store.books import heads
from service.store.engine import reading
from service.store.requests import StoredRequest
from service.tokenizers import tokenizer_for

MAX_OFFSET = 1_000_000


def retrieve(rt: Runtime, request: RetrieveRequest, request_id: str | None = None) -> RetrieveAnswer:
    """Decide what the model gets to read in this turn, and what its tools may reach until the next.

    What lorebooks leave to the next turn is remembered, the answer logged, its entries counted.
    """
    done = _run(rt, request, request_id)
    if done.memory is not None and request.conversation is not None:
        remember(rt, request.conversation, turn_of(request), done.memory, done.state)
    answer = replace(done.answer, scope=mint(rt, request, done.books, done.key))
    rt.usage.used(OWNER, answer, request.conversation, answer.run.turn, rt.clock())
    if request_id is not None:
        rt.log.record(partial(_account, request, request_id, rt.now(), done))
    return answer


def preview(rt: Runtime, request: RetrieveRequest) -> RetrieveAnswer:
    """The same decision, told in full, recording nothing."""
    told = replace(request, trace=request.trace or "full", texts=request.texts or "sections")
    return _run(rt, told, request_id=None).answer


@dataclass(frozen=True, kw_only=True)
class _Done:
    """An answer, and what is to be kept of it."""

    books: Sequence[AttachedBook]
    answer: RetrieveAnswer
    """Without a scope."""
    decision: retrieval.Decision
    memory: Memory | None
    """What the lorebooks began with; None: there are none, or no conversation."""
    state: State
    key: SigningKey | None
    """That of scopes; None before the first."""


def _account(request: RetrieveRequest, request_id: str, at: str, done: _Done) -> StoredRequest:
    turn = turn_of(request)
    return StoredRequest(
        id=request_id,
        once=once(request.conversation, turn, request.response_id),
        conversation=request.conversation,
        turn=turn,
        response_id=request.response_id,
        entered=entered(done.answer),
        created_at=at,
        data=packed(without_texts(done.answer), done.decision.unlisted()),
    )


def _run(rt: Runtime, request: RetrieveRequest, request_id: str | None) -> _Done:
    began = time.perf_counter()
    with reading(rt.engine) as conn:  # one for all, since a transaction costs as much as several queries in it
        books = _attached(rt, conn, request)
        key = scope_keys.current(conn)
    opened = time.perf_counter()
    tokenizer = tokenizer_for(
        tokenizer=request.tokenizer,
        model=request.model,
        default=rt.settings.tokenizer,
        margin=rt.settings.unknown_model_margin,
    )
    memory = None
    if request.conversation is not None and any(book.open.text.book.dialect != WORLD for book in books):
        memory = recall(rt, request.conversation, turn_of(request))
    defaults = retrieval.Defaults(
        budget_tokens=rt.settings.budget_tokens,
        places=rt.settings.places,
        budget_characters=rt.settings.budget_characters,
    )
    prepared = retrieval.prepare(books, request, tokenizer, defaults, memory.state if memory else EMPTY)
    started = time.perf_counter()
    meaning, degraded = understand(rt, prepared.queries)
    embedded = time.perf_counter()
    if meaning is not None:
        degraded += pending(rt, [prepared.shelf.books[number] for number in prepared.searched])
    decision = retrieval.decide(prepared, meaning, degraded)
    ended = time.perf_counter()
    timings = Timings(
        open=_milliseconds(began, opened),
        embed=_milliseconds(started, embedded),
        retrieve=_milliseconds(opened, started) + _milliseconds(embedded, ended),
        total=_milliseconds(began, ended),
    )
    run = Run(request_id=request_id, turn=turn_of(request), timings_ms=timings)
    told = {item.name: getattr(decision.answer, item.name) for item in fields(Retrieved)}
    answer = RetrieveAnswer(**told, run=run, scope=None)
    return _Done(books=books, answer=answer, decision=decision, memory=memory, state=prepared.state, key=key)


def fetch(rt: Runtime, request: FetchRequest) -> FetchAnswer:
    """The entries of these handles, titles or aliases, and the nearest titles for names that are nobody's."""
    return fetch_from(rt, reach(rt, request), request)


def fetch_from(rt: Runtime, books: Sequence[AttachedBook], request: FetchRequest) -> FetchAnswer:
    """`fetch`, from these books."""
    most = rt.settings.max_fetch_tokens
    tokenizer = tokenizer_for(
        tokenizer=request.tokenizer,
        model=request.model,
        default=rt.settings.tokenizer,
        margin=rt.settings.unknown_model_margin,
    )
    found = fetching.fetch(
        books, request.names, most if request.max_tokens is None else min(most, request.max_tokens), tokenizer
    )
    rt.usage.fetched(found)
    return found


def search(rt: Runtime, request: SearchRequest) -> SearchAnswer:
    """Entries that the query names, then the nearest by meaning, a page at a time."""
    return search_in(rt, reach(rt, request), request)


def search_in(rt: Runtime, books: Sequence[AttachedBook], request: SearchRequest) -> SearchAnswer:
    """`search`, in these books."""
    offset = _offset(request.cursor)
    meaning, degraded = understand(rt, [Query(text=request.query, message=0, voice="last")])
    found = searching.search(books, request.query, meaning, default_tokenizer(rt), offset=offset, limit=request.limit)
    return SearchAnswer(
        items=found.items,
        next_cursor=_cursor(offset + request.limit) if found.more else None,
        degraded=degraded + pending(rt, books),
    )


def _attached(
    rt: Runtime, conn: Connection, request: RetrieveRequest | FetchRequest | SearchRequest
) -> list[AttachedBook]:
    """The books that its hosts, ids and conversation make readable, opened, each once, in reading order."""
    if not request.hosts and not request.books and request.conversation is None:
        raise Invalid(
            [
                FieldError(
                    pointer="#/hosts",
                    detail="nothing says which books to read",
                    remedy="give hosts, books or conversation",
                )
            ]
        )
    return _opened(rt, conn, resolved(conn, request.hosts, request.books, request.conversation))


def reach(rt: Runtime, request: FetchRequest | SearchRequest) -> list[AttachedBook]:
    """The world books that the scope of the request, or its hosts, books and conversation, make readable."""
    if request.scope is None:
        with reading(rt.engine) as conn:
            return _world(_attached(rt, conn, request))
    faults = [
        FieldError(
            pointer=f"#/{name}",
            detail="the scope already says which books to read",
            remedy="leave out hosts, books and conversation, or the scope",
        )
        for name in ("hosts", "books", "conversation")
        if getattr(request, name)
    ]
    if faults:
        raise Invalid(faults)
    return reach_of(rt, scope_of(rt, request.scope))


def reach_of(rt: Runtime, scope: Scope) -> list[AttachedBook]:
    """The world books of a scope as they are attached now, to be shown with its names; those that are gone are not
    there."""
    with reading(rt.engine) as conn:
        left = _left(conn, scope)
        books = _world(_opened(rt, conn, resolved(conn, scope.hosts, left, scope.conversation)))
    return [replace(book, names=scope.names) for book in books]


def books_left(rt: Runtime, scope: Scope) -> list[str]:
    """Those of the books that a scope names without a host that still exist."""
    with reading(rt.engine) as conn:
        return _left(conn, scope)


def _left(conn: Connection, scope: Scope) -> list[str]:
    there = heads(conn, scope.owner, scope.books)
    return [book for book in scope.books if book in there]


def _world(books: Sequence[AttachedBook]) -> list[AttachedBook]:
    """Chance and channels of a lorebook must not be gone round, so nothing reaches into one."""
    return [book for book in books if book.open.text.book.dialect == WORLD]


def _opened(rt: Runtime, conn: Connection, found: Sequence[Attached]) -> list[AttachedBook]:
    opened = rt.opened.open(conn, OWNER, rt.encoder.space, [each.book_id for each in found])
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
