"""A copy of the embedded database while it is in use."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import make_url

from service.lore.errors import Conflict, NotFound, Unavailable
from service.settings import Settings
from service.store.copies import copy_sqlite


def backup(settings: Settings, path: Path) -> None:
    """Write the whole database as of one moment to `path`; the service may run meanwhile.

    The copy is a database like the original, and its vectors come along. Raises `Conflict` when the file is there
    already or the database is PostgreSQL, `NotFound` when there is no database yet, `Unavailable` when the copy cannot
    be written; then no file is left behind.
    """
    url = make_url(settings.url)
    if url.get_backend_name() != "sqlite" or not url.database:
        raise Conflict("only the embedded database is copied here", remedy="Use pg_dump for PostgreSQL.")
    source = Path(url.database)
    if not source.is_file():
        raise NotFound(f"no database at {source}", remedy="Set WORLDBOOK_DATA_DIR to where it is.")
    try:
        copy_sqlite(source, path)
    except FileExistsError:
        raise Conflict(f"{path} is there already", remedy="Name a new file.") from None
    except (OSError, sqlite3.Error) as error:
        raise Unavailable(
            f"cannot write {path}: {error}", remedy="Check the folder and the room on its disk."
        ) from None
