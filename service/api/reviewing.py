"""What an author learns about a book: how often its entries are used, and what is worth a look."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query

from service.actions import reviewing
from service.actions.paging import Page
from service.actions.reviewing import Health
from service.api.deps import BookId, Cursor, Limit, Rt
from service.api.documenting import answering, routes_of
from service.api.examples import reviewing as examples
from service.lore.usage import EntryUsage

router = routes_of("Books")


@router.get("/v1/books/{book}/usage", responses=answering(200, examples.USAGE, "not-found", "invalid-request"))
def read_usage(
    runtime: Rt,
    book_id: BookId,
    used: Annotated[
        Literal["never"] | None, Query(description="Only entries that were neither used nor fetched.")
    ] = None,
    sort: Annotated[
        Literal["position", "-uses"], Query(description="In list order, or the most used first.")
    ] = "position",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[EntryUsage]:
    """How often each entry went into a prompt in full, and how often models fetched it.

    Only live retrievals count, previews do not; a turn that is generated again counts once.
    """
    return reviewing.entry_usage(runtime, book_id, never=used == "never", sort=sort, limit=limit, cursor=cursor)


@router.get("/v1/books/{book}/health", responses=answering(200, examples.HEALTH, "not-found", "invalid-request"))
def read_health(runtime: Rt, book_id: BookId) -> Health:
    """What is worth a look: entries that never appeared, too long ones, near duplicates, names that are everyday words,
    and names that several entries share."""
    return reviewing.health(runtime, book_id)
