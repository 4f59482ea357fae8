"""What the author of a lorebook should know about it; nothing of this is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.lore.activation.keys import JS_SPACES
from service.lore.activation.patterns import read_pattern
from service.lore.activation.rules import Lorebook
from service.lore.activation.scanning import GLUE
from service.lore.activation.strips import Piece, Strip
from service.lore.book import Book, Dialect, Entry, Warning
from service.lore.decorators import ignored
from service.lore.dialects import DIALECTS, DialectRules
from service.lore.macros import has_macro

WAKES_MANY = 10
"""Other entries that one may wake before it is told."""
_PATTERN = re.compile(r"/.+/[a-z]*", re.DOTALL)


def of_entry(entry: Entry, dialect: Dialect) -> Iterator[Warning]:
    """What keeps the entry of a lorebook from doing what its author may expect."""
    trigger = entry.trigger
    if trigger is None:
        return
    if trigger.channels.unresolved:
        names = ", ".join(trigger.channels.unresolved)
        yield Warning(kind="unresolved_channel", detail=f"in every channel, since {names} is not known as one")
    if trigger.chance == 0:
        yield Warning(kind="never", detail="its chance is 0, so it never activates")
    for key in (*trigger.keys, *trigger.secondary_keys):
        if dialect == "sillytavern" and is_broken_pattern(key):
            detail = f"{key:.80} is no valid regular expression, so it matches only as it is written"
            yield Warning(kind="invalid_regex", detail=detail)
        elif dialect != "sillytavern" and _PATTERN.fullmatch(key):
            yield Warning(kind="literal_regex", detail=f"{key:.80} matches only as it is written")
    if told := of_decorators(entry.content, dialect):
        yield Warning(kind="decorator", detail=told)
    if dialect == "sillytavern" and trigger.recursion.exclude and trigger.recursion.delay_until:
        detail = "only contents of other entries may wake it, and it refuses to be woken so: it never activates"
        yield Warning(kind="dead_entry", detail=detail)
    keyless = not (trigger.constant or any(key.strip() for key in trigger.keys))
    if dialect != "server" and keyless and "@@activate" not in entry.content:
        yield Warning(kind="no_key", detail="it has no key and is not constant, so it never activates")


def is_broken_pattern(key: str) -> bool:
    """Whether a key looks like a regular expression to its author and is none. One with macros is not known before."""
    key = key.strip(JS_SPACES)
    return bool(_PATTERN.fullmatch(key)) and not has_macro(key) and read_pattern(key) is None


def of_decorators(content: str, dialect: Dialect) -> str:
    """What becomes of the decorators that the dialect does not know; "" when there are none."""
    known = next((row.decorators for row in DIALECTS if row.dialect == dialect), {})
    names = ", ".join(ignored(content, known))
    fate = "and do not reach the model" if known else "and are read by the model"
    return f"decorators at its top have no effect here {fate}: {names}" if names else ""


def of_book(book: Book) -> Iterator[Warning]:
    """Channels that are not known."""
    if book.channels.unresolved:
        names = ", ".join(book.channels.unresolved)
        yield Warning(kind="unresolved_channel", detail=f"in every channel, since {names} is not known as one")


def of_keys(row: DialectRules, lorebook: Lorebook) -> Iterator[Warning]:
    """Entries of a recursive lorebook whose content wakes many others."""
    for handle, number in _wakes(row, lorebook):
        if number > WAKES_MANY:
            yield Warning(kind="wakes_many", detail=f"the content of {handle} holds keys of {number} other entries")


def is_recursive(book: Book) -> bool:
    """Whether contents of entries are searched for the keys of others."""
    return book.dialect == "sillytavern" or (book.dialect == "chat" and bool(book.settings.recursive_scanning))


def _wakes(row: DialectRules, lorebook: Lorebook) -> Iterator[tuple[str, int]]:
    """Of each entry how many others its content may wake."""
    for rule in lorebook.rules:
        if not rule.entry.enabled or rule.trigger.recursion.prevent:
            continue
        found = lorebook.index.first(Strip([Piece(rule.content, GLUE[row.matching])]))
        woken = {ordinal for key in found for ordinal in lorebook.woken.get(key, ())} - {rule.ordinal}
        yield rule.entry.handle, sum(not lorebook.rules[ordinal].trigger.recursion.exclude for ordinal in woken)
