"""Everything of the owner as one file of lines, and back: books with their ids, hosts, what is remembered, vectors.

The first line names the format, each further one has a table and a row of it, the last one the number of rows by table,
so that a file that was cut off is noticed. docs/decisions/0009 says why it looks so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import orjson

from service.actions.limiting import at_most
from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.lore.errors import FieldError, Invalid, RestoreConflict, TooLarge, UnreadableFile
from service.lore.strict import STRICT
from service.store import books, carrying
from service.store.carried import CARRIED, Carried
from service.store.engine import reading, writing
from service.validation import MAX_FILE_DEPTH, parse_json, validate

FORMAT = "worldbook-backup"
VERSION = 1
_fits = partial(
    at_most, before="the restore would make ", remedy="Nothing was restored. Raise the limit in the settings."
)
_WITH_VECTORS = ("spaces", "vectors")
_BATCH_ROWS = carrying.ROWS_AT_ONCE
_BATCH_BYTES = 4_000_000
_DAMAGED = "The file is damaged or was cut off: make the backup again."


@dataclass(frozen=True, kw_only=True)
class RestoreReport:
    """What a restore did."""

    __pydantic_config__ = STRICT

    restored: Mapping[str, int]
    """Rows written, by table."""
    present: Mapping[str, int]
    """Rows that were there already with the same content, by table."""


@dataclass(frozen=True)
class _Line:
    """A row of the file."""

    carried: Carried
    row: Any
    size: int
    """Bytes of the line."""


def backup_file(rt: Runtime, *, vectors: bool = True) -> BinaryIO:
    """A new file, for the caller to close, of all that the owner has, as of one moment.

    It is on the disk, so that a slow reader does not keep the database busy. With the vectors nothing has to be
    embedded again. What other processes counted in the last second may be missing.
    """
    rt.usage.flush()
    with ExitStack() as unless_whole:
        file = unless_whole.enter_context(TemporaryFile())
        _write(rt, file, vectors)
        unless_whole.pop_all()
        return file


def restore(rt: Runtime, file: BinaryIO) -> RestoreReport:
    """Everything of a backup, under the ids that it has there; what is there already with the same content stays.

    The file is read twice: once to find what is wrong with it, and once to write it, all of it or nothing. Raises
    `UnreadableFile` (fault `unknown_format`, `newer_version`, `cut_off`, `not_json` or `encoding`), `Invalid`,
    `TooLarge`, `LimitExceeded`, and `RestoreConflict` when an id belongs to something else here.
    """
    longest = 2 * rt.settings.max_import_bytes
    for _ in _lines(file, longest):
        pass
    met: dict[str, carrying.Met] = {carried.table.name: carrying.Met() for carried in CARRIED}
    with writing(rt.engine) as conn:
        for carried, batch in _batches(_lines(file, longest)):
            parts = [each for each in CARRIED if each.parent is carried.table]
            found = carrying.put(conn, carried, batch, parts, OWNER)
            met[carried.table.name] = met[carried.table.name].plus(found)
        _check_parts(met)
        carrying.settle(conn)
        _fits(books.count(conn, OWNER), rt.settings.max_books, "books")
        _fits(carrying.largest_book(conn), rt.settings.max_entries, "entries in a book")
        conn.commit()
    rt.backlog.nudge()
    return RestoreReport(
        restored={name: each.added for name, each in met.items()},
        present={name: each.present for name, each in met.items()},
    )


def _write(rt: Runtime, file: BinaryIO, vectors: bool) -> None:
    counts: dict[str, int] = {}
    file.write(_line({"format": FORMAT, "version": VERSION, "created_at": rt.now()}))
    with reading(rt.engine) as conn:
        for carried in CARRIED:
            table = str(carried.table.name)
            if table in _WITH_VECTORS and not vectors:
                continue
            counts[table] = 0
            for row in carrying.rows(conn, carried, OWNER):
                file.write(_line({"table": table, "row": row}))
                counts[table] += 1
    file.write(_line({"end": counts}))


def _line(value: Mapping[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


def _lines(file: BinaryIO, longest: int) -> Iterator[_Line]:
    """The rows of the file from its beginning, each of them valid; the tables stand in the order of `CARRIED`."""
    file.seek(0)
    given = _values(file, longest)
    _check_head(next(given, (0, None, 0))[1])
    order = {carried.table.name: place for place, carried in enumerate(CARRIED)}
    counts: Counter[str] = Counter()
    dimensions: dict[str, int] = {}
    reached = 0
    for number, value, size in given:
        if isinstance(value, dict) and value.keys() == {"end"}:
            _check_end(value["end"], counts, next(given, None))
            return
        table = value.get("table") if isinstance(value, dict) and value.keys() == {"table", "row"} else None
        if not isinstance(table, str) or order.get(table, -1) < reached:
            raise _wrong(number, f"no row of a table where one should stand, of {', '.join(list(order)[reached:])}")
        reached = order[table]
        carried = CARRIED[reached]
        row = _valid(number, carried, value["row"], dimensions)
        if table == "spaces":
            dimensions[row.id] = row.stamp.dimension
        counts[table] += 1
        yield _Line(carried, row, size)
    raise UnreadableFile("the last line is missing", fault="cut_off", remedy=_DAMAGED)


def _values(file: BinaryIO, longest: int) -> Iterator[tuple[int, Any, int]]:
    """Number from 1, value and size of each line."""
    for number in count(1):
        line = file.readline(longest + 1)
        if not line:
            return
        if len(line) > longest:
            raise TooLarge(f"line {number} is too long", limit=longest, remedy="Raise WORLDBOOK_MAX_IMPORT_BYTES.")
        try:
            yield number, parse_json(line, MAX_FILE_DEPTH), len(line)
        except UnreadableFile as error:
            raise UnreadableFile(f"line {number}: {error.detail}", fault=error.fault, remedy=_DAMAGED) from None
        except Invalid as error:
            raise _wrong(number, error.errors[0].detail) from None


def _check_head(value: Any) -> None:
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        remedy = "Files of books are imported: POST /v1/books/import."
        raise UnreadableFile("this is no backup", fault="unknown_format", remedy=remedy)
    version = value.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _wrong(1, "the version is missing or wrong")
    if version > VERSION:
        detail = f"a backup of version {version}, and this service reads up to {VERSION}"
        raise UnreadableFile(detail, fault="newer_version", remedy="Update the service.")


def _check_end(told: Any, counts: Mapping[str, int], behind: object) -> None:
    stated = {name: number for name, number in told.items() if number} if isinstance(told, dict) else None
    if behind is not None or stated != counts:
        detail = "the rows are not those that the last line counts"
        raise UnreadableFile(detail, fault="cut_off", remedy=_DAMAGED)


def _valid(number: int, carried: Carried, given: Any, dimensions: Mapping[str, int]) -> Any:
    try:
        row = validate(carried.row, given)
    except Invalid as error:
        first = error.errors[0]
        where = f"{carried.table.name} {(first.pointer or '#')[2:]}".strip()
        raise _wrong(number, f"{where}: {first.detail}") from None
    for fault in carried.faults(row, dimensions):
        raise _wrong(number, fault)
    return row


def _batches(lines: Iterable[_Line]) -> Iterator[tuple[Carried, list[Any]]]:
    """Rows of one table, as many as one statement takes and memory bears."""
    batch: list[_Line] = []
    size = 0
    for line in lines:
        if batch and (line.carried is not batch[0].carried or len(batch) >= _BATCH_ROWS or size > _BATCH_BYTES):
            yield batch[0].carried, [each.row for each in batch]
            batch, size = [], 0
        batch.append(line)
        size += line.size
    if batch:
        yield batch[0].carried, [each.row for each in batch]


def _check_parts(met: Mapping[str, carrying.Met]) -> None:
    """What was there already must be there whole: a book with one more entry is another book."""
    for carried in CARRIED:
        if carried.parent is None:
            continue
        whole, name = carried.parent.name, carried.table.name
        stored = met[whole].parts.get(name, 0)
        if stored > met[name].present:
            raise RestoreConflict(
                f"{whole} of the backup have {stored - met[name].present} {name} here that the backup does not have",
                remedy="Delete what stands in the way, or restore into an empty database.",
            )


def _wrong(number: int, detail: str) -> Invalid:
    fault = FieldError(pointer="#", detail=f"line {number}: {detail}", remedy="make the backup again; do not edit it")
    return Invalid([fault])
