"""What an author learns about a book: how often its entries are used, what is worth a look."""

from __future__ import annotations

import click

from service.cli.client import Client
from service.cli.options import as_json, book_id, on_service
from service.cli.output import print_json, print_table, say


@click.command()
@click.argument("book")
@click.option("--never", is_flag=True, help="Only entries that were neither used nor fetched.")
@click.option("--most-used", is_flag=True, help="The most used first, not in list order.")
@as_json
@on_service()
def usage(client: Client, book: str, never: bool, most_used: bool, as_json: bool) -> None:
    """Show how often the entries of a book went into prompts."""
    path = f"/v1/books/{book_id(client, book)}/usage"
    only, sort = "never" if never else None, "-uses" if most_used else "position"
    found = list(client.items(path, used=only, sort=sort, limit=200))
    if as_json:
        print_json(found)
        return
    print_table(
        ("handle", "title", "#uses", "#fetches", "last used"),
        ((one["handle"], one["title"], one["uses"], one["fetches"], one["last_used_at"]) for one in found),
    )


@click.command()
@click.argument("book")
@as_json
@on_service()
def health(client: Client, book: str, as_json: bool) -> None:
    """Show what is worth a look in a book, and what to do about it."""
    found = client.get(f"/v1/books/{book_id(client, book)}/health")
    if as_json:
        print_json(found)
    elif not found["findings"]:
        say("Nothing stands out.")
    for finding in () if as_json else found["findings"]:
        say(f"{finding['detail']} ({', '.join(finding['handles'])})")
        say(f"  {finding['remedy']}")
