"""Import, export, backup, migrate, calibrate, doctor."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from embeddings import background
from service import sample
from service.cli import transfer
from service.formats import NAMES, WRITTEN
from tests.cli.conftest import Worldbook
from tests.formats import boxes

TWO_LANGUAGES = {language: background.sentences()[language] for language in ("en", "pt")}


@pytest.fixture
def coast(tmp_path: Path) -> str:
    """The sample world as a file."""
    file = tmp_path / "coast.json"
    file.write_bytes(sample.world())
    return str(file)


def test_import_reports(worldbook: Worldbook, coast: str) -> None:
    """An import tells what it read, what it added and what has no effect, and waits for the vectors if asked."""
    ran = worldbook("import", coast, "--wait", "--host", "character:ilse")
    assert "Imported The Salt Coast" in ran.out
    assert "93 entries added, 0 skipped" in ran.out
    assert "sillytavern" in ran.out
    answer = worldbook("retrieve", "-m", "Porta de Sal?", "--host", "character:ilse", "--json").json
    assert answer["degraded"] == []
    assert answer["books"][0]["pending_vectors"] == 0


def test_waiting_for_a_broken_model_ends(worldbook: Worldbook, coast: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for vectors ends with the model's own error when it fails; the entries are there and found by name."""
    monkeypatch.setenv("WORLDBOOK_MODEL", "remote")
    monkeypatch.setenv("WORLDBOOK_REMOTE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr(transfer, "FAILING_SECONDS", 0.0)
    ran = worldbook("import", coast, "--wait", code=1)
    assert "93 vectors are missing and none comes: " in ran.err
    assert "worldbook doctor" in ran.err
    assert "The Salt Gate" in worldbook("fetch", "Porta de Sal", "--book", "The Salt Coast").out


def test_dry_run_changes_nothing(worldbook: Worldbook, coast: str) -> None:
    """A dry run reports the same and leaves no book."""
    assert "Would import The Salt Coast" in worldbook("import", coast, "--dry-run").out
    assert worldbook("books", "list", "--json").json == []


def test_import_into_a_book(worldbook: Worldbook, coast: str) -> None:
    """Importing the same file into its book again skips what is there; `replace` takes it out first."""
    worldbook("import", coast)
    again = worldbook("import", coast, "--into", "The Salt Coast", "--json").json
    assert (again["added"], len(again["skipped"])) == (0, 93)
    replaced = worldbook("import", coast, "--into", "The Salt Coast", "--mode", "replace").out
    assert "93 entries added, 93 removed" in replaced


def test_export_round_trip(worldbook: Worldbook, coast: str, tmp_path: Path) -> None:
    """What was exported as our own format and imported again has the same entries."""
    worldbook("import", coast)
    file = tmp_path / "out.json"
    worldbook("export", "The Salt Coast", "-o", str(file))
    worldbook("import", str(file), "--name", "Again")
    fields = ("title", "content", "aliases", "gist", "tier", "enabled", "extensions")

    def of(book: str) -> list[dict[str, object]]:
        shown = worldbook("export", book).json["book"]["entries"]
        return [{name: each.get(name) for name in fields} for each in shown]

    assert of("Again") == of("The Salt Coast")
    assert len(of("Again")) == 93


def test_export_names_what_is_lost(worldbook: Worldbook) -> None:
    """What SillyTavern cannot hold is named on stderr, while stdout stays a clean file."""
    worldbook("books", "create", "Tide House", "--description", "An inn.")
    worldbook("entries", "add", "Tide House", "--title", "Marta", "--content", "The innkeeper.", "--gist", "keeper")
    ran = worldbook("export", "Tide House", "--format", "sillytavern")
    assert "gist" in ran.err
    assert "entries" in json.loads(ran.out)


def test_cards(worldbook: Worldbook, tmp_path: Path) -> None:
    """F2: the book of a PNG card comes in, and another goes into the card; a card without a book is told so."""
    card, bare, out = tmp_path / "ilse.png", tmp_path / "bare.png", tmp_path / "out.png"
    card.write_bytes(boxes.png(boxes.text("chara", boxes.based(boxes.card(boxes.entry("Lore."))))))
    bare.write_bytes(boxes.png(boxes.text("chara", boxes.based(boxes.card()))))
    ran = worldbook("import", str(card), "--name", "Salt", "--host", "character:ilse")
    assert "Imported Salt" in ran.out
    assert "from character_card 2.0 in PNG" in ran.out
    answer = worldbook("retrieve", "-m", "Oru?", "--host", "character:ilse", "--json").json
    assert [each["name"] for each in answer["books"]] == ["Salt"]
    said = worldbook("import", str(bare)).out
    assert "Imported no book from character_card 2.0 in PNG" in said
    assert "nothing changed" in said
    worldbook("entries", "add", "Salt", "--title", "Marta", "--content", "The innkeeper.", "--gist", "keeper")
    ran = worldbook("export", "Salt", "--card", str(card), "-o", str(out))
    assert "png cannot hold: gist (1)" in ran.err
    assert "2 entries added" in worldbook("import", str(out), "--name", "Again").out


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--format", "png"), "--card"), (("--format", "sillytavern", "--card", "{card}"), "png")],
)
def test_a_card_and_its_format(worldbook: Worldbook, coast: str, options: tuple[str, ...], said: str) -> None:
    """A card is only for PNG, and PNG only with a card: wrong usage is told before anything is read."""
    ran = worldbook("export", "Salt", *(each.format(card=coast) for each in options), code=2)
    assert said in ran.err


