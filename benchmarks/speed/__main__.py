"""Speed, as ratios within one run, since machines differ and are noisy.

    python -m benchmarks.speed [MEASURE ...] [--into FOLDER] [--tiny]
    python -m benchmarks.speed --check [MEASURE ...]

Measures, with about how long each takes on two cores:
    retrieve  1 min   a warm retrieval over three books of 1,000 entries, beside a sketch of the limit
    match     1 min   aliases in 20 kB beside the bare scan and beside loops over the keys, by the number of aliases
    activation 1 min  100 lorebooks of 250 entries in 100 messages of 2 kB, beside a loop over every key with `re`
    embed     2 min   passages a second and the time of a query, per backend, beside plain sentence-transformers
    serve     3 min   POST /v1/retrieve beside a bare embedding and an echo, and sixteen requests at once
    change    2 min   importing 1,100 entries, copying a book of 5,000
    start     2 min   from the start to ready, `worldbook --help`
    memory    2 min   resident memory with ten books of 1,000 entries
    library   5 min   a retrieval while the store grows to 10,000 books; cold open of a book
    shelf     5 min   a retrieval while the attached books grow to 100,000 entries
    peers     9 min   other retrievers on the same work, those that are installed

--into writes MEASURE.json into the folder; docs/performance is where the page and --check read them. --check measures
again what is written there (by default all but library, shelf and peers) and fails when a ratio is worse by more than
a quarter than it was, twice in a row.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.conditions import conditions
from benchmarks.speed import goals, results
from benchmarks.speed.size import TINY, Figures, Size

MARGIN = 0.25
"""What is normal between two runs of one ratio on a machine that is not quite quiet."""


MEASURES: Mapping[str, str] = {
    "retrieve": "retrieving",
    "match": "matching",
    "activation": "activation",
    "embed": "embedding",
    "serve": "serving",
    "change": "changing",
    "start": "starting",
    "memory": "starting",
    "library": "retrieving",
    "shelf": "retrieving",
    "peers": "peers",
}
"""Measure to the module that has its function `measure_…`; a module is imported when it is wanted."""
SLOW = ("library", "shelf", "peers")
"""Not checked unless named."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen measures, print their figures and goals, and write or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help="default: all")
    parser.add_argument("--into", type=Path, help="write MEASURE.json into this folder")
    parser.add_argument("--tiny", action="store_true", help="so little that it only shows that it works")
    parser.add_argument("--check", action="store_true", help="compare with docs/performance")
    options = parser.parse_args(arguments)
    if unknown := set(options.measures) - set(MEASURES):
        parser.error(f"no measure {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}")
    size = TINY if options.tiny else Size()
    if options.check:
        return check(options.measures, size, results.RESULTS)
    for name in options.measures or MEASURES:
        around = conditions()
        figures = function_of(name)(size)
        results.show(name, figures)
        show_goals(name, figures)
        if options.into:
            results.write(options.into, name, figures, tiny=options.tiny, around=around)
    return 0


def function_of(name: str) -> Callable[[Size], Figures]:
    """The function of a measure."""
    found: Callable[[Size], Figures] = getattr(import_module(f"benchmarks.speed.{MEASURES[name]}"), f"measure_{name}")
    return found


def check(measures: Sequence[str], size: Size, folder: Path) -> int:
    """1 when a ratio has fallen back; a measure in which one has is run once more, since machines hiccup."""
    fallen = 0
    for name in measures or [name for name in MEASURES if name not in SLOW]:
        before = results.read_figures(folder, name)
        if before is None:
            print(f"{name}: nothing to compare with in {folder}")
            continue
        measure = function_of(name)
        worse = fallen_back(name, before, measure(size))
        if worse:
            worse = fallen_back(name, before, measure(size))
        fallen += len(worse)
        for line in worse or [f"{name}: no ratio has fallen back"]:
            print(line)
    return 1 if fallen else 0


def fallen_back(name: str, before: Figures, now: Figures) -> list[str]:
    """A line for each ratio of a goal that is worse than before by more than the margin."""
    was = dict(goals.of_measure(name, before))
    return [
        f"{name}: {goal.what}: {value:.3g}, was {was[goal]:.3g}, more than {MARGIN:.0%} worse"
        for goal, value in goals.of_measure(name, now)
        if goal in was and not goal.absolute and goal.fallen_back(was[goal], value, MARGIN)
    ]


def show_goals(name: str, figures: Figures) -> None:
    """Print the goals among the figures."""
    judged = Table("goal", "measured", "bound", "met")
    for goal, value in goals.of_measure(name, figures):
        judged.add_row(goal.what, f"{value:.3g}", goal.limit, "yes" if goal.met(value) else "no")
    if judged.row_count:
        Console().print(judged)


if __name__ == "__main__":
    sys.exit(main())
