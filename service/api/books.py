"""Books: list, create, read, change, delete."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Body, Query
from starlette.responses import Response

from service.actions import copying, editing_books
from service.actions.copying import Copy
from service.actions.paging import Page
from service.api.answers import created, versioned
from service.api.deps import BookId, Cursor, IfMatch, IfNoneMatch, JsonOnce, Limit, Rt, Search
from service.api.documenting import answering, patch_body, routes_of
from service.api.examples import books as examples
from service.lore.book import Book, Dialect

router = routes_of("Books")

CHANGEABLE = ("name", "description", "enabled", "settings", "channels", "extensions")
_POSTED = ("malformed-body", "too-large", "unsupported-media-type", "invalid-request", "limit-exceeded")

Entries = Annotated[bool, Query(description="Also the entries, in list order.")]


@router.get("/v1/books", responses=answering(200, examples.BOOKS, "invalid-request"))
def list_books(
    runtime: Rt,
    q: Search = None,
    dialect: Annotated[Dialect | None, Query(description="Only books of this dialect.")] = None,
    sort: Annotated[Literal["name", "-updated_at"], Query(description="By name, or the last changed first.")] = "name",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Book]:
    """Your books, page by page, without their entries. Tokens are not counted here: read a single book for that."""
    return editing_books.list_books(runtime, q=q, dialect=dialect, sort=sort, limit=limit, cursor=cursor)


@router.post(
    "/v1/books",
    status_code=201,
    response_model=Book,
    responses=answering(201, examples.BOOK, *_POSTED, "name-taken", "in-progress", "idempotency-mismatch"),
)
def create_book(runtime: Rt, once: JsonOnce, book: Annotated[Book, Body(examples=[examples.BOOK_IN])]) -> Response:
    """A new book, with entries or without. Vectors come afterwards: `counts.pending_vectors` tells how far they are."""

    def create() -> Response:
        new = editing_books.create_book(runtime, book)
        return created(new, f"/v1/books/{new.id}")

    return once(create)


@router.post(
    "/v1/books/{book}/copy",
    status_code=201,
    response_model=Book,
    responses=answering(201, examples.BOOK, *_POSTED, "not-found", "name-taken", "in-progress", "idempotency-mismatch"),
)
def copy_book(
    runtime: Rt, once: JsonOnce, book_id: BookId, copy: Annotated[Copy, Body(examples=[examples.COPY])]
) -> Response:
    """A copy of the book that is yours to edit, with its entries under their numbers. Nothing is embedded again.

    The copy of a living book is not living until you say so. It has no log of writes and no counts of use. Tokens
    are not counted here: read the new book for that.
    """

    def create() -> Response:
        new = copying.copy_book(runtime, book_id, copy)
        return created(new, f"/v1/books/{new.id}")

    return once(create)


@router.get(
    "/v1/books/{book}",
    response_model=Book,
    responses={**answering(200, examples.BOOK, "not-found", "invalid-request"), 304: {"description": "Not modified."}},
)
def read_book(runtime: Rt, book_id: BookId, seen: IfNoneMatch = None, entries: Entries = False) -> Response:
    """A book with its settings, counts, token costs and warnings."""
    return versioned(editing_books.read_book(runtime, book_id, entries=entries), seen)


@router.patch(
    "/v1/books/{book}",
    response_model=Book,
    responses=answering(200, examples.BOOK, *_POSTED, "not-found", "name-taken", "version-mismatch"),
    openapi_extra=patch_body(Book, CHANGEABLE, examples.BOOK_PATCH),
)
def change_book(runtime: Rt, book_id: BookId, patch: Annotated[dict[str, Any], Body()], version: IfMatch) -> Response:
    """Change the name, the description, the settings, or switch the whole book off and on."""
    return versioned(editing_books.change_book(runtime, book_id, patch, version))


@router.delete(
    "/v1/books/{book}",
    status_code=204,
    responses=answering(204, None, "not-found", "version-mismatch", "invalid-request"),
)
def delete_book(runtime: Rt, book_id: BookId, version: IfMatch) -> None:
    """Delete a book with its entries, and detach it from every host. Its id is never given out again."""
    editing_books.delete_book(runtime, book_id, version)
