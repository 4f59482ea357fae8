"""The tools for a program that starts them itself: MCP over standard input and output."""

from __future__ import annotations

import logging
import sys
import time
from typing import TYPE_CHECKING

import click

from service.cli.client import configured
from service.cli.failures import Failure, plainly

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
@click.option("--turn", type=click.IntRange(min=0), help="Turn that writes belong to; default: this start.")
@click.option("--response-id", help="Reply that writes belong to; default: this start.")
def mcp(
    token: str | None,
    hosts: tuple[str, ...],
    books: tuple[str, ...],
    conversation: str | None,
    turn: int | None,
    response_id: str | None,
) -> None:
    """Give a model the tools over MCP, on standard input and output.

    It works on the configured database. A running service has the same under /mcp, for whoever shows a scope.
    """
    from service.actions.runtime import running

    here = [name for name, given in (("--host", hosts), ("--book", books), ("--conversation", conversation)) if given]
    if token and here:
        raise click.UsageError(f"--scope already says what can be reached; leave out {', '.join(here)}")
    if not token and not here:
        raise click.UsageError("nothing says what can be reached: give --host, --book, --conversation or --scope")
    # Standard output carries the protocol, so whatever is logged goes to standard error.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    with plainly(), running(configured()) as runtime:
        started = int(time.time())
        _serve(
            runtime,
            token
            or _own_scope(
                runtime,
                hosts,
                books,
                conversation,
                started if turn is None else turn,
                response_id or f"mcp-{started}",
            ),
        )


def _own_scope(
    runtime: Runtime,
    hosts: tuple[str, ...],
    books: tuple[str, ...],
    conversation: str | None,
    turn: int,
    response_id: str,
) -> Scope:
    """What the options name. Raises errors of the domain for what is no host or no book."""
    from service.actions.hosting import resolve
    from service.actions.presenting import OWNER
    from service.lore.scope import Scope

    ids = tuple(_book_id(runtime, word) for word in books)
    resolve(runtime, hosts, ids, conversation)
    return Scope(OWNER, hosts, ids, conversation, turn, response_id, NO_END)


def _book_id(runtime: Runtime, word: str) -> str:
    from service.actions.editing import list_books

    found = list_books(runtime, q=word, limit=200).items
    named = [book.id for book in found if book.name.casefold() == word.casefold()]
    if len(named) > 1:
        raise Failure(f"'{word}' is more than one book: {', '.join(named)}", remedy="Name the book by its id.")
    return named[0] if named else word


def _serve(runtime: Runtime, reach: str | Scope) -> None:
    """Answer until standard input ends."""
    import anyio
    from anyio.to_thread import current_default_thread_limiter
    from mcp.server.stdio import stdio_server

    from service.actions.scoping import scope_of
    from service.api.about import program_version
    from service.lore.scope import Scope
    from service.tools.mcp import build

    def current(_: object) -> Scope:
        return reach if isinstance(reach, Scope) else scope_of(runtime, reach)

    async def serve() -> None:
        current_default_thread_limiter().total_tokens = runtime.settings.threads
        server = build(runtime, program_version(), current)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)