def test_an_export_format_that_is_none(worldbook: Worldbook) -> None:
    """An unknown format is wrong usage and told with all that are written, cards too."""
    assert sorted(transfer.FORMATS) == sorted((*WRITTEN, *transfer.CARDS))
    said = worldbook("export", "Salt", "--format", "foo", code=2).err
    assert all(said.count(f"'{name}'") == 1 for name in transfer.FORMATS)


def test_an_import_format_that_is_none(worldbook: Worldbook, coast: str) -> None:
    """An unknown format is told by the name of the option, with those that are known once."""
    said = worldbook("import", coast, "--format", "foo", code=1).err
    assert "--format: 'foo' is wrong (one of " in said
    assert all(said.count(f"'{name}'") == 1 for name in NAMES)


@pytest.mark.parametrize(("format", "said"), [("png", "is a zip archive"), ("charx", "is a PNG image")])
def test_the_other_kind_of_card(worldbook: Worldbook, coast: str, tmp_path: Path, format: str, said: str) -> None:
    """F2: a card of the other kind is told as what it is, with the format to use."""
    worldbook("import", coast, "--name", "Salt")
    value = boxes.card(boxes.entry("Lore."), version=3)
    made = {"charx": boxes.png(boxes.text("ccv3", boxes.based(value))), "png": boxes.archive({"card.json": value})}
    card = tmp_path / "card"
    card.write_bytes(made[format])
    ran = worldbook("export", "Salt", "--format", format, "--card", str(card), code=1)
    assert said in ran.err
    (other,) = {*transfer.CARDS} - {format}
    assert f"as the format {other}" in ran.err


def test_entries_of_a_report_go_by_number_and_title(worldbook: Worldbook, tmp_path: Path) -> None:
    """F3: warnings and skipped entries alike are told by a number that counts from 1, and the title if there is one."""
    rows = [
        {"comment": "Gate", "key": ["/a(/"], "content": "It opens."},
        {"comment": "Oru", "key": ["oru"], "content": " "},
        7,
    ]
    file = tmp_path / "rows.json"
    file.write_text(json.dumps({"entries": dict(enumerate(rows))}))
    said = worldbook("import", str(file), "--dialect", "sillytavern").out
    assert "warning: /a(/ is no valid regular expression, so it matches only as it is written (entry 1 “Gate”)" in said
    assert "skipped entry 2 “Oru”: " in said
    assert "skipped entry 3: " in said


