"""Whether an entry wakes at a moment: conditions asked in order, of which the first that knows decides.

The order is that of formats.md 6.4 for SillyTavern and 3.3 for decorators; a condition on a field that a dialect does
not read never decides there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from service.lore.activation.rules import Rule
from service.lore.activation.scanning import Scan
from service.lore.activation.strips import Sighting
from service.lore.activation.timing import Effects
from service.lore.book import Book
from service.lore.decorators import ANY_GREETING
from service.lore.reasons import (
    Disabled,
    Excluded,
    Filtered,
    NoKey,
    OutOfChannel,
    Reason,
    Secondary,
    SwitchedOff,
    Timed,
    Unreached,
)
from service.lore.request import SillyTavern
from service.lore.trigger import Channels


class Woken(NamedTuple):
    """An entry that activates if chance, groups and budget let it."""

    by: Literal["constant", "key", "sticky", "keep", "decorator"]
    key: str | None = None
    sighting: Sighting | None = None
    secondary: tuple[str, ...] = ()


class Member(NamedTuple):
    """One entry of one attached book."""

    place: int
    number: int
    """Of its book among those of its dialect."""
    book: Book
    rule: Rule


@dataclass(frozen=True, kw_only=True)
class Talk:
    """What the conditions ask of the conversation."""

    length: int
    """User and assistant messages since its beginning."""
    greeted: bool
    """Whether one assistant message, the greeting, is all there is so far."""
    greeting: int | None
    channels: frozenset[str]
    """Where it takes place: the channel and, of a thread, its parent."""
    exclude: frozenset[str]
    character: str | None


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A pass over the entries of one dialect."""

    talk: Talk
    program: SillyTavern
    scan: Scan
    effects: Effects
    recursive: Sequence[bool]
    """Of each book, whether contents wake its entries."""
    kind: Literal["first", "recursion", "widened"]
    level: int
    """The level of `recursion.delay_until` that is open."""
    depth: int
    """Messages that an entry reads which does not say."""


Condition = Callable[[Member, Moment], Woken | Reason | None]


def judge(member: Member, moment: Moment) -> Woken | Reason:
    """What wakes the entry in this pass, or why nothing does."""
    for condition in CONDITIONS:
        decided = condition(member, moment)
        if decided is not None:
            return decided
    return _keys(member, moment)


def _switches(member: Member, moment: Moment) -> Reason | None:
    if not member.book.enabled:
        return Disabled(by="book")
    if not member.rule.entry.enabled:
        return Disabled(by="entry")
    if member.rule.entry.handle in moment.talk.exclude:
        return Excluded()
    return None


def _channels(member: Member, moment: Moment) -> Reason | None:
    if not in_channels(member.book.channels, moment.talk):
        return OutOfChannel(allowed=member.book.channels.ids, by="book")
    if not in_channels(member.rule.trigger.channels, moment.talk):
        return OutOfChannel(allowed=member.rule.trigger.channels.ids, by="entry")
    return None


def in_channels(channels: Channels, talk: Talk) -> bool:
    """Whether the conversation takes place where these channels allow."""
    return not channels.ids or bool(channels.unresolved) or not talk.channels.isdisjoint(channels.ids)


def _filters(member: Member, moment: Moment) -> Reason | None:
    trigger, program = member.rule.trigger, moment.program
    wanted = trigger.characters
    if trigger.generations and program.generation not in trigger.generations:
        return Filtered(by="generation")
    if wanted.names and (moment.talk.character in wanted.names) == wanted.exclude:
        return Filtered(by="character")
    tags = program.character_tags
    if wanted.tags and tags is not None and (not set(tags).isdisjoint(wanted.tags)) == wanted.exclude:
        return Filtered(by="tag")
    return None


def _timing(member: Member, moment: Moment) -> Reason | None:
    trigger, handle = member.rule.trigger, member.rule.entry.handle
    if trigger.delay and moment.talk.length < trigger.delay:
        return Timed(effect="delay", until=trigger.delay)
    cooling = moment.effects.cooldown.get(handle)
    if cooling is not None and handle not in moment.effects.sticky:
        return Timed(effect="cooldown", until=cooling.end)
    return None


def _recursion(member: Member, moment: Moment) -> Reason | None:
    rule = member.rule.trigger.recursion
    if member.rule.entry.handle in moment.effects.sticky:
        return None
    if rule.delay_until and (moment.kind != "recursion" or rule.delay_until > moment.level):
        return Unreached(rule="delayed")
    if rule.exclude and moment.kind == "recursion" and moment.program.recursive:
        return Unreached(rule="excluded")
    return None


