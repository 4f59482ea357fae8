"""The activation of the lorebooks of one dialect: passes over its entries until nothing new wakes (formats.md 6.4)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, compress
from typing import Literal

from service.lore.activation.budgets import Cost
from service.lore.activation.conditions import Member, Moment, Talk, Woken, in_channels, judge, score
from service.lore.activation.draws import drawn
from service.lore.activation.groups import Grouping, choose
from service.lore.activation.rules import Lorebook, Rule
from service.lore.activation.scanning import GLUE, Scan, read_messages
from service.lore.activation.state import State
from service.lore.activation.timing import Effects
from service.lore.dialects import Candidate, DialectRules
from service.lore.macros import macro_values, replace_macros
from service.lore.open_book import AttachedBook
from service.lore.reasons import Activated, Chance, Constant, NoKey, OverLorebookBudget, Reason, Unreached
from service.lore.request import RetrieveRequest, SillyTavern
from service.lore.tokens import Tokenizer

FULL = 100.0
_NO_KEY = NoKey()


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the lorebooks of every dialect are asked with."""

    request: RetrieveRequest
    turn: int
    talk: Talk
    state: State
    tokenizer: Tokenizer
    characters: int
    """Budget of the dialects that count characters."""


@dataclass(frozen=True)
class Active:
    """An entry that activated."""

    member: Member
    candidate: Candidate
    text: str
    """Without decorators, macros replaced."""
    reason: Activated | Constant


@dataclass
class Outcome:
    """What became of the entries of one dialect; places count them in attachment order."""

    active: dict[int, Active] = field(default_factory=dict)
    """In the order of their activation; what the budget cut is not here."""
    cut: dict[int, Active] = field(default_factory=dict)
    reasons: dict[int, Reason] = field(default_factory=dict)
    """Of entries that were looked at and did not activate, or were cut."""
    used: int = 0
    spent: bool = False


