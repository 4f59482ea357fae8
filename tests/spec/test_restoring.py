"""Everything out of one service and into another, through HTTP."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from service.store.carried import CARRIED, LEFT_OUT
from service.store.engine import make_engine, migrate
from service.store.tables import metadata
from tests.formats.samples import SAMPLES
from tests.spec.asking import (
    Json,
    answered_bytes,
    ask,
    attach,
    canon,
    declare,
    embedded,
    entry,
    fetch,
    new_book,
    ok,
    prompt,
    said,
)
from tests.spec.backups import (
    Lines,
    body,
    counted,
    everything,
    lines,
    packed,
    place,
    restored,
    saved,
    twice,
    with_row,
    without,
)
from tests.spec.conftest import Serving, client_in

QUESTION = {"messages": said("What opens the Salt Gate?"), "hosts": ["story:tide"], "trace": "full"}


def fill(client: TestClient) -> None:
    """Two books, one of them edited and one of its entries gone, on hosts with a cast and a label."""
    coast = new_book(
        client,
        canon("The coast", "All of it is salt."),
        entry("Gone"),
        entry("Salt Gate", "It opens at low tide.", aliases=["Porta de Sal", "塩の門"], gist="only way in"),
        entry("Oru", enabled=False, extensions={"x": {"y": [1, 2.5, None]}}),
        name="Coast",
        description="By the sea.",
        settings={"places": 3},
        extensions={"kept": {"a": 1}},
    )
    ok(client.delete(f"/v1/books/{coast}/entries/2"), 204)
    ok(client.post(f"/v1/books/{coast}/order", json={"ids": [3], "to": "top"}))
    ilse = new_book(client, entry("Ilse's boat"), name="Ilse")
    declare(client, "story:tide", "Tide", ["character:ilse", "character:bram"])
    attach(client, "story:tide", coast)
    ok(client.put("/v1/hosts/character/ilse/attachments", json=[{"book": ilse, "label": "the captain"}]))
    for book in (coast, ilse):
        embedded(client, book)


@pytest.fixture
def world(serving: Serving) -> Iterator[TestClient]:
    """A service that is filled."""
    with serving() as client:
        fill(client)
        yield client


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A backup of such a service."""
    with client_in(tmp_path_factory.mktemp("filled")) as client:
        fill(client)
        return saved(client)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A service into which nothing ever comes."""
    with client_in(tmp_path_factory.mktemp("empty")) as client:
        yield client


@pytest.fixture
def other(tmp_path: Path) -> Serving:
    """Another service, on a folder of its own."""
    return lambda **settings: client_in(tmp_path / "other", **settings)


def test_a_backup_restores_everything(world: TestClient, other: Serving) -> None:
    """Backup: a backup restored elsewhere brings back every book, entry, host and attachment, under the same ids."""
    file = saved(world)
    first, *_, last = lines(file)
    assert first == {"format": "worldbook-backup", "version": 1, "created_at": first["created_at"]}
    assert (last["end"]["books"], last["end"]["entries"], last["end"]["hosts"]) == (2, 4, 2)
    with other() as client:
        report = restored(client, file)
        assert {**report["restored"], "spaces": 1} == last["end"]
        assert {name for name, number in report["present"].items() if number} == {"spaces"}
        assert everything(client) == everything(world)
        assert body(saved(client)) == body(file)


@pytest.mark.parametrize("vectors", [True, False])
def test_retrievals_are_the_same(world: TestClient, other: Serving, vectors: bool) -> None:
    """Backup: retrievals from a restored backup are the same to the byte, at once with the vectors, else once they are
    made again."""
    file = saved(world, vectors=vectors)
    before = answered_bytes(world, QUESTION)
    with other() as client:
        restored(client, file)
        for book in ok(client.get("/v1/books"))["items"]:
            if vectors:
                assert book["counts"]["pending_vectors"] == 0
            embedded(client, book["id"])
        assert answered_bytes(client, QUESTION) == before
    assert (b'"vectors"' in file) == vectors


def test_a_second_restore_changes_nothing(world: TestClient, other: Serving) -> None:
    """Backup: a backup restored twice, or where it came from, finds everything there and writes nothing."""
    file = saved(world)
    for client in (world, world):
        report = restored(client, file)
        assert not any(report["restored"].values())
        assert report["present"] == lines(file)[-1]["end"]
    with other() as client:
        restored(client, file)
        assert not any(restored(client, file)["restored"].values())
        assert body(saved(client)) == body(file)


def test_a_deleted_book_comes_back(world: TestClient) -> None:
    """Backup: a book that was deleted since comes back from the backup, with its attachments, beside what stayed."""
    file = saved(world)
    before = everything(world)
    gone = next(book["id"] for book in ok(world.get("/v1/books"))["items"] if book["name"] == "Coast")
    ok(world.get(f"/v1/books/{gone}"))
    ok(world.delete(f"/v1/books/{gone}"), 204)
    ok(world.delete("/v1/hosts/story/tide"), 204)
    report = restored(world, file)
    assert (report["restored"]["books"], report["present"]["books"]) == (1, 1)
    assert everything(world) == before


@pytest.mark.parametrize("change", [{"content": "Z new."}, {"enabled": False}], ids=["edited", "disabled"])
def test_nothing_deleted_is_read_after_a_restore(serving: Serving, change: Json) -> None:
    """Backup: a book that was restored and edited up to a version that it had before says what it says now."""
    with serving() as client:
        book = new_book(client, entry("Salt Gate", "As of old."), name="Coast")
        file = saved(client)
        ok(client.patch(f"/v1/books/{book}/entries/1", json={"content": "SECRET Y."}))
        asked = partial(ask, client, "What opens the Salt Gate?", books=[book])
        assert "SECRET Y." in prompt(asked())
        ok(client.delete(f"/v1/books/{book}"), 204)
        restored(client, file)
        ok(client.patch(f"/v1/books/{book}/entries/1", json=change))
        assert "SECRET Y." not in prompt(asked())
        assert "SECRET Y." not in json.dumps(fetch(client, "Salt Gate", books=[book]))
        assert ("Z new." in prompt(asked())) == ("content" in change)


CHANGES: dict[str, Callable[[TestClient, str], Any]] = {
    "an entry was edited": lambda client, book: client.patch(f"/v1/books/{book}/entries/1", json={"content": "Mine."}),
    "the book was renamed": lambda client, book: client.patch(f"/v1/books/{book}", json={"name": "Mine"}),
    "an entry was added": lambda client, book: client.post(f"/v1/books/{book}/entries", json=entry("Mine")),
    "the host has another name": lambda client, _: client.put("/v1/hosts/story/tide", json={"name": "Mine"}),
    "the host has one more book": lambda client, _: client.put(
        f"/v1/hosts/story/tide/attachments/{new_book(client, entry('Mine'))}", json={"label": None}
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_changed_since_is_not_overwritten(world: TestClient, change: Callable[[TestClient, str], Any]) -> None:
    """Backup: an id that has other content by now is a conflict that names it, and nothing at all is written."""
    file = saved(world)
    coast = next(book["id"] for book in ok(world.get("/v1/books"))["items"] if book["name"] == "Coast")
    ilse = next(book["id"] for book in ok(world.get("/v1/books"))["items"] if book["name"] == "Ilse")
    assert change(world, coast).status_code < 300
    ok(world.delete(f"/v1/books/{ilse}"), 204)
    before = everything(world)
    problem = restored(world, file, 409)
    assert problem["type"] == "/problems/restore-conflict"
    assert coast in problem["detail"] or "tide" in problem["detail"] or "attachments" in problem["detail"]
    assert everything(world) == before


def test_a_taken_name_is_a_conflict(world: TestClient, other: Serving) -> None:
    """Backup: a name that another book has is a conflict, and nothing is written."""
    file = saved(world)
    with other() as client:
        new_book(client, entry("Mine"), name="Ilse")
        before = everything(client)
        assert "name" in restored(client, file, 409)["detail"]
        assert everything(client) == before


def test_ids_go_on_where_they_were(world: TestClient, other: Serving) -> None:
    """Backup: an entry written after a restore gets a number that no entry of the book ever had."""
    file = saved(world)
    with other() as client:
        restored(client, file)
        coast = next(book["id"] for book in ok(client.get("/v1/books"))["items"] if book["name"] == "Coast")
        assert ok(client.post(f"/v1/books/{coast}/entries", json=entry("New")), 201)["items"][0]["id"] == 5


def test_every_file_survives(client: TestClient, other: Serving) -> None:
    """Backup: books from files of every format are restored whole, with all that is kept of the files for export."""
    for number, sample in enumerate(SAMPLES):
        if sample.entries:
            name = f"Sample {number}"
            ok(client.post("/v1/books/import", params={"name": name}, content=sample.data), 201)
    file = saved(client, vectors=False)
    with other() as another:
        restored(another, file)
        assert body(saved(another, vectors=False)) == body(file)


def nan_vectors(given: Lines) -> bytes:
    """The first vectors hold NaN, as many as they should hold numbers."""
    row = given[place(given, "vectors")]["row"]
    return with_row("vectors", data=base64.b64encode(b"\xff" * len(base64.b64decode(row["data"]))).decode())(given)


HOSTILE: dict[str, tuple[Callable[[Lines], bytes], int, str]] = {
    "nothing": (lambda given: b"", 422, "no backup"),
    "a book": (lambda given: b'{"format": "worldbook", "version": 1, "book": {"name": "x"}}', 422, "no backup"),
    "bytes": (lambda given: b"\xff\xfe\x00" * 99, 422, "line 1"),
    "a later version": (lambda given: packed([{**given[0], "version": 2}, *given[1:]]), 422, "version 2"),
    "no version": (lambda given: packed([{**given[0], "version": True}, *given[1:]]), 422, "version"),
    "cut off": (lambda given: packed(given)[:-40], 422, "line"),
    "cut off at a line": (lambda given: packed(given[:-1]), 422, "last line"),
    "a row left out": (lambda given: packed([*given[:3], *given[4:]]), 422, "last line counts"),
    "more behind the end": (lambda given: packed([*given, given[1]]), 422, "last line counts"),
    "another table": (lambda given: counted([*given[:-1], {"table": "keys", "row": {}}, given[-1]]), 422, "no row of"),
    "tables in another order": (lambda given: counted([given[0], *given[2:-1], given[1], given[-1]]), 422, "no row of"),
    "no row": (lambda given: packed([given[0], [1], *given[1:]]), 422, "line 2"),
    "an unknown field": (with_row("books", owner_id="someone"), 422, "unknown field"),
    "a missing field": (lambda given: packed([given[0], {"table": "books", "row": {}}, given[-1]]), 422, "missing"),
    "an id of another kind": (with_row("books", id="../../etc"), 422, "no id of a book"),
    "a name of two lines": (with_row("books", name="a\nb"), 422, "name: 'a\\nb' is not one line"),
    "a title of two lines": (with_row("entries", title="a\nb"), 422, "title: 'a\\nb' is not one line"),
    "an empty content": (with_row("entries", content=" "), 422, "content: ' ' is no text"),
    "a content too long": (with_row("entries", content="x" * 100_001), 422, "content"),
    "a number too large": (with_row("entries", position=2**31), 422, "position"),
    "a time that is none": (with_row("entries", updated_at="yesterday"), 422, "no time such as 20"),
    "another kind of host": (with_row("hosts", kind="moon"), 422, "kind"),
    "a tab in a key": (with_row("hosts", key="a\tb"), 422, "no key of a host"),
    "NUL": (with_row("entries", content="a\0b"), 422, "NUL"),
    "a stamp of another space": (with_row("spaces", id="0" * 16), 422, "stamp"),
    "vectors of another size": (with_row("vectors", data="AAAA"), 422, "bytes of vectors"),
    "vectors that are none": (with_row("vectors", data="!"), 422, "base64"),
    "vectors of no number": (nan_vectors, 422, "no number"),
    "vectors of no space": (without("spaces"), 422, "space"),
    "a counter below the entries": (with_row("books", next_entry_id=1), 409, "counter"),
    "a book twice": (twice("books"), 409, "twice"),
    "entries of no book": (without("books"), 409, "belongs"),
    "attachments of no host": (without("hosts", "cast_members"), 409, "belongs"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "status", "told"), HOSTILE.values(), ids=HOSTILE)
def test_a_broken_backup_changes_nothing(
    intact: bytes, empty: TestClient, change: Callable[[Lines], bytes], status: int, told: str
) -> None:
    """F5: a backup that is broken or made up is refused with a plain word, and nothing is written."""
    problem = restored(empty, change(lines(intact)), status)
    assert told in problem["detail"]
    assert everything(empty) == [[], []]
    assert len(lines(saved(empty))) == 2


def test_limits_of_a_restore(intact: bytes, tmp_path: Path) -> None:
    """F5: a backup above a limit of bytes, books or entries is refused with the limit, and nothing is written."""
    for setting, status in (
        ("max_backup_bytes", 413),
        ("max_books", 422),
        ("max_entries", 422),
        ("max_import_bytes", 413),
    ):
        with client_in(tmp_path / setting, **{setting: 1}) as client:
            problem = restored(client, intact, status)
            assert problem["limit"] in (1, 2)
            assert everything(client) == [[], []]


def test_a_form_is_no_backup(client: TestClient) -> None:
    """A form and a compressed body are refused with the type that is read."""
    answer = client.post("/v1/restore", files={"file": ("b.ndjson", b"{}")})
    assert (answer.status_code, "ndjson" in answer.json()["remedy"]) == (415, True)
    assert client.post("/v1/restore", content=b"x", headers={"Content-Encoding": "gzip"}).status_code == 415


def test_between_databases(world: TestClient, other: Serving, request: pytest.FixtureRequest) -> None:
    """Backup: a backup of SQLite restores into PostgreSQL and back, with the same retrievals."""
    url = request.getfixturevalue("postgres_url")
    engine = make_engine(world.app_state["runtime"].settings.model_copy(update={"database_url": url}))
    migrate(engine)
    with engine.begin() as conn:
        conn.execute(text(f"TRUNCATE {', '.join(metadata.tables)} CASCADE"))
    engine.dispose()
    file = saved(world)
    with other(database_url=url) as client:
        restored(client, file)
        assert not any(restored(client, file)["restored"].values())
        assert everything(client) == everything(world)
        assert answered_bytes(client, QUESTION, "preview") == answered_bytes(world, QUESTION, "preview")
        back = saved(client)
        assert sorted(body(back)) == sorted(body(file))
        assert restored(client, with_row("entries", content="Else.")(lines(file)), 409)
    assert not any(restored(world, back)["restored"].values())


def test_every_table_is_carried() -> None:
    """Backup: each table is carried, or named as one that is not; and of a table each column."""
    assert {carried.table.name for carried in CARRIED} == set(metadata.tables) - set(LEFT_OUT)
    unsaid = {
        carried.table.name: {column.name for column in carried.table.columns} - {each.name for each in carried.columns}
        for carried in CARRIED
    }
    assert {name: names for name, names in unsaid.items() if names} == {
        "books": {"owner_id", "vector_counter"},
        "entries": {"text_hash"},
        "writes": {"owner_id"},
        "responses": {"owner_id"},
        "conversation_states": {"owner_id"},
    }


def nested(depth: int, format: str) -> Any:
    """A file whose lists and objects are `depth` deep, where that format keeps what it does not know."""
    if format == "sillytavern":
        return {"entries": {"0": {"comment": "Oru", "key": ["Oru"], "content": "Old.", "strange": listed(depth - 3)}}}
    kept = {"extensions": {"x": listed(depth - 5)}} if format == "worldbook" else {"strange": listed(depth - 4)}
    book = {"name": f"Deep {depth} {format}", "entries": [{"title": "Oru", "content": "Old.", **kept}]}
    return {"format": "worldbook", "version": 1, "book": book}


def listed(depth: int) -> Any:
    return json.loads("[" * depth + "]" * depth)


def test_what_is_nested_deep_comes_back(serving: Serving, other: Serving) -> None:
    """F5, T13: whatever is taken, however deep it is, an export of it is imported and a backup with it restored."""
    with serving() as client, other() as another:
        for format in ("worldbook", "of a later version", "sillytavern"):
            for depth in range(196, 226):
                params = {"name": f"Deep {depth} {format}"}
                file = json.dumps(nested(depth, format))
                taken = client.post("/v1/books/import", params=params, content=file).status_code
                assert taken == 201 if depth <= 205 else taken in (201, 422)
        book = new_book(client, entry("Oru"))
        ok(client.patch(f"/v1/books/{book}/entries/1", json={"extensions": {"x": listed(198)}}))
        for each in ok(client.get("/v1/books", params={"limit": 200}))["items"]:
            exported = client.get(f"/v1/books/{each['id']}/export").content
            ok(another.post("/v1/books/import", params={"dry_run": True}, content=exported))
        restored(another, saved(client))
