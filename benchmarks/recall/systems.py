"""Systems as rows: what of the chain is on. Every row runs the product's own functions on remembered vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from service.lore.ranking import SPELLING

Reading = Literal["places", "last", "joined", "equal"]


@dataclass(frozen=True, kw_only=True)
class System:
    """One variation of the chain. The floor is off unless a row says otherwise, as the goals want it."""

    name: str
    named: bool = False
    """Entries named literally come first, as in a prompt."""
    meaning: bool = True
    directions: bool = True
    windows: bool = True
    """Off: each entry is one vector, of its text as far as the model reads."""
    spelling: float = SPELLING
    """Weight of the lexical leg; 0: off."""
    reading: Reading = "places"
    """Of several messages: places in turn; only the last; all as one text; all in one list, the best score first."""
    floor: bool = False
    storage: Literal["int8", "float32"] = "int8"
    """What vectors are rounded to: as in the product, float16 in the database and int8 in memory, or not at all."""


CHAIN = System(name="whole chain")
BARE = System(name="bare vectors", directions=False, windows=False, spelling=0.0, reading="last")
STEPS = (
    BARE,
    replace(BARE, name="+ directions off", directions=True),
    replace(BARE, name="+ windows", directions=True, windows=True),
    replace(CHAIN, name="+ lexical leg", reading="last"),
    replace(CHAIN, name="+ places of the conversation"),
    replace(CHAIN, name="+ floor", floor=True),
)
"""Each step added to those before it."""
LITERAL = System(name="literal only", named=True, meaning=False)
SERVED = replace(CHAIN, name="as served", named=True, floor=True)
"""Names, the chain and its floor: what a request gets."""
WITHOUT = (
    replace(SERVED, name="without directions", directions=False),
    replace(SERVED, name="without windows", windows=False),
    replace(SERVED, name="without the lexical leg", spelling=0.0),
    replace(SERVED, name="last message only", reading="last"),
    replace(SERVED, name="messages as one text", reading="joined"),
    replace(SERVED, name="best score instead of places", reading="equal"),
    replace(SERVED, name="without the floor", floor=False),
    replace(SERVED, name="without names", named=False),
)
"""Each step off in turn."""
