"""The page of performance and the figures that it is made from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.speed import pages
from benchmarks.speed.__main__ import MEASURES

CONDITIONS = {
    "date": "2026-11-30",
    "system": "Linux x86_64",
    "cores": 2,
    "processor flags": ["amx_bf16"],
    "backend": "torch",
    "load before": 0.1,
}


def test_the_page_is_made_of_the_figures() -> None:
    """docs/performance.md says what the JSON beside it says: `make docs` would change nothing."""
    page = pages.PAGE.read_text("utf-8")
    assert pages.render(page, pages.read_results()) == page
    assert set(re.findall(r"<!-- ([a-z-]+) -->", page)) == set(pages.TABLES)


def test_no_tiny_run_is_published() -> None:
    """What was measured with next to no work, to try a command, is not in docs/performance."""
    for name, result in pages.read_results().items():
        assert not result["tiny"], name
        assert name in MEASURES or name in {"saturate", "steady", "batching", "overload"}


def test_goals_are_judged(tmp_path: Path) -> None:
    """The page tells each goal with its bound, what was measured, and by how much it is missed."""
    for measure, figures in (("start", {"ready_seconds": 12.0, "help_seconds": 0.3}), ("steady", {"p50_ms": 1234.4})):
        result = {"measure": measure, "tiny": False, "conditions": CONDITIONS, "figures": figures}
        (tmp_path / f"{measure}.json").write_text(json.dumps(result))
    names = ("goals", "conditions", "load", "memory")
    empty = "".join(f"<!-- {name} -->\nold\n<!-- /{name} -->\n" for name in names)
    page = pages.render(empty, pages.read_results(tmp_path))
    assert (
        "| start to ready with the default model, seconds | `start` | ≤ 8 | **12** | **no**, 1.50 times the bound |"
        in page
    )
    assert "| `worldbook --help`, seconds | `start` | ≤ 0.4 | **0.3** | yes |" in page
    assert "| p50 ms | 1,234 |" in page
    assert page.count("| `start` | 2026-11-30 | Linux x86_64 | 2 | amx_bf16 | torch | 0.1 |") == 1
    assert page.count(pages.NOTHING) == 1
    assert "old" not in page


@pytest.mark.parametrize("name", sorted(pages.TABLES))
def test_without_figures_a_table_holds_none(name: str) -> None:
    """What has not been measured shows no figures."""
    assert (
        pages.render(f"<!-- {name} -->\n<!-- /{name} -->", {}) == f"<!-- {name} -->\n{pages.NOTHING}\n<!-- /{name} -->"
    )
