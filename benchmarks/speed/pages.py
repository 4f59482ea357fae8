"""Writes the tables of docs/performance.md from the JSON in docs/performance, between markers such as `<!-- goals -->`.

python -m benchmarks.speed.pages
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.speed.goals import GOALS, Goal
from benchmarks.speed.results import RESULTS

PAGE = RESULTS.with_suffix(".md")
NOTHING = "Not measured yet."
_MARKED = re.compile(r"<!-- (?P<name>[a-z-]+) -->\n.*?<!-- /(?P=name) -->", re.DOTALL)

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
    missed = goal.missed_by(value) if goal.bound else value
    return f"**no**, {missed:.2f} times the bound"


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


TABLES: Mapping[str, Callable[[Results], str]] = {
    "goals": goals,
    "conditions": conditions,
    "retrieve": _figures_of("retrieve"),
    "match": _figures_of("match"),
    "embed": _figures_of("embed"),
    "serve": _figures_of("serve"),
    "growth": _figures_of("library", "shelf"),
    "change": _figures_of("change", "start"),
    "memory": _figures_of("memory"),
    "peers": _figures_of("peers"),
    "load": _figures_of("saturate", "steady"),
    "batching": _figures_of("batching", "overload"),
}


def main() -> None:
    """Write the page."""
    PAGE.write_text(render(PAGE.read_text("utf-8"), read_results()), "utf-8")


if __name__ == "__main__":
    main()