def test_unreadable_file(worldbook: Worldbook, tmp_path: Path) -> None:
    """A file that is no lorebook is told plainly and leaves nothing behind."""
    file = tmp_path / "novel.txt"
    file.write_text("It was a dark and stormy night.")
    ran = worldbook("import", str(file), code=1)
    assert ran.err.startswith("Error: ")
    assert "Traceback" not in ran.err
    assert worldbook("books", "list", "--json").json == []


def test_a_file_from_stdin_has_no_name(worldbook: Worldbook, coast: str) -> None:
    """A file that comes through a pipe does not name the book; the report says how it is called instead."""
    rows = {"0": {"key": ["oru"], "content": "A port."}}
    ran = worldbook("import", "-", "--json", input=json.dumps({"entries": rows}))
    assert (ran.json["book"]["name"], ran.json["warnings"][0]["kind"]) == ("Imported book", "no_name")


def test_copy(worldbook: Worldbook, coast: str) -> None:
    """A book is copied under another name; a name that is taken is refused with the way out."""
    worldbook("import", coast, "--name", "Coast")
    copy = worldbook("books", "copy", "Coast", "Its copy").out.strip()
    shown = [worldbook("books", "show", book, "--json").json for book in ("Coast", copy)]
    assert shown[0]["counts"]["entries"] == shown[1]["counts"]["entries"] > 0
    assert shown[1]["name"] == "Its copy"
    assert "another name" in worldbook("books", "copy", "Coast", "Its copy", code=1).err


