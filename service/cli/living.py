"""What models wrote into living books: list it, undo it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from service.cli.client import Client
from service.cli.failures import Failure
from service.cli.options import as_json, book_id, is_handle, of_one_book, on_service
from service.cli.output import print_json, print_table, say


@click.command()
@click.argument("book", metavar="BOOK|HANDLE")
@click.option("--conversation", help="Only what this conversation wrote.")
@click.option("--response", "response_id", help="Only what this reply wrote.")
@as_json
@on_service()
def writes(client: Client, book: str, as_json: bool, **only: str | None) -> None:
    """List what models wrote into a living book, or into one entry, newest first."""
    entry = None
    if is_handle(book):
        book, [entry] = of_one_book([book])
    else:
        book = book_id(client, book)
    found = list(client.items(f"/v1/books/{book}/writes", entry=entry, limit=200, **only))
    if as_json:
        print_json(found)
    elif found:
        print_table(
            ("write", "handle", "did", "state", "conversation", "#turn", "at"),
            (
                (one["id"], one["handle"], _did(one), one["state"], one["conversation"], one["turn"], one["at"])
                for one in found
            ),
        )
    else:
        say("No model wrote there.")


@click.command()
@click.argument("handle")
@click.argument("write", required=False)
@on_service()
def undo(client: Client, handle: str, write: str | None) -> None:
    """Undo the newest write of a model to an entry, or the WRITE of this id."""
    book, [entry] = of_one_book([handle])
    if write is None:
        log = client.items(f"/v1/books/{book}/writes", entry=entry, limit=200)
        write = next((one["id"] for one in log if one["state"] == "live"), None)
    if write is None:
        raise Failure(f"no write of a model to {handle} is left to undo", remedy="`worldbook writes` shows the log.")
    undone = client.call("POST", f"/v1/books/{book}/writes/{write}/undo")
    say(f"undone: {_did(undone)}")


def _did(write: Mapping[str, Any]) -> str:
    before, after = write["before"], write["after"]
    if before is None:
        return f"created {after['title']}"
    if before["title"] != after["title"]:
        return f"edited {before['title']}, now {after['title']}"
    return f"edited {after['title']}"
