"""Settings of a book that its dialect does not read."""

from __future__ import annotations

import json

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import Json, new_book, ok, read_book

SETTINGS: Json = {
    "places": 3, "floor": 0.5, "living": True, "scan_depth": 2, "token_budget": 500, "recursive_scanning": True,
}  # fmt: skip
READ = {
    "world": {"places", "floor", "living"},
    "server": set(),
    "chat": {"scan_depth", "token_budget", "recursive_scanning"},
    "sillytavern": set(),
}
CASES = [(dialect, name, name in read) for dialect, read in READ.items() for name in SETTINGS]


@pytest.mark.parametrize(("dialect", "name", "is_read"), CASES)
def test_settings_of_a_dialect(client: TestClient, dialect: str, name: str, is_read: bool) -> None:
    """A setting that the dialect of a book does not read is refused by name, at its creation and at every change; no
    lorebook is a living one."""
    settings = {name: SETTINGS[name]}
    made = client.post("/v1/books", json={"name": f"{dialect} {name}", "dialect": dialect, "settings": settings})
    book = new_book(client, dialect=dialect)
    changed = client.patch(f"/v1/books/{book}", json={"settings": settings})
    assert (made.status_code, changed.status_code) == ((201, 200) if is_read else (422, 422))
    if is_read:
        assert read_book(client, book)["settings"][name] == SETTINGS[name]
        return
    for answer in (made, changed):
        [fault] = answer.json()["errors"]
        assert (fault["pointer"], dialect in fault["detail"]) == (f"#/settings/{name}", True)
        assert all(each in fault["remedy"] for each in READ[dialect])
    assert read_book(client, book)["version"] == 1


@pytest.mark.parametrize("dialect", READ)
def test_a_setting_that_says_nothing(client: TestClient, dialect: str) -> None:
    """Null, and the setting of every book, may be sent to any: what was read can be sent back."""
    book = new_book(client, dialect=dialect)
    settings = read_book(client, book)["settings"]
    assert ok(client.patch(f"/v1/books/{book}", json={"settings": settings}))["settings"] == settings


def of_a_chat_lorebook(**settings: object) -> bytes:
    """A file of our own."""
    entry = {"title": "Gate", "content": "It opens.", "trigger": {"keys": ["gate"]}}
    book = {"name": "From a file", "dialect": "chat", "settings": settings, "entries": [entry]}
    return json.dumps({"format": "worldbook", "version": 1, "book": book}).encode()


@pytest.mark.parametrize("replace", [False, True])
def test_settings_of_a_file(client: TestClient, replace: bool) -> None:
    """A file with settings that its dialect does not read is imported without them, with a warning for each."""
    file = of_a_chat_lorebook(places=3, living=True, scan_depth=2)
    if replace:
        into = new_book(client, dialect="chat")
        report = ok(client.post(f"/v1/books/{into}/import", params={"mode": "replace"}, content=file))
    else:
        report = ok(client.post("/v1/books/import", params={"name": "Unread settings"}, content=file), 201)
    told = [each["detail"].partition(":")[0] for each in report["warnings"] if each["kind"] == "unread_setting"]
    assert told == ["settings.places", "settings.living"]
    assert len(report["warnings"]) == 2
    found = read_book(client, report["book"]["id"])
    assert {name: value for name, value in found["settings"].items() if value} == {"scan_depth": 2}
    ok(client.patch(f"/v1/books/{found['id']}", json={"description": "Still edited."}))
