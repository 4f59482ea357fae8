"""How answers are told to people."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from service.cli import showing
from service.cli.output import visible
from service.lore import reasons
from service.validation import dump

WOKEN = reasons.Activated(
    by="key", key="gate", secondary=(), message=0, source=None, from_entry=None, span=(0, 4), pass_number=1,
    drawn=None, chance=100,
)  # fmt: skip
REASONS = [
    (reasons.Canon(place=1), "canon"),
    (reasons.Canon(place=1, kept_over_budget=True), "canon, kept although over budget"),
    (reasons.WholeBook(), "the whole book fits"),
    (reasons.Named(alias="Gate", message=0, span=(4, 8), text="gate"), "“gate” stands in message 1"),
    (
        reasons.Matched(rank=2, score=0.4125, strength="strong", message=2),
        "by meaning: rank 2, strong, score 0.412 for message 3",
    ),
    (
        reasons.Matched(rank=1, score=0.3, strength="weak", message=None),
        "by meaning: rank 1, weak, score 0.300 for the query",
    ),
    (reasons.Unmatched(score=0.02, floor=0.2), "not near by meaning: score 0.020, floor 0.200"),
    (reasons.Unmatched(score=None, floor=None), "nothing was compared"),
    (
        reasons.NoRoom(score=0.911, floor=0.2),
        "near by meaning, but all places were taken: score 0.911, floor 0.200",
    ),
    (reasons.NoRoom(score=0.5, floor=None), "all places were taken: score 0.500"),
    (reasons.OverBudget(budget="canon", needed=1300, left=1200), "canon budget: needs 1,300 tokens, 1,200 were left"),
    (reasons.OverBudget(budget="total", needed=7, left=5), "budget: needs 7 tokens, 5 were left"),
    (reasons.Disabled(by="entry"), "disabled"),
    (reasons.Disabled(by="book"), "the book is disabled"),
    (reasons.Excluded(), "the request says that the model has it"),
    (WOKEN, "key “gate” in message 1"),
    (
        replace(WOKEN, message=None, from_entry="bakiru-2", drawn=31.25, chance=50),
        "key “gate” in bakiru-2, drawn 31.2 against 50",
    ),
    (replace(WOKEN, by="sticky", key=None), "activated by sticky"),
    (reasons.Constant(), "always on"),
    (reasons.OutOfChannel(allowed=("1", "2"), by="book"), "only in the channels 1, 2"),
    (reasons.Filtered(by="character"), "meant for another character"),
    (reasons.Chance(drawn=62.04, chance=50), "chance: drawn 62.0 against 50"),
    (reasons.NoKey(), "no key was found"),
    (
        reasons.Secondary(key="gate", logic="not_all", missing=(), present=("salt",)),
        "“gate” was found, but its secondary keys (not all) did not allow it",
    ),
    (reasons.Timed(effect="cooldown", until=12), "cooldown, until there are 12 messages"),
    (reasons.Timed(effect="is_greeting", until=None), "is greeting"),
    (reasons.Unreached(rule="delayed"), "waits for the content of another entry"),
    (
        reasons.Unreached(rule="excluded"),
        "only the content of another entry has its key, and it refuses to be woken so",
    ),
    (reasons.Outgrouped(group="g", winner="bakiru-2"), "bakiru-2 was taken of the group g"),
    (reasons.SwitchedOff(), "switched off by @@dont_activate"),
    (reasons.Nothing(), "activated, but there is nothing to insert"),
    (
        reasons.OverLorebookBudget(woken=reasons.Constant(), left=12),
        "always on, but only 12 of the budget were left",
    ),
]


@pytest.mark.parametrize(("reason", "words"), REASONS)
def test_reason_in_words(reason: Any, words: str) -> None:
    """B1: each reason is told in plain words."""
    assert showing.why(dump(reason)) == words


def test_every_reason_has_words() -> None:
    """The table above has a row for every kind of reason."""
    assert {type(reason) for reason, _ in REASONS} == set(get_args(reasons.Reason))


def test_unknown_reason_is_named() -> None:
    """A reason of a newer service is shown by its name."""
    assert showing.why({"kind": "out_of_channel"}) == "out of channel"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07", "�]0;owned�"),
        ("a\x9b31mb", "a�31mb"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("塩の門 🜁 é", "塩の門 🜁 é"),
        ("\r\x08\x7f", "���"),
        ("two\r\nlines\r\n", "two\nlines\n"),
    ],
)
def test_lore_cannot_command_the_terminal(text: str, shown: str) -> None:
    """Control characters of a lorebook are shown, not obeyed; every other text is left as it is."""
    assert visible(text) == shown
