"""Writes the tables of docs/performance.md from the JSON in docs/performance, between markers such as `<!-- goals -->`,
and draws beside the JSON how times grow.

python -m benchmarks.speed.pages
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.speed.goals import GOALS, Goal
from benchmarks.speed.plots import PLOTS, draw
from benchmarks.speed.results import RESULTS
from benchmarks.speed.retrievers import RETRIEVERS

PAGE = RESULTS.with_suffix(".md")
NOTHING = "Not measured yet."
_MARKED = re.compile(r"<!-- (?P<name>[a-z-]+) -->\n.*?<!-- /(?P=name) -->", re.DOTALL)

_MEMORY_BESIDE_PEERS = ("vectors_and_texts_of_worldbook_mb", "leanest_peer_mb")

Results = Mapping[str, Mapping[str, Any]]
"""Of each measure that has been taken: its conditions and figures."""


def read_results(folder: Path = RESULTS) -> Results:
    """Every JSON of the folder, by the name of its measure."""
    found = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    return {result["measure"]: result for result in found}


def render(page: str, results: Results) -> str:
    """The page with every marked table written anew."""

    def table(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- {name} -->\n{TABLES[name](results) or NOTHING}\n<!-- /{name} -->"

    return _MARKED.sub(table, page)


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows] if rows else []
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def goals(results: Results) -> str:
    """Every goal that has been measured, and by how much it is missed."""
    rows = []
    for goal in GOALS:
        value = results.get(goal.measure, {}).get("figures", {}).get(goal.figure)
        if value is not None:
            rows.append([goal.what, f"`{goal.measure}`", goal.limit, f"**{_number(value)}**", _verdict(goal, value)])
    return _markdown(["what", "measure", "goal", "measured", "met"], rows)


def _verdict(goal: Goal, value: float) -> str:
    if goal.met(value):
        return "yes"
    if not goal.bound:
        return "**no**"
    missed = f"{goal.missed_by(value):.2f} times"
    return f"**no**, {missed} the bound" if goal.at_most else f"**no**, the bound is {missed} as much"


def conditions(results: Results) -> str:
    """When and where each measure was taken."""
    rows = [
        [
            f"`{name}`",
            told["date"],
            told["system"],
            str(told["cores"]),
            ", ".join(told["processor flags"]),
            told["backend"],
            _number(told["load before"]),
        ]
        for name, result in results.items()
        for told in [result["conditions"]]
    ]
    return _markdown(["measure", "date", "system", "cores", "processor", "backend", "load before"], rows)


def _figures_of(*names: str) -> Callable[[Results], str]:
    """All figures of some measures, as they are called in the JSON."""

    def table(results: Results) -> str:
        rows = [
            [label.replace("_", " "), _number(value)]
            for name in names
            for label, value in results.get(name, {}).get("figures", {}).items()
        ]
        return _markdown(["figure", "value"], rows)

    return table


def growth(results: Results) -> str:
    """The figures, and a link to each plot of what has been measured."""
    parts = [_figures_of("library", "shelf")(results)]
    parts += [
        f"![{plot.title}: milliseconds by {plot.grows}]({RESULTS.name}/{name}.svg)"
        for name, plot in PLOTS.items()
        if name in results
    ]
    return "\n\n".join(filter(None, parts))


def peers(results: Results) -> str:
    """A row a peer: the same work, the least work, each beside ours in the same rounds, and its memory."""
    figures = results.get("peers", {}).get("figures", {})
    rows = []
    for name in RETRIEVERS:
        cells = [
            _number(figures[figure]) if (figure := f"{name}_{work}_{kind}") in figures else "–"
            for work in ("same_work", "least_work")
            for kind in ("ms", "worldbook_beside_it_ms", "times_worldbook", "mb_a_book")
        ]
        if set(cells) != {"–"}:
            rows.append([name.replace("_", " "), *cells])
    columns = ("ms", "ours", "times ours", "MB a book")
    head = ["peer", *(f"{work}: {column}" for work in ("same work", "least work") for column in columns)]
    ours = [[name.replace("_", " "), _number(figures[name])] for name in _MEMORY_BESIDE_PEERS if name in figures]
    return "\n\n".join(filter(None, [_markdown(head, rows), _markdown(["memory of a book", "value"], ours)]))


TABLES: Mapping[str, Callable[[Results], str]] = {
    "goals": goals,
    "conditions": conditions,
    "retrieve": _figures_of("retrieve"),
    "match": _figures_of("match"),
    "embed": _figures_of("embed"),
    "serve": _figures_of("serve"),
    "growth": growth,
    "change": _figures_of("change", "start"),
    "memory": _figures_of("memory"),
    "peers": peers,
    "load": _figures_of("saturate", "steady"),
    "batching": _figures_of("batching"),
    "overload": _figures_of("overload"),
}


def write(page: Path, folder: Path) -> None:
    """Write the page, and the plots into the folder with the JSON."""
    results = read_results(folder)
    page.write_text(render(page.read_text("utf-8"), results), "utf-8")
    for name in PLOTS.keys() & results.keys():
        draw(PLOTS[name], results[name]["figures"], folder / f"{name}.svg")


if __name__ == "__main__":
    write(PAGE, RESULTS)
