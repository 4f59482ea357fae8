"""A file that was read as a world book, as a trigger lorebook of one dialect instead.

The readers know nothing of dialects: they keep what an entry says of its activation beside the world book's entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from service.formats import trigger_fields as table
from service.formats import trigger_values as values
from service.formats.book_entry import decorators
from service.formats.keys import is_regex
from service.formats.names import Keys, text, truth
from service.formats.report import ImportWarning, Reading, Rules, Skipped, counted
from service.lore import advice
from service.lore.book import Book, BookSettings, Dialect, Entry
from service.lore.dialects import DIALECTS
from service.lore.errors import FieldError, Invalid
from service.lore.limits import MAX_CONTENT, SEARCHED
from service.lore.text import clean_line

_OF_ALIASES = {"blank_alias", "long_alias", "too_many_aliases", "literal_regex", "decorator"}
"""Warnings that the dialect gives in its own words."""
_BOOK_FIELDS: Mapping[str, tuple[int, int] | None] = {
    "scan_depth": (0, 100),
    "token_budget": (100, 32_000),
    "recursive_scanning": None,
}
_DECORATORS = {row.dialect: row.decorators for row in DIALECTS}


def as_dialect(found: Reading, spelled: Mapping[str, str], dialect: Dialect) -> Reading:
    """The reading as a lorebook of this dialect; `spelled` has SillyTavern's names for those of the format.

    An entry that is too long for the dialect is skipped. The settings without effect are those of the dialect. Raises
    `Invalid` for a lorebook of another dialect, which only a file of our own can be.
    """
    if found.book is None or found.book.dialect == dialect:
        return found
    if found.book.dialect != "world":
        fault = f"the file is a {found.book.dialect} lorebook, not one of the dialect {dialect}"
        remedy = f"leave it out or send {found.book.dialect}; as a file of SillyTavern it goes into any"
        raise Invalid([FieldError(parameter="dialect", detail=fault, remedy=remedy)])
    entries: list[Entry] = []
    places: list[int] = []
    rules: list[Rules] = []
    skipped = list(found.skipped)
    no_home = list(_without_home(found.book_rules, spelled, dialect, _BOOK_FIELDS if dialect == "chat" else ()))
    warnings = [each for each in found.warnings if each.kind not in _OF_ALIASES]
    settings, told = _settings(found.book_rules.settings, dialect)
    warnings += told
    for place, entry, said in zip(found.places, found.book.entries or (), found.rules, strict=True):
        most = MAX_CONTENT[dialect]
        if len(entry.content) > most:
            detail = f"{len(entry.content)} characters, at most {most} fit"
            skipped.append(Skipped(index=place, title=entry.title, kind="too_long", detail=detail))
            warnings = [each for each in warnings if each.index != place]
            continue
        entries.append(_entry(entry, said, dialect))
        places.append(place)
        rules.append(said)
        no_home += _of_entry(entry, said, spelled, dialect)
        warnings += [
            ImportWarning(kind=kind, index=place, detail=detail) for kind, detail in _told(entry, said, dialect)
        ]
    book = replace(found.book, dialect=dialect, settings=settings, entries=tuple(entries))
    return replace(
        found,
        book=book,
        places=tuple(places),
        rules=tuple(rules),
        skipped=tuple(sorted(skipped, key=lambda each: each.index)),
        no_home=counted(no_home),
        warnings=tuple(warnings),
    )


def _entry(entry: Entry, said: Rules, dialect: Dialect) -> Entry:
    trigger = table.trigger(said.settings, said.keys, said.secondary, dialect)
    return replace(entry, aliases=(), tier="relevant", trigger=trigger)


def fitted(entry: Entry, dialect: Dialect) -> Entry:
    """An entry of a file of our own, which may say more than its dialect knows, as one of that dialect."""
    trigger = entry.trigger
    if trigger is None:
        return entry
    low, high = SEARCHED[dialect]
    depth = trigger.scan_depth
    trigger = replace(
        trigger,
        keys=_usable(trigger.keys, dialect),
        secondary_keys=_usable(trigger.secondary_keys, dialect),
        scan_depth=None if depth is None else min(max(depth, low), high),
    )
    return replace(entry, aliases=(), tier="relevant", trigger=trigger)


def told_of(entry: Entry, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Kind and detail of what `fitted` leaves out or changes."""
    trigger = entry.trigger
    if trigger is None:
        return
    if entry.aliases:
        yield "unread_setting", "aliases: entries of a lorebook have none; left out"
    if entry.tier != "relevant":
        yield "unread_setting", "tier: entries of a lorebook have none; left out"
    given = (*trigger.keys, *trigger.secondary_keys)
    if blank := len(given) - sum(len(_usable((key,), dialect)) for key in given):
        yield "blank_key", f"{_counted(blank)} without any text left out"
    now = fitted(entry, dialect).trigger
    if now is not None and now.scan_depth != trigger.scan_depth:
        yield "out_of_range", f"scan_depth {trigger.scan_depth} is read as {now.scan_depth}"


