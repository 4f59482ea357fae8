"""Entries of a book: list, add, read, change, delete, one or many; and their order."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, MaxLen, MinLen
from fastapi import Body, Query
from pydantic import PlainValidator
from starlette.responses import Response

from service.actions import editing_entries
from service.actions.editing_entries import Changes, Ordered
from service.actions.paging import Page
from service.api.answers import as_json, versioned
from service.api.deps import (
    MAX_ENTRY,
    BookId,
    Cursor,
    EntryId,
    EntryIds,
    IfMatch,
    IfNoneMatch,
    JsonOnce,
    Limit,
    Rt,
    Search,
)
from service.api.documenting import answering, patch_body, routes_of
from service.api.examples import entries as examples
from service.api.examples.books import BOOK
from service.lore.at_most import AtMost
from service.lore.book import Book, Entry, Tier
from service.lore.strict import STRICT
from service.validation import validate

router = routes_of("Entries")

CHANGEABLE = ("title", "content", "aliases", "gist", "tier", "enabled", "trigger", "extensions")
MAX_BATCH = 10_000
_POSTED = ("malformed-body", "too-large", "unsupported-media-type", "invalid-request", "not-found")


Numbers = Annotated[tuple[Annotated[int, Ge(0), Le(MAX_ENTRY)], ...], MinLen(1), AtMost(MAX_BATCH)]
_MANY = Annotated[tuple[Entry, ...], AtMost(MAX_BATCH)]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The same change to many entries."""

    __pydantic_config__ = STRICT

    ids: Numbers
    set: Changes


@dataclass(frozen=True, kw_only=True)
class Order:
    """Entries that should stand together, in this order."""

    __pydantic_config__ = STRICT

    ids: Numbers
    to: Literal["top", "bottom"] | Annotated[int, Ge(0)]
    """Where the first of them goes; positions count from 0."""


@dataclass(frozen=True, kw_only=True)
class Added:
    """The new entries, in the order in which they were sent."""

    __pydantic_config__ = STRICT

    items: tuple[Entry, ...]


@dataclass(frozen=True, kw_only=True)
class ListedEntry(Entry):
    """An entry in a list, which may leave its content out."""

    __pydantic_config__ = STRICT

    content: Annotated[str, MaxLen(100_000)] = ""
    """The lore, with `content=true`; else ""."""


def _one_or_many(value: object) -> tuple[Entry, ...]:
    # Apart, so that a fault is told once, with a pointer into what was sent.
    if isinstance(value, list):
        return validate(_MANY, value)
    return (validate(Entry, value),)


OneOrMany = Annotated[
    tuple[Entry, ...],
    PlainValidator(_one_or_many, json_schema_input_type=Entry | _MANY),
    Body(
        openapi_examples={
            "one": {"summary": "One entry", "value": examples.ENTRY_IN},
            "lore": {"summary": "One of a lorebook", "value": examples.LORE_IN},
            "many": {"summary": "A list", "value": examples.ENTRIES_IN},
        }
    ),
]