class Activation:
    """The lorebooks of one dialect at one turn. `run` decides; then every entry has its reason."""

    def __init__(self, row: DialectRules, books: Sequence[AttachedBook], asked: Asked) -> None:
        self.row = row
        self.books = books
        self.asked = asked
        self.program = row.program or asked.request.sillytavern or SillyTavern()
        names = asked.request.names
        self.macros = [macro_values(names, book.label) for book in books]
        self.lorebooks: list[Lorebook] = [
            book.open.text.lorebook(row, self.program, macros) for book, macros in zip(books, self.macros, strict=True)
        ]
        sizes = [len(lorebook.rules) for lorebook in self.lorebooks]
        self.starts = [0, *accumulate(sizes)]
        enabled = [book.open.text.book for book in books if book.open.text.book.enabled]
        self.limit = row.limit(enabled, self.program, asked.characters)
        self._in_scope = [
            book.open.text.book.enabled and in_channels(book.open.text.book.channels, asked.talk) for book in books
        ]
        ranks = row.host_ranks(self.program)
        self.ranks = [_book_rank(ranks, book.via) for book in books]
        self.recursive = [
            self.program.recursive and (book.open.text.book.settings.recursive_scanning or False)
            if row.book_settings
            else True
            for book in books
        ]
        rules = {rule.entry.handle: rule for lorebook in self.lorebooks for rule in lorebook.rules}
        self.effects = Effects.at(asked.talk.length, asked.state, rules)
        self.outcome = Outcome()
        self._always = self._standing(rules)
        self._members: dict[int, Member] = {}
        glue = GLUE[row.matching]
        messages = read_messages(asked.request.messages, glue, names=self.program.include_names)
        self.scan = Scan(self.lorebooks, messages, self.program.texts, glue)
        self.scan.read_to(self._deepest(len(messages)))
        switched_on = [book.open.text.book.enabled for book in books]
        levels = sorted(set().union(*(each.levels for each in compress(self.lorebooks, switched_on))))
        self._levels = levels[1:]
        self._first = self._at("first", levels[0] if levels else 0, self.program.scan_depth)
        self._moment = self._first

    def _deepest(self, most: int) -> int:
        """How many messages may be read at all."""
        if self._least_active:
            return most
        return max(self.program.scan_depth, *(lorebook.deepest for lorebook in self.lorebooks))

    @property
    def _least_active(self) -> int:
        return 0 if self.program.max_recursion_steps else self.program.min_activations

    def _standing(self, rules: Mapping[str, Rule]) -> list[int]:
        """Places of entries that may activate though no key of theirs was seen."""
        places = {
            start + ordinal
            for start, lorebook in zip(self.starts, self.lorebooks, strict=False)
            for ordinal in lorebook.always
        }
        number_of = {book.open.text.book.id: number for number, book in enumerate(self.books)}
        for handle in (*self.effects.sticky, *self.effects.matched):
            number = number_of.get(handle.rpartition("-")[0])
            if handle in rules and number is not None:
                places.add(self.starts[number] + rules[handle].ordinal)
        return sorted(places)

    def _at(self, kind: Literal["first", "recursion", "widened"], level: int, depth: int) -> Moment:
        return Moment(
            talk=self.asked.talk,
            program=self.program,
            scan=self.scan,
            effects=self.effects,
            recursive=self.recursive,
            kind=kind,
            level=level,
            depth=depth,
        )

    def run(self) -> None:
        """Pass after pass, until no content is new, no level closed and enough entries are active; then the budget."""
        outcome = self.outcome
        levels, level = list(self._levels), self._first.level
        depth = self.program.scan_depth
        most = self.program.max_recursion_steps
        number = 0
        while True:
            number += 1
            fresh = [each for each in self._pass(number) if not each.member.rule.trigger.recursion.prevent]
            if number == most:
                break
            if self.program.recursive and any(self.recursive) and fresh and not outcome.spent:
                self._moment = self._at("recursion", level, depth)
            elif not outcome.spent and len(outcome.active) < self._least_active and self._wider(depth):
                depth += 1
                self._moment = self._at("widened", level, depth)
            elif levels:
                level = levels.pop(0)
                self._moment = self._at("recursion", level, depth)
            else:
                break
            self.scan.add_contents((each.member.rule.entry.handle, each.text) for each in fresh if each.text)
        if not self.row.every_pass:
            self._cut(sorted(outcome.active.values(), key=lambda each: self.row.considered(each.candidate)))

    def _wider(self, depth: int) -> bool:
        most = self.program.min_activations_depth or len(self.scan.messages)
        return depth < min(most, len(self.scan.messages))

    def _pass(self, number: int) -> list[Active]:
        """The entries that activate in this pass, after chance, groups and, where it is asked each time, the budget."""
        outcome = self.outcome
        woken: list[Active] = []
        for place in self._candidates():
            member = self.member(place)
            decided = judge(member, self._moment)
            if isinstance(decided, Woken):
                reason = self._drawn(member, decided, number)
                if isinstance(reason, Chance):
                    outcome.reasons[place] = reason
                else:
                    woken.append(self._active(member, reason))
            elif isinstance(decided, Unreached):
                outcome.reasons.setdefault(place, decided)
            else:
                outcome.reasons[place] = decided
        woken.sort(key=lambda each: (not self._sticky(each.member), self.row.considered(each.candidate)))
        stay, left = choose(
            [each.member for each in woken], [each.member for each in outcome.active.values()], self._grouping
        )
        outcome.reasons |= left
        staying = {member.place for member in stay}
        new = [each for each in woken if each.member.place in staying]
        for each in new:
            outcome.active[each.member.place] = each
            outcome.reasons.pop(each.member.place, None)
        if self.row.every_pass:
            self._cut(new)
        return [each for each in new if each.member.place in outcome.active]

    def _candidates(self) -> Iterator[int]:
        """Places of entries that may activate in this pass."""
        outcome = self.outcome
        places = {*self._always}
        for number, start in enumerate(self.starts[:-1]):
            places |= {start + ordinal for ordinal in self.scan.waking(number)}
        for place in sorted(places):
            settled = place in outcome.active or place in outcome.cut
            if not settled and not isinstance(outcome.reasons.get(place), Chance):
                yield place

    def member(self, place: int) -> Member:
        """The entry at a place."""
        member = self._members.get(place)
        if member is None:
            number = self.book_number(place)
            rule = self.lorebooks[number].rules[place - self.starts[number]]
            member = self._members[place] = Member(place, number, self.books[number].open.text.book, rule)
        return member

    def book_number(self, place: int) -> int:
        """Which of `books` the entry at a place is of."""
        return bisect_right(self.starts, place) - 1

    def _sticky(self, member: Member) -> bool:
        return member.rule.entry.handle in self.effects.sticky

    @property
    def _grouping(self) -> Grouping:
        moment, request = self._moment, self.asked.request
        return Grouping(
            sticky=self._sticky,
            score=lambda member: score(member, moment),
            scoring=self.program.group_scoring,
            draw=lambda name: drawn(request.conversation, self.asked.turn, f"group {name}"),
        )

    def _drawn(self, member: Member, woken: Woken, number: int) -> Activated | Constant | Chance:
        """What activates it, unless it has a chance and the draw is against it."""
        chance = member.rule.trigger.chance
        chance = FULL if chance is None else chance
        draw = None
        if chance < FULL and woken.by != "keep" and not self._sticky(member):
            draw = drawn(self.asked.request.conversation, self.asked.turn, member.rule.entry.handle)
            if draw >= chance:
                return Chance(drawn=draw, chance=chance)
        if woken.by == "constant" and (draw is None or not self.row.keyless):
            return Constant(pass_number=number, drawn=draw, chance=chance)
        where = woken.sighting
        return Activated(
            by="chance" if woken.by == "constant" else woken.by,
            key=woken.key,
            secondary=woken.secondary,
            message=where.message if where else None,
            source=where.source if where else None,
            from_entry=where.from_entry if where else None,
            span=where.span if where else None,
            pass_number=number,
            drawn=draw,
            chance=chance,
        )

    def _active(self, member: Member, reason: Activated | Constant) -> Active:
        rule = member.rule
        candidate = Candidate(
            place=member.place,
            id=rule.entry.id,
            book_rank=self.ranks[member.number],
            trigger=rule.trigger,
            always=isinstance(reason, Constant),
            drops_first=bool(rule.said.drops_first),
        )
        return Active(member, candidate, replace_macros(rule.content, self.macros[member.number]), reason)

    def _cut(self, considered: Sequence[Active]) -> None:
        """Take what does not fit out of the active entries."""
        outcome = self.outcome
        costs = [
            Cost(each.member.place, self._size(each.text), each.member.rule.trigger.ignore_budget)
            for each in considered
        ]
        cut = self.row.cut(costs, self.limit, outcome.used, outcome.spent)
        outcome.used, outcome.spent = cut.used, cut.spent
        for place, left in cut.left.items():
            each = outcome.cut[place] = outcome.active.pop(place)
            outcome.reasons[place] = OverLorebookBudget(left=max(0, left), woken=each.reason)

    def _size(self, text: str) -> int:
        return len(text) if self.row.unit == "characters" else self.asked.tokenizer.count(text)

    def reason(self, place: int) -> Reason:
        """Of an entry that is not active; one that was never looked at has none of its keys in what was read."""
        known = self.outcome.reasons.get(place)
        if known is not None:
            return known
        number = self.book_number(place)
        rule = self.lorebooks[number].rules[place - self.starts[number]]
        if rule.plain and self._in_scope[number] and rule.entry.handle not in self.asked.talk.exclude:
            return _NO_KEY
        decided = judge(self.member(place), self._first)
        assert not isinstance(decided, Woken), "an entry that could wake was not looked at"
        return decided


def _book_rank(ranks: Mapping[str, int], via: Sequence[str]) -> int:
    """Of the last host in rank that brings the book: a book that several select counts once (formats.md 6.4)."""
    kinds = {host.partition(":")[0] for host in via}
    if not ranks:
        return 0
    for kind in ("request", "story", "novel", "server", "conversation", "persona", "character"):
        if kind in kinds:
            return ranks[kind]
    return ranks["request"]
