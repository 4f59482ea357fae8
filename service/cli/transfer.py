"""Files in and out: import and export."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import click

from service.cli.client import Client
from service.cli.failures import Failure, body_of, naming
from service.cli.options import as_json, book_id, host_path, on_service
from service.cli.output import console, print_json, say

POLL_SECONDS = 0.2
STALLED_SECONDS = 120.0
"""Without one new vector for this long, waiting ends; loading a model takes seconds, never this."""
CARDS = ("png", "charx")
FORMATS = ("worldbook", "character_book_v2", "character_book_v3", "lorebook_v3", "sillytavern", *CARDS)
"""What a book is written as; a list of its own, since usage is told before anything is loaded."""
FAILING_SECONDS = 5.0
"""The same while the model says that it fails: it may be a remote one that comes back."""


@click.command("import")
@click.argument("file", type=click.File("rb"))
@click.option("--name", help="Name of the new book; default: what the file says.")
@click.option("--into", metavar="BOOK", help="Import into this book instead of a new one.")
@click.option("--mode", type=click.Choice(["append", "replace"]), help="With --into; default: append.")
@click.option("--format", help="Default: recognised by content.")
@click.option(
    "--dialect",
    type=click.Choice(["world", "server", "chat", "sillytavern"]),
    help="Read it as a lorebook whose entries are woken by keys; default: world.",
)
@click.option("--host", metavar="HOST", help="Attach the book there, for example character:ilse.")
@click.option("--dry-run", is_flag=True, help="Only report what would happen.")
@click.option("--wait", is_flag=True, help="Stay until the book can be found by meaning.")
@as_json
@on_service(model=lambda given: bool(given["wait"]))
def import_(
    client: Client,
    file: BinaryIO,
    name: str | None,
    into: str | None,
    mode: str | None,
    format: str | None,
    dialect: str | None,
    host: str | None,
    dry_run: bool,
    wait: bool,
    as_json: bool,
) -> None:
    """Import a book from a file, and report on it.

    FILE may be - for stdin.
    """
    if mode and not into:
        raise click.UsageError("--mode needs --into.")
    if name and into:
        raise click.UsageError("--name is for a new book; `worldbook books edit BOOK --name NAME` renames one.")
    to = "/v1/books/import" if into is None else f"/v1/books/{book_id(client, into)}/import"
    if host:
        host_path(host)  # tells wrong usage before anything is started
    options = {
        "name": name,
        "mode": mode,
        "format": format,
        "dialect": dialect,
        "host": host,
        "dry_run": dry_run or None,
    }
    file_name = getattr(file, "name", "<stdin>")
    with naming({name: f"--{name.replace('_', '-')}" for name in options}):
        report = import_file(client, file.read(), "" if file_name == "<stdin>" else file_name, to=to, **options)
    book = report["book"]
    print_json(report) if as_json else show_report(report, dry_run=dry_run)
    if wait and book and not dry_run:
        wait_for_vectors(client, book["id"])
    elif report["pending_vectors"] and not as_json and not dry_run:
        say("Names are found at once; vectors are made while the service runs, or now with --wait.")


def import_file(client: Client, data: bytes, file_name: str, *, to: str = "/v1/books/import", **options: Any) -> Any:
    """Send a file, which may have no name; the report."""
    name = file_name.rpartition("/")[2]
    sent = {"files": {"file": (name, data)}} if name else {"content": data}
    return body_of(client.send("POST", to, params=options, **sent))


def show_report(report: Mapping[str, Any], *, dry_run: bool = False) -> None:
    """What an import did, in words; the same for what it would do."""
    book, read = report["book"], report["format"]
    where = f"{book['name']} ({book['id'] or 'new'})" if book else "no book"
    say(f"{'Would import' if dry_run else 'Imported'} {where} from {_read_as(read)}")
    removed = f", {report['removed']} removed" if report["removed"] else ""
    say(f"{report['added']} entries added{removed}, {len(report['skipped'])} skipped")
    for each in report["skipped"]:
        say(f"  skipped {_entry(each)}: {each['detail']}")
    if report["no_home"]:
        kept = ", ".join(f"{each['setting']} ({each['count']})" for each in report["no_home"])
        say(f"kept for export, without effect here: {kept}")
    for kind, lines in _by_kind(report["warnings"]):
        for line in lines[:3]:
            say(f"warning: {line}")
        if len(lines) > 3:
            say(f"warning: {len(lines) - 3} more of kind {kind} (--json lists them)")


def _read_as(read: Mapping[str, Any]) -> str:
    inside = "" if read["container"] == "json" else f"in {read['container'].upper()}"
    return " ".join(filter(None, [read["name"], read["version"], inside]))


def _entry(told: Mapping[str, Any]) -> str:
    """An entry of the file by its number, counted from 1, and its title if it has one."""
    return f"entry {told['index'] + 1}" + (f" “{told['title']}”" if told["title"] else "")


def _by_kind(warnings: list[Mapping[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    for kind in Counter(each["kind"] for each in warnings):
        yield (
            kind,
            [
                each["detail"] + (f" ({_entry(each)})" if each["index"] is not None else "")
                for each in warnings
                if each["kind"] == kind
            ],
        )


def wait_for_vectors(client: Client, book: str) -> None:
    """A progress bar until no vector of the book is to come. Raises `Failure` when none comes any more."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    counts = client.get(f"/v1/books/{book}")["counts"]
    whole = counts["entries"]
    columns = (TextColumn("vectors"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    terminal = console(stderr=True)
    with Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as progress:
        task = progress.add_task("vectors", total=whole, completed=whole - counts["pending_vectors"])
        left, changed = counts["pending_vectors"], time.monotonic()
        while left:
            time.sleep(POLL_SECONDS)
            now = client.get(f"/v1/books/{book}")["counts"]["pending_vectors"]
            if now != left:
                left, changed = now, time.monotonic()
                progress.update(task, completed=whole - left)
            else:
                _check_progress(client, left, time.monotonic() - changed)
    failed = client.get(f"/v1/books/{book}")["counts"]["failed_vectors"]
    if failed:
        say(f"{failed} entries could not be embedded; they are found by name only.", aside=True)


def _check_progress(client: Client, left: int, seconds: float) -> None:
    if seconds < FAILING_SECONDS:
        return
    model = client.get("/v1")["embedding"]
    if model["state"] not in ("ready", "loading") or seconds > STALLED_SECONDS:
        raise Failure(
            f"{left} vectors are missing and none comes: {model['detail'] or 'the model is silent'}",
            remedy="`worldbook doctor` says whether the model works. Names are found without vectors.",
        )


@click.command()
@click.argument("book")
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    help="Default: worldbook, which loses nothing, or png with --card.",
)
@click.option("--card", type=click.File("rb"), help="With png or charx: a card, which is written with the book in it.")
@click.option("-o", "--output", type=click.File("wb"), default="-", help="Default: stdout.")
@on_service()
def export(client: Client, book: str, format: str | None, card: BinaryIO | None, output: BinaryIO) -> None:
    """Write BOOK as a file.

    What its format cannot hold is named on stderr.
    """
    if card is not None and format not in (None, *CARDS):
        raise click.UsageError(f"--card is for --format {' or '.join(CARDS)}, not {format}.")
    if card is None and format in CARDS:
        raise click.UsageError(f"--format {format} needs --card, a card to write the book into.")
    path = f"/v1/books/{book_id(client, book)}/export"
    format = format or ("png" if card else "worldbook")
    held = "character_book_v3" if card else format
    losses = client.get(path, format=held, report=True)
    if card is None:
        answer = client.send("GET", path, params={"format": format})
    else:
        answer = client.send("POST", path, params={"format": format}, files={"file": ("card", card.read())})
    output.write(answer.content)
    for each in losses["losses"]:
        say(f"{format} cannot hold: {each['setting']} ({each['count']})", aside=True)
