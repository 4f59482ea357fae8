"""Backups of the embedded database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from service.actions import editing_books
from service.actions.backup import backup
from service.actions.runtime import Runtime, running
from service.lore.book import Book, Entry
from service.lore.errors import Conflict, NotFound, Unavailable
from service.settings import Settings


def test_a_backup_is_a_database(rt: Runtime, settings: Settings, tmp_path: Path) -> None:
    """A backup made while the service runs starts a service with the same books, entries and vectors."""
    book = editing_books.create_book(rt, Book(name="Salt Coast", entries=(Entry(title="Gate", content="opens"),)))
    assert rt.backlog.wait(book.id, 30) == 0
    folder = tmp_path / "copy"
    folder.mkdir()
    backup(settings, folder / "worldbook.db")
    editing_books.delete_book(rt, book.id)
    assert [path.name for path in folder.iterdir()] == ["worldbook.db"]
    with running(settings.model_copy(update={"data_dir": folder})) as copy:
        read = editing_books.read_book(copy, book.id, entries=True)
        assert [(one.title, one.vectors) for one in read.entries or ()] == [("Gate", "ready")]


def test_a_backup_is_one_moment(rt: Runtime, settings: Settings, tmp_path: Path) -> None:
    """What another writer has not committed is not in the backup, which is whole all the same."""
    editing_books.create_book(rt, Book(name="A"))
    writer = sqlite3.connect(tmp_path / "worldbook.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE books SET name = 'half done'")
    backup(settings, tmp_path / "copy.db")
    writer.close()
    copy = sqlite3.connect(tmp_path / "copy.db")
    assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert copy.execute("SELECT name FROM books").fetchall() == [("A",)]
    copy.close()


def test_nothing_is_overwritten(rt: Runtime, settings: Settings, tmp_path: Path) -> None:
    """A file that is there stays as it is."""
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(Conflict, match="there already"):
        backup(settings, tmp_path / "kept")
    assert (tmp_path / "kept").read_text() == "mine"


def test_a_folder_that_is_not_there(rt: Runtime, settings: Settings, tmp_path: Path) -> None:
    """A backup that cannot be written says so and leaves nothing behind."""
    with pytest.raises(Unavailable, match="cannot write"):
        backup(settings, tmp_path / "absent" / "copy.db")


def test_no_database_yet(tmp_path: Path) -> None:
    """Without a database there is nothing to copy, and none is made."""
    with pytest.raises(NotFound, match="no database"):
        backup(Settings(data_dir=tmp_path / "new"), tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []


def test_postgresql_has_its_own_tools(tmp_path: Path) -> None:
    """For PostgreSQL the error names the tool."""
    with pytest.raises(Conflict) as caught:
        backup(Settings(database_url="postgresql://localhost/lore"), tmp_path / "copy.db")
    assert "pg_dump" in caught.value.remedy
