"""The few words in which the tests speak of lorebooks."""

from __future__ import annotations

from itertools import count
from typing import Any

from fastapi.testclient import TestClient

from tests.spec.asking import Json, ask, new_book

_conversations = count(1)


def woken(title: str, *keys: str, content: str = "", enabled: bool = True, **trigger: Any) -> Json:
    """An entry that these keys wake; its content names no other."""
    body = content or f"All about {title}."
    return {"title": title, "content": body, "enabled": enabled, "trigger": {"keys": list(keys), **trigger}}


def lorebook(client: TestClient, dialect: str, *entries: Json, **fields: Any) -> str:
    """The id of a new lorebook."""
    return new_book(client, *entries, dialect=dialect, **fields)


def new_conversation() -> str:
    """The key of a conversation that nobody had before."""
    return f"talk-{next(_conversations)}"


def sent(answer: Json) -> list[str]:
    """The titles of the activated entries, in prompt order."""
    return [found["title"] for found in answer["lorebook"]["entries"]]


def active(client: TestClient, book: str, *messages: str | tuple[str, str], **fields: Any) -> list[str]:
    """The titles of what a turn activates of one book."""
    return sent(ask(client, *messages, books=[book], **fields))


def told(client: TestClient, book: str, *messages: str | tuple[str, str], **fields: Any) -> dict[str, Json]:
    """Title to trace of every entry of one book, as a preview tells it."""
    answer = ask(client, *messages, books=[book], route="preview", **fields)
    every = (*answer["lorebook"]["entries"], *answer["over_budget"], *answer["rest"])
    return {found["title"]: found for found in every}


def reason(client: TestClient, book: str, title: str, *messages: str | tuple[str, str], **fields: Any) -> str:
    """The kind of reason of one entry."""
    kind: str = told(client, book, *messages, **fields)[title]["reason"]["kind"]
    return kind


def groups(answer: Json) -> dict[str, list[str]]:
    """The handles of the four groups of server lorebooks."""
    found = answer["lorebook"]["groups"]
    return {name: group["handles"] for name, group in found.items() if name != "before_message"}