def _switched_by_decorator(member: Member, _: Moment) -> Woken | Reason | None:
    if member.rule.said.forced:
        return Woken("decorator")
    return SwitchedOff() if member.rule.said.barred else None


def _after_match(member: Member, moment: Moment) -> Woken | Reason | None:
    if member.rule.said.after_match is None or member.rule.entry.handle not in moment.effects.matched:
        return None
    if member.rule.said.after_match == "keep":
        return Woken("keep")
    return Timed(effect="dont_activate_after_match", until=None)


def _gates(member: Member, moment: Moment) -> Reason | None:
    said, talk = member.rule.said, moment.talk
    if said.only_after is not None and talk.length < said.only_after:
        return Timed(effect="activate_only_after", until=said.only_after)
    if said.only_every is not None and talk.length % said.only_every:
        following = talk.length - talk.length % said.only_every + said.only_every
        return Timed(effect="activate_only_every", until=following)
    if said.greeting == ANY_GREETING and not talk.greeted:
        return Timed(effect="is_greeting", until=None)
    if said.greeting not in (None, ANY_GREETING) and talk.greeting not in (None, said.greeting):
        return Timed(effect="is_greeting", until=None)
    return None


def _decorated_keys(member: Member, moment: Moment) -> Reason | None:
    excluded = _present(member, moment, member.rule.excluded)
    if excluded:
        return Secondary(key=None, logic="none", missing=(), present=_written(member, moment, excluded))
    for clause in member.rule.additional:
        if not _present(member, moment, clause):
            return Secondary(key=None, logic="any", missing=_written(member, moment, clause), present=())
    return None


def _constant(member: Member, moment: Moment) -> Woken | None:
    if member.rule.trigger.constant:
        return Woken("constant")
    return Woken("sticky") if member.rule.entry.handle in moment.effects.sticky else None


def _keys(member: Member, moment: Moment) -> Woken | Reason:
    rule = member.rule
    found = _first(member, moment)
    if found is None:
        return NoKey()
    number, sighting = found
    key = moment.scan.lorebooks[member.number].keys[number].written
    if not rule.secondary:
        return Woken("key", key, sighting)
    there = _present(member, moment, rule.secondary)
    present = _written(member, moment, there)
    allowed = {
        "any": bool(there),
        "all": len(there) == len(rule.secondary),
        "none": not there,
        "not_all": len(there) < len(rule.secondary),
    }
    if allowed[rule.trigger.logic]:
        return Woken("key", key, sighting, present)
    missing = _written(member, moment, [number for number in rule.secondary if number not in there])
    return Secondary(key=key, logic=rule.trigger.logic, missing=missing, present=present)


CONDITIONS: Sequence[Condition] = (
    _switches,
    _channels,
    _filters,
    _timing,
    _recursion,
    _switched_by_decorator,
    _after_match,
    _gates,
    _decorated_keys,
    _constant,
)
"""In this order; the keys come last."""


def seen(member: Member, moment: Moment, key: int) -> Sighting | None:
    """Where the entry sees one of its keys in this pass."""
    depth = member.rule.trigger.scan_depth
    return moment.scan.sighting(
        member.number,
        member.rule,
        key,
        moment.depth if depth is None else depth,
        contents=moment.recursive[member.number] and moment.kind != "widened",
    )


def score(member: Member, moment: Moment) -> int:
    """How many of its keys an entry sees, for the scoring of inclusion groups (formats.md 6.7)."""
    rule = member.rule
    found = len(_present(member, moment, rule.keys))
    if not rule.keys or rule.trigger.logic not in ("any", "all"):
        return found
    secondary = len(_present(member, moment, rule.secondary))
    return found + (secondary if rule.trigger.logic == "any" or secondary == len(rule.secondary) else 0)


def _first(member: Member, moment: Moment) -> tuple[int, Sighting] | None:
    """The first of its keys, in the order of the entry, that is seen."""
    for key in member.rule.keys:
        sighting = seen(member, moment, key)
        if sighting is not None:
            return key, sighting
    return None


def _present(member: Member, moment: Moment, keys: Sequence[int]) -> list[int]:
    return [key for key in keys if seen(member, moment, key) is not None]


def _written(member: Member, moment: Moment, keys: Sequence[int]) -> tuple[str, ...]:
    known = moment.scan.lorebooks[member.number].keys
    return tuple(known[key].written for key in keys)
