"""What can be reached, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from itertools import islice

from service.actions.paging import after, page_of
from service.actions.presenting import default_tokenizer
from service.actions.runtime import Runtime
from service.lore import listing
from service.lore.errors import FieldError, Invalid
from service.lore.lookups import ListAnswer
from service.lore.open_book import AttachedBook

LINES = 50
"""Entries a page."""
_SORT = "tool-list"


def list_entries(rt: Runtime, books: Sequence[AttachedBook], book: str | None, cursor: str | None) -> ListAnswer:
    """A page of the enabled entries of `books`, or of the one called `book`. Raises `Invalid`."""
    listed = books if book is None else listing.called(books, book)
    if book is not None and not listed:
        # By ids alone: this is told to the model outside of the frame that keeps what books say apart.
        ids = ", ".join(each.id for each in listing.listed(books)) or "none"
        remedy = f"attached: {ids}; leave it out to list them all"
        raise Invalid([FieldError(pointer="#/book", detail="no such book is attached", remedy=remedy)])
    keys = after(cursor, _SORT, str, int, int)
    start = listing.Place(*keys) if keys else None
    found = list(islice(listing.lines(listed, start, default_tokenizer(rt)), LINES + 1))
    page = page_of(found, LINES, _SORT, lambda item: astuple(listing.place_of(listed, item)))
    return ListAnswer(books=listing.listed(listed), items=page.items, next_cursor=page.next_cursor)
