"""Plots of the figures: recall against the token budget, and R@5 of every pair of languages. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_COLOURS = {"literal only": "#999999", "bare vectors": "#cc7a29", "as served": "#2a6f97"}


def budget_plot(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Share of gold in full (solid) and at least indexed (dashed) by the budget, a colour a system."""
    figure, axes = _figure(7.0, 4.2)
    for system, colour in _COLOURS.items():
        mine = [row for row in rows if row["system"] == system]
        tokens = [row["tokens"] for row in mine]
        axes.plot(tokens, [row["in full"] for row in mine], "o-", color=colour, label=f"{system}, in full")
        axes.plot(tokens, [row["or indexed"] for row in mine], "o--", color=colour, alpha=0.6, label="… or indexed")
    axes.set_xscale("log", base=2)
    axes.set_xticks([row["tokens"] for row in rows], [str(row["tokens"]) for row in rows])
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("budget in tokens")
    axes.set_ylabel("share of gold entries")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    _save(figure, path)


def heat_plot(pairs: Mapping[str, float], path: Path) -> None:
    """R@5 by chat language (rows) and book language (columns)."""
    split = {tuple(name.split(" → ")): value for name, value in pairs.items()}
    chats, books = (list(dict.fromkeys(pair[side] for pair in split)) for side in (0, 1))
    figure, axes = _figure(1.6 + 0.75 * len(books), 1.2 + 0.36 * len(chats))
    table = [[split.get((chat, book), float("nan")) for book in books] for chat in chats]
    axes.imshow(table, cmap="RdYlGn", vmin=0.75, vmax=1.0, aspect="auto")
    for row, values in enumerate(table):
        for column, value in enumerate(values):
            if value == value:
                axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8)
    axes.set_xticks(range(len(books)), books)
    axes.set_yticks(range(len(chats)), chats)
    axes.set_xlabel("entry")
    axes.set_ylabel("chat")
    _save(figure, path)


def _figure(width: float, height: float) -> tuple[Any, Any]:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(width, height))
    return figure, figure.subplots()


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