@router.get(
    "/v1/books/{book}/entries",
    response_model=Page[ListedEntry],
    responses=answering(200, examples.ENTRIES, "not-found", "invalid-request"),
)
def list_entries(
    runtime: Rt,
    book_id: BookId,
    enabled: Annotated[bool | None, Query(description="Only the enabled or only the disabled ones.")] = None,
    tier: Annotated[Tier | None, Query(description="Only those of this tier.")] = None,
    q: Search = None,
    used: Annotated[
        Literal["never"] | None, Query(description="Only entries that were neither used nor fetched.")
    ] = None,
    sort: Annotated[
        Literal["position", "title", "-uses"], Query(description="In list order, by title, or the most used first.")
    ] = "position",
    content: Annotated[bool, Query(description='With the content of each; else it is "".')] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """The entries of a book, page by page, with their total."""
    page = editing_entries.list_entries(
        runtime,
        book_id,
        enabled=enabled,
        tier=tier,
        q=q,
        never_used=used == "never",
        sort=sort,
        content=content,
        limit=limit,
        cursor=cursor,
    )
    return as_json(page)


@router.post(
    "/v1/books/{book}/entries",
    status_code=201,
    response_model=Added,
    responses=answering(
        201, examples.ADDED, *_POSTED, "limit-exceeded", "version-mismatch", "in-progress", "idempotency-mismatch"
    ),
)
def add_entries(runtime: Rt, once: JsonOnce, book_id: BookId, entries: OneOrMany, version: IfMatch) -> Response:
    """Add one entry, or a list of up to 500: all of them or, if one is wrong, none. They go to the end of the book."""

    def add() -> Response:
        added = Added(items=editing_entries.add_entries(runtime, book_id, entries, version))
        headers = {"Location": f"/v1/books/{book_id}/entries/{added.items[0].id}"} if len(added.items) == 1 else {}
        return as_json(added, status=201, headers=headers)

    return once(add)


@router.patch(
    "/v1/books/{book}/entries",
    response_model=Book,
    responses=answering(200, BOOK, *_POSTED, "version-mismatch"),
)
def set_entries(
    runtime: Rt, book_id: BookId, batch: Annotated[Batch, Body(examples=[examples.BATCH])], version: IfMatch
) -> Response:
    """Enable, disable or change the tier of many entries: one transaction, one version of the book."""
    return versioned(editing_entries.set_entries(runtime, book_id, batch.ids, asdict(batch.set), version))


@router.delete(
    "/v1/books/{book}/entries",
    status_code=204,
    responses=answering(204, None, "not-found", "version-mismatch", "invalid-request"),
)
def delete_entries(runtime: Rt, book_id: BookId, ids: EntryIds, version: IfMatch) -> None:
    """Delete many entries: all of them or, if one does not exist, none."""
    editing_entries.delete_entries(runtime, book_id, ids, version)


@router.get(
    "/v1/books/{book}/entries/{entry}",
    response_model=Entry,
    responses={**answering(200, examples.ENTRY, "not-found", "invalid-request"), 304: {"description": "Not modified."}},
)
def read_entry(runtime: Rt, book_id: BookId, entry_id: EntryId, seen: IfNoneMatch = None) -> Response:
    """One entry with its content."""
    return versioned(editing_entries.read_entry(runtime, book_id, entry_id), seen)


@router.put(
    "/v1/books/{book}/entries/{entry}",
    response_model=Entry,
    responses=answering(200, examples.ENTRY, *_POSTED, "version-mismatch"),
)
def replace_entry(
    runtime: Rt,
    book_id: BookId,
    entry_id: EntryId,
    new: Annotated[Entry, Body(examples=[examples.ENTRY_IN])],
    version: IfMatch,
) -> Response:
    """Replace all fields of an entry. `If-Match` compares the version of the entry, not of the book."""
    return versioned(editing_entries.replace_entry(runtime, book_id, entry_id, new, version))


@router.patch(
    "/v1/books/{book}/entries/{entry}",
    response_model=Entry,
    responses=answering(200, examples.ENTRY, *_POSTED, "version-mismatch"),
    openapi_extra=patch_body(Entry, CHANGEABLE, examples.ENTRY_PATCH),
)
def change_entry(
    runtime: Rt, book_id: BookId, entry_id: EntryId, patch: Annotated[dict[str, Any], Body()], version: IfMatch
) -> Response:
    """Change some fields of an entry. `If-Match` compares the version of the entry, not of the book."""
    return versioned(editing_entries.change_entry(runtime, book_id, entry_id, patch, version))


@router.delete(
    "/v1/books/{book}/entries/{entry}",
    status_code=204,
    responses=answering(204, None, "not-found", "version-mismatch", "invalid-request"),
)
def delete_entry(runtime: Rt, book_id: BookId, entry_id: EntryId, version: IfMatch) -> None:
    """Delete an entry. Its number is never given out again."""
    editing_entries.delete_entry(runtime, book_id, entry_id, version)


@router.post("/v1/books/{book}/order", responses=answering(200, examples.ORDERED, *_POSTED, "version-mismatch"))
def reorder(
    runtime: Rt, book_id: BookId, order: Annotated[Order, Body(examples=[examples.ORDER])], version: IfMatch
) -> Ordered:
    """Move entries to the top, the bottom or a position. The order decides which canon survives a small budget."""
    return editing_entries.reorder(runtime, book_id, order.ids, order.to, version)
