"""Where our `sillytavern` dialect does not do what the program does, and why: the table that the oracle reads.

docs/decisions/0011 shows the same rows to readers; `test_tavern_oracle.py` holds the two together and shows each row
by a case on which the two behaviours part.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """One row."""

    name: str
    theirs: str
    ours: str
    why: str


DIFFERENCES = (
    Difference(
        "chance-below",
        "a roll equal to the chance passes, so a chance of 0 can fire",
        "activates when drawn < chance; 0 never",
        "SPEC T5: an author who writes 0 means never",
    ),
    Difference(
        "chance-before-groups",
        "the roll comes after the inclusion group chose, so a winner that fails leaves the group empty",
        "the draw comes first; the group chooses among those that passed",
        "fault R05: a fallback of 100 % is there to be taken whenever nothing else is",
    ),
    Difference(
        "blank-keys",
        "a key of blanks matches everything; a blank secondary key nothing, so AND ALL never, NOT ALL always passes",
        "blank keys are as if they were not there",
        "fault R14: nobody writes a blank key on purpose",
    ),
    Difference(
        "every-text-counts",
        "texts of earlier passes that wake nobody (prevent recursion) are forgotten by the budget",
        "every text that goes in counts",
        "a budget that can be exceeded is none",
    ),
    Difference(
        "cut-wakes-nobody",
        "an entry that the budget rejected still wakes others when a delayed level opens",
        "what is not in the prompt wakes nobody",
        "the reader of the prompt would not know why the others came",
    ),
    Difference(
        "groups-by-member",
        "an active entry of several groups blocks none of them",
        "it blocks each of its groups",
        "an inclusion group promises one entry",
    ),
    Difference(
        "left-once",
        "an entry that leaves by two of its groups takes the last candidate of the pass with it",
        "it leaves once, and counts in no other group",
        "a slip of the program (index -1)",
    ),
    Difference(
        "order-before-role",
        "texts at one depth are merged by role",
        "they stand by order, each a message with its role",
        "fault R02: the order that the author gave wins",
    ),
    Difference(
        "exact-decorators",
        "a line that begins like a known decorator counts as known, so its fallbacks are skipped",
        "only `@@activate` and `@@dont_activate` are known; fallbacks of all others are tried",
        "card V3: unknown decorators fall through to their fallbacks",
    ),
    Difference(
        "no-decorator-in-prompt",
        "decorators alone are inserted as they are; the blank line below them stays; leading blanks turn them off",
        "decorators and the line breaks around them never reach the prompt",
        "card V3",
    ),
    Difference(
        "handles-not-hashes",
        "a timed effect is lost when its entry is edited, or when the program adds a field",
        "it belongs to the entry's handle",
        "a typo mended in the middle of a chat must not reset it",
    ),
    Difference(
        "tokens-by-text",
        "all texts of a pass are counted as one string",
        "the counts of the texts are added",
        "the same to a token or two, and each count is made once",
    ),
    Difference(
        "patterns-in-linear-time",
        "JavaScript's engine, with no limit of time",
        "RE2, and what RE2 has not (looking around, back references) with a limit of 20 ms a search",
        "fault P05: a pattern of a stranger must not stall a chat; what only JavaScript reads is plain text",
    ),
    Difference(
        "drawn-not-rolled",
        "a new roll for every generation",
        "drawn from (conversation, turn, entry)",
        "SPEC B7: a regeneration has the same lore",
    ),
)
CHOSEN = frozenset(difference.name for difference in DIFFERENCES)
