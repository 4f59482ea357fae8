"""How far the vectors of a book are."""

from __future__ import annotations

from collections.abc import Sequence

from service.actions.runtime import Runtime


def pending(rt: Runtime, book_ids: Sequence[str]) -> int:
    """How many entries of the books wait for their vectors."""
    return rt.backlog.pending(book_ids)


def wait(rt: Runtime, book_id: str, seconds: float) -> int:
    """Wait until the book's vectors are there, at most so long; answers how many are still missing."""
    return rt.backlog.wait(book_id, seconds)
