"""Decorators: lines beginning with `@@` at the top of a content, which adjust its entry and never reach the prompt.

Syntax of the character card V3 specification. `@@name value` is taken when the name is known and the value valid, else
ignored; `@@@name value` below it is its fallback, tried in turn until one is taken. Of the decorators that set the same
thing the first wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

_LINE: Final = re.compile(r"@@@?([a-z_]+)(?:[ \t]+(.*))?", re.ASCII)
_INTEGER: Final = re.compile(r"-?[0-9]{1,9}", re.ASCII)
_PERCENT: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?) ?%?", re.ASCII)
ANY_GREETING: Final = -1


@dataclass(frozen=True, kw_only=True)
class Decorations:
    """What the decorators of an entry say; null or empty: nothing."""

    chance: float | None = None
    scan_depth: int | None = None
    order: int | None = None
    priority: int | None = None
    role: str | None = None
    whole_words: bool | None = None
    only_after: int | None = None
    """Not before the conversation has so many messages."""
    only_every: int | None = None
    """Only when the number of messages is a multiple of this."""
    after_match: str | None = None
    """Once it activated in an earlier turn: `keep` always, `never` again."""
    greeting: int | None = None
    """Only with this greeting, from 0; `ANY_GREETING`: while the greeting is all there is."""
    forced: bool | None = None
    """`@@activate`: needs no key."""
    barred: bool | None = None
    """`@@dont_activate`."""
    drops_first: bool | None = None
    """Falls before all others when a budget is exceeded."""
    additional_keys: tuple[tuple[str, ...], ...] = ()
    """Of each list at least one must be there."""
    exclude_keys: tuple[str, ...] = ()
    """None of these may be there."""


PLAIN: Final = Decorations()

Parser = Callable[[str], Any]
"""Value of a decorator line, "" when it has none, to the value of the field; `ValueError` when it is not valid."""
Vocabulary = Mapping[str, tuple[str, Parser]]
"""Name of a decorator to the field that it sets and how its value is read."""


def _whole(least: int, most: int) -> Parser:
    def parse(value: str) -> int:
        if not _INTEGER.fullmatch(value) or not least <= int(value) <= most:
            raise ValueError(value)
        return int(value)

    return parse


def _percent(value: str) -> float:
    found = _PERCENT.fullmatch(value)
    if found is None or float(found[1]) > 100:
        raise ValueError(value)
    return float(found[1])


def _flag(meaning: object) -> Parser:
    def parse(value: str) -> object:
        if value not in ("", "true"):
            raise ValueError(value)
        return meaning

    return parse


def _role(value: str) -> str:
    if value not in ("system", "user", "assistant"):
        raise ValueError(value)
    return value


def _greeting(value: str) -> int:
    number: int = _whole(0, 10**6)(value) if value else ANY_GREETING
    return number


def _keys(value: str) -> tuple[str, ...]:
    keys = tuple(key for part in value.split(",") if (key := part.strip()))
    if not keys:
        raise ValueError(value)
    return keys


CHAT: Final[Vocabulary] = {
    "probability": ("chance", _percent),
    "scan_depth": ("scan_depth", _whole(0, 1000)),
    "order": ("order", _whole(-(10**9), 10**9)),
    "insertion_order": ("order", _whole(-(10**9), 10**9)),
    "priority": ("priority", _whole(-(10**9), 10**9)),
    "role": ("role", _role),
    "match_full_word": ("whole_words", _flag(True)),
    "match_partial_word": ("whole_words", _flag(False)),
    "activate_only_after": ("only_after", _whole(0, 10**6)),
    "activate_only_every": ("only_every", _whole(1, 10**6)),
    "keep": ("after_match", _flag("keep")),
    "keep_activate_after_match": ("after_match", _flag("keep")),
    "dont_activate_after_match": ("after_match", _flag("never")),
    "is_greeting": ("greeting", _greeting),
    "activate": ("forced", _flag(True)),
    "dont_activate": ("barred", _flag(True)),
    "ignore_on_max_context": ("drops_first", _flag(True)),
    "additional_keys": ("additional_keys", _keys),
    "exclude_keys": ("exclude_keys", _keys),
}
"""Decorators that place a text (`depth`, `position`, …) are unknown here, since every entry of a chat lorebook goes
into one slot: their fallbacks are tried."""

SILLYTAVERN: Final[Vocabulary] = {name: CHAT[name] for name in ("activate", "dont_activate")}
NONE: Final[Vocabulary] = {}


def read_decorators(content: str, vocabulary: Vocabulary) -> tuple[Decorations, str]:
    """What the decorators at the top of `content` say, and the content without them.

    An empty vocabulary reads none, and the content stays as it is; so does one that begins with no `@@`.
    """
    at = len(content) - len(content.lstrip())
    if not vocabulary or not content.startswith("@@", at):
        return PLAIN, content
    said: dict[str, Any] = {}
    taken = True  # so that a fallback of nothing is ignored
    while content.startswith("@@", at):
        end = content.find("\n", at) + 1 or len(content)
        line, at = content[at:end].rstrip(), end
        if line.startswith("@@@") and taken:
            continue
        found = _LINE.fullmatch(line)
        taken = found is not None and _take(found[1], (found[2] or "").strip(), vocabulary, said)
    return replace(PLAIN, **said), content[at:].lstrip("\r\n")


def ignored(content: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The decorators at the top of `content` that the vocabulary does not know, as they are written: `@@depth`."""
    names: list[str] = []
    at = len(content) - len(content.lstrip())
    while content.startswith("@@", at):
        end = content.find("\n", at) + 1 or len(content)
        found = _LINE.fullmatch(content[at:end].rstrip())
        if found and found[1] not in vocabulary:
            names.append(found[0].split()[0])
        at = end
    return tuple(dict.fromkeys(names))


def _take(name: str, value: str, vocabulary: Vocabulary, said: dict[str, Any]) -> bool:
    """Whether the decorator is known and valid; the first of its field is kept."""
    if name not in vocabulary:
        return False
    field, parse = vocabulary[name]
    try:
        meaning = parse(value)
    except ValueError:
        return False
    if field == "additional_keys":
        said[field] = (*said.get(field, ()), meaning)
    else:
        said.setdefault(field, meaning)
    return True
