"""Every type of problem that the service answers, one row each.

`type` of a problem is a path on the service itself, which serves a page there; clients switch on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ProblemType:
    """One kind of problem."""

    name: str
    status: int
    title: str
    when: str
    remedy: str

    @property
    def path(self) -> str:
        return f"/problems/{self.name}"


PROBLEM_TYPES = (
    ProblemType(
        name="malformed-body",
        status=400,
        title="The body cannot be read",
        when="The body is not JSON or not multipart, or it is not UTF-8.",
        remedy="Send one JSON value in UTF-8; `detail` says where reading stopped.",
    ),
    ProblemType(
        name="unauthenticated",
        status=401,
        title="Nothing shows that you may do this",
        when="A tool call carries no scope, or one that is not as this service signed it.",
        remedy="Send `scope.token` of the last retrieve as it came, as the field `scope` or as bearer.",
    ),
    ProblemType(
        name="scope-expired",
        status=401,
        title="The scope is no longer good",
        when="The time of the scope is over, or `worldbook rotate-scopes` revoked it.",
        remedy="Retrieve again: every retrieval answers a fresh scope.",
    ),
    ProblemType(
        name="forbidden",
        status=403,
        title="This is not allowed",
        when="A web page of another origin wants to change something.",
        remedy="If the page is yours, add its origin to the setting WORLDBOOK_CORS_ORIGINS.",
    ),
    ProblemType(
        name="not-found",
        status=404,
        title="There is no such thing",
        when="The path, or the book, entry or host that it names, does not exist.",
        remedy="List what there is (GET /v1/books) and use an id from there.",
    ),
    ProblemType(
        name="method-not-allowed",
        status=405,
        title="The path has no such method",
        when="The path exists, but with other methods; the header `Allow` lists them.",
        remedy="Use one of the methods in `Allow`.",
    ),
    ProblemType(
        name="name-taken",
        status=409,
        title="The name is taken",
        when="Another of your books has this name.",
        remedy="Choose another name, or change the book that has it.",
    ),
    ProblemType(
        name="conflict",
        status=409,
        title="The state does not allow it",
        when="What you ask for contradicts what is stored.",
        remedy="`remedy` of the problem names the way out.",
    ),
    ProblemType(
        name="restore-conflict",
        status=409,
        title="The backup contradicts what is stored",
        when="An id or a name of the backup belongs to something else here; nothing was restored.",
        remedy="Delete or rename what stands in the way, or restore into an empty database.",
    ),
    ProblemType(
        name="undo-refused",
        status=409,
        title="The write cannot be undone",
        when="A later write of the entry stands in the way, or its text has changed since; `detail` says which.",
        remedy="Undo the writes of an entry from the newest to the oldest.",
    ),
    ProblemType(
        name="in-progress",
        status=409,
        title="The same request is still running",
        when="A request with this Idempotency-Key has begun and not ended.",
        remedy="Wait a moment and send it again with the same key.",
    ),
    ProblemType(
        name="version-mismatch",
        status=412,
        title="It has changed meanwhile",
        when="`If-Match` names an older version than the stored one; nothing was changed.",
        remedy="Read it again, apply your change to what you read, and send it with the new version.",
    ),
    ProblemType(
        name="too-large",
        status=413,
        title="This is too large",
        when="The body, the file or what it unpacks to has more bytes than allowed.",
        remedy="Send less at once, or raise the setting: WORLDBOOK_MAX_BODY_BYTES, WORLDBOOK_MAX_IMPORT_BYTES.",
    ),
    ProblemType(
        name="unsupported-media-type",
        status=415,
        title="The body is of a type that is not read here",
        when="The Content-Type is missing or is not one that the route reads, or the body is compressed.",
        remedy="Send it with one of the types that `remedy` of the problem names.",
    ),
    ProblemType(
        name="host-not-allowed",
        status=421,
        title="This service does not answer to that host",
        when="The Host header names neither this machine nor a host of the setting WORLDBOOK_ALLOWED_HOSTS.",
        remedy="Call the service by one of its own names, or add the name to WORLDBOOK_ALLOWED_HOSTS.",
    ),
    ProblemType(
        name="invalid-request",
        status=422,
        title="The request is not valid",
        when="Fields or parameters are wrong, missing or unknown; `errors` lists all of them.",
        remedy="Correct each field that `errors` points to and send it again.",
    ),
    ProblemType(
        name="unreadable-file",
        status=422,
        title="The file cannot be imported",
        when="The file is broken, or of no format that is known; `fault` says how in one word.",
        remedy="GET /v1 lists the formats that can be read.",
    ),
    ProblemType(
        name="limit-exceeded",
        status=422,
        title="This is more than a limit allows",
        when="A count is above its limit; nothing was changed.",
        remedy="Send fewer, or raise the setting; GET /v1 lists the limits.",
    ),
    ProblemType(
        name="idempotency-mismatch",
        status=422,
        title="The Idempotency-Key was used for something else",
        when="A request with the same key had another body or another path.",
        remedy="Use a new key for every new request; repeat a key only to repeat the same request.",
    ),
    ProblemType(
        name="internal",
        status=500,
        title="Something went wrong in the service",
        when="A fault of the service, not of the request. The log has the rest under the id in `instance`.",
        remedy="Try again; if it stays, report it with the log lines of that id.",
    ),
    ProblemType(
        name="overloaded",
        status=503,
        title="The service is busy",
        when="Too many requests wait, or this one waited too long; or the database is locked or cannot be reached.",
        remedy="Wait as long as `Retry-After` says and send it again.",
    ),
)
TYPES: Mapping[str, ProblemType] = {row.name: row for row in PROBLEM_TYPES}
