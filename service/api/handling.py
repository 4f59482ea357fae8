"""Whatever is raised below the routes, as a problem."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from service.api.problems import MAX_ERRORS, respond
from service.api.refusals import MalformedBody, MethodNotAllowed, NoSuchRoute
from service.lore.errors import FieldError, Invalid, WorldbookError
from service.validation import field_errors

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


def handle_errors(app: FastAPI) -> None:
    """Answer domain errors, invalid requests and the errors of the framework as problems."""
    # These run on the event loop: a full thread pool must not keep a refusal waiting.
    app.add_exception_handler(WorldbookError, _domain)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _framework)


async def _domain(request: Request, error: Exception) -> Response:
    return respond(error, request.state.request_id)


async def _validation(request: Request, error: Exception) -> Response:
    invalid = cast(RequestValidationError, error)
    field = getattr(request.scope.get("route"), "body_field", None)
    kind = field.field_info.annotation if field is not None else None
    # Only as many as are told: a guess for each of a hundred thousand unknown fields takes a minute.
    faults = dict.fromkeys(_faults(invalid.errors()[:MAX_ERRORS], invalid.body, kind))
    return respond(Invalid(tuple(faults)), request.state.request_id)


def _faults(errors: Sequence[Any], body: Any, kind: Any) -> Iterable[FieldError]:
    for error in errors:
        where, *path = error["loc"]
        if where == "body":
            yield from field_errors([{**error, "loc": _within(body, path, error["type"])}], kind)
        else:
            [fault] = field_errors([{**error, "loc": ()}])
            yield FieldError(parameter=str(path[0]), detail=fault.detail, remedy=fault.remedy)


def _within(body: Any, path: Sequence[Any], fault: str) -> tuple[Any, ...]:
    """The part of pydantic's path that the body has: it also names the branches of unions, which no caller knows."""
    kept = []
    for number, step in enumerate(path):
        holds = step in body if isinstance(body, Mapping) else isinstance(body, list) and isinstance(step, int)
        if holds:
            body = body[step]
            kept.append(step)
        elif fault.startswith("missing") and number == len(path) - 1:
            kept.append(step)
    return tuple(kept)


async def _framework(request: Request, error: Exception) -> Response:
    raised = cast(HTTPException, error)
    if raised.status_code == 404:
        return respond(NoSuchRoute(request.url.path), request.state.request_id)
    if raised.status_code == 405:
        allowed = _methods_of(request)
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": ", ".join(allowed)})
        return respond(MethodNotAllowed(request.method, allowed), request.state.request_id)
    return respond(MalformedBody(raised.detail), request.state.request_id)


def _methods_of(request: Request) -> list[str]:
    """The methods that this path has; the framework names those of one route only."""
    routes = cast(FastAPI, request.app).router.routes

    def reaches(method: str) -> bool:
        scope = {**request.scope, "method": "GET" if method == "HEAD" else method}
        return any(route.matches(scope)[0] is Match.FULL for route in routes)

    return [*(method for method in METHODS if reaches(method)), "OPTIONS"]
