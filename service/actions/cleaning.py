"""What becomes of the words of a book or an entry before they are stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from service.lore.book import SETTINGS_READ, Book, Dialect, Entry, Warning, unread_settings
from service.lore.errors import FieldError, Invalid
from service.lore.limits import MAX_CONTENT, SEARCHED
from service.lore.text import clean_line
from service.lore.trigger import Trigger


def cleaned_book(book: Book) -> Book:
    """The book with its name as one line.

    Raises `Invalid` when nothing is left of it, and for settings that its dialect does not read.
    """
    name = clean_line(book.name)
    faults = [] if name else [FieldError(pointer="#/name", detail="blank", remedy="give the book a name")]
    detail = f"books of the dialect {book.dialect} do not read it"
    remedy = f"leave it out; they read {', '.join(SETTINGS_READ[book.dialect]) or 'no settings'}"
    faults += [
        FieldError(pointer=f"#/settings/{setting}", detail=detail, remedy=remedy) for setting in unread_settings(book)
    ]
    if faults:
        raise Invalid(faults)
    return replace(book, name=name)


def cleaned_entry(entry: Entry, dialect: Dialect) -> Entry:
    """The entry with title, aliases and keys as one line each, and a warning for each of which nothing was left.

    Raises `Invalid` for a blank title, for content that is only white space, and for what its dialect does not know.
    """
    cleaned, faults = _clean(entry, dialect, "#")
    if faults:
        raise Invalid(faults)
    return cleaned


def cleaned_entries(entries: Sequence[Entry], dialect: Dialect, pointer: str) -> tuple[Entry, ...]:
    """The same for a list that stands at `pointer` of the request; `Invalid` has the faults of all of them."""
    results = [_clean(entry, dialect, f"{pointer}/{place}") for place, entry in enumerate(entries)]
    faults = [fault for _, found in results for fault in found]
    if faults:
        raise Invalid(faults)
    return tuple(entry for entry, _ in results)


def _clean(entry: Entry, dialect: Dialect, pointer: str) -> tuple[Entry, list[FieldError]]:
    title = clean_line(entry.title)
    lines = [clean_line(alias) for alias in entry.aliases]
    faults = []
    if not title:
        faults.append(FieldError(pointer=f"{pointer}/title", detail="blank", remedy="give the entry a title"))
    if not entry.content.strip():
        faults.append(FieldError(pointer=f"{pointer}/content", detail="only white space", remedy="write the lore here"))
    warnings = [
        Warning(kind="blank_alias", detail=f"alias {place + 1} is blank and was dropped")
        for place, line in enumerate(lines)
        if not line
    ]
    faults += (_in_world_books if dialect == "world" else _in_lorebooks)(entry, dialect, pointer)
    trigger = entry.trigger
    if trigger is not None and dialect != "world":
        trigger, told = _trigger(trigger, dialect)
        warnings += told
    made = replace(entry, title=title, aliases=tuple(filter(None, lines)), trigger=trigger, warnings=tuple(warnings))
    return made, faults


def _trigger(trigger: Trigger, dialect: Dialect) -> tuple[Trigger, list[Warning]]:
    """Keys that say nothing are dropped. In `sillytavern` a key may be a regular expression and stays as it is."""
    warnings: list[Warning] = []
    kept: dict[str, tuple[str, ...]] = {}
    for name, keys in (("keys", trigger.keys), ("secondary_keys", trigger.secondary_keys)):
        lines = [key if dialect == "sillytavern" else clean_line(key) for key in keys]
        kept[name] = tuple(line for line in lines if line.strip())
        warnings += [
            Warning(kind="blank_key", detail=f"{name}: key {place + 1} is blank and was dropped")
            for place, line in enumerate(lines)
            if not line.strip()
        ]
    return replace(trigger, keys=kept["keys"], secondary_keys=kept["secondary_keys"]), warnings


def _in_world_books(entry: Entry, _: Dialect, pointer: str) -> Iterator[FieldError]:
    if entry.trigger is not None:
        remedy = "send null, or add the entry to a lorebook"
        yield FieldError(pointer=f"{pointer}/trigger", detail="entries of a world book have no trigger", remedy=remedy)


def _in_lorebooks(entry: Entry, dialect: Dialect, pointer: str) -> Iterator[FieldError]:
    if entry.trigger is None:
        remedy = 'send what wakes it, for example {"keys": ["salt gate"]}'
        yield FieldError(pointer=f"{pointer}/trigger", detail="an entry of a lorebook needs a trigger", remedy=remedy)
        return
    if entry.aliases:
        remedy = "send them as trigger.keys"
        yield FieldError(pointer=f"{pointer}/aliases", detail="entries of a lorebook have no aliases", remedy=remedy)
    if entry.tier != "relevant":
        remedy = "send trigger.constant"
        yield FieldError(pointer=f"{pointer}/tier", detail="entries of a lorebook have no canon", remedy=remedy)
    most = MAX_CONTENT[dialect]
    if len(entry.content) > most:
        detail = f"{len(entry.content):,} characters, at most {most:,} are allowed in the dialect {dialect}"
        yield FieldError(pointer=f"{pointer}/content", detail=detail, remedy="split the entry")
    fewest, most = SEARCHED[dialect]
    depth = entry.trigger.scan_depth
    if depth is not None and not fewest <= depth <= most:
        detail = f"{depth} messages, and {fewest} to {most} can be searched in the dialect {dialect}"
        yield FieldError(pointer=f"{pointer}/trigger/scan_depth", detail=detail, remedy=f"send {fewest} to {most}")
