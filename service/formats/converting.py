"""What was kept of one format's file, turned into what another format would have kept.

The reader of a format keeps each entry as it stood in the file, and its writer overlays the edits. A book that was read
from another dialect, in whole or in part, is brought into the writer's own before that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from service.formats.book_entry import to_book_entry
from service.formats.names import NAMED_AFTER, as_object, book_name, whole
from service.formats.sillytavern_fields import from_book_entry
from service.lore.book import Book, BookSettings, Entry
from service.lore.trigger import EVERYWHERE, Channels

WORLD_INFO = "sillytavern"
"""Where SillyTavern's reader keeps a file: `entries` in an object, each entry with its `key`."""
CHARACTER_BOOK = "character_book"
"""Where the reader of character books does: `entries` in a list, each with its `place` and the card's `version`."""


def as_world_info(book: Book) -> Book:
    """The book as if all of it had been read from SillyTavern's world info."""
    entries = book.entries or ()
    file = as_object(book.extensions.get(CHARACTER_BOOK))
    if WORLD_INFO in book.extensions or not file:
        return replace(book, entries=tuple(_world_info_entry(entry, {}) for entry in entries))
    slots = _list(file.get("entries"))
    keys = _keys(slots, entries)
    order = {
        keys[place]: {**from_book_entry(slot, place), "uid": int(keys[place])} if isinstance(slot, Mapping) else None
        for place, slot in enumerate(slots)
    }
    return replace(
        book,
        entries=tuple(_world_info_entry(entry, keys) for entry in entries),
        extensions={**book.extensions, WORLD_INFO: {**file, "entries": order}},
    )


def as_character_book(book: Book) -> Book:
    """The book as if all of it had been read from a character book."""
    entries = book.entries or ()
    file = as_object(book.extensions.get(WORLD_INFO))
    if CHARACTER_BOOK in book.extensions or not file:
        return replace(book, entries=tuple(_book_entry(entry, {}, {}) for entry in entries))
    order = as_object(file.get("entries"))
    places = {key: place for place, key in enumerate(order)}
    ids = _ids(order, entries)
    slots = [
        to_book_entry({**slot, "uid": ids[key]}) if isinstance(slot, Mapping) else None for key, slot in order.items()
    ]
    kept = {"extensions": {}, **{name: value for name, value in file.items() if name != "originalData"}}
    named = {} if book_name(file.get("name")) else {"name": book.name}
    return replace(
        book,
        entries=tuple(_book_entry(entry, places, ids) for entry in entries),
        extensions={**book.extensions, CHARACTER_BOOK: {**kept, **named, "entries": slots}},
    )


def lost_in_world_info(entry: Entry) -> Iterator[str]:
    """The names of what an entry of a character book says and world info cannot: an id that is no number."""
    kept = as_object(entry.extensions.get(CHARACTER_BOOK))
    given = as_object(kept.get("entry")).get("id")
    if WORLD_INFO not in entry.extensions and given is not None and not isinstance(given, int):
        yield "id"


def unheld(book: Book, *kept: str) -> Iterator[str]:
    """The names of what only our own format holds: gists, settings, and extensions but for those `kept` in the file."""
    if not book.enabled:
        yield "book.enabled"
    usual = BookSettings()
    names = ("places", "floor", "living")
    yield from (f"book.settings.{name}" for name in names if getattr(book.settings, name) != getattr(usual, name))
    yield from ("channels" for channels in _channels(book) if channels != EVERYWHERE)
    yield from ("gist" for entry in book.entries or () if entry.gist)
    for extensions in (book.extensions, *(entry.extensions for entry in book.entries or ())):
        yield from (f"extensions.{name}" for name in extensions if name not in (*kept, NAMED_AFTER))


def _channels(book: Book) -> Iterator[Channels]:
    yield book.channels
    yield from (entry.trigger.channels for entry in book.entries or () if entry.trigger is not None)


def _world_info_entry(entry: Entry, keys: Mapping[int, str]) -> Entry:
    """`keys` are those of the places in the file; an entry of another file has none and is given one."""
    kept = as_object(entry.extensions.get(CHARACTER_BOOK))
    place, raw = kept.get("place"), as_object(kept.get("entry"))
    if not raw or WORLD_INFO in entry.extensions:
        return entry
    place = place if isinstance(place, int) else -1
    key = keys.get(place)
    row = from_book_entry(raw, max(place, 0)) | ({} if key is None else {"uid": int(key)})
    return replace(entry, extensions={**entry.extensions, WORLD_INFO: {"key": key, "entry": row}})


def _book_entry(entry: Entry, places: Mapping[str, int], ids: Mapping[str, int]) -> Entry:
    """`places` and `ids` are those of the keys of the file; an entry of another file has none."""
    kept = as_object(entry.extensions.get(WORLD_INFO))
    key, raw = kept.get("key"), as_object(kept.get("entry"))
    if not raw or CHARACTER_BOOK in entry.extensions:
        return entry
    place = places.get(key) if isinstance(key, str) else None
    raw = {**raw, "uid": ids[key]} if isinstance(key, str) and key in ids else raw
    row = {"place": place, "version": 2, "entry": to_book_entry(raw)}
    return replace(entry, extensions={**entry.extensions, CHARACTER_BOOK: row})


def _keys(slots: Sequence[Any], entries: Sequence[Entry]) -> dict[int, str]:
    """The key of each place: the id that the entry there gives itself, else a number that is free."""
    kept = [as_object(entry.extensions.get(CHARACTER_BOOK)) for entry in entries]
    at = {each.get("place"): each.get("entry") for each in kept if isinstance(each.get("place"), int)}
    wanted = [_id(slot if slot is not None else at.get(place)) for place, slot in enumerate(slots)]
    asked = set(wanted)
    free = (str(number) for number in count() if str(number) not in asked)
    keys: dict[int, str] = {}
    taken: set[str] = set()
    for place, key in enumerate(wanted):
        keys[place] = next(free) if key is None or key in taken else key
        taken.add(keys[place])
    return keys


def _ids(order: Mapping[str, Any], entries: Sequence[Entry]) -> dict[str, int]:
    """The id of each key, as no other has it: the uid that the entry there gives itself, else the key, else one free.

    SillyTavern keeps one of the entries of a character book that have the same id, or none.
    """
    kept = [as_object(entry.extensions.get(WORLD_INFO)) for entry in entries]
    at = {each["key"]: each.get("entry") for each in kept if isinstance(each.get("key"), str)}
    uids = {key: as_object(slot if slot is not None else at.get(key)).get("uid") for key, slot in order.items()}
    ids: dict[str, int] = {}
    taken: set[int] = set()
    for wanted in (uids, dict(zip(order, order, strict=True))):
        for key, given in wanted.items():
            number = whole(given)
            if key not in ids and number is not None and number not in taken:
                ids[key] = number
                taken.add(number)
    free = (number for number in count() if number not in taken)
    return {key: ids[key] if key in ids else next(free) for key in order}


def _id(row: object) -> str | None:
    given = row.get("id") if isinstance(row, Mapping) else None
    return str(given) if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else None


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else []
