"""Writes of models into living books, each for the reply that is about to be written (SPEC W20).

Whoever writes for a reply or discards it holds the reply's row first, then the rows of books in the order of their ids;
so a write and the discard of its reply never pass each other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

from annotated_types import Ge, Le, MaxLen, MinLen
from sqlalchemy import Connection

from service.actions.cleaning import cleaned_entry
from service.actions.drafting import Draft, drafted, target
from service.actions.limiting import at_most
from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.actions.sortable_ids import sortable_id
from service.lore.book import WORLD, Book, Entry, handle_of
from service.lore.errors import Conflict, LimitExceeded, NotFound
from service.lore.living import Action, Write, text_of, with_text
from service.lore.strict import STRICT
from service.lore.text import fold
from service.store import books
from service.store import entries as stored
from service.store import writes as log
from service.store.engine import writing
from service.validation import parse_json, validate

Name = Annotated[str, MinLen(1), MaxLen(200)]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """For which reply of which conversation a model writes."""

    __pydantic_config__ = STRICT

    conversation: Name
    turn: Annotated[int, Ge(0), Le(2**53 - 1)]
    response_id: Name
    """The reply about to be written."""
    call_id: Name | None = None
    """The tool call; sent again it answers the first result and writes nothing."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """What a write did."""

    __pydantic_config__ = STRICT

    write_id: str
    handle: str
    """Of the entry."""
    action: Action
    title: str


def write(rt: Runtime, origin: Origin, allowed_books: Sequence[str], draft: Draft) -> Written:
    """Let a model create or edit an entry in one of the living books that its conversation may write in.

    Raises `Invalid` (fields), `NotFound` (book, entry; a disabled entry is told as absent), `Conflict` (canon, not a
    living book, discarded reply, nothing to change, a new entry called as another is) and `LimitExceeded` (writes of a
    turn, entries of a book).
    """
    origin = validate(Origin, asdict(origin))
    draft = validate(Draft, parse_json(json.dumps(asdict(draft)).encode()))  # also without what no store can keep
    with writing(rt.engine) as conn:
        if log.lock_response(conn, OWNER, origin.conversation, origin.response_id):
            raise Conflict("this reply was discarded, so nothing is written for it", remedy="Write for the new reply.")
        earlier = _of_same_call(conn, origin)
        if earlier is not None:
            return _again(earlier, draft)
        _within_turn(rt, conn, origin)
        book_id, entry_id = target(conn, allowed_books, draft)
        now = rt.clock()
        at = rt.now()
        version = books.advance(conn, OWNER, book_id, at)
        _must_be_open(books.read(conn, OWNER, book_id))  # read again, since only now nobody else changes it
        if entry_id is None:
            before, entry = None, _created(rt, conn, book_id, version, draft, at)
        else:
            old = _editable(conn, book_id, entry_id)
            before, entry = text_of(old), _edited(conn, book_id, version, old, draft, at)
        done = Write(
            id=sortable_id("wr_", int(now.timestamp() * 1000)),
            handle=handle_of(book_id, entry.id),
            version=version,
            action="edit" if before else "create",
            before=before,
            after=text_of(entry),
            conversation=origin.conversation,
            turn=origin.turn,
            response_id=origin.response_id,
            at=at,
        )
        log.add(conn, OWNER, book_id, entry.id, done, origin.call_id)
        conn.commit()
    rt.backlog.nudge(book_id)
    return _told(done)


def _of_same_call(conn: Connection, origin: Origin) -> Write | None:
    if origin.call_id is None:
        return None
    return log.of_call(conn, OWNER, origin.conversation, origin.response_id, origin.call_id)


def _again(earlier: Write, draft: Draft) -> Written:
    """The first result. Some models number their calls anew at each step; another write must not vanish so."""
    wanted = cleaned_entry(Entry(title=draft.title, content=draft.content), WORLD)
    if (wanted.title, wanted.content) != (earlier.after.title, earlier.after.content):
        raise Conflict(
            f"this call_id was used for another write ({earlier.id})", remedy="Send a new call_id with each new call."
        )
    return _told(earlier)


def _told(done: Write) -> Written:
    return Written(write_id=done.id, handle=done.handle, action=done.action, title=done.after.title)


def _within_turn(rt: Runtime, conn: Connection, origin: Origin) -> None:
    limit = rt.settings.max_writes_a_turn
    count = log.count_in_turn(conn, OWNER, origin.conversation, origin.turn)
    if count >= limit:
        raise LimitExceeded(
            f"{count:,} writes were made in this turn; at most {limit:,} are allowed",
            limit=limit,
            actual=count + 1,
            remedy="Write the rest in a later turn.",
        )


def _must_be_open(book: Book) -> None:
    if not (book.settings.living and book.enabled and book.dialect == WORLD):
        raise Conflict(
            f"{book.name} ({book.id}) is no living book: it can only be read",
            remedy="Its owner can make it one with the setting `living`.",
        )


def _created(rt: Runtime, conn: Connection, book_id: str, version: int, draft: Draft, at: str) -> Entry:
    count = len(stored.order(conn, book_id)) + 1
    at_most(count, rt.settings.max_entries, "entries in a book", remedy="Edit an entry instead.")
    new = drafted(draft, (), None)
    _not_twice(conn, book_id, new.title)
    [entry] = stored.add(conn, book_id, version, [new], at)
    return entry


def _not_twice(conn: Connection, book_id: str, title: str) -> None:
    """A model that forgot its handle would leave an old and a new text of one thing side by side."""
    known = stored.titles(conn, book_id)
    # Folded as one text, since every call has a fixed price and other writers wait; no title holds the separator.
    wanted, *folded = fold("\0".join((title, *(each for _, each in known)))).text.split("\0")
    for (id_, _), each in zip(known, folded, strict=True):
        if each == wanted:
            raise Conflict(
                f"{handle_of(book_id, id_)} is called so already",
                remedy="Send its handle to change it, or give the new entry a title of its own.",
            )


def _editable(conn: Connection, book_id: str, entry_id: int) -> Entry:
    entry = stored.read(conn, book_id, [entry_id]).get(entry_id)
    if entry is None or not entry.enabled:
        raise NotFound(f"no entry {handle_of(book_id, entry_id)}", remedy="Use a handle that you were given.")
    if entry.tier == "canon":
        raise Conflict(
            f"{entry.handle} is canon, which only the author changes",
            remedy="Write what is new as an entry of its own.",
        )
    return entry


def _edited(conn: Connection, book_id: str, version: int, old: Entry, draft: Draft, at: str) -> Entry:
    new = with_text(old, text_of(drafted(draft, old.aliases, old.gist)))
    if new == old:
        raise Conflict(f"{old.handle} says exactly that already", remedy="Nothing needs to be written.")
    stored.put(conn, book_id, version, new, at)
    return new
