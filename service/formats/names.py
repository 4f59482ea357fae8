"""Titles, aliases and names out of what files say, whatever the type in which they say it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from service.formats.keys import is_regex, split
from service.lore.text import clean_line, fold

MAX_NAME = 200
MAX_TITLE = 200
MAX_ALIASES = 64
MAX_ALIAS = 200
MAX_KEYS = 1000
TITLE_FROM_CONTENT = 60
UNTITLED = "Untitled"
NAMED_AFTER = "named_after"
"""Where a book keeps the name that it has after its character, its own file having none."""

Keys = Sequence[tuple[object, str | None]]
"""Activation keys as they stand in the file, each with the alias that it is; None when it is none."""


def text(value: object) -> str | None:
    """A text, or a number or switch as JSON writes it; nothing else is text."""
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, (bool, int, float)) else None


def whole(value: object) -> int | None:
    """A number that counts, from 0, also one that was written as text; nothing else is one."""
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def as_object(value: object) -> Mapping[str, Any]:
    """The object that stands in a field; an empty one where something else stands, or nothing."""
    return value if isinstance(value, Mapping) else {}


def truth(value: object) -> bool:
    """A switch, however it was written: "false" and "0" are off."""
    return value.strip().lower() not in {"", "0", "false", "no", "off"} if isinstance(value, str) else bool(value)


def is_blank(value: str) -> bool:
    """Whether a reader would see nothing: blanks, control and zero-width characters."""
    seen = clean_line(value)
    return not seen or (not seen.isascii() and not fold(seen[:MAX_TITLE]).text.strip() and not fold(seen).text.strip())


def first_line(given: Iterable[object]) -> str:
    """The first of these texts that is not blank, as one line of any length; empty when there is none."""
    found = (found for found in map(text, given) if found is not None and not is_blank(found))
    return clean_line(next(found, ""))


def book_name(*given: object) -> str:
    """The first of these that can be the name of a book; empty when there is none."""
    return first_line(given)[:MAX_NAME].strip()


def title(given: Iterable[object], aliases: Sequence[str], content: str) -> str:
    """The title of an entry (SPEC W14): what is given, else the first alias, else the beginning of the content."""
    if line := first_line(given)[:MAX_TITLE].strip():
        return line
    return aliases[0] if aliases else clean_line(content)[:TITLE_FROM_CONTENT].strip() or UNTITLED


def title_warnings(given: Iterable[object]) -> Iterator[tuple[str, str]]:
    """Kind and detail of what `title` has to cut."""
    if len(first_line(given)) > MAX_TITLE:
        yield "long_title", f"the title is cut to {MAX_TITLE} characters; kept for export"


def keys_of(*fields: object) -> Keys:
    """The keys of one field after another, the first thousand of each: lists as they are, typed lists split."""
    return [key for field in fields for key in _keys(field)]


def aliases(keys: Keys) -> tuple[str, ...]:
    """The keys as aliases, each once, as far as they fit."""
    names = dict.fromkeys(name for _, name in keys if name is not None and len(name) <= MAX_ALIAS)
    return tuple(names)[:MAX_ALIASES]


def key_warnings(keys: Keys) -> Iterator[tuple[str, str]]:
    """Kind and detail of what `aliases` could not take as it stands."""
    if blank := sum(name is None for _, name in keys):
        yield "blank_alias", f"{_counted(blank)} without any text left out"
    names = list(dict.fromkeys(name for _, name in keys if name is not None))
    if long := sum(len(name) > MAX_ALIAS for name in names):
        yield "long_alias", f"{_counted(long)} longer than {MAX_ALIAS} characters left out; kept for export"
    if len(names) - long > MAX_ALIASES or len(keys) >= MAX_KEYS:
        yield "too_many_aliases", f"only the first {MAX_ALIASES} keys became aliases; all are kept for export"
    for name in aliases(keys):
        if is_regex(name):
            yield "literal_regex", f"{name} is kept as written and matches nothing else"


def _keys(value: object) -> Keys:
    if value is None or value == "":
        return []
    keys = split(value) if isinstance(value, str) else value if isinstance(value, list) else [value]
    return [(key, _name(text(key))) for key in islice(keys, MAX_KEYS)]


def _name(key: str | None) -> str | None:
    return None if key is None or is_blank(key) else clean_line(key)


def _counted(count: int) -> str:
    return "one key" if count == 1 else f"{count} keys"
