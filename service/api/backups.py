"""Everything out as one file, and in again."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from service.actions import full_backup
from service.actions.full_backup import RestoreReport
from service.api.answers import as_large_file
from service.api.bodies import NDJSON, Spooled
from service.api.deps import Rt
from service.api.documenting import answering, routes_of
from service.api.examples import backups as examples

router = routes_of("Import and export")

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A backup as it was downloaded.",
        "content": {NDJSON: {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/v1/backup", responses=answering(200, None, "invalid-request"), response_class=Response)
def download_backup(
    runtime: Rt,
    vectors: Annotated[bool, Query(description="Also the vectors; without them all entries are embedded anew.")] = True,
) -> Response:
    """All books, hosts and vectors as of one moment, as lines of JSON; `POST /v1/restore` takes them."""
    return as_large_file(full_backup.backup_file(runtime, vectors=vectors), "worldbook-backup.ndjson", NDJSON)


@router.post(
    "/v1/restore",
    responses=answering(
        200,
        examples.RESTORED,
        "too-large",
        "unsupported-media-type",
        "unreadable-file",
        "invalid-request",
        "limit-exceeded",
        "restore-conflict",
    ),
    openapi_extra=_BODY,
)
def restore_backup(runtime: Rt, file: Spooled) -> RestoreReport:
    """Everything of a backup under the ids that it had, all of it or nothing; what is there already stays."""
    return full_backup.restore(runtime, file)
