"""What became of an entry, and why: one status and one reason for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from service.lore.book import STRICT

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
]
IN_FULL: tuple[Status, ...] = ("canon", "whole", "named", "matched")
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
class OverBudget:
    """It would not have fitted."""

    __pydantic_config__ = STRICT
    budget: Literal["canon", "total"]
    left: int
    """Tokens that were left when its turn came."""
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


Reason = Canon | WholeBook | Named | Matched | Unmatched | OverBudget | Disabled | Excluded
