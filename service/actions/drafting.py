"""What a model wants an entry of a living book to say, and which entry or book it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection

from service.actions.cleaning import cleaned_entry
from service.actions.presenting import OWNER
from service.lore.book import WORLD, Book, Entry
from service.lore.errors import Conflict, FieldError, Invalid, NotFound
from service.lore.living import text_of
from service.lore.strict import STRICT
from service.store import books
from service.validation import validate

_LONGEST_NUMBER = 9
"""Digits; what the database keeps has no more."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a model wants an entry to say."""

    __pydantic_config__ = STRICT

    title: str
    content: str
    aliases: tuple[str, ...] = ()
    """An edit adds them to those that are there: a model does not see them, so it cannot mean to remove any."""
    gist: str | None = None
    """None: an edit keeps the one that is there."""
    handle: str | None = None
    """The entry to edit; None: a new one."""
    book: str | None = None
    """Id or name of the book of a new entry; None: the only living book."""


def target(conn: Connection, allowed_books: Sequence[str], draft: Draft) -> tuple[str, int | None]:
    """The book that the draft means, and its entry when it edits one. Raises `Invalid`, `NotFound`, `Conflict`."""
    found = {id_: book for id_, book in books.read_some(conn, OWNER, allowed_books).items() if book.enabled}
    named = _named(found, draft.book)
    if draft.handle:
        book_id, _, number = draft.handle.strip(" []").lower().rpartition("-")
        if book_id not in found or not number.isascii() or not number.isdigit() or len(number) > _LONGEST_NUMBER:
            raise NotFound(f"no entry {draft.handle[:80]}", remedy="Use a handle that you were given.")
        if named not in (None, book_id):
            fault = FieldError(pointer="#/book", detail=f"{draft.handle} is not in that book", remedy="leave it out")
            raise Invalid([fault])
        return book_id, int(number)
    if named is not None:
        return named, None
    living = [id_ for id_, book in found.items() if book.settings.living]
    if not living:
        raise Conflict("no book here is a living book, so nothing can be written", remedy="The books can only be read.")
    if len(living) > 1:
        choice = ", ".join(f"{id_} ({found[id_].name})" for id_ in living)
        raise Invalid(
            [FieldError(pointer="#/book", detail="there are several living books", remedy=f"one of {choice}")]
        )
    return living[0], None


def drafted(draft: Draft, aliases: tuple[str, ...], gist: str | None) -> Entry:
    """The text of the draft as an entry, with what it leaves as it is. Raises `Invalid`."""
    cleaned = cleaned_entry(
        validate(
            Entry,
            {
                "title": draft.title,
                "content": draft.content,
                "aliases": [alias for alias in draft.aliases if alias],
                "gist": draft.gist or gist,
            },
        ),
        WORLD,
    )
    every = tuple(dict.fromkeys((*aliases, *cleaned.aliases)))
    return validate(Entry, {**asdict(text_of(cleaned)), "aliases": every})


def _named(found: Mapping[str, Book], word: str | None) -> str | None:
    """The book of this id or this name."""
    if not word or word in found:
        return word or None
    same = [id_ for id_, book in found.items() if book.name.casefold() == word.strip().casefold()]
    if len(same) != 1:
        raise NotFound(f"no book {word[:80]}", remedy="Use the id or the name of a book that you were given.")
    return same[0]
