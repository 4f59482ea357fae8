"""Living books: the log of what models wrote, and how it is taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Body, Path, Query

from service.actions import undoing
from service.actions.model_writing import Name
from service.actions.paging import Page
from service.actions.undoing import Discarded
from service.api.deps import MAX_ENTRY, BookId, Cursor, IfMatch, Limit, Rt
from service.api.documenting import answering, routes_of
from service.api.examples import living as examples
from service.lore.living import Write
from service.lore.strict import STRICT

router = routes_of("Living books")

_POSTED = ("malformed-body", "too-large", "unsupported-media-type", "invalid-request")


@dataclass(frozen=True, kw_only=True)
class Discard:
    """A reply that another one replaces."""

    __pydantic_config__ = STRICT

    response_id: Name
    """As it was given to `retrieve`."""


@router.get("/v1/books/{book}/writes", responses=answering(200, examples.WRITES, "not-found", "invalid-request"))
def list_writes(
    runtime: Rt,
    book_id: BookId,
    entry: Annotated[int | None, Query(ge=0, le=MAX_ENTRY, description="Only those of this entry.")] = None,
    conversation: Annotated[str | None, Query(max_length=200, description="Only those of this conversation.")] = None,
    response_id: Annotated[str | None, Query(max_length=200, description="Only those of this reply.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Write]:
    """What models wrote into the book, the newest first, with the text before and after. Writes of deleted entries stay
    in the log as long as the book."""
    return undoing.writes(
        runtime,
        book_id,
        entry=entry,
        conversation=conversation,
        response_id=response_id,
        limit=limit,
        cursor=cursor,
    )


@router.post(
    "/v1/books/{book}/writes/{write}/undo",
    responses=answering(200, examples.UNDONE, "not-found", "invalid-request", "undo-refused", "version-mismatch"),
)
def undo_write(
    runtime: Rt,
    book_id: BookId,
    write_id: Annotated[str, Path(alias="write", description="Id of the write.", examples=["wr_01KBAZ3T5Y"])],
    version: IfMatch,
) -> Write:
    """Take a write back: an edit restores the text before it, a create removes the entry.

    Writes of an entry are undone from the newest to the oldest, and only while its text is as the write left it.
    """
    return undoing.undo(runtime, book_id, write_id, version)


@router.post("/v1/conversations/{key:segment}/discard", responses=answering(200, examples.DISCARDED, *_POSTED))
def discard_response(
    runtime: Rt,
    key: Annotated[str, Path(description="The app's own id of the conversation, percent-encoded.", examples=["c-81"])],
    discarded: Annotated[Discard, Body(examples=[examples.DISCARD])],
) -> Discarded:
    """Take back all that was written for a reply, because it is generated again.

    A write whose entry was written or edited again since is kept, with the reason, until the reply that wrote since is
    discarded too, or this one once more. What is written for the reply later is refused. Discarding it a second time
    does nothing when all was taken back.
    """
    return undoing.discard(runtime, key, discarded.response_id)
