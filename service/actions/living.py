"""Living books: what models write into them, and how that is taken back (SPEC W20, W21).

Whoever writes for a reply or discards it holds the reply's row first, then the rows of books in the order of their ids;
so a write and the discard of its reply never pass each other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated

from annotated_types import Ge, Le, MaxLen, MinLen
from sqlalchemy import Connection

from service.actions.cleaning import cleaned_entry
from service.actions.hosting import host_id
from service.actions.limiting import at_most
from service.actions.paging import Page, after, checked_limit, page_of
from service.actions.presenting import OWNER
from service.actions.runtime import Runtime
from service.actions.sortable_ids import sortable_id
from service.lore.book import STRICT, WORLD, Book, Entry, handle_of
from service.lore.errors import Conflict, FieldError, Invalid, LimitExceeded, NotFound, UndoRefused
from service.lore.living import Action, Obstacle, Write, WriteState, as_written, text_of, with_text
from service.lore.text import fold
from service.store import books
from service.store import entries as stored
from service.store import writes as log
from service.store.engine import reading, writing
from service.validation import parse_json, validate

Name = Annotated[str, MinLen(1), MaxLen(200)]
_LONGEST_NUMBER = 9
"""Digits; what the database keeps has no more."""


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


@dataclass(frozen=True, kw_only=True)
class Written:
    """What a write did."""

    __pydantic_config__ = STRICT

    write_id: str
    handle: str
    """Of the entry."""
    action: Action
    title: str


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A write that the discard of its reply left standing."""

    __pydantic_config__ = STRICT

    write: Write
    why: str


@dataclass(frozen=True, kw_only=True)
class Discarded:
    """What the discard of a reply did; a second time both are empty."""

    __pydantic_config__ = STRICT

    reverted: tuple[Write, ...] = ()
    """The newest of a book first."""
    kept: tuple[Kept, ...] = ()


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
        book_id, entry_id = _target(conn, allowed_books, draft)
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


def undo(rt: Runtime, book_id: str, write_id: str) -> Write:
    """Take a write back: an edit restores the text before it, a create removes the entry.

    Raises `NotFound`, and `UndoRefused` that names what stands in the way: writes of an entry are undone from the
    newest to the oldest, and only while its text is as the write left it.
    """
    at = rt.now()
    with writing(rt.engine) as conn:
        version = books.advance(conn, OWNER, book_id, at)
        found = log.read(conn, book_id, write_id)
        entry = _as_written(conn, book_id, found)
        if isinstance(entry, Obstacle):
            raise UndoRefused(entry.detail, remedy=entry.remedy)
        _take_back(conn, book_id, version, found, entry, "undone", at)
        conn.commit()
    rt.backlog.nudge(book_id)
    return replace(found, state="undone")


def discard(rt: Runtime, conversation: str, response_id: str) -> Discarded:
    """Take back all that was written for a reply, because another takes its place.

    A write whose entry was written or edited again since is kept, with the reason. What comes for this reply later is
    refused. Raises `Invalid`.
    """
    key = host_id("conversation", conversation).key
    at = rt.now()
    reverted: list[Write] = []
    kept: list[Kept] = []
    versions: dict[str, int] = {}
    with writing(rt.engine) as conn:
        if log.lock_response(conn, OWNER, key, response_id):
            return Discarded()
        log.mark_discarded(conn, OWNER, key, response_id, at)
        books.lock(conn, OWNER, log.books_of_response(conn, OWNER, key, response_id))
        for found in log.live_of_response(conn, OWNER, key, response_id):
            book_id, _ = _parts(found.handle)
            entry = _as_written(conn, book_id, found)
            if isinstance(entry, Obstacle):
                kept.append(Kept(write=found, why=entry.detail))
                continue
            if book_id not in versions:
                versions[book_id] = books.advance(conn, OWNER, book_id, at)
            _take_back(conn, book_id, versions[book_id], found, entry, "discarded", at)
            reverted.append(replace(found, state="discarded"))
        conn.commit()
    for book_id in versions:
        rt.backlog.nudge(book_id)
    return Discarded(reverted=tuple(reverted), kept=tuple(kept))


