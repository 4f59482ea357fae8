"""What became of an entry, and why: one status and one reason for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from service.lore.strict import STRICT

Status = Literal[
    "canon",
    "whole",
    "named",
    "matched",
    "indexed",
    "counted",
    "canon_over_budget",
    "cut",
    "unmatched",
    "disabled",
    "excluded",
    "activated",
    "not_activated",
    "out_of_scope",
]
IN_FULL: tuple[Status, ...] = ("canon", "whole", "named", "matched", "activated")
Strength = Literal["weak", "strong"]


@dataclass(frozen=True, kw_only=True)
class Canon:
    """In the prompt every turn."""

    __pydantic_config__ = STRICT
    place: int
    """From 1, over all attached books."""
    kept_over_budget: bool = False
    """The first canon entry is kept even when it alone exceeds a budget."""
    kind: Literal["canon"] = "canon"


@dataclass(frozen=True, kw_only=True)
class WholeBook:
    """The whole book fits, so nothing had to be chosen."""

    __pydantic_config__ = STRICT
    kind: Literal["whole_book"] = "whole_book"


@dataclass(frozen=True, kw_only=True)
class Named:
    """A title or alias stands literally in a message."""

    __pydantic_config__ = STRICT
    alias: str
    """As the book writes it."""
    message: int | None
    """Place of the message in the request, from 0; null in a search."""
    span: tuple[int, int]
    """Code points of the posted text, `[start, end)`."""
    text: str
    """The posted text at the span."""
    kind: Literal["named"] = "named"


@dataclass(frozen=True, kw_only=True)
class Matched:
    """Near to a message by meaning."""

    __pydantic_config__ = STRICT
    rank: int
    score: float
    strength: Strength
    message: int | None
    kind: Literal["matched"] = "matched"


@dataclass(frozen=True, kw_only=True)
class Unmatched:
    """Not near enough to claim; score null when nothing was compared."""

    __pydantic_config__ = STRICT
    score: float | None
    floor: float | None
    kind: Literal["unmatched"] = "unmatched"


@dataclass(frozen=True, kw_only=True)
class NoRoom:
    """Near enough to claim, but all places were taken; floor null where none holds."""

    __pydantic_config__ = STRICT
    score: float
    floor: float | None
    kind: Literal["no_room"] = "no_room"


@dataclass(frozen=True, kw_only=True)
class Activated:
    """Woken by a key, a draw or its own past (`by`)."""

    __pydantic_config__ = STRICT
    by: Literal["key", "chance", "sticky", "keep", "decorator"]
    """`chance`: needs no key, but was drawn; `sticky`, `keep`: since an earlier turn; `decorator`: `@@activate`."""
    key: str | None
    """The key found first, as the book writes it; null when it needed none."""
    secondary: tuple[str, ...]
    """The secondary keys that were found."""
    message: int | None
    """Place in the request of the message in which the key stands, from 0; null: not in a message."""
    source: str | None
    """The other text of the request in which the key stands; null: in none."""
    from_entry: str | None
    """Handle of the entry in whose content the key stands; null: in none."""
    span: tuple[int, int] | None
    """Code points of that text, `[start, end)`."""
    pass_number: int
    """1: the messages; from 2: contents of entries activated before."""
    drawn: float | None
    """Null when nothing was drawn; it activates when `drawn < chance`."""
    chance: float
    kind: Literal["activated"] = "activated"


@dataclass(frozen=True, kw_only=True)
class Constant:
    """Always on."""

    __pydantic_config__ = STRICT
    pass_number: int = 1
    drawn: float | None = None
    chance: float = 100
    kind: Literal["constant"] = "constant"


@dataclass(frozen=True, kw_only=True)
class OutOfChannel:
    """The channel of the request is none of these."""

    __pydantic_config__ = STRICT
    allowed: tuple[str, ...]
    by: Literal["entry", "book"]
    kind: Literal["channel"] = "channel"


@dataclass(frozen=True, kw_only=True)
class Filtered:
    """Meant for other generations, characters or tags."""

    __pydantic_config__ = STRICT
    by: Literal["generation", "character", "tag"]
    kind: Literal["filtered"] = "filtered"


@dataclass(frozen=True, kw_only=True)
class Chance:
    """Woken, but the draw of this turn was against it: it activates when `drawn < chance`."""

    __pydantic_config__ = STRICT
    drawn: float
    chance: float
    kind: Literal["chance"] = "chance"


@dataclass(frozen=True, kw_only=True)
class NoKey:
    """No key stands in what was searched."""

    __pydantic_config__ = STRICT
    kind: Literal["no_key"] = "no_key"


@dataclass(frozen=True, kw_only=True)
class Secondary:
    """A key was found, but the secondary keys did not allow it."""

    __pydantic_config__ = STRICT
    key: str | None
    logic: Literal["any", "all", "none", "not_all"]
    missing: tuple[str, ...]
    present: tuple[str, ...]
    kind: Literal["secondary"] = "secondary"


@dataclass(frozen=True, kw_only=True)
class Timed:
    """Not at this point of the conversation."""

    __pydantic_config__ = STRICT
    effect: Literal[
        "cooldown", "delay", "activate_only_after", "activate_only_every", "dont_activate_after_match", "is_greeting"
    ]
    until: int | None
    """Number of messages at which it may activate again; null: unknown, or never."""
    kind: Literal["timed"] = "timed"


@dataclass(frozen=True, kw_only=True)
class Unreached:
    """Waits for the content of another entry to wake it, or refuses to be woken so."""

    __pydantic_config__ = STRICT
    rule: Literal["delayed", "excluded"]
    kind: Literal["recursion"] = "recursion"


@dataclass(frozen=True, kw_only=True)
class Outgrouped:
    """Another entry of its inclusion group was taken."""

    __pydantic_config__ = STRICT
    group: str
    winner: str | None
    """Handle."""
    kind: Literal["group"] = "group"


@dataclass(frozen=True, kw_only=True)
class SwitchedOff:
    """`@@dont_activate` at the top of its content."""

    __pydantic_config__ = STRICT
    kind: Literal["dont_activate"] = "dont_activate"


@dataclass(frozen=True, kw_only=True)
class Nothing:
    """Activated, but with nothing to insert: no content beside its decorators, or an outlet without a name."""

    __pydantic_config__ = STRICT
    kind: Literal["nothing"] = "nothing"


@dataclass(frozen=True, kw_only=True)
class OverBudget:
    """It would not have fitted: `needed` is more than `left`."""

    __pydantic_config__ = STRICT
    budget: Literal["canon", "total"]
    needed: int
    """Its tokens, with those of a heading or the frame that would have come in with it."""
    left: int
    """Tokens that were left for entries in full when its turn came; those kept for the index are none of them."""
    kind: Literal["over_budget"] = "over_budget"


@dataclass(frozen=True, kw_only=True)
class OverLorebookBudget:
    """Activated, but the lorebooks of its dialect had used up their budget."""

    __pydantic_config__ = STRICT
    woken: Activated | Constant
    """What had activated it."""
    left: int
    """Tokens that were left when its turn came; of a server lorebook, characters."""
    budget: Literal["lorebook"] = "lorebook"
    kind: Literal["over_budget"] = "over_budget"


@dataclass(frozen=True, kw_only=True)
class Disabled:
    """Switched off, by itself or with its book."""

    __pydantic_config__ = STRICT
    by: Literal["entry", "book"]
    kind: Literal["disabled"] = "disabled"


@dataclass(frozen=True, kw_only=True)
class Excluded:
    """The request says that the model has it already."""

    __pydantic_config__ = STRICT
    kind: Literal["excluded"] = "excluded"


Reason = (
    Canon
    | WholeBook
    | Named
    | Matched
    | Unmatched
    | NoRoom
    | OverBudget
    | OverLorebookBudget
    | Disabled
    | Excluded
    | Activated
    | Constant
    | OutOfChannel
    | Filtered
    | Chance
    | NoKey
    | Secondary
    | Timed
    | Unreached
    | Outgrouped
    | SwitchedOff
    | Nothing
)
