"""Options and arguments that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any

import click

from service.cli.client import Client, connected
from service.cli.failures import Failure, Problem
from service.cli.output import say

Command = Callable[..., None]

as_json = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
yes = click.option("--yes", is_flag=True, help="Do not ask.")

_ID = re.compile(r"[a-z]{6,8}")
_HANDLE = re.compile(r"([a-z]{6,8})-(\d+)")


def on_service(model: Callable[[Mapping[str, Any]], bool] = lambda given: False) -> Callable[[Command], Command]:
    """Give a command a connected client as its first argument, and the option that says where.

    `model` says from the options given whether the command finds by meaning, so that in this process one is loaded.
    """

    def decorate(command: Command) -> Command:
        @click.option(
            "--url", envvar="WORLDBOOK_URL", metavar="ADDRESS", help="Work on the service that runs at this address."
        )
        @wraps(command)
        def run(url: str | None, **given: Any) -> None:
            with connected(url, model=model(given)) as client:
                command(client, **given)

        return run

    return decorate


def always(given: Mapping[str, Any]) -> bool:
    """For `on_service(model=always)`."""
    return True


def say_unknown_vectors(client: Client) -> None:
    """Beside JSON that counts vectors."""
    if not client.knows_vectors:
        say(
            "No model is loaded by this command, so all vectors count as pending; a running service (--url) knows.",
            aside=True,
        )


def book_id(client: Client, word: str) -> str:
    """The id of the book that has this id or this name. Raises `Failure` when there is none or more than one."""
    found: dict[str, str] = {book["id"]: book["name"] for book in client.items("/v1/books", q=word, limit=200)}
    named = called(word, found)
    if _ID.fullmatch(word):
        try:
            named = [*named, *({client.get(f"/v1/books/{word}")["id"]} - set(named))]
        except Problem as problem:
            if problem.status != 404:
                raise
    if named:
        return only(word, named)
    near = "".join(f"\n  {key}  {name}" for key, name in list(found.items())[:5])
    raise Failure(
        f"no book has the id or the name '{word}'",
        remedy=f"Books with such a name:{near}" if near else "`worldbook books list` shows all books.",
    )


def called(word: str, names: Mapping[str, str]) -> list[str]:
    """The ids, of these with their names, whose name is the word: as it is written, else in any case."""
    return [key for key, name in names.items() if name == word] or [
        key for key, name in names.items() if name.casefold() == word.casefold()
    ]


def only(word: str, ids: Sequence[str]) -> str:
    """The one id of a book that a word means. Raises `Failure` when it means several."""
    if len(ids) > 1:
        raise Failure(f"'{word}' is more than one book: {', '.join(ids)}", remedy="Name the book by its id.")
    return ids[0]


def entry_path(handle: str) -> str:
    """The path of the entry with this handle."""
    book, number = _parts(handle)
    return f"/v1/books/{book}/entries/{number}"


def is_handle(word: str) -> bool:
    """Whether a word names an entry rather than a book."""
    return _HANDLE.fullmatch(word.strip()) is not None


def of_one_book(handles: Iterable[str]) -> tuple[str, list[int]]:
    """The book and the entry ids of handles. Raises a usage error when they are of several books."""
    parts = [_parts(handle) for handle in handles]
    if len({book for book, _ in parts}) != 1:
        raise click.BadParameter("entries of one book at a time", param_hint="HANDLE")
    return parts[0][0], [number for _, number in parts]


def _parts(handle: str) -> tuple[str, int]:
    match = _HANDLE.fullmatch(handle.strip())
    if match is None:
        raise click.BadParameter(
            f"'{handle}' is no handle (bakiru-17); `worldbook entries list BOOK` shows them", param_hint="HANDLE"
        )
    return match[1], int(match[2])


def host_path(host: str) -> str:
    """The path of the host `kind:key`."""
    from urllib.parse import quote

    kind, colon, key = host.partition(":")
    if not (kind and colon and key):
        raise click.BadParameter(f"'{host}' is no host; for example character:ilse", param_hint="HOST")
    return f"/v1/hosts/{quote(kind, safe='')}/{quote(key, safe='')}"
