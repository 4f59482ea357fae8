"""Rows of what is remembered: states of conversations, and the request log."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, func, select

from service.store import requests, states
from service.store.engine import reading, writing
from service.store.requests import StoredRequest
from service.store.tables import request_entries

NOW = "2026-11-30T17:20:11.480Z"


def put(engine: Engine, turn: int, state: Any, *, keep: int = 100, now: str = NOW) -> None:
    with writing(engine) as conn:
        states.put(conn, "local", "c", turn, state, now, keep=keep)
        conn.commit()


def before(engine: Engine, turn: int) -> tuple[Any, bool]:
    with reading(engine) as conn:
        return states.before(conn, "local", "c", turn)


def test_a_state_is_that_of_the_greatest_turn_below(engine: Engine) -> None:
    """C5: a turn begins with the state of the greatest turn below it, and knows whether it was answered before."""
    assert before(engine, 5) == (None, False)
    put(engine, 2, {"two": 1})
    put(engine, 5, {"five": 1})
    assert before(engine, 2) == (None, True)
    assert before(engine, 4) == ({"two": 1}, False)
    assert before(engine, 5) == ({"two": 1}, True)
    assert before(engine, 2**52) == ({"five": 1}, False)
    put(engine, 5, {"five": 2})
    assert before(engine, 6) == ({"five": 2}, False)


def test_states_leave_by_number_and_age(engine: Engine) -> None:
    """C5: the newest turns of a conversation stay, and none that is older than allowed."""
    for turn in range(6):
        put(engine, turn, {"turn": turn}, keep=3, now=f"2026-11-0{turn + 1}T00:00:00.000Z")
    assert [before(engine, turn)[0] for turn in (3, 4, 6)] == [None, {"turn": 3}, {"turn": 5}]
    with writing(engine) as conn:
        states.expire(conn, "2026-11-06")
        conn.commit()
    assert [before(engine, turn)[0] for turn in (5, 6)] == [None, {"turn": 5}]


def request(id_: str, *handles: str, once: str | None = None, at: str = NOW, size: int = 100) -> StoredRequest:
    return StoredRequest(
        id=id_, once=once, conversation="c", turn=1, response_id=None, entered=handles, created_at=at, data=bytes(size)
    )


def ids(engine: Engine, **options: Any) -> list[str]:
    every: dict[str, Any] = dict.fromkeys(("conversation", "turn", "handle", "since", "after"))
    with reading(engine) as conn:
        return [each.id for each in requests.page(conn, "local", **{**every, "limit": 50, **options})]


def add(engine: Engine, *new: StoredRequest) -> None:
    with writing(engine) as conn:
        requests.add(conn, "local", new)
        conn.commit()


def test_requests_are_found_by_what_entered(engine: Engine) -> None:
    """C7: requests come newest first, and are found by the entries that entered."""
    add(engine, request("a", "b-1", "b-2", "b-1"), request("b", "b-2"), request("c"))
    assert ids(engine) == ["c", "b", "a"]
    assert ids(engine, handle="b-1") == ["a"]
    assert ids(engine, handle="b-2") == ["b", "a"]
    with reading(engine) as conn:
        found = requests.read(conn, "local", "a")
    assert found is not None
    assert (found.entered_count, found.data) == (2, bytes(100))


def test_the_same_request_replaces(engine: Engine) -> None:
    """C7: of requests that count as one the last stays, with what entered in it."""
    add(engine, request("a", "b-1", once="x"), request("b", "b-2", once="x"), request("c", "b-3"))
    add(engine, request("d", "b-4", once="x"))
    assert ids(engine) == ["d", "c"]
    with reading(engine) as conn:
        assert conn.scalar(select(func.count()).select_from(request_entries)) == 2


def test_requests_leave_by_age_and_size(engine: Engine) -> None:
    """C7: what is too old leaves, then the oldest until all together fit; one that is too large alone leaves too."""
    add(engine, *(request(f"r{n}", at=f"2026-11-0{n}T00:00:00.000Z", size=1000) for n in range(1, 8)))

    def expire(day: int, most: int) -> list[str]:
        with writing(engine) as conn:
            requests.expire(conn, "local", before=f"2026-11-0{day}", most_bytes=most)
            conn.commit()
        return ids(engine)

    assert expire(3, 100_000) == ["r7", "r6", "r5", "r4", "r3"]
    assert expire(3, 3000) == ["r7", "r6", "r5"]
    assert expire(3, 999) == []
