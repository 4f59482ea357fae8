"""The dialects of trigger lorebooks as rows of data: what the one engine reads of an entry, and by which rules.

Sources: `server` and `chat`, SPEC T and C; `sillytavern`, formats.md 6, with the differences that we choose listed in
docs/decisions/0011.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, NamedTuple

from service.lore import decorators
from service.lore.activation.answer import Slot
from service.lore.activation.budgets import CutRule, lowest_falls, skip_and_continue, stops_at_the_limit
from service.lore.book import Book, Dialect
from service.lore.request import SillyTavern
from service.lore.trigger import Trigger, TriggerRole

TURNS: Final = 4
"""Turns above which the triggered entries of a server lorebook stand."""
CHAT_SCAN_DEPTH: Final = 4
CHAT_TOKENS: Final = 800
"""Token budget of chat lorebooks of which none says."""


class Candidate(NamedTuple):
    """What orders and places an activated entry."""

    place: int
    """In attachment order, then list order."""
    id: int
    book_rank: int
    """Of the book's host, for dialects that read some hosts before others."""
    trigger: Trigger
    always: bool
    """Not by a key, a draw or its past."""
    drops_first: bool


class Position(NamedTuple):
    """Where the text of an entry goes."""

    at: Slot
    depth: int | None
    role: TriggerRole
    outlet: str | None


@dataclass(frozen=True, kw_only=True)
class DialectRules:
    """One dialect."""

    dialect: Dialect
    reads: frozenset[str]
    """Fields of a trigger that have an effect; the others are kept and count as absent."""
    decorators: decorators.Vocabulary
    matching: Literal["folded", "javascript"]
    patterns: bool
    """Whether `/…/` keys are regular expressions."""
    key_macros: bool
    """Whether macros in keys are replaced."""
    keyless: bool
    """Whether an entry without usable keys needs none."""
    program: SillyTavern | None
    """What holds for all its books, in the terms of the program that has most to say; null: the request says."""
    book_settings: bool
    """Whether scan depth and recursion are the book's own."""
    unit: Literal["tokens", "characters"]
    limit: Callable[[Sequence[Book], SillyTavern, int], int]
    """Of the enabled attached books, the program's settings and the service's characters."""
    cut: CutRule
    every_pass: bool
    """Whether the budget is asked after every pass, or once after the last."""
    host_ranks: Callable[[SillyTavern], Mapping[str, int]]
    """Kind of host to the rank of its books; others 0."""
    considered: Callable[[Candidate], Any]
    """Sort key of the order in which groups and the budget see entries."""
    placed: Callable[[Candidate], Any]
    """Sort key of the order in the prompt, within one slot and depth."""
    position: Callable[[Candidate], Position]


_SERVER_GROUPS: Final = {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}
_SLOTS: Final[Mapping[str, Slot]] = {"before": "system_before", "after": "system_after"}
SLOT_ORDER: Final[tuple[Slot, ...]] = (
    "system_before", "system_after", "examples_top", "examples_bottom", "note_top", "note_bottom", "depth", "slot",
    "outlet",
)  # fmt: skip
"""From the beginning of the prompt to its end; where an outlet stands only the app knows."""


def server_group(candidate: Candidate) -> int:
    """0 always before the persona, 1 always after, 2 triggered before, 3 triggered after."""
    return _SERVER_GROUPS[candidate.always, candidate.trigger.at != "after"]


def _by_server_group(candidate: Candidate) -> tuple[int, ...]:
    return server_group(candidate), candidate.trigger.order, candidate.place


def _server_position(candidate: Candidate) -> Position:
    if not candidate.always:
        return Position("depth", TURNS, "system", None)
    return Position("system_after" if candidate.trigger.at == "after" else "system_before", None, "system", None)


def _lowest_first(candidate: Candidate) -> tuple[int, ...]:
    trigger = candidate.trigger
    return not candidate.drops_first, trigger.priority, trigger.order, candidate.id, candidate.place


def _higher_first(candidate: Candidate) -> tuple[int, ...]:
    return -candidate.trigger.order, -candidate.trigger.priority, candidate.id, candidate.place