def _usable(keys: Sequence[str], dialect: Dialect) -> tuple[str, ...]:
    """Keys that say something, as lines where none can be a regular expression."""
    lines = (key if dialect == "sillytavern" else clean_line(key) for key in keys)
    return tuple(line for line in lines if line.strip())


def changed_settings(file: Mapping[str, Any], book: Book) -> dict[str, Any]:
    """What a chat lorebook says otherwise than the file does of scan depth, token budget and recursion."""
    if book.dialect != "chat":
        return {}
    before, _ = _settings(file, "chat")
    names = (name for name in _BOOK_FIELDS if getattr(before, name) != getattr(book.settings, name))
    return {name: getattr(book.settings, name) for name in names}


def _settings(said: Mapping[str, object], dialect: Dialect) -> tuple[BookSettings, list[ImportWarning]]:
    """What only chat lorebooks know of a book, within their bounds."""
    if dialect != "chat":
        return BookSettings(), []
    found: dict[str, object] = {}
    told: list[ImportWarning] = []
    for name, bounds in _BOOK_FIELDS.items():
        given = said.get(name)
        read = values.switch(given) if bounds is None else values.whole(*bounds)(given)
        if read is not None:
            found[name] = read
        if given is not None and bounds is not None and values.number(given) != read:
            shown = "left out" if read is None else f"read as {read}"
            told.append(ImportWarning(kind="out_of_range", detail=f"{name} {given!s:.40} is {shown}"))
    return BookSettings(**found), told  # type: ignore[arg-type]  # each of its own kind


def _of_entry(entry: Entry, said: Rules, spelled: Mapping[str, str], dialect: Dialect) -> Iterator[str]:
    """The names, as they stand in the file, of what an entry sets and the dialect has no use for."""
    for name in said.no_home:
        if not name.startswith("@@") and not table.has_effect(spelled.get(name, name), said.settings, dialect):
            yield name
    if truth(said.settings.get("vectorized", False)):
        yield next((name for name, meant in spelled.items() if meant == "vectorized"), "vectorized")
    yield from (name for name in decorators(entry.content)[0] if name.lstrip("@") not in _DECORATORS[dialect])


def _without_home(
    said: Rules, spelled: Mapping[str, str], dialect: Dialect, home: Mapping[str, object] | tuple[()]
) -> Iterator[str]:
    return (name for name in said.no_home if spelled.get(name, name) not in home)


def _told(entry: Entry, said: Rules, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Kind and detail of what was read otherwise than the file may mean it."""
    keys = [*said.keys, *said.secondary]
    yield from _of_keys(keys, dialect)
    for name, shown in table.inexact(said.settings, dialect):
        yield "out_of_range", f"{name} {text(said.settings.get(name))!s:.40} is read as {shown}"
    if dialect == "server" and not _woken(said):
        yield "always_on", "without a key it is always on here"
    if told := advice.of_decorators(entry.content, dialect):
        yield "decorator", told


def _woken(said: Rules) -> bool:
    """Whether the entry has a key, or is meant to be always on."""
    return truth(said.settings.get("constant", False)) or any(name is not None for _, name in said.keys)


def _of_keys(keys: Keys, dialect: Dialect) -> Iterator[tuple[str, str]]:
    if blank := sum(name is None for _, name in keys):
        yield "blank_key", f"{_counted(blank)} without any text left out"
    found = list(dict.fromkeys(name for _, name in keys if name is not None))
    if long := sum(len(name) > table.MAX_KEY for name in found):
        yield "long_key", f"{_counted(long)} longer than {table.MAX_KEY} characters left out; kept for export"
    if len(keys) >= table.MAX_KEYS:
        yield "too_many_keys", f"only the first {table.MAX_KEYS} keys count; all are kept for export"
    for name in found:
        if dialect == "sillytavern" and advice.is_broken_pattern(name):
            yield "invalid_regex", f"{name:.80} is no valid regular expression, so it matches only as it is written"
        elif dialect != "sillytavern" and is_regex(name):
            yield "literal_regex", f"{name} is kept as written and matches nothing else"


def _counted(count: int) -> str:
    return "one key" if count == 1 else f"{count} keys"
