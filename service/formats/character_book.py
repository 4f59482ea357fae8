"""Character books: the lorebooks of cards, of version 2 and 3, `{"name": …, "entries": [{"keys": …}, …]}`.

An untouched book comes out as it came in. For this `extensions["character_book"]` keeps what was read. Of the book: all
but the entries; `entries` there has null for one that is in our book, and in full one that was left out. Of an entry:
its `place`, the `version` of the card, and `entry`, with null for a content that is the content of ours.

Sources: the card specifications V2 and V3. V3 differs by `use_regex` and by decorators in the content; a V2 reader
would show those to the model, so writing V2 from V3 takes them off. `selectiveLogic`, which neither version has, is
written where SillyTavern and RisuAI look for it, in the extensions, and in V3 as decorators too; reading takes those
off again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any, Literal

from service.formats.book_entry import decorators, is_foreign, lost_in_book_entry, settings_without_home, to_book_entry
from service.formats.book_writing import logic_in_content, rank, write
from service.formats.converting import CHARACTER_BOOK as KEPT
from service.formats.converting import WORLD_INFO, unheld
from service.formats.format import Format
from service.formats.names import NAMED_AFTER, as_object, book_name, keys_of, text, truth
from service.formats.report import FormatName, ImportWarning, NoHome, Reading, counted
from service.formats.rows import Row, bounded, gather, keyed, reading
from service.formats.sillytavern_fields import SPELLED_IN_BOOKS, from_book_entry, is_book_entry, is_enabled
from service.lore.book import Book, Entry
from service.lore.errors import FieldError, Invalid
from service.lore.trigger import CharacterFilter

Version = Literal[2, 3]
EVERYONE = CharacterFilter()
_OTHERS = {"lorebookVersion", "storyContainerVersion", "scenarioVersion", "spec", "kind", "format"}
_HOME = {"entries", "name", "description", "extensions"}


def recognise(value: object, version: Version) -> bool:
    """A list of entries with a character book's names; in V3 one of them at least says `use_regex`."""
    if not isinstance(value, dict) or not _OTHERS.isdisjoint(value):
        return False
    entries = value.get("entries")
    if not isinstance(entries, list):
        return False
    rows = [row for row in entries if isinstance(row, dict)]
    if any(_is_world_info(row) or is_foreign(row) for row in rows):
        return False
    if version == 3:
        return any("use_regex" in row for row in rows)
    return any("keys" in row or is_book_entry(row) for row in rows) or (not entries and "extensions" in value)


def read(value: Any, version: Version) -> Reading:
    """A world book (SPEC W14): keys become aliases, constant becomes canon, comment or name the title.

    Raises `LimitExceeded` beyond 100,000 entries.
    """
    return read_as(value, version, FormatName(name=f"character_book_v{version}"))


def read_as(value: Mapping[str, Any], version: Version, format: FormatName, name: object = None) -> Reading:
    """The same for a book in a file of another format; it is called `name` when it has no name of its own.

    That name is kept, so that a book that is called otherwise since then is written with its name.

    Raises `LimitExceeded`, `Invalid` when its entries are no list.
    """
    rows, warnings = _with_own_ids(given_entries(value))
    found = gather(rows, partial(_row, version))
    inside = set(found.places)
    slots = [None if place in inside else row for place, row in enumerate(rows)]
    extensions = value.get("extensions")
    no_home = [each for each in value if each not in _HOME and value[each] is not None]
    no_home += [f"extensions.{each}" for each in extensions] if isinstance(extensions, Mapping) else []
    own, given = book_name(value.get("name")), book_name(name)
    return reading(
        format,
        found,
        name=own or given,
        description=value.get("description"),
        extensions={KEPT: {**value, "entries": slots}, **({NAMED_AFTER: given} if given and not own else {})},
        no_home=no_home,
        warnings=warnings,
        settings=value,
    )


def given_entries(value: Mapping[str, Any]) -> list[Any]:
    """The entries of a character book, also from an object, and from one of SillyTavern's own.

    Raises `LimitExceeded`, `Invalid` when they are neither a list nor an object.
    """
    given = value.get("entries")
    if given is None:
        return []
    if not isinstance(given, (list, dict)):
        raise Invalid([FieldError(pointer="#/entries", detail="the entries are no list", remedy="a list")])
    rows = [row for _, row in keyed(given)]
    bounded(len(rows))
    return [to_book_entry(row) if isinstance(row, dict) and _is_world_info(row) else row for row in rows]