def _chat_position(candidate: Candidate) -> Position:
    return Position("slot", None, candidate.trigger.role, None)


def _by_host_then_order(candidate: Candidate) -> tuple[int, ...]:
    return candidate.book_rank, -candidate.trigger.order, candidate.place


def _lower_first(candidate: Candidate) -> tuple[int, ...]:
    return candidate.trigger.order, candidate.place


def _tavern_position(candidate: Candidate) -> Position:
    trigger = candidate.trigger
    match trigger.at:
        case "depth":
            return Position("depth", trigger.depth, trigger.role, None)
        case "outlet":
            return Position("outlet", None, "system", trigger.outlet)
        case "before" | "after":
            return Position(_SLOTS[trigger.at], None, "system", None)
        case at:
            return Position(at, None, "system", None)


def _tavern_limit(_: Sequence[Book], program: SillyTavern, __: int) -> int:
    share = int(program.budget_percent * program.max_context / 100 + 0.5) or 1  # as Math.round
    return min(share, program.budget_cap) if program.budget_cap else share


_STRATEGIES: Final[Mapping[str, tuple[int, int]]] = {
    "character_first": (2, 3),
    "global_first": (3, 2),
    "evenly": (2, 2),
}
"""Ranks of the books of characters, and of all others."""


def _tavern_ranks(program: SillyTavern) -> Mapping[str, int]:
    character, other = _STRATEGIES[program.strategy]
    return {
        "conversation": 0, "persona": 1, "character": character,
        **dict.fromkeys(("story", "novel", "server", "request"), other),
    }  # fmt: skip


def _largest_budget(books: Sequence[Book], _: SillyTavern, __: int) -> int:
    return max((book.settings.token_budget for book in books if book.settings.token_budget), default=CHAT_TOKENS)


def _all_alike(_: SillyTavern) -> Mapping[str, int]:
    return {}


_COMMON: Final = frozenset({"keys", "secondary_keys", "logic", "constant", "scan_depth", "chance", "order", "channels"})
_ALL: Final = frozenset(field.name for field in fields(Trigger))

SERVER: Final = DialectRules(
    dialect="server",
    reads=_COMMON | {"at"},
    decorators=decorators.NONE,
    matching="folded",
    patterns=False,
    key_macros=False,
    keyless=True,
    program=SillyTavern(scan_depth=TURNS, include_names=False, recursive=False),
    book_settings=False,
    unit="characters",
    limit=lambda _, __, characters: characters,
    cut=skip_and_continue,
    every_pass=False,
    host_ranks=_all_alike,
    considered=_by_server_group,
    placed=_by_server_group,
    position=_server_position,
)
CHAT: Final = DialectRules(
    dialect="chat",
    reads=_COMMON | {"selective", "whole_words", "priority", "role"},
    decorators=decorators.CHAT,
    matching="folded",
    patterns=False,
    key_macros=False,
    keyless=False,
    program=SillyTavern(scan_depth=CHAT_SCAN_DEPTH, include_names=False, max_recursion_steps=1 + 3),
    book_settings=True,
    unit="tokens",
    limit=_largest_budget,
    cut=lowest_falls,
    every_pass=False,
    host_ranks=_all_alike,
    considered=_lowest_first,
    placed=_higher_first,
    position=_chat_position,
)
SILLYTAVERN: Final = DialectRules(
    dialect="sillytavern",
    reads=_ALL - {"priority"},
    decorators=decorators.SILLYTAVERN,
    matching="javascript",
    patterns=True,
    key_macros=True,
    keyless=False,
    program=None,
    book_settings=False,
    unit="tokens",
    limit=_tavern_limit,
    cut=stops_at_the_limit,
    every_pass=True,
    host_ranks=_tavern_ranks,
    considered=_by_host_then_order,
    placed=_lower_first,
    position=_tavern_position,
)
DIALECTS: Final = (SERVER, CHAT, SILLYTAVERN)
"""In the order in which their texts stand in one answer, slot by slot."""