def test_backup(worldbook: Worldbook, coast: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup is a database with the same books, and never overwrites a file."""
    worldbook("import", coast)
    before = worldbook("books", "list", "--json").json
    copy = tmp_path / "elsewhere" / "worldbook.db"
    copy.parent.mkdir()
    worldbook("backup", str(copy))
    assert "is there already" in worldbook("backup", str(copy), code=1).err
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("WORLDBOOK_URL", "http://127.0.0.1:9")
        assert "the database of this machine is copied" in worldbook("backup", str(tmp_path / "again.db")).err
    monkeypatch.setenv("WORLDBOOK_DATA_DIR", str(copy.parent))
    assert worldbook("books", "list", "--json").json == before


def test_backup_as_lines(worldbook: Worldbook, coast: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup as lines restores the same books into another database, once and again, and overwrites no file."""
    worldbook("import", coast, "--host", "character:ilse")
    before = worldbook("books", "list", "--json").json
    file = tmp_path / "all.ndjson"
    assert "worldbook restore" in worldbook("backup", "--ndjson", str(file)).out
    assert "is there already" in worldbook("backup", "--ndjson", str(file), code=1).err
    assert "cannot write" in worldbook("backup", "--ndjson", str(tmp_path / "absent" / "x"), code=1).err
    assert list(tmp_path.glob(".all*")) == []
    monkeypatch.setenv("WORLDBOOK_DATA_DIR", str(tmp_path / "elsewhere"))
    assert "1 books restored, 0 there already" in worldbook("restore", str(file)).out
    assert worldbook("books", "list", "--json").json == before
    assert "0 books restored, 1 there already" in worldbook("restore", str(file)).out
    worldbook("books", "edit", before[0]["id"], "--name", "Mine")
    assert "other content" in worldbook("restore", str(file), code=1).err


def test_newer_database(worldbook: Worldbook, tmp_path: Path) -> None:
    """A database of a newer version is told plainly by every command, and by the doctor too."""
    assert worldbook("migrate").out == "The database is up to date.\n"
    with closing(sqlite3.connect(tmp_path / "data" / "worldbook.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = 'of-tomorrow'")
    for command in (("books", "list"), ("migrate",), ("serve", "--port", "0")):
        ran = worldbook(*command, code=1)
        assert "newer version" in ran.err
        assert "Traceback" not in ran.err
    assert "newer version" in worldbook("doctor", code=1).out


def test_doctor_finds_all_well(worldbook: Worldbook) -> None:
    """The doctor looks at database, model, index and tokenizers; a first start needs no database yet."""
    said = worldbook("doctor").out
    assert [line.split(":")[0].split()[-1] for line in said.splitlines() if line.startswith("ok")] == [
        "database",
        "model",
        "index",
        "tokenizers",
    ]
    worldbook("migrate")
    assert "can be read and written" in worldbook("doctor").out


def test_doctor_asks_no_service(worldbook: Worldbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor says that a service at WORLDBOOK_URL is not asked, and which database he looks at instead."""
    assert "WORLDBOOK_URL" not in worldbook("doctor").out
    monkeypatch.setenv("WORLDBOOK_URL", "http://127.0.0.1:9")
    first = worldbook("doctor").out.splitlines()[0]
    assert "the service at http://127.0.0.1:9 is not asked" in first
    assert "worldbook.db" in first


def test_doctor_names_what_is_broken(worldbook: Worldbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that does not answer is told with what to do about it, and the exit code is 1."""
    monkeypatch.setenv("WORLDBOOK_MODEL", "remote")
    monkeypatch.setenv("WORLDBOOK_REMOTE_URL", "http://127.0.0.1:9/v1")
    ran = worldbook("doctor", code=1)
    assert "FAIL model: " in ran.out
    assert "WORLDBOOK_MODEL" in ran.out
    assert "1 of 4 checks failed" in ran.err


def test_doctor_finds_a_database_that_is_none(worldbook: Worldbook, tmp_path: Path) -> None:
    """A file that is no database is told by the doctor."""
    file = tmp_path / "data" / "worldbook.db"
    file.parent.mkdir()
    file.write_bytes(b"not a database, but long enough to be read as one" * 100)
    assert "FAIL database: " in worldbook("doctor", code=1).out


def test_a_model_is_measured(worldbook: Worldbook, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """B5: the doctor says that a model is not calibrated; calibrating keeps its figures, and then he is content."""
    assert "not calibrated" in worldbook("doctor").out
    monkeypatch.setattr("embeddings.background.sentences", lambda: TWO_LANGUAGES)
    said = worldbook("calibrate").out
    (file,) = (tmp_path / "data" / "calibrations").iterdir()
    assert f"Wrote {file}." in said
    assert "not calibrated" not in worldbook("doctor").out


def test_figures_that_cannot_be_kept(worldbook: Worldbook, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A data folder that is a file, or a model that does not load, is told plainly."""
    monkeypatch.setattr("embeddings.background.sentences", lambda: TWO_LANGUAGES)
    (tmp_path / "data").write_text("no folder")
    ran = worldbook("calibrate", code=1)
    assert "cannot be kept" in ran.err
    assert "WORLDBOOK_DATA_DIR" in ran.err
    monkeypatch.setenv("WORLDBOOK_MODEL", "remote")
    assert "worldbook doctor" in worldbook("calibrate", code=1).err


def test_a_file_as_a_lorebook(worldbook: Worldbook, tmp_path: Path) -> None:
    """T11, T12: `--dialect` reads a file as a lorebook, and the report says what has no home there."""
    file = tmp_path / "Tides.json"
    row = {"uid": 0, "key": ["tide"], "comment": "Tide", "content": "It kills.", "sticky": 3, "order": 7}
    file.write_text(json.dumps({"entries": {"0": row}}))
    said = worldbook("import", str(file), "--dialect", "server").out
    assert "without effect here: sticky (1)" in said
    assert "a lorebook of the dialect server" in worldbook("books", "show", "Tides").out
    back = json.loads(worldbook("export", "Tides", "--format", "sillytavern").out)
    assert back["entries"]["0"] == row
