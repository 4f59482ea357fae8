"""Books in and out as files."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from service.actions import exporting, importing
from service.actions.importing import ImportReport
from service.api.answers import as_file, as_json
from service.api.bodies import UPLOAD_BODY, Uploaded
from service.api.deps import BookId, IdempotencyKey, IfMatch, Once, Rt, route_of
from service.api.documenting import answering, routes_of
from service.api.examples import transfers as examples
from service.formats import NAMES, WRITTEN
from service.lore.book import Dialect

router = routes_of("Import and export")

_READ = ("malformed-body", "too-large", "unsupported-media-type", "unreadable-file", "invalid-request")
_KEPT = ("limit-exceeded", "conflict", "in-progress", "idempotency-mismatch")

FormatName = Annotated[
    Literal[NAMES] | None,  # type: ignore[valid-type]  # the names are data
    Query(description="Read it as this format; by default it is recognised by its content."),
]
Host = Annotated[
    str | None,
    Query(max_length=300, description="Attach the book here, as `kind:key`.", examples=["persona:p9"]),
]
DialectOf = Annotated[
    Dialect | None,
    Query(
        description="Read it as a world book or as a lorebook of this dialect; default: `world`, a book that exists "
        "keeps its own, and a file of our own says it."
    ),
]
DryRun = Annotated[bool, Query(description="Only report what would happen.")]
Wait = Annotated[bool, Query(description="Answer when the vectors are in, after a minute at most.")]


async def _upload_once(request: Request, runtime: Rt, file: Uploaded, key: IdempotencyKey = None) -> Once:
    # The file and not the body: each sending of a form draws another boundary.
    return Once(runtime, key, route_of(request), b"\n".join(((file.name or "").encode(errors="replace"), file.data)))


UploadOnce = Annotated[Once, Depends(_upload_once)]


@router.post(
    "/v1/books/import",
    status_code=201,
    response_model=ImportReport,
    responses={
        **answering(201, examples.IMPORTED, *_READ, "name-taken", *_KEPT),
        200: {
            "model": ImportReport,
            "description": "Nothing was written: a dry run, or a card without a book.",
            "content": {"application/json": {"example": examples.DRY_RUN}},
        },
    },
    openapi_extra=UPLOAD_BODY,
)
def import_new_book(
    runtime: Rt,
    once: UploadOnce,
    file: Uploaded,
    name: Annotated[str | None, Query(max_length=200, description="Name of the book; default: the file's.")] = None,
    format: FormatName = None,
    dialect: DialectOf = None,
    host: Host = None,
    dry_run: DryRun = False,
    wait: Wait = False,
) -> Response:
    """A file as a new book. The report says what was added, what was skipped and what has no effect here."""

    def read() -> Response:
        report = importing.import_book(
            runtime,
            file.data,
            name=name,
            file_name=file.name,
            format=format,
            dialect=dialect,
            host=host,
            dry_run=dry_run,
            wait=wait,
        )
        if report.book is None or dry_run:
            return as_json(report)
        return as_json(report, status=201, headers={"Location": f"/v1/books/{report.book.id}"})

    return once(read)


@router.post(
    "/v1/books/{book}/import",
    response_model=ImportReport,
    responses=answering(200, examples.IMPORTED_INTO, *_READ, "not-found", "version-mismatch", *_KEPT),
    openapi_extra=UPLOAD_BODY,
)
def import_into_book(
    runtime: Rt,
    once: UploadOnce,
    file: Uploaded,
    book_id: BookId,
    version: IfMatch,
    mode: Annotated[
        Literal["append", "replace"],
        Query(
            description="`append`: entries that are there already are skipped. `replace`: the book becomes the file."
        ),
    ] = "append",
    format: FormatName = None,
    dialect: DialectOf = None,
    host: Host = None,
    dry_run: DryRun = False,
    wait: Wait = False,
) -> Response:
    """A file into a book, all of it or, if a limit is exceeded, nothing."""

    def read() -> Response:
        return as_json(
            importing.import_book(
                runtime,
                file.data,
                file_name=file.name,
                into=book_id,
                mode=mode,
                if_match=version,
                format=format,
                dialect=dialect,
                host=host,
                dry_run=dry_run,
                wait=wait,
            )
        )

    return once(read)


@router.get("/v1/books/{book}/export", responses=answering(200, examples.EXPORTED, "not-found", "invalid-request"))
def export_book(
    runtime: Rt,
    book_id: BookId,
    format: Annotated[Literal[WRITTEN], Query(description="Format of the file.")] = "worldbook",  # type: ignore[valid-type]
    report: Annotated[bool, Query(description="Instead of the file: what this format cannot hold.")] = False,
) -> Response:
    """The book as a file. `worldbook` loses nothing; `report=true` tells what another format would lose."""
    if report:
        return as_json(exporting.export_report(runtime, book_id, format))
    file = exporting.export_book(runtime, book_id, format)
    return as_file(file.data, file.name, file.media_type)


@router.post(
    "/v1/books/{book}/export",
    responses=answering(200, None, *_READ, "not-found"),
    response_class=Response,
    openapi_extra=UPLOAD_BODY,
)
def export_into_card(
    runtime: Rt,
    file: Uploaded,
    book_id: BookId,
    format: Annotated[Literal[exporting.CARDS], Query(description="Of the card that is sent.")] = "png",  # type: ignore[valid-type]
) -> Response:
    """The card that is sent, with the book in it: a PNG as V2 and as V3, a CHARX as V3. All else of it stays as it is.

    What it loses is what `GET …/export?format=character_book_v3&report=true` tells.
    """
    made = exporting.export_into_card(runtime, book_id, file.data, format)
    return as_file(made.data, made.name, made.media_type)
