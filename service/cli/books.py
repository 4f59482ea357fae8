"""Books: list, show, create, edit, delete, attach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from service.cli.client import Client
from service.cli.failures import naming
from service.cli.options import as_json, book_id, host_path, on_service, say_unknown_vectors, yes
from service.cli.output import print_json, print_table, say


@click.group()
def books() -> None:
    """List, show, create, copy, edit and delete books."""


@books.command("list")
@click.option("-q", "--query", help="Only books with this in their name.")
@as_json
@on_service()
def list_books(client: Client, query: str | None, as_json: bool) -> None:
    """List my books."""
    found = list(client.items("/v1/books", q=query, sort="name", limit=200))
    if as_json:
        print_json(found)
        say_unknown_vectors(client)
    elif found:
        print_table(
            (
                "id",
                "name",
                "dialect",
                "#entries",
                "#canon",
                *(["#vectors to come"] if client.knows_vectors else []),
                "edited",
            ),
            (
                (
                    book["id"],
                    book["name"] if book["enabled"] else f"{book['name']} (disabled)",
                    book["dialect"],
                    book["counts"]["entries"],
                    *_of_world(book, "canon"),
                    *(_of_world(book, "pending_vectors") if client.knows_vectors else []),
                    book["updated_at"],
                )
                for book in found
            ),
        )
    else:
        say("No books yet: `worldbook import FILE` or `worldbook books create NAME`.")


def _of_world(book: Mapping[str, Any], count: str) -> list[int | None]:
    """A count that says nothing of a lorebook, where it is left blank."""
    return [book["counts"][count] if book["dialect"] == "world" else None]


@books.command()
@click.argument("book")
@as_json
@on_service()
def show(client: Client, book: str, as_json: bool) -> None:
    """Show what a book holds and costs."""
    found = client.get(f"/v1/books/{book_id(client, book)}")
    if as_json:
        print_json(found)
        say_unknown_vectors(client)
        return
    counts, tokens = found["counts"], found["tokens"]
    say(f"{found['name']} ({found['id']}, version {found['version']})" + ("" if found["enabled"] else ": disabled"))
    if found["description"]:
        say(found["description"])
    held = f"{counts['entries']} entries, {counts['enabled']} of them enabled"
    if found["dialect"] == "world":
        say(f"{held}, {counts['canon']} canon")
        say(f"canon: {tokens['canon']:,} tokens every turn; relevant: {tokens['relevant']:,} ({tokens['tokenizer']})")
    else:
        say(f"{held}, {tokens['relevant']:,} tokens together ({tokens['tokenizer']})")
        say(f"a lorebook of the dialect {found['dialect']}, whose entries are woken by keys")
    if found["settings"]["living"]:
        say("living: models may write into it (`worldbook writes`)")
    if client.knows_vectors and (counts["pending_vectors"] or counts["failed_vectors"]):
        say(f"vectors: {counts['pending_vectors']} to come, {counts['failed_vectors']} failed")
    for warning in found["warnings"]:
        say(f"warning: {warning['detail']}")


@books.command()
@click.argument("name")
@click.option("--description", default="")
@click.option(
    "--dialect",
    type=click.Choice(["world", "server", "chat", "sillytavern"]),
    default="world",
    help="world is read by meaning; the others are lorebooks, whose entries are woken by keys.",
)
@as_json
@on_service()
def create(client: Client, as_json: bool, **fields: str) -> None:
    """Create an empty book and print its id."""
    with naming({"name": "NAME", "description": "--description"}):
        made = client.call("POST", "/v1/books", json=fields)
    print_json(made) if as_json else click.echo(made["id"])


@books.command()
@click.argument("book")
@click.argument("name")
@as_json
@on_service()
def copy(client: Client, book: str, name: str, as_json: bool) -> None:
    """Copy a book under another name and print the copy's id.

    The two are edited apart from each other; nothing is embedded again. The copy of a living book is not living.
    """
    made = client.call("POST", f"/v1/books/{book_id(client, book)}/copy", json={"name": name})
    print_json(made) if as_json else click.echo(made["id"])


@books.command()
@click.argument("book")
@click.option("--name")
@click.option("--description")
@click.option("--enable/--disable", "enabled", default=None, help="Switch the whole book on or off.")
@click.option("--living/--not-living", default=None, help="Let models write into the book, or no more.")
@on_service()
def edit(client: Client, book: str, living: bool | None, **fields: Any) -> None:
    """Change the name, the description or a switch of a book."""
    changes = {name: value for name, value in fields.items() if value is not None}
    if living is not None:
        changes["settings"] = {"living": living}
    if not changes:
        raise click.UsageError("Nothing to change: give --name, --description, --enable, --disable, --living, …")
    found = client.get(f"/v1/books/{book_id(client, book)}")
    match = {"If-Match": f'"{found["version"]}"'}
    with naming({name: f"--{name}" for name in ("name", "description", "living")}):
        client.call("PATCH", f"/v1/books/{found['id']}", json=changes, headers=match)


@books.command()
@click.argument("book")
@yes
@on_service()
def delete(client: Client, book: str, yes: bool) -> None:
    """Delete a book and its entries, and detach it everywhere."""
    found = client.get(f"/v1/books/{book_id(client, book)}")
    if not yes:
        click.confirm(f"Delete {found['name']} with {found['counts']['entries']} entries?", abort=True, err=True)
    client.call("DELETE", f"/v1/books/{found['id']}")


@click.command()
@click.argument("book")
@click.argument("host")
@click.option("--label", help="Names the book's entries in a group; default: the character's name.")
@on_service()
def attach(client: Client, book: str, host: str, label: str | None) -> None:
    """Attach a book to a character, a story, …

    Every retrieval for HOST (character:ilse, story:salt-coast) then reads it.
    """
    client.call("PUT", f"{host_path(host)}/attachments/{book_id(client, book)}", json={"label": label})


@click.command()
@click.argument("book")
@click.argument("host")
@on_service()
def detach(client: Client, book: str, host: str) -> None:
    """Take BOOK off HOST."""
    client.call("DELETE", f"{host_path(host)}/attachments/{book_id(client, book)}")
