"""A copy of a book, to be edited on its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from annotated_types import MaxLen, MinLen

from service.actions.cleaning import cleaned_book
from service.actions.limiting import at_most
from service.actions.presenting import OWNER, with_counts
from service.actions.runtime import Runtime
from service.lore.book import Book
from service.lore.strict import STRICT
from service.store import books
from service.store import entries as stored
from service.store.engine import writing


@dataclass(frozen=True, kw_only=True)
class Copy:
    """What a copy is to be."""

    __pydantic_config__ = STRICT

    name: Annotated[str, MinLen(1), MaxLen(200)]
    """Of the new book; no other of yours may have it."""


def copy_book(rt: Runtime, book_id: str, copy: Copy) -> Book:
    """A new book with the text, settings and entries of this one; who is attached to what stays as it is.

    The copy's entries keep their numbers, and vectors stand under the hash of their text, so nothing is embedded. Token
    counts of the answer are zero, to keep it quick: counting them takes as long as opening the book.
    The copy of a living book is not living, and has no log: whether models write into it, its owner says anew.
    Raises `NotFound`, `Invalid`, `NameTaken`, `LimitExceeded`.
    """
    now = rt.now()
    with writing(rt.engine) as conn:
        source = books.read(conn, OWNER, book_id)
        new = cleaned_book(replace(source, name=copy.name, settings=replace(source.settings, living=False)))
        at_most(books.count(conn, OWNER) + 1, rt.settings.max_books, "books")
        copied = books.insert_book(conn, OWNER, new, now)
        stored.copy(conn, book_id, copied, now)
        found = books.read(conn, OWNER, copied)
        conn.commit()
    rt.backlog.nudge(copied)
    return with_counts(rt, [found])[0]
