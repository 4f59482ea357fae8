"""Answers kept under an Idempotency-Key."""

from __future__ import annotations

from sqlalchemy import Connection, Engine

from service.store import idempotency
from service.store.engine import writing
from service.store.idempotency import KeptAnswer


def reserve(conn: Connection, now: str, body: str = "hash", owner: str = "local") -> KeptAnswer | None:
    day, minute = now[:10], now[:16]
    return idempotency.reserve(
        conn, owner, "k", route="POST /v1/books", body_hash=body, now=now, forget=day, abandoned=minute
    )


def test_the_first_call_gets_the_key(engine: Engine) -> None:
    """The key is the first caller's; a second sees that it runs, and then its answer."""
    with writing(engine) as conn:
        assert reserve(conn, "2026-11-30T10:00:10") is None
        running = reserve(conn, "2026-11-30T10:00:20", "other")
        assert running == KeptAnswer("POST /v1/books", "hash", None, {}, b"")
        idempotency.keep(conn, "local", "k", status=201, headers={"Location": "/v1/books/x"}, body=b"{}")
        assert reserve(conn, "2026-11-30T11:00:00") == KeptAnswer(
            "POST /v1/books", "hash", 201, {"Location": "/v1/books/x"}, b"{}"
        )


def test_owners_do_not_share_keys(engine: Engine) -> None:
    """The same key of another owner is another key."""
    with writing(engine) as conn:
        assert reserve(conn, "2026-11-30T10:00:10") is None
        assert reserve(conn, "2026-11-30T10:00:10", owner="other") is None


def test_what_ends_a_key(engine: Engine) -> None:
    """A key is free again when its call failed, when that was abandoned, and when its answer is old."""
    with writing(engine) as conn:
        reserve(conn, "2026-11-30T10:00:10")
        idempotency.release(conn, "local", "k")
        assert reserve(conn, "2026-11-30T10:00:20") is None
        assert reserve(conn, "2026-11-30T10:05:00") is None
        idempotency.keep(conn, "local", "k", status=201, headers={}, body=b"")
        assert reserve(conn, "2026-12-01T00:00:00") is None
