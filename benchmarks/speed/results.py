"""What a measure came to: printed, and kept as JSON beside the page that tells it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.speed.size import Figures

RESULTS = Path(__file__).parents[2] / "docs" / "performance"


def show(name: str, figures: Figures) -> None:
    """Print the figures of a measure."""
    table = Table(name, "")
    for label, value in figures.items():
        table.add_row(label, f"{value:.4g}")
    Console().print(table)


def write(folder: Path, name: str, figures: Figures, *, tiny: bool, around: Mapping[str, Any]) -> None:
    """Keep the figures, with the conditions under which they were taken, as NAME.json in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {"measure": name, "tiny": tiny, "conditions": around, "figures": figures}
    (folder / f"{name}.json").write_text(json.dumps(written, indent=1) + "\n", "utf-8")


def read_figures(folder: Path, name: str) -> Figures | None:
    """The figures that NAME.json in the folder holds; None without one."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    figures: Figures = json.loads(path.read_text("utf-8"))["figures"]
    return figures
