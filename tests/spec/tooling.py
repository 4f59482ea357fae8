"""The official MCP client on a thread of its own, for tests that are no coroutines."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.end_to_end.server import ROOT, environment

Json = dict[str, Any]
TRANSPORTS = ("http", "http, first protocol", "stdio", "stdio, first protocol")
"""Each with the protocol of 2026 and, for older clients, the one that begins with a handshake."""


@dataclass(frozen=True)
class Model:
    """What a model can do that is connected over MCP."""

    client: Client
    portal: BlockingPortal

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool."""
        return self.portal.call(partial(self.client.call_tool, tool, arguments))

    def does(self, what: str, *arguments: Any, **more: Any) -> Any:
        """Anything else that the client can do."""
        return self.portal.call(partial(getattr(self.client, what), *arguments, **more))


def command(data: Path, *options: str, **settings: str) -> StdioServerParameters:
    """`worldbook mcp` with these options, on the database in a folder."""
    env = environment(data, model="hashing", **settings)
    return StdioServerParameters(command=sys.executable, args=["-m", "service.cli", "mcp", *options], env=env, cwd=ROOT)


@asynccontextmanager
async def _client(transport: str, url: str, data: Path, token: str) -> AsyncIterator[Client]:
    way, _, first = transport.partition(", ")
    mode = "legacy" if first else "auto"
    if way == "stdio":
        async with Client(command(data, scope=token), mode=mode) as client:
            yield client
        return
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


@contextmanager
def connected(transport: str, url: str, data: Path, token: str) -> Iterator[Model]:
    """A model that is connected over this transport, and may reach what the scope allows."""
    with on_a_thread(_client(transport, url, data, token)) as model:
        yield model


@contextmanager
def on_a_thread(client: AbstractAsyncContextManager[Client]) -> Iterator[Model]:
    """A client that lives on the event loop of another thread."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client) as connected:
        yield Model(connected, portal)
