"""Figures as JSON, and as tables on the terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.recall.goals import Goal
from benchmarks.recall.measures import Measured

_MET = {"no": "NO", "floor": "yes", "ambitious": "yes, ambitious"}


def goal_rows(measured: Sequence[tuple[Goal, Measured]]) -> list[dict[str, Any]]:
    """One row a figure."""
    return [
        {
            "goal": goal.id,
            "what": goal.what,
            "figure": figure.name,
            "asks": found.asks,
            "bare": bare,
            "ours": ours,
            "raw e5": figure.raw,
            "seen": figure.seen,
            "floor": figure.floor,
            "ambitious": figure.ambitious,
            "less": figure.less,
            "met": figure.reached(ours),
            "detail": found.detail if number == 0 else {},
        }
        for goal, found in measured
        for number, (figure, ours, bare) in enumerate(zip(goal.figures, found.ours, found.bare, strict=True))
    ]


def goal_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The table that `goals` prints."""
    table = Table("goal", "what", "figure", "asks", "bare model", "seen", "ours", "floor", "ambitious", "met")
    for row in rows:
        sign = "≤" if row["less"] else "≥"
        table.add_row(
            row["goal"],
            row["what"],
            row["figure"],
            str(row["asks"]),
            number(row["bare"]),
            number(row["seen"]),
            number(row["ours"]),
            f"{sign} {number(row['floor'])}",
            f"{sign} {number(row['ambitious'])}",
            _MET[row["met"]],
        )
    return table


def number(value: float | None) -> str:
    """Three digits behind the point; a dash for nothing."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.3f}"


def rows_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Any rows of the same keys as a table."""
    table = Table(*(str(key) for key in rows[0]))
    for row in rows:
        table.add_row(*(number(value) if isinstance(value, float) else str(value) for value in row.values()))
    return table


def write_json(path: Path, report: Mapping[str, Any]) -> None:
    """Rounded to five digits, so that the file does not change with the last bits of a sum; nan becomes null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(_plain(report), indent=1, ensure_ascii=False) + "\n", "utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else round(value, 5)
    return value


def show(table: Table) -> None:
    """Print it, wide enough for every column where nobody reads along."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=180)
    console.print(table)
