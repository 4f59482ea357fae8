"""What a full backup carries: one row for each table, in the order in which the tables are written and restored.

A new table of lasting things gets a row here, and so does a new column, unless it is a field of `Entry` or `Book`: then
it comes along by itself. A field without which older backups were written needs a default.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le, MaxLen, MinLen, Predicate
from sqlalchemy import Column, ColumnElement, Table, select

from embeddings.embedder import EmbeddingSpace
from service.lore.book import STRICT, Book, Entry, HostKind, is_host_key
from service.lore.recipe import text_hash
from service.lore.text import clean_line
from service.store.tables import (
    attachments,
    books,
    cast_members,
    entries,
    hosts,
    issued_ids,
    spaces,
    vectors,
)

MOST = 2**31 - 1
"""What an integer column of PostgreSQL holds."""
_WORD = re.compile(r"[a-z]{2,16}")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z")
_HASH = re.compile(r"[0-9a-f]{64}")
_FLOAT16 = 2
"""Bytes of a number in a stored vector."""


def is_book_id(given: str) -> bool:
    """Whether it is a word as `ids.issue` makes them."""
    return _WORD.fullmatch(given) is not None


def is_moment(given: str) -> bool:
    """Whether it is a time as it is stored: RFC 3339, UTC, milliseconds."""
    return _MOMENT.fullmatch(given) is not None


def is_hash(given: str) -> bool:
    """Whether it is a SHA-256 in hex."""
    return _HASH.fullmatch(given) is not None


def is_one_line(given: str) -> bool:
    """Whether it is a name as it is stored, without line breaks and blanks around it."""
    return clean_line(given) == given


def is_said(given: str) -> bool:
    """Whether there is more than white space."""
    return bool(given.strip())


BookId = Annotated[str, Predicate(is_book_id)]
Moment = Annotated[str, Predicate(is_moment)]
Line = Annotated[str, MinLen(1), MaxLen(200), Predicate(is_one_line)]
HostKey = Annotated[str, Predicate(is_host_key)]
Place = Annotated[int, Ge(0), Le(MOST)]
Count = Annotated[int, Ge(1), Le(MOST)]


@dataclass(frozen=True, kw_only=True)
class IssuedRow:
    """A book id that was given out, whether the book is still there or not."""

    __pydantic_config__ = STRICT

    book_id: BookId


@dataclass(frozen=True, kw_only=True)
class BookRow(Book):
    """A book; what only the service computes is not carried."""

    __pydantic_config__ = STRICT

    id: BookId
    version: Count
    next_entry_id: Count
    name: Line
    created_at: Moment
    updated_at: Moment
    entries: None = None


@dataclass(frozen=True, kw_only=True)
class EntryRow(Entry):
    """An entry of the book `book_id`."""

    __pydantic_config__ = STRICT

    book_id: BookId
    id: Count
    position: Place
    version: Count
    title: Line
    content: Annotated[str, MaxLen(100_000), Predicate(is_said)]
    aliases: Annotated[tuple[Line, ...], MaxLen(64)]
    updated_at: Moment


@dataclass(frozen=True, kw_only=True)
class HostRow:
    """A host."""

    __pydantic_config__ = STRICT

    kind: HostKind
    key: HostKey
    name: Annotated[str, MaxLen(200), Predicate(is_one_line)]
    created_at: Moment


@dataclass(frozen=True, kw_only=True)
class CastRow:
    """Someone who belongs to the cast of a host."""

    __pydantic_config__ = STRICT

    kind: HostKind
    key: HostKey
    position: Place
    member_kind: HostKind
    member_key: HostKey


@dataclass(frozen=True, kw_only=True)
class AttachmentRow:
    """A book on a host."""

    __pydantic_config__ = STRICT

    kind: HostKind
    key: HostKey
    book_id: BookId
    position: Place
    label: Annotated[str, MaxLen(200)] | None


@dataclass(frozen=True, kw_only=True)
class SpaceRow:
    """A vector space, with the stamp that its id is made of."""

    __pydantic_config__ = STRICT

    id: Annotated[str, MaxLen(64)]
    stamp: EmbeddingSpace
    created_at: Moment


@dataclass(frozen=True, kw_only=True)
class VectorRow:
    """The vectors of a text: float16 rows in base64; null for a text that cannot be embedded."""

    __pydantic_config__ = STRICT

    space_id: Annotated[str, MaxLen(64)]
    text_hash: Annotated[str, Predicate(is_hash)]
    pieces: Annotated[int, Ge(0), Le(10_000)]
    windows: Annotated[int, Ge(0), Le(10_000)]
    data: str | None


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
    """Carried columns in which a stored row may differ and still be the same."""
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


def _of_book(owner: str) -> ColumnElement[bool]:
    return books.c.owner_id == owner


def _in_books(table: Table) -> Callable[[str], ColumnElement[bool]]:
    return lambda owner: table.c.book_id.in_(select(books.c.id).where(_of_book(owner)))


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
    Carried(table=books, row=BookRow, mine=_of_book, derived=_of_new_book),
    Carried(
        table=entries,
        row=EntryRow,
        mine=_in_books(entries),
        parent=books,
        derived=lambda row, _: {"text_hash": text_hash(row)},
    ),
    Carried(table=hosts, row=HostRow, aside=("created_at",)),
    Carried(table=cast_members, row=CastRow, parent=hosts),
    Carried(table=attachments, row=AttachmentRow, mine=_in_books(attachments), parent=hosts),
    Carried(table=spaces, row=SpaceRow, mine=_of_carried_vectors, shared=True, faults=_space_faults),
    Carried(table=vectors, row=VectorRow, mine=_of_texts, shared=True, encoded=("data",), faults=_vector_faults),
)
"""A part stands behind what it is a part of."""

OF_THE_MOMENT = ("idempotency",)
"""Tables that no backup carries: what is in them is of no use elsewhere, and gone within a day."""