def losses(book: Book, version: Version) -> tuple[NoHome, ...]:
    """Gists, settings and the switch of the book, other programs' extensions, and little of SillyTavern's fields.

    V2 also loses the decorators of a V3 book.
    """
    lost = list(unheld(book, KEPT, WORLD_INFO))
    if KEPT not in book.extensions:
        file = as_object(book.extensions.get(WORLD_INFO))
        lost += ["originalData"] if file.get("originalData") is not None else []
        lost += [
            name for slot in as_object(file.get("entries")).values() for name in lost_in_book_entry(as_object(slot))
        ]
    for entry in book.entries or ():
        kept = as_object(entry.extensions.get(KEPT))
        if entry.trigger is not None:
            lost += ["characterFilter"] if entry.trigger.characters != EVERYONE else []
        if not kept and entry.trigger is not None:
            lost += [each for each in lost_in_book_entry(_world_info(entry)) if each != "characterFilter"]
        elif not kept:
            lost += lost_in_book_entry(_world_info(entry))
        elif (version, kept.get("version")) == (2, 3):
            lost += decorators(entry.content)[0]
    return counted(lost)


FORMATS = tuple(
    Format(
        name=f"character_book_v{version}",
        recognise=partial(recognise, version=version),
        read=partial(read, version=version),
        write=partial(write, version=version),
        losses=partial(losses, version=version),
        spelled=SPELLED_IN_BOOKS,
        indent=4,
    )
    for version in (3, 2)
)
"""V3 first: what has no `use_regex` is V2."""


def _world_info(entry: Entry) -> Mapping[str, Any]:
    return as_object(as_object(entry.extensions.get(WORLD_INFO)).get("entry"))


def _is_world_info(row: Mapping[str, Any]) -> bool:
    return "keys" not in row and not {"key", "disable"}.isdisjoint(row)


def _with_own_ids(rows: list[Any]) -> tuple[list[Any], list[ImportWarning]]:
    """The rows, an id that an earlier one has already replaced by a free one, and what is to be said about that."""
    ids = [_id(row) for row in rows]
    asked = {each for each in ids if each is not None}
    free = (number for number in count() if str(number) not in asked)
    taken: set[str | None] = set()
    found: list[Any] = []
    warnings: list[ImportWarning] = []
    for place, (row, own) in enumerate(zip(rows, ids, strict=True)):
        if own is None or own not in taken:
            taken.add(own)
            found.append(row)
        else:
            number = next(free)
            found.append({**row, "id": number})
            detail = f"a second entry {own[:40]}; it is {number} now"
            warnings.append(ImportWarning(kind="duplicate_id", index=place, detail=detail))
    return found, warnings


def _id(row: object) -> str | None:
    given = row.get("id") if isinstance(row, dict) else None
    return str(given) if isinstance(given, (int, str)) and not isinstance(given, bool) else None


def _row(version: Version, place: int, raw: dict[str, Any]) -> Row:
    content = text(raw.get("content"))
    if version == 3 and content is not None:
        content = content[len(logic_in_content(raw, place)) :]
    found = decorators(content or "")[0]
    return Row(
        titles=(raw.get("comment"), raw.get("name")),
        content=content,
        keys=keys_of(raw.get("keys")),
        secondary=keys_of(raw.get("secondary_keys")),
        settings=from_book_entry(raw, place),
        canon=truth(raw.get("constant", False)),
        enabled=is_enabled(raw),
        rank=rank(raw, place),
        extensions={
            KEPT: {
                "place": place,
                "version": version,
                "entry": {**raw, "content": None} if raw.get("content") == content else raw,
            }
        },
        no_home=(*settings_without_home(raw, place), *found),
        warnings=_told(found),
    )


def _told(found: list[str]) -> Iterator[tuple[str, str]]:
    if found:
        yield "decorator", f"the content begins with {', '.join(dict.fromkeys(found))}, which the model will read"
