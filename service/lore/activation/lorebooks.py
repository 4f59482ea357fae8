"""All attached trigger lorebooks at one turn: what they insert, why, and what they leave to the next turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from service.lore.activation.answer import Lorebook, LorebookBudget, LorebookGroup, LorebookGroups, LorebookMessage
from service.lore.activation.conditions import Talk
from service.lore.activation.engine import Activation, Active, Asked
from service.lore.activation.state import Effect, EffectKind, State
from service.lore.activation.timing import lasts
from service.lore.dialects import DIALECTS, SERVER, SLOT_ORDER, TURNS, DialectRules, Position, server_group
from service.lore.open_book import AttachedBook
from service.lore.reasons import (
    Activated,
    Constant,
    Disabled,
    Excluded,
    Filtered,
    Nothing,
    OutOfChannel,
    OverLorebookBudget,
    Reason,
    Status,
)
from service.lore.request import Message, RetrieveRequest, is_spoken, turn_of
from service.lore.tokens import Tokenizer
from service.lore.traces import BookTrace, EntryTrace

_STATUS: dict[type[Reason], Status] = {
    Activated: "activated",
    Constant: "activated",
    Disabled: "disabled",
    Excluded: "excluded",
    OutOfChannel: "out_of_scope",
    Filtered: "out_of_scope",
    OverLorebookBudget: "cut",
}
"""Of each kind of reason; of all others `not_activated`."""


@dataclass(frozen=True)
class Placed:
    """An activated entry and where its text goes."""

    activation: Activation
    active: Active
    position: Position


class Lorebooks:
    """The trigger lorebooks of a request, activated dialect by dialect."""

    def __init__(
        self,
        books: Sequence[AttachedBook],
        request: RetrieveRequest,
        tokenizer: Tokenizer,
        *,
        characters: int,
        state: State,
    ) -> None:
        """`characters`: the budget that server lorebooks share; `state`: what the turn before left."""
        self.request = request
        self.tokenizer = tokenizer
        talk = talk_of(request)
        asked = Asked(
            request=request,
            turn=turn_of(request),
            talk=talk,
            state=state,
            tokenizer=tokenizer,
            characters=characters,
        )
        self.activations: list[Activation] = []
        left = {
            (effect.handle, effect.kind): effect
            for effect in state.effects
            if effect.kind == "matched" or lasts(effect, talk.length)
        }
        for row in DIALECTS:
            own = [book for book in books if book.open.text.book.dialect == row.dialect]
            if own:
                activation = Activation(row, own, asked)
                activation.run()
                self.activations.append(activation)
                _carry(left, activation, talk.length)
        self.state = State.of(left.values())
        self.placed = _in_prompt_order(self.activations)

    def answer(self, *, inline: bool, texts: bool) -> Lorebook:
        """What is inserted; `inline`: elsewhere, so that messages and groups stay empty."""
        return Lorebook(
            messages=() if inline else tuple(map(self._message, self.placed)),
            entries=tuple(self._trace(each.activation, each.active.member.place, texts) for each in self.placed),
            groups=None if inline else self._groups(),
            budgets=tuple(map(_budget, self.activations)),
        )

    @property
    def contents(self) -> list[str]:
        """The texts of the activated entries, in prompt order."""
        return [each.active.text for each in self.placed]

    def over_budget(self) -> Iterator[EntryTrace]:
        """What a budget cut."""
        for activation in self.activations:
            for place in sorted(activation.outcome.cut):
                yield self._trace(activation, place, False)

    def rest(self, book: AttachedBook) -> Iterator[EntryTrace]:
        """The entries of a book that neither `answer` nor `over_budget` lists."""
        activation, number = self._find(book)
        told = {each.active.member.place for each in self.placed if each.activation is activation}
        for place in range(activation.starts[number], activation.starts[number + 1]):
            if place not in told and place not in activation.outcome.cut:
                yield self._trace(activation, place, False)

    def unlisted(self) -> Iterator[tuple[str, int, Status, str]]:
        """Book, entry, status and kind of reason of what neither `answer` nor `over_budget` lists."""
        listed = {(id(each.activation), each.active.member.place) for each in self.placed}
        listed |= {(id(each), place) for each in self.activations for place in each.outcome.cut}
        entries = (
            (book.open.text.book.id, rule.entry.id)
            for activation in self.activations
            for book, lorebook in zip(activation.books, activation.lorebooks, strict=True)
            for rule in lorebook.rules
        )
        for (activation, place, reason), (book, entry) in zip(self._reasons, entries, strict=True):
            if (id(activation), place) not in listed:
                yield book, entry, _status(reason), reason.kind

    def counts(self) -> Counter[tuple[Status, str]]:
        """How many entries have each status and kind of reason."""
        return Counter((_status(reason), reason.kind) for _, _, reason in self._reasons)

    @cached_property
    def _reasons(self) -> list[tuple[Activation, int, Reason]]:
        """Of every entry: its activation, its place and its reason."""
        return [(each, place, _reason(each, place)) for each in self.activations for place in _places(each)]

    def _find(self, book: AttachedBook) -> tuple[Activation, int]:
        return next(
            (activation, number)
            for activation in self.activations
            for number, each in enumerate(activation.books)
            if each is book
        )

    def _trace(self, activation: Activation, place: int, texts: bool) -> EntryTrace:
        member = activation.member(place)
        entry, reason = member.rule.entry, _reason(activation, place)
        active = activation.outcome.active.get(place) or activation.outcome.cut.get(place)
        text = active.text if active else member.rule.content
        return EntryTrace(
            handle=entry.handle,
            id=entry.id,
            book=member.book.id,
            label=activation.books[member.number].label,
            title=entry.title,
            status=_status(reason),
            tokens=self.tokenizer.count(text),
            text=text if texts else None,
            reason=reason,
        )

    def _message(self, placed: Placed) -> LorebookMessage:
        position = placed.position
        before = None if position.depth is None else before_message(self.request.messages, position.depth)
        return LorebookMessage(
            handle=placed.active.member.rule.entry.handle,
            role=position.role,
            content=placed.active.text,
            at=position.at,
            depth=position.depth,
            before_message=before,
            outlet=position.outlet,
        )

    def _groups(self) -> LorebookGroups | None:
        if all(activation.row is not SERVER for activation in self.activations):
            return None
        groups: tuple[list[Active], ...] = ([], [], [], [])
        for each in self.placed:
            if each.activation.row is SERVER:
                groups[server_group(each.active.candidate)].append(each.active)
        made = [
            LorebookGroup(
                text="\n".join(active.text for active in group),
                handles=tuple(active.member.rule.entry.handle for active in group),
            )
            for group in groups
        ]
        return LorebookGroups(
            always_before=made[0],
            always_after=made[1],
            triggered_before=made[2],
            triggered_after=made[3],
            before_message=before_message(self.request.messages, TURNS),
        )


def talk_of(request: RetrieveRequest) -> Talk:
    """What the conditions of lorebooks ask of the conversation."""
    spoken = [message.role for message in request.messages if is_spoken(message)]
    greeted = not request.messages_before and spoken.count("assistant") == 1 and spoken[-1] == "assistant"
    tavern, names = request.sillytavern, request.names
    return Talk(
        length=request.messages_before + len(spoken),
        greeted=greeted,
        greeting=request.greeting,
        channels=frozenset(channel for channel in (request.channel, request.channel_parent) if channel is not None),
        exclude=frozenset(request.exclude),
        character=(tavern.character if tavern else None) or (names.char if names else None),
    )


def before_message(messages: Sequence[Message], depth: int) -> int:
    """The place before which a text stands that has `depth` user and assistant messages after it, if there are so many.

    0: after the last of all messages.
    """
    spoken = [place for place, message in enumerate(messages) if message.role in ("user", "assistant")]
    if not depth or not spoken:
        return len(messages)
    return spoken[max(0, len(spoken) - depth)]


def lorebook_trace(book: AttachedBook) -> BookTrace:
    """What became of a trigger lorebook as a whole."""
    text = book.open.text
    return BookTrace(
        id=text.book.id,
        version=text.book.version,
        name=text.book.name,
        dialect=text.book.dialect,
        label=book.label,
        via=book.via,
        went="disabled" if not text.book.enabled else "triggered" if text.enabled.any() else "empty",
        pending_vectors=0,
    )


def _places(activation: Activation) -> range:
    return range(activation.starts[-1])


def _reason(activation: Activation, place: int) -> Reason:
    active = activation.outcome.active.get(place)
    if active is None:
        return activation.reason(place)
    return active.reason if _inserts(activation.row, active) else Nothing()


def _inserts(row: DialectRules, active: Active) -> bool:
    """Whether there is something to insert and a place for it."""
    return bool(active.text.strip()) and row.position(active.candidate).outlet != ""


def _status(reason: Reason) -> Status:
    return _STATUS.get(type(reason), "not_activated")


def _in_prompt_order(activations: Sequence[Activation]) -> list[Placed]:
    """Slot by slot, deeper first; then dialect by dialect, each in its own order."""
    placed = []
    for activation in activations:
        row = activation.row
        actives = [each for each in activation.outcome.active.values() if _inserts(row, each)]
        actives.sort(key=lambda each: row.placed(each.candidate))
        placed += [Placed(activation, each, row.position(each.candidate)) for each in actives]
    return sorted(placed, key=lambda each: (SLOT_ORDER.index(each.position.at), -(each.position.depth or 0)))


def _budget(activation: Activation) -> LorebookBudget:
    return LorebookBudget(
        books=tuple(book.open.text.book.id for book in activation.books),
        dialect=activation.row.dialect,
        unit=activation.row.unit,
        limit=activation.limit,
        used=activation.outcome.used,
    )


def _carry(left: dict[tuple[str, EffectKind], Effect], activation: Activation, length: int) -> None:
    """Replace the effects of the entries of an activation by those that it leaves."""
    rules = [rule for lorebook in activation.lorebooks for rule in lorebook.rules]
    activated = [each.member.rule for each in activation.outcome.active.values()]
    after = activation.effects.after(length, activated)
    own = {rule.entry.handle for rule in rules}
    for key in [key for key in left if key[0] in own]:
        del left[key]
    left |= {(effect.handle, effect.kind): effect for effect in after.effects if effect.handle in own}
