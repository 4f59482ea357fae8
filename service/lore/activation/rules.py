"""A lorebook made ready: each entry's trigger as its dialect reads it, decorators applied, keys numbered, indexed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from service.lore.activation.keys import JS_SPACES, FoldedKeys, JavaScriptKeys, Key, KeyIndex
from service.lore.activation.patterns import Pattern, read_pattern
from service.lore.book import Book, Entry
from service.lore.decorators import PLAIN, Decorations, read_decorators
from service.lore.dialects import DialectRules
from service.lore.macros import replace_macros
from service.lore.request import SillyTavern
from service.lore.trigger import Trigger

_INDEXES: Mapping[str, type[FoldedKeys] | type[JavaScriptKeys]] = {"folded": FoldedKeys, "javascript": JavaScriptKeys}
_NO_TRIGGER = Trigger()
_PLAIN = [
    (name, getattr(_NO_TRIGGER, name))
    for name in ("channels", "generations", "characters", "delay", "cooldown", "recursion")
]
"""Fields that conditions ask beside the keys, with the values that decide nothing."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One entry, as its dialect reads it. Keys are numbers of `Lorebook.keys`."""

    ordinal: int
    entry: Entry
    trigger: Trigger
    """Fields that the dialect does not read have their defaults; decorators are applied."""
    said: Decorations
    content: str
    """Without decorators."""
    keys: tuple[int, ...]
    secondary: tuple[int, ...]
    """Empty when secondary keys do not count."""
    additional: tuple[tuple[int, ...], ...]
    excluded: tuple[int, ...]
    needs_key: bool
    plain: bool
    """Nothing but a missing key can be why it does not wake, in a book that is in scope."""


@dataclass(frozen=True, kw_only=True)
class Lorebook:
    """The entries of a trigger lorebook and their keys."""

    rules: tuple[Rule, ...]
    keys: tuple[Key, ...]
    index: KeyIndex
    patterns: Mapping[int, Pattern]
    """Regular expressions, by key."""
    woken: Mapping[int, tuple[int, ...]]
    """Key to the ordinals of the rules that it may wake."""
    always: tuple[int, ...]
    """Ordinals of rules that may activate without a key of the index."""
    levels: frozenset[int]
    """At which entries wait for others (`recursion.delay_until`)."""
    deepest: int
    """Most messages that a rule with a scan depth of its own reads."""


def compile_lorebook(
    book: Book, entries: Sequence[Entry], dialect: DialectRules, program: SillyTavern, macros: Mapping[str, str]
) -> Lorebook:
    """Of `program` only `whole_words` and `case_sensitive` are read, of `macros` what stands in keys."""
    numbers: dict[Key, int] = {}
    rules = [
        _rule(ordinal, entry, book, dialect, _Keys(numbers, dialect, program, macros))
        for ordinal, entry in enumerate(entries)
    ]
    keys = tuple(numbers)
    slashed = [(number, key.text) for number, key in enumerate(keys) if dialect.patterns and key.text[0] == "/"]
    read = {number: read_pattern(text) for number, text in slashed}
    patterns = {number: pattern for number, pattern in read.items() if pattern is not None}
    woken: dict[int, list[int]] = defaultdict(list)
    for rule in rules:
        for number in rule.keys:
            woken[number].append(rule.ordinal)
    depths = [rule.trigger.scan_depth for rule in rules if rule.trigger.scan_depth is not None]
    return Lorebook(
        rules=tuple(rules),
        keys=keys,
        index=_INDEXES[dialect.matching].build([item for item in enumerate(keys) if item[0] not in patterns]),
        patterns=patterns,
        woken={number: tuple(ordinals) for number, ordinals in woken.items()},
        always=tuple(
            rule.ordinal
            for rule in rules
            if rule.entry.enabled and (not rule.needs_key or any(number in patterns for number in rule.keys))
        ),
        levels=frozenset(rule.trigger.recursion.delay_until for rule in rules) - {0},
        deepest=max(depths, default=0),
    )


class _Keys:
    """Numbers the keys of entries, equal ones alike."""

    def __init__(
        self, numbers: dict[Key, int], dialect: DialectRules, program: SillyTavern, macros: Mapping[str, str]
    ) -> None:
        self.numbers = numbers
        self.dialect = dialect
        self.program = program
        self.macros = macros if dialect.key_macros else {}
        self.usable = _INDEXES[dialect.matching].usable

    def number(self, written: Iterable[str], trigger: Trigger) -> tuple[int, ...]:
        """The numbers of these keys, blank ones left out."""
        whole = self.program.whole_words if trigger.whole_words is None else trigger.whole_words
        case = self.program.case_sensitive if trigger.case_sensitive is None else trigger.case_sensitive
        found = []
        for key in written:
            text = replace_macros(key, self.macros).strip(JS_SPACES)
            if self.usable(text):
                named = Key(key, text, whole, case)
                found.append(self.numbers.setdefault(named, len(self.numbers)))
        return tuple(found)


def _rule(ordinal: int, entry: Entry, book: Book, dialect: DialectRules, keys: _Keys) -> Rule:
    said, content = read_decorators(entry.content, dialect.decorators)
    trigger = _as_read(entry.trigger or _NO_TRIGGER, said, book, dialect)
    primary = keys.number(trigger.keys, trigger)
    constant = trigger.constant or (dialect.keyless and not primary)
    return Rule(
        ordinal=ordinal,
        entry=entry,
        trigger=trigger if constant == trigger.constant else replace(trigger, constant=constant),
        said=said,
        content=content,
        keys=primary,
        secondary=keys.number(trigger.secondary_keys, trigger) if trigger.selective else (),
        additional=tuple(keys.number(each, trigger) for each in said.additional_keys),
        excluded=keys.number(said.exclude_keys, trigger),
        needs_key=not (constant or said.forced),
        plain=entry.enabled and said is PLAIN and all(getattr(trigger, name) == usual for name, usual in _PLAIN),
    )


def _as_read(trigger: Trigger, said: Decorations, book: Book, dialect: DialectRules) -> Trigger:
    """The trigger with only what the dialect reads; a decorator wins over a field, a field over the book."""
    read = {name: getattr(trigger, name) for name in dialect.reads}
    decorated = ("chance", "scan_depth", "order", "priority", "role", "whole_words")
    read |= {name: value for name in decorated if (value := getattr(said, name)) is not None}
    if read.get("scan_depth") is None and dialect.book_settings:
        read["scan_depth"] = book.settings.scan_depth
    return Trigger(**read)
