"""What a full backup carries: one row for each table, in the order in which the tables are written and restored.

A new table of lasting things gets a row here; one that is not carried is named with the reason.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sqlalchemy import Column, ColumnElement, Table, select

from service.lore.recipe import text_hash
from service.store.carried_rows import (
    MOST,
    AttachmentRow,
    BookRow,
    CastRow,
    EntryRow,
    HostRow,
    IssuedRow,
    ResponseRow,
    SpaceRow,
    StateRow,
    UsageRow,
    VectorRow,
    WriteRow,
)
from service.store.tables import (
    attachments,
    books,
    cast_members,
    conversation_states,
    entries,
    hosts,
    issued_ids,
    responses,
    spaces,
    usage,
    vectors,
    writes,
)

_FLOAT16 = 2
"""Bytes of a number in a stored vector."""

Plain = dict[str, Any]
"""A row as plain JSON values, by column."""


@dataclass(frozen=True, kw_only=True)
class Carried:
    """How the rows of one table go into a backup and come out of it."""

    table: Table
    row: type[Any]
    """Dataclass that says which columns are carried, and what is right in them."""
    mine: Callable[[str], ColumnElement[bool]] | None = None
    """Which rows are the owner's; None: all."""
    parent: Table | None = None
    """The table whose row this one is a part of, under the same values in the columns of the parent's key."""
    derived: Callable[[Any, str], Plain] = lambda row, owner: {}
    """Values of the columns that no backup holds, from a row and the owner."""
    aside: tuple[str, ...] = ()
    """Carried columns in which a stored row may differ and still be the same; it stays as it is."""
    shared: bool = False
    """Whether a row that is there already stays as it is: its key says all that it is."""
    encoded: tuple[str, ...] = ()
    """Columns of bytes, in base64."""
    faults: Callable[[Any, Mapping[str, int]], Iterable[str]] = lambda row, spaces: ()
    """What no type can tell, given the dimension of each space by id."""

    @property
    def columns(self) -> list[Column[Any]]:
        """Those that are carried, in the order of the table."""
        known = {field.name for field in fields(self.row)}
        return [column for column in self.table.columns if column.name in known]

    @property
    def key(self) -> list[Column[Any]]:
        """What names a row among the owner's."""
        return [column for column in self.table.primary_key.columns if column.name != "owner_id"]

    def told(self, values: Mapping[str, Any]) -> Plain:
        """Carried values of a table's row as JSON has them."""
        return {str(name): self._encoded(name, value) for name, value in values.items()}

    def stored(self, row: Any, plain: Plain, owner: str) -> Plain:
        """All values of the table's row; `plain` are the carried ones of `row`."""
        return {**{name: self._decoded(name, value) for name, value in plain.items()}, **self.derived(row, owner)}

    def _encoded(self, name: str, value: Any) -> Any:
        return base64.b64encode(value).decode() if name in self.encoded and value is not None else value

    def _decoded(self, name: str, value: Any) -> Any:
        return base64.b64decode(value) if name in self.encoded and value is not None else value


def _own(table: Table) -> Callable[[str], ColumnElement[bool]]:
    return lambda owner: table.c.owner_id == owner


def _owned(_: Any, owner: str) -> Plain:
    return {"owner_id": owner}


def _in_books(table: Table) -> Callable[[str], ColumnElement[bool]]:
    return lambda owner: table.c.book_id.in_(select(books.c.id).where(books.c.owner_id == owner))


def _of_texts(owner: str) -> ColumnElement[bool]:
    return vectors.c.text_hash.in_(select(entries.c.text_hash).where(_in_books(entries)(owner)))


def _of_carried_vectors(owner: str) -> ColumnElement[bool]:
    return spaces.c.id.in_(select(vectors.c.space_id).where(_of_texts(owner)))


def _of_new_book(_: BookRow, owner: str) -> Plain:
    # The counter is drawn anew, so that no process takes what it had opened under this id before for the book.
    return {"owner_id": owner, "vector_counter": secrets.randbelow(MOST // 2)}


def _space_faults(row: SpaceRow, _: Mapping[str, int]) -> Iterable[str]:
    if row.stamp.id != row.id:
        yield "the id of the space is not that of its stamp"


def _vector_faults(row: VectorRow, dimensions: Mapping[str, int]) -> Iterable[str]:
    if row.space_id not in dimensions:
        yield f"no space {row.space_id!r} stands before its vectors"
        return
    try:
        held = base64.b64decode(row.data or "", validate=True)
    except ValueError:
        yield "the vectors are no base64"
        return
    wanted = (row.pieces + row.windows) * dimensions[row.space_id] * _FLOAT16
    if len(held) != wanted or (row.data is None) != (row.pieces == 0):
        yield f"{len(held)} bytes of vectors, and the counts make {wanted}"
    elif not np.isfinite(np.frombuffer(held, "<f2")).all():
        yield "a vector holds what is no number"


CARRIED: tuple[Carried, ...] = (
    Carried(table=issued_ids, row=IssuedRow, shared=True),
    Carried(table=books, row=BookRow, mine=_own(books), derived=_of_new_book),
    Carried(
        table=entries,
        row=EntryRow,
        mine=_in_books(entries),
        parent=books,
        derived=lambda row, _: {"text_hash": text_hash(row)},
    ),
    Carried(table=usage, row=UsageRow, mine=_in_books(usage), aside=("uses", "fetches", "last_used_at")),
    Carried(table=writes, row=WriteRow, mine=_in_books(writes), parent=books, derived=_owned),
    Carried(table=responses, row=ResponseRow, mine=_own(responses), derived=_owned, aside=("discarded_at",)),
    Carried(
        table=conversation_states,
        row=StateRow,
        mine=_own(conversation_states),
        derived=_owned,
        aside=("state", "updated_at"),
    ),
    Carried(table=hosts, row=HostRow, aside=("created_at",)),
    Carried(table=cast_members, row=CastRow, parent=hosts),
    Carried(table=attachments, row=AttachmentRow, mine=_in_books(attachments), parent=hosts),
    Carried(table=spaces, row=SpaceRow, mine=_of_carried_vectors, shared=True, faults=_space_faults),
    Carried(table=vectors, row=VectorRow, mine=_of_texts, shared=True, encoded=("data",), faults=_vector_faults),
)
"""A part stands behind what it is a part of."""

LEFT_OUT: Mapping[str, str] = {
    "idempotency": "of no use elsewhere, and gone within a day",
    "counted_turns": "keeps a turn that is generated again from counting twice; a restored one may",
    "requests": "a log of what was answered here, bounded by age and size",
    "request_entries": "a part of the request log",
    "scope_keys": "a secret: whoever reads a backup could sign scopes with it",
}
"""Tables that no backup carries, and why."""
