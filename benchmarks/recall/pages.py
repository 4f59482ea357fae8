"""Writes the tables of docs/recall.md from the JSON in docs/recall, between markers such as `<!-- goals -->`.

python -m benchmarks.recall.pages
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.recall.report import number

FOLDER = Path(__file__).parents[2] / "docs"
PAGE = FOLDER / "recall.md"
_MARKED = re.compile(r"<!-- (?P<name>[a-z-]+) -->\n.*?<!-- /(?P=name) -->", re.DOTALL)

Figures = Mapping[str, Any]


def render(page: str, figures: Callable[[str], Figures]) -> str:
    """The page with every marked table written anew; `figures` reads a JSON file by its name."""

    def table(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- {name} -->\n{TABLES[name](figures)}\n<!-- /{name} -->"

    return _MARKED.sub(table, page)


def read_figures(name: str) -> Figures:
    """A file of docs/recall."""
    figures: Figures = json.loads((FOLDER / "recall" / f"{name}.json").read_text("utf-8"))
    return figures


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(value: Any) -> str:
    if isinstance(value, float | int) and value >= 100:
        return f"{value:.0f}"
    return number(value) if isinstance(value, float | int) or value is None else str(value)


def goals(figures: Callable[[str], Figures]) -> str:
    """Every figure of every goal."""
    rows = []
    for row in figures("goals")["goals"]:
        sign = "≤" if row["less"] else "≥"
        met = {"no": "**no**", "floor": "yes", "ambitious": "ambitious"}[row["met"]]
        rows.append(
            [
                row["goal"],
                row["what"],
                row["figure"],
                number(row["bare"]),
                f"**{number(row['ours'])}**",
                f"{sign} {number(row['floor'])}",
                f"{sign} {number(row['ambitious'])}",
                met,
            ]
        )
    return _markdown(["goal", "what", "figure", "bare model", "chain", "release", "ambitious", "met"], rows)


_STEP_COLUMNS = (
    ("XQuAD, same language", "R@1", "same R@1"),
    ("XQuAD, same language", "R@5", "R@5"),
    ("XQuAD, cross-language", "R@1", "cross R@1"),
    ("XQuAD, cross-language", "R@5", "R@5"),
    ("XQuAD, cross-language", "MRR@10", "MRR@10"),
    ("mixed book, own language", "R@1", "mixed own R@1"),
    ("mixed book, another language", "R@1", "mixed other R@1"),
    ("mixed book, another language", "R@5", "R@5"),
)


def steps(figures: Callable[[str], Figures]) -> str:
    """Each step added to those before it, on XQuAD."""
    rows = [row for rows in figures("runs")["runs"] for row in rows if "data" in row]
    found = {(row["data"], row["system"]): row for row in rows}
    systems = [system for data, system in found if data == _STEP_COLUMNS[0][0]]
    table = [[system, *(number(found[data, system][key]) for data, key, _ in _STEP_COLUMNS)] for system in systems]
    return _markdown(["step", *(title for _, _, title in _STEP_COLUMNS)], table)


def _rows_of(file: str, key: str) -> Callable[[Callable[[str], Figures]], str]:
    def table(figures: Callable[[str], Figures]) -> str:
        rows = figures(file)[key]
        return _markdown(list(rows[0]), [[_plain(value) for value in row.values()] for row in rows])

    return table


def lore(figures: Callable[[str], Figures]) -> str:
    """Our lore set, kind by kind."""
    rows = next(rows for rows in figures("runs")["runs"] if "paraphrase R@8" in rows[0])
    return _markdown(list(rows[0]), [[_plain(value) for value in row.values()] for row in rows])


def pairs(figures: Callable[[str], Figures]) -> str:
    """R@5 of the chain by chat and book language, the bare model's in parentheses."""
    split = {tuple(row["pair"].split(" → ")): row for row in figures("pairs")["pairs"]}
    chats, books = (list(dict.fromkeys(pair[side] for pair in split)) for side in (0, 1))
    rows = []
    for chat in chats:
        cells = [split[chat, book] for book in books]
        rows.append([chat, *(f"{cell['R@5']:.2f} ({cell['bare']:.2f})" for cell in cells)])
    return _markdown(["chat", *books], rows)


def second_model(figures: Callable[[str], Figures]) -> str:
    """Another model on English questions and on our lore set, bare and with the chain."""
    rows = [row for rows in figures("second-model")["runs"] for row in rows]
    keys = ("data", "system", "asks", "R@1", "R@5", "MRR@10", "nDCG@10")
    return _markdown(keys, [[_plain(row[key]) for key in keys] for row in rows])


TABLES: Mapping[str, Callable[[Callable[[str], Figures]], str]] = {
    "goals": goals,
    "steps": steps,
    "lore": lore,
    "ablation": _rows_of("ablation", "ablation"),
    "lore-ablation": _rows_of("ablation", "lore ablation"),
    "budget": _rows_of("budget", "budget"),
    "pairs": pairs,
    "served": _rows_of("served", "served"),
    "cost": _rows_of("cost", "cost"),
    "second-model": second_model,
}


def main() -> None:
    """Write the page."""
    PAGE.write_text(render(PAGE.read_text("utf-8"), read_figures), "utf-8")


if __name__ == "__main__":
    main()
