"""How times grow, drawn from the JSON in docs/performance as SVG beside it. The same figures give the same bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from benchmarks.speed.size import Figures

_GREY = "#808890"
"""Of axes and letters: readable on white and on black, since the plots have no background of their own."""
_COLOURS = ("#2f81f7", "#d9730d", "#9a6dd7", "#2da44e")
_STYLE = {
    "svg.hashsalt": "worldbook",  # ids of parts, else drawn by chance
    "svg.fonttype": "none",  # letters as letters
    "font.family": "sans-serif",
    "text.color": _GREY,
    "axes.labelcolor": _GREY,
    "axes.edgecolor": _GREY,
    "xtick.color": _GREY,
    "ytick.color": _GREY,
    "grid.color": _GREY,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
}

Points = Sequence[tuple[int, float]]


@dataclass(frozen=True, kw_only=True)
class Plot:
    """Lines of one measure."""

    title: str
    grows: str
    """What is counted from left to right."""
    lines: Mapping[str, str]
    """What each line is called to a pattern of the names of its figures, with the count as its group."""
    logarithmic: bool = False
    """Whether milliseconds too are drawn by their powers; otherwise from zero."""

    def points(self, figures: Figures) -> dict[str, Points]:
        """(count, milliseconds) of each line, by count; a line without figures is left out."""
        found = {
            name: sorted(
                (int(match[1]), value) for figure, value in figures.items() if (match := re.fullmatch(pattern, figure))
            )
            for name, pattern in self.lines.items()
        }
        return {name: points for name, points in found.items() if points}


PLOTS: Mapping[str, Plot] = {
    "library": Plot(
        title="A retrieval over three books as the store grows",
        grows="books in the store",
        lines={"books are open": r"hot_(\d+)_books_ms", "books are opened": r"cold_(\d+)_books_ms"},
    ),
    "shelf": Plot(
        title="A retrieval as the attached books grow",
        grows="entries attached",
        lines={"retrieval": r"retrieve_(\d+)_entries_ms"},
        logarithmic=True,
    ),
    "match": Plot(
        title="Finding names in 20 kB",
        grows="aliases",
        lines={
            "prose": r"match_(\d+)_ms",
            "prose, the bare scan": r"bare_(\d+)_ms",
            "words like names": r"match_(\d+)_words_like_names_ms",
        },
    ),
}
"""By measure."""


def told(points: Mapping[str, Points]) -> str:
    """The points in words, which the plot carries as its description."""
    return "; ".join(
        f"{name}: {', '.join(f'{count} {milliseconds:.4g} ms' for count, milliseconds in line)}"
        for name, line in points.items()
    )


def draw(plot: Plot, figures: Figures, path: Path) -> None:
    """Write the plot as SVG."""
    points = plot.points(figures)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.add_subplot(xlabel=plot.grows, ylabel="milliseconds", xscale="log", title=plot.title)
        for (name, line), colour in zip(points.items(), _COLOURS, strict=False):
            axes.plot(*zip(*line, strict=True), "o-", color=colour, label=name)
        if plot.logarithmic:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:,g}")
            axes.yaxis.set_minor_formatter(NullFormatter())
        else:
            axes.set_ylim(bottom=0)
        axes.set_xticks(counts := sorted({count for line in points.values() for count, _ in line}))
        axes.set_xticklabels(f"{count:,}" for count in counts)
        axes.xaxis.minorticks_off()
        axes.grid()
        if len(points) > 1:
            axes.legend(frameon=False)
        metadata = {"Title": plot.title, "Description": told(points), "Date": None, "Creator": None}
        figure.savefig(path, format="svg", transparent=True, metadata=metadata)
