"""The few words in which the tests speak with the service, and read its answers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import count
from typing import Any, Protocol

from fastapi.testclient import TestClient

Json = dict[str, Any]
_numbers = count(1)
NOTHING_NEW = json.dumps({"format": "worldbook", "version": 1, "book": {"name": "nothing", "entries": []}})


def entry(title: str, content: str = "", **fields: Any) -> Json:
    """An entry; what it says does not name any other."""
    return {"title": title, "content": content or f"All about {title}.", **fields}


def canon(title: str, content: str = "", **fields: Any) -> Json:
    """An entry that belongs into every prompt."""
    return entry(title, content, tier="canon", **fields)


class Answer(Protocol):
    """What clients of every kind answer."""

    @property
    def status_code(self) -> int: ...

    @property
    def text(self) -> str: ...

    @property
    def content(self) -> bytes: ...

    def json(self) -> Any: ...


def ok(answer: Answer, status: int = 200) -> Any:
    """The body of an answer of this status."""
    assert answer.status_code == status, answer.text
    return answer.json() if answer.content else None


def new_book(client: TestClient, *entries: Json, **fields: Any) -> str:
    """The id of a new book, called as no other unless it has a name."""
    body = {"name": f"Book {next(_numbers)}", "entries": list(entries), **fields}
    book: str = ok(client.post("/v1/books", json=body), 201)["id"]
    return book


def embedded(client: TestClient, book: str) -> str:
    """The same book, once all its vectors are there."""
    report = ok(client.post(f"/v1/books/{book}/import", params={"wait": True}, content=NOTHING_NEW))
    assert report["pending_vectors"] == 0
    return book


def read_book(client: TestClient, book: str) -> Json:
    """The book with its entries."""
    found: Json = ok(client.get(f"/v1/books/{book}", params={"entries": True}))
    return found


def said(*messages: str | tuple[str, str]) -> list[Json]:
    """Messages, oldest first: what the user said, or (role, what it said)."""
    pairs = [("user", message) if isinstance(message, str) else message for message in messages]
    return [{"role": role, "content": content} for role, content in pairs]


def ask(client: TestClient, *messages: str | tuple[str, str], route: str = "retrieve", **fields: Any) -> Json:
    """What a retrieval answers."""
    answer: Json = ok(client.post(f"/v1/{route}", json={"messages": said(*messages), **fields}))
    return answer


def titles(answer: Json, section: str) -> list[str]:
    """What stands in full in a section, in its order."""
    return [found["title"] for found in answer["sections"][section]["entries"]]


def in_full(answer: Json) -> list[str]:
    """What stands in full in the prompt, in its order."""
    return [title for section in ("canon", "whole", "named", "matched") for title in titles(answer, section)]


def traces(answer: Json) -> list[Json]:
    """Every entry that the answer tells of, with its status and reason."""
    sections = [answer["sections"][name]["entries"] for name in ("canon", "whole", "named", "matched")]
    return [found for group in (*sections, answer["over_budget"], answer["rest"]) for found in group]


def statuses(answer: Json) -> dict[str, str]:
    """Title to status."""
    return {found["title"]: found["status"] for found in traces(answer)}


def trace(answer: Json, title: str) -> Json:
    """The one trace of the entry of this title."""
    [found] = [found for found in traces(answer) if found["title"] == title]
    return found


def prompt(answer: Json) -> str:
    """All that the model gets to read."""
    parts = answer["prompt"]
    return f"{parts['stable']['text']}{parts['volatile']['text']}"


def framed(answer: Json, part: str) -> str:
    """What stands in the frame of the stable or the volatile part, with the marker of frames written as ~."""
    text: str = answer["prompt"][part]["text"]
    if not text:
        return ""
    found = re.fullmatch(r"<lore-([0-9a-f]+)>\n(.*)</lore-\1>\n", text, re.DOTALL)
    assert found, text
    return found[2].replace(f"index-{found[1]}>", "index-~>")


def index_lines(answer: Json) -> list[str]:
    """The lines of the world index."""
    found = re.search(r"<index-([0-9a-f]+)>\n.*?\n(.*)</index-\1>", prompt(answer), re.DOTALL)
    return found[2].splitlines() if found else []


def fetch(client: TestClient, *names: str, **fields: Any) -> Json:
    """What a model gets that fetches these names."""
    answer: Json = ok(client.post("/v1/fetch", json={"names": list(names), **fields}))
    return answer


def find(client: TestClient, query: str, **fields: Any) -> list[str]:
    """The titles that a search finds, in its order."""
    answer = ok(client.post("/v1/search", json={"query": query, **fields}))
    return [item["title"] for item in answer["items"]]


def switch(client: TestClient, book: str, ids: Sequence[int], *, enabled: bool) -> Json:
    """Switch entries on or off, all at once."""
    batch = {"ids": list(ids), "set": {"enabled": enabled}}
    changed: Json = ok(client.patch(f"/v1/books/{book}/entries", json=batch))
    return changed


def attach(client: TestClient, host: str, *books: str) -> None:
    """Attach exactly these books to `kind:key`."""
    kind, key = host.split(":")
    ok(client.put(f"/v1/hosts/{kind}/{key}/attachments", json=[{"book": book} for book in books]))


def declare(client: TestClient, host: str, name: str = "", cast: Sequence[str] = ()) -> None:
    """Tell a host's name and cast."""
    kind, key = host.split(":")
    ok(client.put(f"/v1/hosts/{kind}/{key}", json={"name": name, "cast": list(cast)}))


def answered_bytes(client: TestClient, body: Json, route: str = "retrieve") -> bytes:
    """The bytes of an answer without `run`, which stands last and tells of the call."""
    answer = client.post(f"/v1/{route}", json=body)
    assert answer.status_code == 200, answer.text
    told, run, _ = answer.content.rpartition(b',"run":')
    assert run
    return told
