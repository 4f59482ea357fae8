"""Import and export over HTTP: the ways a file may come and go; the formats have tests of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.formats import boxes

NewBook = Callable[..., dict[str, Any]]
_numbers = count()
FILE = {
    "entries": {
        "0": {"uid": 0, "key": ["Oru"], "comment": "Warden Oru", "content": "She keeps the wall.", "sticky": 3},
        "1": {"uid": 1, "key": ["tide"], "comment": "Tide", "content": ""},
    }
}
DATA = json.dumps(FILE).encode()


def a_name() -> str:
    """A name that no book has."""
    return f"Imported {next(_numbers)}"


@pytest.mark.parametrize(
    "sent",
    [
        {"content": DATA},
        {"content": DATA, "headers": {"Content-Type": "application/x-www-form-urlencoded"}},
        {"content": DATA, "headers": {"Content-Type": "application/json"}},
        {"content": b"\xef\xbb\xbf" + DATA},
        {"files": {"file": ("world.json", DATA)}},
        {"files": {"file": ("world.json", b"\xef\xbb\xbf" + DATA, "text/plain")}},
    ],
    ids=["raw", "curl --data-binary", "json", "I14 raw with BOM", "form", "I14 form with BOM"],
)
def test_a_file_comes_raw_or_in_a_form(client: TestClient, sent: dict[str, Any]) -> None:
    """W14, I14: the bytes of a file are imported as the body or as a part of a form, whatever type they claim."""
    answer = client.post("/v1/books/import", params={"name": a_name()}, **sent)
    assert answer.status_code == 201, answer.text
    report = answer.json()
    assert (report["format"]["name"], report["added"], len(report["skipped"])) == ("sillytavern", 1, 1)
    assert {each["setting"] for each in report["no_home"]} >= {"sticky"}
    book = client.get(answer.headers["location"], params={"entries": True}).json()
    assert book["entries"][0]["aliases"] == ["Oru"]


def test_the_name_of_a_form_file_names_the_book(client: TestClient) -> None:
    """A file without a name inside makes a book of the file's name."""
    name = a_name()
    report = client.post("/v1/books/import", files={"file": (f"{name}.json", DATA)}).json()
    assert report["book"]["name"] == name


def test_a_dry_run_writes_nothing(client: TestClient, new_book: NewBook) -> None:
    """A dry run answers 200 with the report, and no book is there afterwards."""
    name = a_name()
    answer = client.post("/v1/books/import", params={"name": name, "dry_run": True}, content=DATA)
    assert (answer.status_code, answer.json()["added"]) == (200, 1)
    assert client.get("/v1/books", params={"q": name}).json()["items"] == []


def test_a_file_goes_into_a_book(client: TestClient, new_book: NewBook) -> None:
    """I20: a file is appended without what is there already, or replaces what is there."""
    book = new_book("A")["id"]
    path = f"/v1/books/{book}/import"
    first = client.post(path, content=DATA)
    assert (first.status_code, first.json()["mode"], first.json()["added"]) == (200, "append", 1)
    again = client.post(path, content=DATA).json()
    assert again["added"] == 0
    assert "duplicate" in {each["kind"] for each in again["skipped"]}
    replaced = client.post(path, params={"mode": "replace"}, content=DATA).json()
    assert (replaced["added"], replaced["removed"]) == (1, 2)


@pytest.mark.parametrize("mode", ["append", "replace"])
def test_a_file_does_not_go_into_another_version(client: TestClient, new_book: NewBook, mode: str) -> None:
    """An import with a stale If-Match is refused and changes nothing; with the current one it is done."""
    book = new_book("A")["id"]
    path = f"/v1/books/{book}"
    client.patch(path, json={"description": "Another author was here."})
    stale = client.post(f"{path}/import", params={"mode": mode}, content=DATA, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["version"]) == (412, 2)
    assert [each["title"] for each in client.get(f"{path}/entries").json()["items"]] == ["A"]
    answer = client.post(f"{path}/import", params={"mode": mode}, content=DATA, headers={"If-Match": '"2"'})
    assert (answer.status_code, answer.json()["book"]["version"]) == (200, 3)


