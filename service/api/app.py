"""The application: one function of the settings; nothing is built at import."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypedDict

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.middleware.cors import CORSMiddleware

from embeddings.embedder import Embedder
from service.actions.editing_entries import Changes
from service.actions.runtime import Runtime, running
from service.api import (
    about,
    backups,
    books,
    documenting,
    entries,
    hosts,
    living,
    mcp,
    requests,
    retrieving,
    reviewing,
    tools,
    transfers,
)
from service.api.gate import Gate
from service.api.handling import handle_errors
from service.api.mcp import Mcp
from service.api.problems import Problem
from service.lore.book import Entry
from service.settings import Settings
from service.validation import adapter
from service.version import program_version

DESCRIPTION = """Semantic retrieval for lore: attach books to the characters and stories of your app, post the recent
conversation, and get two texts ready to inject, with a reason for every entry.

Errors are problems (RFC 9457); the `type` of each is the path of a page that explains it. Send `If-Match` with the
`ETag` of what you read to be refused rather than to overwrite. Unknown fields and parameters are errors, but
for the fields of a message, which is taken as your vendor has it.
"""
EXPOSED = ["ETag", "Location", "X-Request-Id", "Retry-After", "Idempotent-Replayed", "Content-Disposition"]


class State(TypedDict):
    """What the lifespan hands to the requests."""

    runtime: Runtime
    mcp: Mcp


def create_app(settings: Settings, *, load: Callable[[], Embedder] | None = None) -> FastAPI:
    """The service over HTTP. `load` makes the embedder instead of the setting `model`."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[State]:
        # The database pool has as many connections as requests may run at once; more would wait inside the pool.
        current_default_thread_limiter().total_tokens = settings.threads
        with running(settings, load=load) as runtime:
            async with mcp.serving(runtime) as served:
                yield {"runtime": runtime, "mcp": served}

    app = FastAPI(
        title="Worldbook",
        summary="Semantic retrieval service for lore",
        description=DESCRIPTION,
        version=program_version(),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
    )
    modules = (
        retrieving,
        tools,
        books,
        entries,
        living,
        reviewing,
        transfers,
        backups,
        hosts,
        requests,
        about,
        documenting,
    )
    for module in modules:
        # As they are: `include_router` would build each route anew, which the first request then waits for.
        app.router.routes.extend(module.router.routes)
    app.router.routes.append(mcp.ROUTE)
    _prepare_types(app)
    app.mount("/docs/static", documenting.docs_files())
    documenting.describe(app)
    handle_errors(app)
    app.add_middleware(
        Gate,
        allowed_hosts=settings.allowed_hosts,
        origins=settings.cors_origins,
        most_waiting=settings.max_waiting,
        longest_wait=settings.max_wait,
    )
    if settings.cors_origins:
        # Around the gate: else no page could read its refusals, and when to come back.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=EXPOSED,
        )
    return app


def _prepare_types(app: FastAPI) -> None:
    """Build what validates and writes the answers before threads do: pydantic reads docstrings with `ast`, and the one
    of Python 3.11 fails when two threads parse at once."""
    answered = (route.response_model for route in app.routes if isinstance(route, APIRoute))
    for kind in (Problem, Changes, tuple[Entry, ...], *filter(None, answered)):
        adapter(kind)
