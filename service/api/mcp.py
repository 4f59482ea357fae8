"""/mcp: the tools over streamable HTTP, without sessions, so that any process can answer any request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import anyio
from anyio.abc import TaskGroup, TaskStatus
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from service.actions.runtime import Runtime
from service.actions.scoping import scope_of
from service.api.deps import bearer_of
from service.lore.errors import Unauthenticated
from service.version import program_version

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


class Mcp:
    """The MCP side of one run of the application; begun at the first request: the SDK takes a second to import."""

    def __init__(self, runtime: Runtime, tasks: TaskGroup) -> None:
        self._runtime = runtime
        self._tasks = tasks
        self._beginning = anyio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request whose scope has been read."""
        async with self._beginning:
            if self._manager is None:
                self._manager = await self._tasks.start(self._run)
        await self._manager.handle_request(scope, receive, send)

    async def _run(self, *, task_status: TaskStatus[StreamableHTTPSessionManager]) -> None:
        manager = await run_sync(_manager, self._runtime)
        async with manager.run():
            task_status.started(manager)
            await anyio.sleep_forever()


@asynccontextmanager
async def serving(runtime: Runtime) -> AsyncIterator[Mcp]:
    """The MCP side, which ends with the block."""
    tasks = await anyio.create_task_group().__aenter__()
    try:
        yield Mcp(runtime, tasks)
    finally:
        # By hand, since a task group wraps what the block raises, and who calls in process wants it as it is.
        tasks.cancel_scope.cancel()
        await tasks.__aexit__(None, None, None)


def _manager(runtime: Runtime) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from service.tools.mcp import build

    # Hosts and origins are checked by the gate, for all routes alike.
    return StreamableHTTPSessionManager(
        build(runtime, program_version(), lambda ctx: cast(Request, ctx.request).state.tool_scope),
        json_response=True,
        stateless=True,
        max_request_body_size=runtime.settings.max_body_bytes,
    )


class Endpoint:
    """Lets in who shows a scope as bearer."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        state = Request(scope).state
        token = bearer_of(Request(scope))
        if token is None:
            raise Unauthenticated("MCP needs the scope of a retrieval as bearer")
        reach = await run_sync(scope_of, state.runtime, token)
        inner = {**scope, "state": {**scope["state"], "tool_scope": reach}}
        await state.mcp.handle(inner, receive, send)


ROUTE = Route("/mcp", Endpoint(), methods=["POST"])
