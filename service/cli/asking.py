"""What a model would read: retrieve, preview, fetch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import click

from service.cli import showing
from service.cli.client import Client
from service.cli.failures import naming
from service.cli.options import always, as_json, book_id, host_path, on_service
from service.cli.output import print_json, say

_OPTIONS = {
    "books": "--book",
    "hosts": "--host",
    "conversation": "--conversation",
    "model": "--model",
    "budget_tokens": "--budget",
    "canon_tokens": "--canon",
    "places": "--places",
    "max_tokens": "--max-tokens",
}
"""Field of a request to its option."""


def _what_is_attached(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--book", "books", multiple=True, help="A book to read without attaching it; repeat it."),
        click.option("--host", "hosts", multiple=True, help="character:ilse, story:salt-coast, …; repeat it."),
        click.option("--conversation", help="The app's own id of the conversation."),
        click.option("--model", help="The language model that will read it; it chooses the tokenizer."),
    ):
        command = option(command)
    return command


def _conversation(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.argument("chat", required=False, type=click.File("rb")),
        click.option("-m", "--message", "messages", multiple=True, help="What the user says; after the chat, if both."),
        click.option("--canon", "canon_tokens", type=int, help="Tokens of the budget that canon may use."),
        click.option("--places", type=int, help="How many entries may come by meaning."),
        click.option("--index", type=click.Choice(["rest", "all", "none"])),
        click.option(
            "--lorebooks",
            type=click.Choice(["inline", "messages"]),
            help="Their texts within the prompt, or as messages beside it, which --json shows; default: what the body "
            "in CHAT says, else inline.",
        ),
    ):
        command = option(command)
    return _what_is_attached(command)


@click.command()
@_conversation
@click.option("--budget", "budget_tokens", type=int, help="Tokens that the lore may use.")
@as_json
@on_service(model=always)
def retrieve(client: Client, as_json: bool, **asked: Any) -> None:
    """Print what to inject for a conversation.

    The stable part comes first, then the volatile part.

    CHAT is a JSON file (- is stdin): a list of {"role", "content"}, or the whole body of POST /v1/retrieve.
    """
    body = _body(client, **asked)
    with naming(_options(asked)):
        answer = client.call("POST", "/v1/retrieve", json=body)
    _say_who_has_none(client, body)
    if as_json:
        print_json(answer)
        return
    say(answer["prompt"]["stable"]["text"] + answer["prompt"]["volatile"]["text"])
    for line in showing.costs(answer):
        say(line, aside=True)


@click.command()
@_conversation
@click.option("--budget", "budgets", type=int, multiple=True, help="Tokens that the lore may use; twice to compare.")
@click.option("--all", "everything", is_flag=True, help="List every entry that stayed out.")
@as_json
@on_service(model=always)
def preview(client: Client, budgets: tuple[int, ...], everything: bool, as_json: bool, **asked: Any) -> None:
    """Show what would go in, why, and at what cost.

    And what would stay out, and why. Records nothing.
    """
    body = _body(client, **asked)
    bodies = [{**body, "budget_tokens": budget} for budget in budgets] or [body]
    with naming(_options({**asked, "budget_tokens": budgets})):
        answers = [client.call("POST", "/v1/preview", json=each) for each in bodies]
    _say_who_has_none(client, body)
    if as_json:
        print_json(answers if len(answers) > 1 else answers[0])
    else:
        showing.show_preview(answers, everything=everything)


@click.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@_what_is_attached
@click.option("--max-tokens", type=int, help="Of all texts together.")
@as_json
@on_service()
def fetch(client: Client, names: tuple[str, ...], as_json: bool, **asked: Any) -> None:
    """Print entries in full, as a model would fetch them.

    NAME is a handle, a title or an alias.
    """
    body = {"names": names, **_given(client, **asked)}
    with naming(_options(asked)):
        answer = client.call("POST", "/v1/fetch", json=body)
    if as_json:
        print_json(answer)
        return
    for entry in answer["entries"]:
        label = f"{entry['title']} [{entry['handle']}]" + (f" ({entry['label']})" if entry["label"] else "")
        say(f"{label}\n{entry['content']}" + ("\n(shortened)" if entry["cut"] else "") + "\n")
    for missing in answer["missing"]:
        near = ", ".join(f"{each['title']} [{each['handle']}]" for each in missing["nearest"])
        say(f"'{missing['name']}' is no entry here" + (f"; nearest: {near}" if near else ""), aside=True)


def _body(client: Client, chat: Any, messages: tuple[str, ...], **asked: Any) -> dict[str, Any]:
    """The body of a retrieval: the file's, what the options say instead, and the messages after the chat."""
    body = _read(chat) if chat else {}
    said = [{"role": "user", "content": text} for text in messages]
    if not (chat or said):
        raise click.UsageError("Nothing was said: give a chat file or -m MESSAGE.")
    body = {"lorebooks": "inline", **body, "messages": [*body.get("messages", ()), *said], **_given(client, **asked)}
    if not (body.get("books") or body.get("hosts") or body.get("conversation")):
        raise click.UsageError("Nothing to read: give --book, --host or --conversation.")
    return body


def _say_who_has_none(client: Client, body: Mapping[str, Any]) -> None:
    """A host comes to be when something is attached to it, so a misspelt one is no error to the service."""
    for host in body.get("hosts", ()):
        if not client.get(f"{host_path(host)}/books"):
            say(f"{host} has no books", aside=True)


def _given(client: Client, *, books: tuple[str, ...], hosts: tuple[str, ...], **asked: Any) -> dict[str, Any]:
    named = {"books": [book_id(client, word) for word in books], "hosts": list(hosts), **asked}
    return {name: value for name, value in named.items() if value not in (None, [])}


def _options(asked: Mapping[str, Any]) -> dict[str, str]:
    """The names of the options that were given: what comes from a file keeps its place there."""
    return {field: name for field, name in _OPTIONS.items() if asked.get(field) not in (None, ())}


def _read(chat: Any) -> dict[str, Any]:
    try:
        value = json.loads(chat.read().decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError) as error:
        raise click.BadParameter(f"{chat.name} is no JSON: {error}", param_hint="CHAT") from None
    if isinstance(value, list):
        return {"messages": value}
    if isinstance(value, Mapping) and isinstance(value.get("messages", []), list):
        return dict(value)
    raise click.BadParameter(f"{chat.name} is neither a list of messages nor the body of a request", param_hint="CHAT")
