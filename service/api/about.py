"""The service about itself: what it can do, whether it is alive and ready, what its problems mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from fastapi import Path
from starlette.responses import HTMLResponse, PlainTextResponse

from embeddings.calibration import UNCALIBRATED
from service import tokenizers
from service.actions import editing_books
from service.actions.exporting import CARDS
from service.actions.presenting import default_tokenizer
from service.actions.runtime import Runtime
from service.api import pages
from service.api.deps import Rt
from service.api.documenting import answering, routes_of
from service.api.examples import about as examples
from service.api.problem_types import PROBLEM_TYPES, TYPES
from service.formats import NAMES, WRITTEN
from service.lore.book import HOST_KINDS, Dialect
from service.lore.errors import NotFound
from service.lore.limits import MAX_CONTENT, MAX_MESSAGES
from service.lore.strict import STRICT
from service.settings import Settings
from service.version import program_version

router = routes_of("Service")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits that are settings, and those fixed ones that an app must cut to; the others stand in the schema."""

    __pydantic_config__ = STRICT

    messages: int
    """Of one retrieval; of a longer conversation post the newest, and `messages_before`."""
    body_bytes: int
    import_bytes: int
    """Of a file of JSON."""
    card_bytes: int
    """Of a PNG, CHARX or BYAF."""
    unpacked_bytes: int
    backup_bytes: int
    books: int
    entries: int
    """Of one book."""
    server_entries: int
    """Of one book of the dialect `server`, and of all such books of one server together."""
    server_content: int
    """Characters of an entry of that dialect."""
    server_import_bytes: int
    """Of a file of JSON imported in that dialect."""
    entries_a_call: int
    """Added to a book in one call; a new book may bring as many as a book may have."""
    fetch_tokens: int
    writes_a_turn: int
    """By models, into living books."""
    import_wait_seconds: float


@dataclass(frozen=True, kw_only=True)
class Embedding:
    """How the service finds by meaning."""

    __pydantic_config__ = STRICT

    state: Literal["loading", "ready", "failed"]
    """Until it is `ready`, retrievals answer by names alone and say so."""
    detail: str | None
    """Why it failed; it is tried again."""
    space: str | None
    """Id of the vector space; vectors of another are never compared. Null until the model is loaded."""
    model: str | None
    dimension: int | None
    calibrated: bool
    """Whether it is known how near unrelated texts lie in this space. If not, any message matches the nearest entries,
    whatever it says; `worldbook calibrate` measures it."""


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What this service can do."""

    __pydantic_config__ = STRICT

    api: Literal["v1"]
    version: str
    """Of the program."""
    limits: Limits
    dialects: tuple[str, ...]
    host_kinds: tuple[str, ...]
    formats: tuple[str, ...]
    """Read, and recognised by what is inside."""
    export_formats: tuple[str, ...]
    """Written; `png` and `charx` into a card that is sent along."""
    tokenizers: tuple[str, ...]
    """Those that count exactly; any other model is counted with a margin, and the answer says so."""
    default_tokenizer: str
    budget_tokens: int
    """When a request names no budget."""
    embedding: Embedding


@dataclass(frozen=True, kw_only=True)
class Readiness:
    """Whether requests can be answered."""

    __pydantic_config__ = STRICT

    status: Literal["ready"]
    degraded: tuple[str, ...]
    """Why answers are poorer than they could be; empty when all is well."""


def embedding_of(runtime: Runtime) -> Embedding:
    """What the encoder says about itself."""
    state, space = runtime.encoder.state, runtime.encoder.space
    return Embedding(
        state=state.status,
        detail=state.reason or None,
        space=space.id if space else None,
        model=space.model if space else None,
        dimension=space.dimension if space else None,
        calibrated=runtime.encoder.floor is not None,
    )


def limits_of(settings: Settings) -> Limits:
    """The limits that these settings give."""
    return Limits(
        messages=MAX_MESSAGES,
        body_bytes=settings.max_body_bytes,
        import_bytes=settings.max_import_bytes,
        card_bytes=settings.max_card_bytes,
        unpacked_bytes=settings.max_unpacked_bytes,
        backup_bytes=settings.max_backup_bytes,
        books=settings.max_books,
        entries=settings.max_entries,
        server_entries=settings.max_server_entries,
        server_content=MAX_CONTENT["server"],
        server_import_bytes=settings.max_server_import_bytes,
        entries_a_call=settings.max_entries_a_call,
        fetch_tokens=settings.max_fetch_tokens,
        writes_a_turn=settings.max_writes_a_turn,
        import_wait_seconds=settings.max_import_wait,
    )


@router.get("/v1", responses=answering(200, examples.CAPABILITIES))
def read_capabilities(runtime: Rt) -> Capabilities:
    """Versions, limits, formats, tokenizers, and the state of the embedding model."""
    settings = runtime.settings
    return Capabilities(
        api="v1",
        version=program_version(),
        limits=limits_of(settings),
        dialects=get_args(Dialect),
        host_kinds=HOST_KINDS,
        formats=NAMES,
        export_formats=(*WRITTEN, *CARDS),
        tokenizers=tokenizers.known(),
        default_tokenizer=default_tokenizer(runtime).name,
        budget_tokens=settings.budget_tokens,
        embedding=embedding_of(runtime),
    )


@router.get("/v1/limits", responses=answering(200, examples.LIMITS))
def read_limits(runtime: Rt) -> Limits:
    """The limits, as GET /v1 has them too."""
    return limits_of(runtime.settings)


@router.get("/healthz", responses=answering(200, "ok", media_type="text/plain"), response_class=PlainTextResponse)
async def healthz() -> str:
    """The process is alive. Asks neither model nor database nor the thread pool, so it answers under any load."""
    return "ok"


@router.get("/readyz", responses=answering(200, examples.READY))
def readyz(runtime: Rt) -> Readiness:
    """The database answers. What is wrong with the model is `degraded`: names are found without it."""
    editing_books.list_books(runtime, limit=1)
    why = _poorer(embedding_of(runtime))
    return Readiness(status="ready", degraded=(why,) if why else ())


def _poorer(embedding: Embedding) -> str:
    if embedding.state != "ready":
        return f"the embedding model is {embedding.state}" + (f": {embedding.detail}" if embedding.detail else "")
    return "" if embedding.calibrated else f"{embedding.model} is not calibrated: {UNCALIBRATED}"


@router.get("/problems", response_class=HTMLResponse, responses=answering(200, None))
def list_problems() -> str:
    """All types of problems, as a page."""
    return pages.contents(PROBLEM_TYPES)


@router.get(
    "/problems/{name}", response_class=HTMLResponse, responses=answering(200, None, "not-found", "invalid-request")
)
def read_problem(name: Annotated[str, Path(description="Last part of a problem's `type`.")]) -> str:
    """What a type of problem means and what to do about it, as a page."""
    if name not in TYPES:
        raise NotFound(f"no problem type {name}", remedy="GET /problems lists them all.")
    return pages.page(TYPES[name])
