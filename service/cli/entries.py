"""Entries: list, show, add, edit, move, enable, disable, delete."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import click

from service.cli import form
from service.cli.client import Client
from service.cli.failures import Failure, Problem, naming
from service.cli.options import as_json, book_id, entry_path, of_one_book, on_service, say_unknown_vectors, yes
from service.cli.output import print_json, print_table, say


@click.group()
def entries() -> None:
    """List, show, add, edit, move, enable, disable and delete entries."""


def _fields(command: Callable[..., None]) -> Callable[..., None]:
    """The fields of an entry as options."""
    for option in reversed(
        (
            click.option("--title", help="A short noun phrase."),
            click.option("--content", help="The lore."),
            click.option("--file", "source", type=click.File("rb"), help="Its content from a file, - is stdin."),
            click.option("--alias", "aliases", multiple=True, help="Another name; repeat it. Replaces all."),
            click.option("--gist", help="One sentence for the index."),
            click.option("--canon", "tier", flag_value="canon", help="Into every prompt."),
            click.option("--relevant", "tier", flag_value="relevant", help="When it fits or is asked for."),
            click.option("--key", "keys", multiple=True, help="In a lorebook: wakes it; repeat it. Replaces all."),
            click.option("--secondary", "secondary_keys", multiple=True, help="A secondary key; repeat it."),
            click.option("--logic", type=click.Choice(["any", "all", "none", "not_all"]), help="Of secondary keys."),
            click.option("--constant/--keyed", "constant", default=None, help="In a lorebook: always on, or by keys."),
            click.option("--chance", type=float, help="In a lorebook: per cent."),
            click.option("--order", type=int, help="In a lorebook: its place among others."),
        )
    ):
        command = option(command)
    return command


_OPTIONS = {**{field: f"--{name}" for field, name in form.NAMES.items()}, "content": "--content", "tier": "--canon"}
"""Field to its option."""
_OF_WORLD = {"aliases": [], "tier": "relevant"}
"""What only entries of world books have, and what says nothing in others."""


def _given(source: Any, content: str | None, aliases: tuple[str, ...], **fields: Any) -> dict[str, Any]:
    """The fields that were given; a blank gist or alias takes away what is there."""
    if source is not None:
        if content is not None:
            raise click.UsageError("Give --content or --file, not both.")
        content = _text(source)
    trigger = {name: value for name in form.TRIGGER if (value := fields.pop(name)) not in (None, ())}
    given = {name: value for name, value in {**fields, "content": content}.items() if value is not None}
    if trigger:
        given["trigger"] = {name: list(value) if isinstance(value, tuple) else value for name, value in trigger.items()}
    if aliases:
        given["aliases"] = [alias for alias in aliases if alias.strip()]
    if given.get("gist") == "":
        given["gist"] = None
    return given


def _text(source: BinaryIO) -> str:
    """A file as lore, with the line ends of a text. Raises `Failure` when it is no UTF-8."""
    try:
        text = source.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        name = getattr(source, "name", "the file")
        raise Failure(f"{name} is not UTF-8 at byte {error.start}", remedy="Save it as UTF-8.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check_fit(given: Mapping[str, Any], lorebook: bool) -> None:
    """Raises a usage error for an option that has no place in an entry of such a book."""
    of_world = [name for name, nothing in _OF_WORLD.items() if given.get(name, nothing) != nothing]
    strange = of_world if lorebook else [*given.get("trigger", ())]
    if strange:
        options = ", ".join(_OPTIONS[name] for name in strange)
        kind, way = ("world books", "--key and --constant") if lorebook else ("lorebooks", "--alias and --canon")
        raise click.UsageError(f"{options}: only in {kind}; in this book there are {way}.")


@entries.command("list")
@click.argument("book")
@click.option("--enabled/--disabled", "enabled", default=None, help="Only entries that are on, or off.")
@click.option("--tier", type=click.Choice(["canon", "relevant"]))
@click.option("-q", "--query", help="Only entries with this in their title, aliases, gist or content.")
@as_json
@on_service()
def list_entries(
    client: Client, book: str, enabled: bool | None, tier: str | None, query: str | None, as_json: bool
) -> None:
    """List the entries of a book in their order."""
    path = f"/v1/books/{book_id(client, book)}/entries"
    found = list(client.items(path, enabled=enabled, tier=tier, q=query, limit=200))
    if as_json:
        print_json(found)
        say_unknown_vectors(client)
        return
    names = ("keys", "woken") if any(e["trigger"] for e in found) else ("aliases", "tier")
    print_table(
        ("handle", "#place", "title", *names, "#tokens", "notes"),
        (
            (e["handle"], e["position"], e["title"], ", ".join(_names(e)), _woken(e), e["tokens"], _notes(client, e))
            for e in found
        ),
    )


def _names(entry: Mapping[str, Any]) -> list[str]:
    """The aliases of an entry, or the keys of one of a lorebook."""
    names: list[str] = entry["trigger"]["keys"] if entry["trigger"] else entry["aliases"]
    return names


def _woken(entry: Mapping[str, Any]) -> str:
    """The tier of an entry, or what wakes one of a lorebook, and its chance where that is not always."""
    trigger = entry["trigger"]
    if not trigger:
        return str(entry["tier"])
    chance = "" if trigger["chance"] in (None, 100) else f", chance {trigger['chance']:g}"
    return ("constant" if trigger["constant"] else "by keys") + chance


def _notes(client: Client, entry: Mapping[str, Any]) -> str:
    notes = [] if entry["enabled"] else ["disabled"]
    if client.knows_vectors and entry["vectors"] not in ("ready", "none"):
        notes.append(f"vectors {entry['vectors']}")
    return "; ".join(notes + [warning["detail"] for warning in entry["warnings"]])


@entries.command()
@click.argument("handle")
@as_json
@on_service()
def show(client: Client, handle: str, as_json: bool) -> None:
    """Show one entry."""
    found = client.get(entry_path(handle))
    if as_json:
        print_json(found)
        say_unknown_vectors(client)
    else:
        say(form.to_text(found).removesuffix("\n"))


@entries.command()
@click.argument("book")
@_fields
@click.option("--disabled", is_flag=True, help="Keep it out of every prompt for now.")
@as_json
@on_service()
def add(client: Client, book: str, disabled: bool, as_json: bool, **fields: Any) -> None:
    """Add an entry at the end of BOOK; without --content or --file in the editor. Prints its handle."""
    found = client.get(f"/v1/books/{book_id(client, book)}")
    path = f"/v1/books/{found['id']}/entries"
    lorebook = found["dialect"] != "world"
    given = _given(**fields)
    _check_fit(given, lorebook)
    trigger: dict[str, Any] = {"trigger": {}} if lorebook else {}
    entry = {**form.EMPTY, **trigger, **given, "enabled": not disabled}
    if entry["content"]:
        with naming(_OPTIONS):
            made = client.call("POST", path, json=entry)
    else:
        made = _in_editor(entry, lambda edited: client.call("POST", path, json={**entry, **edited}))
    made = made["items"][0]
    print_json(made) if as_json else click.echo(made["handle"])


@entries.command()
@click.argument("handle")
@_fields
@on_service()
def edit(client: Client, handle: str, **fields: Any) -> None:
    """Edit fields of an entry, or all of it in $EDITOR.

    An edit that somebody else made meanwhile is never overwritten.
    """
    path = entry_path(handle)
    given = _given(**fields)
    entry = client.get(path)
    match = {"If-Match": f'"{entry["version"]}"'}
    _check_fit(given, entry["trigger"] is not None)
    if given:
        with naming(_OPTIONS):
            client.call("PATCH", path, json=given, headers=match)
        return

    def save(edited: Mapping[str, Any]) -> None:
        if changed := form.changes(entry, edited):
            client.call("PATCH", path, json=changed, headers=match)
        else:
            say("Nothing was changed.", aside=True)

    _in_editor(entry, save)


def _in_editor(entry: Mapping[str, Any], save: Callable[[Mapping[str, Any]], Any]) -> Any:
    """Let the author edit the form and save it; a text that cannot be saved is kept in a file."""
    text = click.edit(form.to_text(entry), extension=".txt", require_save=True)
    if text is None:
        raise Failure("nothing was saved in the editor, so nothing was changed")
    try:
        with naming(form.NAMES):
            return save(form.from_text(text, lorebook=entry.get("trigger") is not None))
    except form.FormError as error:
        raise Failure(str(error), remedy=_kept(text)) from None
    except Problem as problem:
        problem.remedy = f"{problem.remedy} {_kept(text)}".strip()
        raise


def _kept(text: str) -> str:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt", prefix="worldbook-", delete=False) as file:
        file.write(text)
    return f"Your text is kept in {Path(file.name)}."


@entries.command()
@click.argument("handles", metavar="HANDLE...", nargs=-1, required=True)
@click.option("--to", required=True, metavar="PLACE", help="top, bottom, or a place from 0.")
@on_service()
def move(client: Client, handles: tuple[str, ...], to: str) -> None:
    """Move entries of one book, in the order given.

    The order decides which canon survives a small budget.
    """
    if not re.fullmatch(r"top|bottom|[0-9]+", to):
        raise click.BadParameter("top, bottom, or a number from 0", param_hint="--to")
    book, ids = of_one_book(handles)
    body = {"ids": ids, "to": int(to) if to.isdigit() else to}
    ordered = client.call("POST", f"/v1/books/{book}/order", json=body)
    say(f"canon: {ordered['canon_tokens']:,} tokens every turn")


def _switch(name: str, enabled: bool, help: str) -> click.Command:
    @entries.command(name, help=help)
    @click.argument("handles", metavar="HANDLE...", nargs=-1, required=True)
    @on_service()
    def switch(client: Client, handles: tuple[str, ...]) -> None:
        book, ids = of_one_book(handles)
        client.call("PATCH", f"/v1/books/{book}/entries", json={"ids": ids, "set": {"enabled": enabled}})

    return switch


_switch("enable", True, "Bring entries of one book back.")
_switch("disable", False, "Keep entries of one book from every model, by every path.")


@entries.command()
@click.argument("handles", metavar="HANDLE...", nargs=-1, required=True)
@yes
@on_service()
def delete(client: Client, handles: tuple[str, ...], yes: bool) -> None:
    """Delete entries of one book."""
    book, ids = of_one_book(handles)
    if not yes:
        click.confirm(f"Delete {len(ids)} entries of {book}?", abort=True, err=True)
    client.call("DELETE", f"/v1/books/{book}/entries", params={"ids": ",".join(map(str, ids))})
