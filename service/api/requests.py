"""The request log: what earlier retrievals gave to the model, and why."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from annotated_types import Ge, MaxLen
from fastapi import Path, Query
from starlette.responses import Response

from service.actions import requests
from service.actions.paging import Page
from service.actions.requests import LoggedRequest, WholeRequest
from service.api.answers import as_json
from service.api.deps import Cursor, Limit, Rt
from service.api.documenting import answering, routes_of
from service.api.examples import requests as examples

router = routes_of("Request log")

Id = Annotated[str, Path(alias="id", description="`run.request_id` of an answer.", examples=["rq_01KBAZ3T5Y"])]


@router.get("/v1/requests", responses=answering(200, examples.REQUESTS, "invalid-request"))
def list_requests(
    runtime: Rt,
    conversation: Annotated[str | None, MaxLen(200), Query(description="Only of this conversation.")] = None,
    turn: Annotated[int | None, Ge(0), Query(le=2**53 - 1, description="Only of this turn.")] = None,
    handle: Annotated[
        str | None,
        MaxLen(40),
        Query(
            description="Only those that gave this entry to the model. Each is found by the first 1,000 that it gave, "
            "section by section, those of lorebooks last; what else a larger one gave, its account tells.",
            examples=["bakiru-17"],
        ),
    ] = None,
    since: Annotated[datetime | None, Query(description="Only since this time, RFC 3339.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[LoggedRequest]:
    """Answered retrievals, the newest first. A reply that was tried again counts once."""
    return requests.list_requests(
        runtime,
        conversation=conversation,
        turn=turn,
        handle=handle,
        since=since,
        limit=limit,
        cursor=cursor,
    )


@router.get(
    "/v1/requests/{id:segment}",
    response_model=WholeRequest,
    responses=answering(200, examples.REQUEST, "not-found", "invalid-request"),
)
def read_request(runtime: Rt, id_: Id) -> Response:
    """What was answered, without the texts: the entries that the model got with their reasons, and one for each other.

    Requests are kept for the time and the room that the settings give.
    """
    return as_json(requests.read_request(runtime, id_))


@router.delete(
    "/v1/requests/{id:segment}", status_code=204, responses=answering(204, None, "not-found", "invalid-request")
)
def delete_request(runtime: Rt, id_: Id) -> None:
    """Forget a request, what it asked and what it was given."""
    requests.delete_request(runtime, id_)