def writes(
    rt: Runtime,
    book_id: str,
    *,
    entry: int | None = None,
    conversation: str | None = None,
    response_id: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Page[Write]:
    """The log of a book, the newest write first: all of it, or of one entry, conversation or reply."""
    keys = after(cursor, "writes", int)
    with reading(rt.engine) as conn:
        books.read(conn, OWNER, book_id)
        found = log.page(
            conn,
            book_id,
            entry_id=entry,
            conversation=conversation,
            response_id=response_id,
            before=keys[0] if keys else None,
            limit=checked_limit(limit) + 1,
        )
    return page_of(found, limit, "writes", lambda one: (one.version,))


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


def _target(conn: Connection, allowed_books: Sequence[str], draft: Draft) -> tuple[str, int | None]:
    """The book that the draft means, and its entry when it edits one."""
    found = {id_: book for id_, book in books.read_some(conn, OWNER, allowed_books).items() if book.enabled}
    named = _named(found, draft.book)
    if draft.handle:
        book_id, number = _parts(draft.handle.strip(" []").lower())
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


def _named(found: Mapping[str, Book], word: str | None) -> str | None:
    """The book of this id or this name."""
    if not word or word in found:
        return word or None
    same = [id_ for id_, book in found.items() if book.name.casefold() == word.strip().casefold()]
    if len(same) != 1:
        raise NotFound(f"no book {word[:80]}", remedy="Use the id or the name of a book that you were given.")
    return same[0]


def _must_be_open(book: Book) -> None:
    if not (book.settings.living and book.enabled and book.dialect == WORLD):
        raise Conflict(
            f"{book.name} ({book.id}) is no living book: it can only be read",
            remedy="Its owner can make it one with the setting `living`.",
        )


def _created(rt: Runtime, conn: Connection, book_id: str, version: int, draft: Draft, at: str) -> Entry:
    count = len(stored.order(conn, book_id)) + 1
    at_most(count, rt.settings.max_entries, "entries in a book", remedy="Edit an entry instead.")
    new = _drafted(draft, (), None)
    _not_twice(conn, book_id, new.title)
    [entry] = stored.add(conn, book_id, version, [new], at)
    return entry


def _not_twice(conn: Connection, book_id: str, title: str) -> None:
    """A model that forgot its handle would leave an old and a new text of one thing side by side."""
    wanted = fold(title).text
    for id_, known in stored.titles(conn, book_id):
        if fold(known).text == wanted:
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
    new = with_text(old, text_of(_drafted(draft, old.aliases, old.gist)))
    if new == old:
        raise Conflict(f"{old.handle} says exactly that already", remedy="Nothing needs to be written.")
    stored.put(conn, book_id, version, new, at)
    return new


def _drafted(draft: Draft, aliases: tuple[str, ...], gist: str | None) -> Entry:
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


def _as_written(conn: Connection, book_id: str, found: Write) -> Entry | Obstacle:
    """The entry as the write left it, or what keeps the write from being taken back."""
    _, number = _parts(found.handle)
    entry = stored.read(conn, book_id, [int(number)]).get(int(number))
    return as_written(found, log.newest_live(conn, book_id, int(number)), entry)


def _take_back(
    conn: Connection, book_id: str, version: int, found: Write, entry: Entry, state: WriteState, at: str
) -> None:
    if found.before is None:
        stored.remove(conn, book_id, [entry.id])
    else:
        stored.put(conn, book_id, version, with_text(entry, found.before), at)
    log.set_state(conn, book_id, found.id, state)


def _parts(handle: str) -> tuple[str, str]:
    book_id, _, number = handle.rpartition("-")
    return book_id, number
