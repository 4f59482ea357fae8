"""Scopes: minted by every retrieval, read at every call of a tool, all revoked at once by a new key."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Engine

from service.actions.presenting import OWNER
from service.actions.runtime import Runtime, timestamp
from service.lore.answer import ScopeTrace, ToolName
from service.lore.book import WORLD
from service.lore.open_book import AttachedBook
from service.lore.request import RetrieveRequest
from service.lore.scope import KEY_ID_BYTES, SECRET_BYTES, Scope, SigningKey, read, sign
from service.store import scope_keys
from service.store.engine import reading, writing

READING: tuple[ToolName, ...] = ("fetch", "list", "search")


def mint(
    rt: Runtime, request: RetrieveRequest, books: Sequence[AttachedBook], key: SigningKey | None
) -> ScopeTrace | None:
    """The right to reach, through tools, what this request has attached; None when it is too long to be signed.

    `books` are those that were found so; they tell which tools there are. `key` is the one in use when they were read,
    None before the first.
    """
    expires = int(rt.clock().timestamp()) + rt.settings.scope_seconds
    scope = Scope(
        owner=OWNER,
        hosts=request.hosts,
        books=request.books,
        conversation=request.conversation,
        turn=request.turn,
        response_id=request.response_id,
        expires=expires,
        names=request.names,
    )
    token = sign(scope, key or _key(rt))
    if token is None:
        return None
    tools = tools_of(scope, books)
    return ScopeTrace(token=token, expires_at=timestamp(datetime.fromtimestamp(expires, UTC)), tools=tools)


def tools_of(scope: Scope, books: Sequence[AttachedBook]) -> tuple[ToolName, ...]:
    """The tools of a scope that reaches these books: `write` wants a living one, and a reply that a write hangs on."""
    reply = scope.conversation is not None and scope.turn is not None and scope.response_id is not None
    living = any(
        book.open.text.book.settings.living and book.open.text.book.enabled and book.open.text.book.dialect == WORLD
        for book in books
    )
    return (*READING, "write") if reply and living else READING


def scope_of(rt: Runtime, token: str) -> Scope:
    """What a token lets reach. Raises `Unauthenticated`, `ScopeExpired`."""
    return read(token, _key(rt), rt.clock().timestamp())


def revoke_all(engine: Engine, now: str) -> None:
    """Sign with a new key from now on, and refuse whatever was signed before."""
    with writing(engine) as conn:
        scope_keys.forget(conn)
        scope_keys.offer(conn, _new_key(), now)
        conn.commit()


def _key(rt: Runtime) -> SigningKey:
    """The key in use, read anew each time so that a rotation by any process counts at once."""
    with reading(rt.engine) as conn:
        key = scope_keys.current(conn)
    if key is not None:
        return key
    with writing(rt.engine) as conn:
        scope_keys.offer(conn, _new_key(), rt.now())
        conn.commit()
    return _key(rt)


def _new_key() -> SigningKey:
    return SigningKey(id=secrets.token_bytes(KEY_ID_BYTES), secret=secrets.token_bytes(SECRET_BYTES))
