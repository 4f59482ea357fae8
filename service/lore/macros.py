"""`{{user}}`, `{{char}}` and `{{bot}}` in one pass: what was put in is not read again, and nothing else is touched.

Of the other macros only comments mean something here: no key is found in them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from service.lore.book import Entry
from service.lore.request import Names
from service.lore.text import clean_line

_MACRO = re.compile(r"\{\{(user|char|bot)\}\}", re.IGNORECASE)
_COMMENT = re.compile(r"\{\{(?://|comment:).*?\}\}", re.IGNORECASE | re.DOTALL)


def macro_values(names: Names | None, label: str | None = None) -> Mapping[str, str]:
    """What each macro stands for; one that is missing stays as written.

    `label` is the character whose book a text comes from; in a group that is its `{{char}}`.
    """
    if names is None:
        return {}
    char = label or names.char
    values = {"user": names.user, "char": char, "bot": names.bot or char}
    return {macro: value for macro, value in values.items() if value is not None}


def has_macro(text: str) -> bool:
    """Whether `replace_macros` could change the text."""
    return "{{" in text and _MACRO.search(text) is not None


def replace_macros(text: str, values: Mapping[str, str]) -> str:
    """The text with its macros replaced, in any case (card V3), everything else as written."""
    if not values or "{{" not in text:
        return text
    return _MACRO.sub(lambda found: values.get(found[1].lower(), found[0]), text)


def without_comments(text: str) -> str:
    """The text with blanks in place of `{{// …}}` and `{{comment: …}}` (card V3), so that spans stay."""
    if "{{" not in text:
        return text
    # Only up to the last end of a macro, else each comment without an end would be looked for to the end of the text.
    head, end, rest = text.rpartition("}}")
    return _COMMENT.sub(lambda found: " " * len(found[0]), head + end) + rest


def spoken(entry: Entry, values: Mapping[str, str]) -> Entry:
    """The entry with the macros of its title, content and gist replaced; the same object when there are none.

    A name with line breaks leaves a title one line.
    """
    title = replace_macros(entry.title, values)
    content = replace_macros(entry.content, values)
    gist = None if entry.gist is None else replace_macros(entry.gist, values)
    if (title, content, gist) == (entry.title, entry.content, entry.gist):
        return entry
    return replace(entry, title=clean_line(title), content=content, gist=gist)
