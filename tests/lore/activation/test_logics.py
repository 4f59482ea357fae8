"""The four logics of secondary keys as a truth table, in every dialect."""

from __future__ import annotations

import pytest

from service.lore.book import Dialect
from service.lore.reasons import Activated, NoKey, Secondary
from service.lore.trigger import Logic
from tests.lore.activation.worlds import Turn, entry, lorebook

DIALECTS: tuple[Dialect, ...] = ("server", "chat", "sillytavern")
SECONDARY = ("salt", "gate")
PRESENT = {"none": "the tide", "some": "the tide and salt", "all": "the tide, salt and a gate"}
TABLE: dict[Logic, dict[str, bool]] = {
    "any": {"none": False, "some": True, "all": True},
    "all": {"none": False, "some": False, "all": True},
    "none": {"none": True, "some": False, "all": False},
    "not_all": {"none": True, "some": True, "all": False},
}
ROWS = [(dialect, logic, present) for dialect in DIALECTS for logic in TABLE for present in PRESENT]


@pytest.mark.parametrize(("dialect", "logic", "present"), ROWS)
@pytest.mark.parametrize("blanks", [(), (" ", "")], ids=["no blank", "blank ones too"])
def test_truth_table(dialect: Dialect, logic: Logic, present: str, blanks: tuple[str, ...]) -> None:
    """T5, R14: any, all, none, not all of the secondary keys decide after a key was found; blank ones do not count."""
    book = lorebook(dialect, entry("a", keys=("tide",), secondary_keys=(*blanks, *SECONDARY), logic=logic))
    turn = Turn(book, PRESENT[present])
    assert turn.titles == (["a"] if TABLE[logic][present] else [])
    there = {"none": (), "some": ("salt",), "all": ("salt", "gate")}[present]
    reason = turn.reason("a")
    if isinstance(reason, Activated):
        assert reason.secondary == there
    else:
        missing = tuple(key for key in SECONDARY if key not in there)
        assert reason == Secondary(key="tide", logic=logic, present=there, missing=missing)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("logic", TABLE)
@pytest.mark.parametrize("present", PRESENT)
@pytest.mark.parametrize("secondary", [(), (" ",), ("", "\t \n")], ids=["empty", "blank", "two blanks"])
def test_without_secondary_keys(dialect: Dialect, logic: Logic, present: str, secondary: tuple[str, ...]) -> None:
    """R14: an empty list, or one of blanks, is as if the entry were not selective, whatever the logic."""
    book = lorebook(dialect, entry("a", keys=("tide",), secondary_keys=secondary, logic=logic))
    assert Turn(book, PRESENT[present]).titles == ["a"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("logic", TABLE)
def test_no_key_no_logic(dialect: Dialect, logic: Logic) -> None:
    """Secondary keys alone wake nothing, the negative logics neither."""
    turn = Turn(lorebook(dialect, entry("a", keys=("tide",), secondary_keys=("salt",), logic=logic)), "salt or none")
    assert turn.reason("a") == NoKey()


@pytest.mark.parametrize(("dialect", "counts"), [("server", True), ("chat", False), ("sillytavern", False)])
def test_not_selective(dialect: Dialect, counts: bool) -> None:
    """C2: with `selective` off the secondary keys do not count; the server dialect has no such switch."""
    book = lorebook(dialect, entry("a", keys=("tide",), secondary_keys=("salt",), selective=False))
    assert (Turn(book, "the tide").titles == []) is counts
