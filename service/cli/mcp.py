"""The tools for a program that starts them itself: MCP over standard input and output."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import click

from service.cli.client import configured
from service.cli.failures import plainly
from service.cli.options import called, only
from service.cli.output import say

if TYPE_CHECKING:
    from service.actions.runtime import Runtime
    from service.lore.scope import Scope

NO_END = 2**53
"""Seconds: what this machine's own user attaches does not expire."""


@click.command()
@click.option("--scope", "token", envvar="WORLDBOOK_SCOPE", help="`scope.token` of a retrieval, instead of all below.")
@click.option("--host", "hosts", multiple=True, help="character:ilse, story:salt-coast, …; repeat it.")
@click.option("--book", "books", multiple=True, help="Id or name of a book to read without a host; repeat it.")
@click.option("--conversation", help="The app's own id of the conversation; lets the model write into living books.")
@click.option("--turn", type=click.IntRange(min=0), help="Turn that writes belong to; default: the Unix minute.")
@click.option("--response-id", help="Reply that writes belong to; default: `mcp-` and the minute.")
@click.pass_context
def mcp(
    ctx: click.Context,
    token: str | None,
    hosts: tuple[str, ...],
    books: tuple[str, ...],
    conversation: str | None,
    turn: int | None,
    response_id: str | None,
) -> None:
    """Give a model the tools over MCP, on standard input and output.

    It works on the configured database. A running service has the same under /mcp, for whoever shows a scope. Unless
    --turn says otherwise, each minute is a turn, so that a session is never out of writes for good.
    """
    from service.actions.runtime import running

    here = [name for name, given in (("--host", hosts), ("--book", books), ("--conversation", conversation)) if given]
    if token and here:
        from_variable = ctx.get_parameter_source("token") is click.core.ParameterSource.ENVIRONMENT
        name = "WORLDBOOK_SCOPE" if from_variable else "--scope"
        other = "unset it or " if from_variable else ""
        raise click.UsageError(f"{name} already says what can be reached; {other}leave out {', '.join(here)}")
    if not token and not here:
        raise click.UsageError("nothing says what can be reached: give --host, --book, --conversation or --scope")
    if url := os.environ.get("WORLDBOOK_URL"):
        say(f"WORLDBOOK_URL is not used: this works on the database itself; {url} has the same at /mcp.", aside=True)
    # Standard output carries the protocol, so whatever is logged goes to standard error.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    with plainly(), running(configured()) as runtime:
        if token:
            current = _signed(runtime, token)
        else:
            current = _moving(_own_scope(runtime, hosts, books, conversation), turn, response_id, runtime.clock)
        current()  # what is wrong with a scope is told before anything is served
        _serve(runtime, current)


def of_minute(scope: Scope, turn: int | None, response_id: str | None, now: datetime) -> Scope:
    """The scope for a call at this time: without a turn or a reply of its own it gets those of the minute.

    So the limit of writes a turn holds for each minute, and a discard takes back what one minute wrote.
    """
    return replace(
        scope,
        turn=int(now.timestamp()) // 60 if turn is None else turn,
        response_id=response_id or f"mcp-{now:%Y-%m-%dT%H:%M}",
    )


def _moving(
    scope: Scope, turn: int | None, response_id: str | None, clock: Callable[[], datetime]
) -> Callable[[], Scope]:
    return lambda: of_minute(scope, turn, response_id, clock())


def _signed(runtime: Runtime, token: str) -> Callable[[], Scope]:
    from service.actions.scoping import scope_of

    return lambda: scope_of(runtime, token)


def _own_scope(runtime: Runtime, hosts: tuple[str, ...], books: tuple[str, ...], conversation: str | None) -> Scope:
    """What the options name. Raises errors of the domain for what is no host or no book."""
    from service.actions.presenting import OWNER
    from service.actions.resolving import resolve
    from service.lore.scope import Scope

    ids = tuple(_book_id(runtime, word) for word in books)
    resolve(runtime, hosts, ids, conversation)
    return Scope(OWNER, hosts, ids, conversation, expires=NO_END)


def _book_id(runtime: Runtime, word: str) -> str:
    from service.actions.editing_books import list_books

    named = called(word, {book.id: book.name for book in list_books(runtime, q=word, limit=200).items})
    return only(word, named) if named else word  # whether there is a book of this id is seen later


def _serve(runtime: Runtime, current: Callable[[], Scope]) -> None:
    """Answer until standard input ends; `current` says, or raises, what a call may reach."""
    import anyio
    from anyio.to_thread import current_default_thread_limiter
    from mcp.server.stdio import stdio_server

    from service.tools.mcp import build
    from service.version import program_version

    async def serve() -> None:
        current_default_thread_limiter().total_tokens = runtime.settings.threads
        server = build(runtime, program_version(), lambda _: current())
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)