@pytest.mark.parametrize(
    ("params", "sent", "status", "name"),
    [
        ({}, {"content": b""}, 422, "unreadable-file"),
        ({}, {"content": b"not json"}, 422, "unreadable-file"),
        ({}, {"content": b'{"a": 1}'}, 422, "unreadable-file"),
        ({}, {"content": b"\x89PNG\r\n\x1a\n"}, 422, "unreadable-file"),
        ({}, {"content": b'{"entries": {"0": {"content": "\\ud83d"}}}'}, 422, "invalid-request"),
        ({}, {"content": b"[" * 100_000}, 422, "invalid-request"),
        ({}, {"content": DATA, "headers": {"Content-Encoding": "gzip"}}, 415, "unsupported-media-type"),
        ({}, {"files": {"fiel": ("a.json", DATA)}}, 422, "invalid-request"),
        ({}, {"files": {"file": ("a.json", DATA)}, "data": {"mode": "replace"}}, 422, "invalid-request"),
        ({}, {"data": {"file": "text"}, "files": {"x": b""}}, 422, "invalid-request"),
        ({}, {"content": b"--x", "headers": {"Content-Type": "multipart/form-data"}}, 400, "malformed-body"),
        (
            {},
            {"content": b"--y\r\nnonsense", "headers": {"Content-Type": "multipart/form-data; boundary=x"}},
            400,
            "malformed-body",
        ),
        ({"format": "word"}, {"content": DATA}, 422, "invalid-request"),
        ({"mode": "replace"}, {"content": DATA}, 422, "invalid-request"),
        ({"dry-run": True}, {"content": DATA}, 422, "invalid-request"),
    ],
)
def test_bad_files_are_refused(
    client: TestClient, params: dict[str, Any], sent: dict[str, Any], status: int, name: str
) -> None:
    """I16, I18: a file that cannot be read is refused with a fault that names how, and no book is made."""
    before = client.get("/v1/books", params={"limit": 200}).json()["items"]
    answer = client.post("/v1/books/import", params=params or {"name": a_name()}, **sent)
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{name}"), answer.text
    if name == "unreadable-file":
        assert answer.json()["fault"]
    assert client.get("/v1/books", params={"limit": 200}).json()["items"] == before


@pytest.mark.parametrize(
    "format", ["worldbook", "sillytavern", "character_book_v2", "character_book_v3", "lorebook_v3"]
)
def test_an_export_is_a_file(client: TestClient, new_book: NewBook, format: str) -> None:
    """An export is a download under the book's name that can be imported again."""
    book = new_book("A", "塩", name=f'{a_name()} "塩/岸"')
    answer = client.get(f"/v1/books/{book['id']}/export", params={"format": format})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    disposition = answer.headers["content-disposition"]
    assert disposition.startswith('attachment; filename="Imported')
    assert "filename*=UTF-8''Imported%20" in disposition
    assert "%E5%A1%A9" in disposition
    back = client.post("/v1/books/import", params={"name": a_name()}, content=answer.content).json()
    assert (back["format"]["name"], back["added"]) == (format, 2)


def test_a_report_says_what_would_be_lost(client: TestClient, new_book: NewBook) -> None:
    """`report=true` answers what a format cannot hold instead of the file."""
    book = new_book("A")["id"]
    client.patch(f"/v1/books/{book}/entries/1", json={"gist": "about A"})
    path = f"/v1/books/{book}/export"
    assert client.get(path, params={"report": True}).json() == {"format": "worldbook", "losses": []}
    assert client.get(path, params={"format": "sillytavern", "report": True}).json()["format"] == "sillytavern"


@pytest.mark.parametrize(("path", "status"), [("nobody/export", 404), ("nobody/import", 404)])
def test_unknown_books(client: TestClient, path: str, status: int) -> None:
    """A book that does not exist is neither exported nor imported into."""
    method = "GET" if path.endswith("export") else "POST"
    answer = client.request(method, f"/v1/books/{path}", content=None if method == "GET" else DATA)
    assert answer.status_code == status


def a_card(*contents: str) -> bytes:
    """A PNG card whose book has these contents."""
    return boxes.png(boxes.text("chara", boxes.based(boxes.card(*map(boxes.entry, contents)))))


