"""A floor under the recall of the chain, on a slice of public data; and each step off falls through it.

Floors lie between what the chain finds and what is left without the step, so that a change that breaks a step turns
this red. `python -m benchmarks.recall` measures everything; this takes a minute.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import small_slice

from benchmarks.recall.lab import Lab, average
from benchmarks.recall.measures import Measure, Recall, claims
from benchmarks.recall.systems import CHAIN, System
from benchmarks.recall.trials import Trial

pytestmark = pytest.mark.model

FLOORED = replace(CHAIN, name="with the floor", floor=True)


@pytest.fixture(scope="module")
def trials(data: Path) -> Mapping[str, Trial]:
    """The slice, a trial a kind."""
    return small_slice.trials(data)


def figure(lab: Lab, system: System, trials: Mapping[str, Trial], measure: Measure, *kinds: str) -> float:
    """The mean of a measure over the asks of these kinds."""
    return average(measure, [result for kind in kinds for result in lab.run(system, trials[kind], 8)])


STEPS = [
    # step, kinds, measure, the least that the chain finds, the chain with the step off
    ("directions", ("cross",), Recall(1), CHAIN, 0.7, replace(CHAIN, directions=False)),
    ("windows", ("deep",), Recall(1), CHAIN, 0.75, replace(CHAIN, windows=False)),
    ("lexical leg", ("name",), Recall(1), CHAIN, 0.89, replace(CHAIN, spelling=0.0)),
    ("places", ("reply",), Recall(3), FLOORED, 0.8, replace(FLOORED, reading="last")),
]


@pytest.mark.parametrize(("step", "kinds", "measure", "chain", "least", "off"), STEPS, ids=[row[0] for row in STEPS])
def test_a_step_of_the_chain_holds_recall_up(default_lab, trials, step, kinds, measure, chain, least, off):
    """The chain stays above the floor that it falls through with this step off."""
    assert figure(default_lab, chain, trials, measure, *kinds) >= least
    assert figure(default_lab, off, trials, measure, *kinds) < least


def test_the_floor_keeps_small_talk_out(default_lab, trials):
    """Small talk claims nothing of 60 entries but in one line of twenty; without the floor every line does."""
    assert figure(default_lab, FLOORED, trials, claims, "small_talk") <= 0.05
    assert figure(default_lab, CHAIN, trials, claims, "small_talk") == 1.0


def test_the_floor_lets_true_matches_through(default_lab, trials):
    """The floor costs questions in other languages three points of recall at most."""
    free = figure(default_lab, CHAIN, trials, Recall(5), "cross")
    assert free >= 0.94
    assert figure(default_lab, FLOORED, trials, Recall(5), "cross") >= free - 0.03
