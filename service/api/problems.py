"""Errors as RFC 9457 problems: one table from domain errors to problem types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from service.actions.idempotency import IdempotencyMismatch, InProgress
from service.api import refusals
from service.api.problem_types import TYPES, ProblemType
from service.lore import errors
from service.lore.errors import FieldError
from service.lore.strict import STRICT
from service.validation import adapter

MEDIA_TYPE = "application/problem+json"
MAX_ERRORS = 100
RETRY_AFTER_SECONDS = 1


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What went wrong and what to do about it (RFC 9457). Fields that do not apply are null or empty."""

    __pydantic_config__ = STRICT

    type: str
    """Path of the page about this kind of problem; the field to switch on."""
    title: str
    status: int
    detail: str = ""
    """What was wrong this time."""
    instance: str | None = None
    """Id of the request, as in `X-Request-Id`."""
    remedy: str = ""
    """What to do about it."""
    limit: int | None = None
    actual: int | None = None
    """Null when the excess was refused before it was counted."""
    version: int | None = None
    """With `version-mismatch`: the current version."""
    fault: str | None = None
    """With `unreadable-file` and `malformed-body`: how it is broken, in one word."""
    errors: tuple[FieldError, ...] = ()
    """Every wrong field; at most a hundred."""


TYPE_OF: Mapping[type[errors.WorldbookError], str] = {
    errors.Unauthenticated: "unauthenticated",
    errors.ScopeExpired: "scope-expired",
    errors.NotFound: "not-found",
    errors.Invalid: "invalid-request",
    errors.UnreadableFile: "unreadable-file",
    errors.TooLarge: "too-large",
    errors.LimitExceeded: "limit-exceeded",
    errors.NameTaken: "name-taken",
    errors.VersionMismatch: "version-mismatch",
    errors.Conflict: "conflict",
    errors.RestoreConflict: "restore-conflict",
    errors.UndoRefused: "undo-refused",
    errors.Unavailable: "overloaded",
    errors.SchemaMismatch: "internal",
    IdempotencyMismatch: "idempotency-mismatch",
    InProgress: "in-progress",
    refusals.MalformedBody: "malformed-body",
    refusals.UnsupportedMediaType: "unsupported-media-type",
    refusals.HostNotAllowed: "host-not-allowed",
    refusals.OriginNotAllowed: "forbidden",
    refusals.Overloaded: "overloaded",
    refusals.NoSuchRoute: "not-found",
    refusals.MethodNotAllowed: "method-not-allowed",
}
"""Every domain error and refusal; a test enumerates them."""


def type_of(error: BaseException) -> ProblemType:
    """The row of an error: of its own class, else of the nearest class above; `internal` for what is not ours."""
    names = (TYPE_OF[kind] for kind in type(error).__mro__ if kind in TYPE_OF)
    return TYPES[next(names, "internal")]


def problem_of(error: BaseException, request_id: str | None) -> Problem:
    """An error as the caller may see it. Of an internal one nothing but the id: no message, no traceback, no lore."""
    row = type_of(error)
    if row.name == "internal":
        return Problem(type=row.path, title=row.title, status=row.status, instance=request_id)
    return Problem(
        type=row.path,
        title=row.title,
        status=row.status,
        detail=getattr(error, "detail", ""),
        instance=request_id,
        remedy=getattr(error, "remedy", "") or row.remedy,
        limit=getattr(error, "limit", None),
        actual=getattr(error, "actual", None),
        version=getattr(error, "current", None),
        fault=getattr(error, "fault", None),
        errors=tuple(getattr(error, "errors", ()))[:MAX_ERRORS],
    )


def respond(error: BaseException, request_id: str | None) -> Response:
    """The HTTP answer for an error."""
    problem = problem_of(error, request_id)
    headers = {}
    if problem.status == TYPES["overloaded"].status:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if problem.status == TYPES["unauthenticated"].status:
        headers["WWW-Authenticate"] = "Bearer"  # RFC 9110, 15.5.2 wants it
    if isinstance(error, refusals.MethodNotAllowed):
        headers["Allow"] = ", ".join(error.allowed)
    return Response(
        adapter(Problem).dump_json(problem), status_code=problem.status, headers=headers, media_type=MEDIA_TYPE
    )


def example_of(row: ProblemType) -> dict[str, Any]:
    """A problem of this type, as the contract shows it."""
    wrong: Sequence[FieldError] = ()
    if row.name == "invalid-request":
        wrong = (
            FieldError(
                pointer="#/messages/2/role",
                detail="'bot' is wrong",
                remedy="one of 'system', 'developer', 'user', 'assistant' or 'tool'",
            ),
            FieldError(pointer="#/budget_token", detail="unknown field", remedy="did you mean budget_tokens?"),
        )
    internal = row.name == "internal"
    problem = Problem(
        type=row.path,
        title=row.title,
        status=row.status,
        detail="" if internal else row.when,
        remedy="" if internal else row.remedy,
        instance="rq_01KBAZ3T5YJ8W2M6N4QX7C9DEF",
        version=41 if row.name == "version-mismatch" else None,
        errors=tuple(wrong),
    )
    example: dict[str, Any] = adapter(Problem).dump_python(problem, mode="json")
    return example
