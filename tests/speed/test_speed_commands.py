"""The speed benchmark, with so little work that it only shows that it works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.load.__main__ import COMMANDS
from benchmarks.speed import __main__ as command
from benchmarks.speed.goals import GOALS, Goal, of_measure
from benchmarks.speed.retrievers import RETRIEVERS
from benchmarks.speed.size import Figures, Size

LESS = Goal("m", "f", 2.0, "less is better")
MORE = Goal("m", "f", 2.0, "more is better", at_most=False)
IN_PROCESS = ("retrieve", "match", "activation", "change", "library", "shelf")


@pytest.mark.parametrize(
    "name", [*IN_PROCESS, "serve", *(pytest.param(name, marks=pytest.mark.slow) for name in ("start", "memory"))]
)
def test_a_measure_writes_its_figures(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A measure prints its figures, all of them finite and not negative, and writes them with their conditions."""
    assert command.main([name, "--tiny", "--into", str(tmp_path)]) == 0
    written = json.loads((tmp_path / f"{name}.json").read_text())
    assert (written["measure"], written["tiny"]) == (name, True)
    assert written["conditions"]["cores"] >= 1
    assert written["figures"]
    assert all(0 <= value < 1e9 for value in written["figures"].values())
    assert {goal.figure for goal in GOALS if goal.measure == name} - set(written["figures"]) <= ALLOWED_TO_MISS
    assert name in capsys.readouterr().out


ALLOWED_TO_MISS = {"times_faster_than_node"}
"""Without node."""


def test_every_measure_of_a_goal_exists() -> None:
    """Each measure has its function, each goal belongs to a measure, and each peer has a goal."""
    assert all(callable(command.function_of(name)) for name in command.MEASURES)
    assert {goal.measure for goal in GOALS} <= {*command.MEASURES, *COMMANDS}
    assert {f"{name}_same_work_times_worldbook" for name in RETRIEVERS} <= {goal.figure for goal in GOALS}


def test_an_unknown_measure_names_those_that_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    """A name that is no measure ends with status 2 and says which are."""
    with pytest.raises(SystemExit, match="2"):
        command.main(["retreive"])
    assert "retrieve, match" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("goal", "before", "now", "fallen"),
    [
        (LESS, 1.0, 1.24, False),
        (LESS, 1.0, 1.26, True),
        (LESS, 1.0, 0.1, False),
        (LESS, 3.0, 3.1, False),
        (MORE, 100.0, 81.0, False),
        (MORE, 100.0, 79.0, True),
        (MORE, 100.0, 1000.0, False),
        (Goal("m", "f", 0, "none"), 0.0, 0.0, False),
        (Goal("m", "f", 0, "none"), 0.0, 1.0, True),
    ],
)
def test_falling_back(goal: Goal, before: float, now: float, fallen: bool) -> None:
    """A ratio has fallen back when it is worse than before by more than the margin, whether its goal is met or not."""
    assert goal.fallen_back(before, now, command.MARGIN) is fallen


@pytest.mark.parametrize(
    ("later", "status"), [([1.0], 0), ([9.0, 1.0], 0), ([9.0, 9.0], 1)], ids=["as before", "a hiccup", "worse"]
)
def test_the_check_fails_on_what_is_worse_twice(
    later: list[float], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The check fails when a ratio is worse in two runs, says which, and leaves out what nobody measured."""
    figures = {"times_the_sketch": 1.0, "p95_over_p50": 1.2}
    (tmp_path / "retrieve.json").write_text(json.dumps({"measure": "retrieve", "figures": figures}))
    runs = iter(later)

    def measure(_: Size) -> Figures:
        return {**figures, "times_the_sketch": next(runs)}

    monkeypatch.setattr(command, "MEASURES", {"retrieve": "retrieving", "match": "matching"})
    monkeypatch.setattr(command, "function_of", lambda _: measure)
    assert command.check([], Size(), tmp_path) == status
    told = capsys.readouterr().out
    assert "match: nothing to compare with" in told
    assert ("beside the sketch of the limit: 9, was 1" in told) is bool(status)


def test_seconds_are_not_checked() -> None:
    """What moves with the machine is told and not compared."""
    before, now = {"help_seconds": 0.3}, {"help_seconds": 3.0}
    assert [goal.absolute for goal, _ in of_measure("start", before)] == [True]
    assert command.fallen_back("start", before, now) == []
