"""The fuzz itself: a short run of it, that it repeats itself, and that it tells a fault."""

from __future__ import annotations

import pytest

from service.formats import FORMATS
from tests.formats.samples import SAMPLES
from tests.fuzz import fuzz_formats
from tests.fuzz.fuzz_formats import Figures, fuzz, make, told


def test_a_short_run_finds_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """F5: mutated files of every format are read, exported and read again, or refused with a domain error."""
    monkeypatch.setattr(fuzz_formats, "SECONDS", 10.0)  # a tracer for coverage makes it several times slower
    figures = fuzz(range(10 * len(SAMPLES)), 0, Figures())
    assert figures.faults == []
    assert {format for format, _ in figures.outcomes} == {row.name for row in FORMATS}
    outcomes = {outcome for _, outcome in figures.outcomes}
    assert {"read", "UnreadableFile", "Invalid"} <= outcomes
    assert figures.outcomes.total() == 10 * len(SAMPLES)
    assert "faults: 0" in list(told(figures, 0, 1.0))


def test_an_input_repeats_itself() -> None:
    """An input is made anew from its number and seed, so that a fault can be looked at."""
    numbers = range(2 * len(SAMPLES))
    inputs = [make(number, 7)[1] for number in numbers]
    assert inputs == [make(number, 7)[1] for number in numbers]
    assert inputs != [make(number, 8)[1] for number in numbers]
    assert sum(made != make(n, 7)[0].data for n, made in enumerate(inputs)) > len(SAMPLES)


@pytest.mark.parametrize(("name", "limit"), [("SECONDS", -1.0), ("BYTES", -1)])
def test_a_breach_is_told(name: str, limit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """An input that takes too long or too much is a fault."""
    monkeypatch.setattr(fuzz_formats, name, limit)
    assert fuzz(range(2), 0, Figures()).faults


def test_another_error_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is none of the domain's is a fault, with the number of its input."""

    def broken(_data: bytes) -> str:
        raise KeyError("entries")

    monkeypatch.setattr(fuzz_formats, "run", broken)
    (fault,) = fuzz(range(7, 8), 0, Figures()).faults
    assert "input 7 " in fault
    assert "KeyError" in fault