@pytest.mark.parametrize("form", [True, False])
def test_a_card_is_imported_and_attached(client: TestClient, form: bool) -> None:
    """F1: a PNG card is imported raw or in a form, and its book attached to the host that is named."""
    sent: dict[str, Any] = {"files": {"file": ("Ilse.png", a_card("a"))}} if form else {"content": a_card("a")}
    host = f"ilse-{next(_numbers)}"
    params = {"name": a_name(), "host": f"character:{host}"}
    answer = client.post("/v1/books/import", params=params, **sent)
    assert answer.status_code == 201, answer.text
    report = answer.json()
    assert report["format"] == {"name": "character_card", "version": "2.0", "container": "png"}
    attached = client.get(f"/v1/hosts/character/{host}/attachments").json()
    assert [each["book"] for each in attached] == [report["book"]["id"]]
    other = f"other-{host}"
    into = f"/v1/books/{report['book']['id']}/import"
    assert client.post(into, params={"host": f"story:{other}"}, content=a_card("a")).json()["added"] == 0
    assert len(client.get(f"/v1/hosts/story/{other}/attachments").json()) == 1
    refused = client.post("/v1/books/import", params={"host": "ilse"}, content=a_card("a"))
    assert (refused.status_code, refused.json()["errors"][0]["parameter"]) == (422, "host")


def test_a_card_without_a_book(client: TestClient) -> None:
    """I02: a card without a book is 200 with `book: null`, and no book is made."""
    before = client.get("/v1/books", params={"limit": 200}).json()["items"]
    answer = client.post("/v1/books/import", content=a_card())
    assert (answer.status_code, answer.json()["book"], answer.json()["added"]) == (200, None, 0)
    assert "location" not in answer.headers
    assert client.get("/v1/books", params={"limit": 200}).json()["items"] == before


@pytest.mark.parametrize("form", [True, False])
def test_a_book_goes_into_a_card(client: TestClient, new_book: NewBook, form: bool) -> None:
    """F2: `POST …/export?format=png` answers the card with the book in it, as a download."""
    book = new_book("A", "塩", name=a_name())
    sent: dict[str, Any] = {"files": {"file": ("x.png", a_card("old"))}} if form else {"content": a_card("old")}
    answer = client.post(f"/v1/books/{book['id']}/export", params={"format": "png"}, **sent)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert answer.headers["content-disposition"].startswith('attachment; filename="Imported')
    back = client.post("/v1/books/import", params={"name": a_name()}, content=answer.content).json()
    assert (back["format"]["container"], back["format"]["version"], back["added"]) == ("png", "3.0", 2)


@pytest.mark.parametrize(
    ("path", "params", "content", "status", "name"),
    [
        ("{book}", {"format": "png"}, DATA, 422, "unreadable-file"),
        ("{book}", {}, boxes.png(), 422, "unreadable-file"),
        ("{book}", {"format": "sillytavern"}, a_card(), 422, "invalid-request"),
        ("nobody", {"format": "png"}, a_card(), 404, "not-found"),
    ],
)
def test_what_is_no_card_is_refused(
    client: TestClient, new_book: NewBook, path: str, params: dict[str, str], content: bytes, status: int, name: str
) -> None:
    """F5: a book goes only into a PNG card."""
    book = new_book("A")["id"]
    answer = client.post(f"/v1/books/{path.format(book=book)}/export", params=params, content=content)
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{name}")


@pytest.mark.parametrize(
    ("content", "status", "fault"),
    [
        (boxes.png(boxes.chunk(b"zTXt", b"chara\0\0x")), 422, "bad_png_chunk"),
        (boxes.png(boxes.text("ccv3", b"rcc||a")), 422, "encrypted"),
        (boxes.archive({"../card.json": {}}), 422, "unsafe_path"),
        (boxes.archive({"card.json": b" " * 16_000_001}), 413, None),
    ],
)
def test_hostile_cards(client: TestClient, content: bytes, status: int, fault: str | None) -> None:
    """F5, I12, I13: a card that cannot be read is refused with its fault, and no book is made."""
    before = client.get("/v1/books", params={"limit": 200}).json()["items"]
    answer = client.post("/v1/books/import", params={"name": a_name()}, content=content)
    assert (answer.status_code, answer.json()["fault"]) == (status, fault)
    assert client.get("/v1/books", params={"limit": 200}).json()["items"] == before
