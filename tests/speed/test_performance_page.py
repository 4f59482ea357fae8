"""The page of performance and the figures that it is made from."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.load.__main__ import COMMANDS
from benchmarks.speed import pages
from benchmarks.speed.__main__ import MEASURES
from benchmarks.speed.plots import PLOTS, draw, told
from benchmarks.speed.results import RESULTS

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
        assert name in MEASURES or name in COMMANDS


def described(path: Path) -> str | None:
    return ElementTree.parse(path).findtext(".//{http://purl.org/dc/elements/1.1/}description")


def test_the_plots_are_drawn_from_the_figures() -> None:
    """The page shows a plot of each measure of growth that has been taken, which tells the points of its JSON."""
    results = pages.read_results()
    shown = re.findall(r"!\[[^\]]+\]\(performance/(.+)\.svg\)", pages.PAGE.read_text("utf-8"))
    assert shown == [name for name in PLOTS if name in results]
    assert set(shown) == {path.stem for path in RESULTS.glob("*.svg")}
    for name in shown:
        assert described(RESULTS / f"{name}.svg") == told(PLOTS[name].points(results[name]["figures"]))


FIGURES = {
    "library": {f"{how}_{books}_books_ms": books / 7 for how in ("hot", "cold") for books in (10, 100, 10_000)},
    "shelf": {f"retrieve_{entries}_entries_ms": entries / 7 for entries in (10, 100_000)},
    "match": {f"match_{count}_ms": count / 7 for count in (100_000, 100)}
    | {"match_10000_alone_ms": 1.0, "growth": 2.0},
}


@pytest.mark.parametrize("name", sorted(PLOTS))
def test_a_plot(name: str, tmp_path: Path) -> None:
    """The same figures give the same file, other ones another; points go from few to many."""
    figures = FIGURES[name]
    files = [tmp_path / f"{number}.svg" for number in range(3)]
    for path, drawn in zip(files, (figures, figures, {**figures, next(iter(figures)): 5.0}), strict=True):
        draw(PLOTS[name], drawn, path)
    first, again, other = (path.read_bytes() for path in files)
    assert first == again != other
    assert b"2026-" not in first
    assert PLOTS[name].grows.encode() in first
    for line in PLOTS[name].points(figures).values():
        counts = [count for count, _ in line]
        assert counts == sorted(counts)
        assert [milliseconds for _, milliseconds in line] == [count / 7 for count in counts]


def test_plots_and_page_are_written(tmp_path: Path) -> None:
    """The command writes the page, and a plot for what has been measured."""
    page = tmp_path / "performance.md"
    page.write_text("<!-- growth -->\n<!-- /growth -->\n")
    result = {"measure": "shelf", "tiny": False, "conditions": CONDITIONS, "figures": FIGURES["shelf"]}
    (tmp_path / "shelf.json").write_text(json.dumps(result))
    pages.write(page, tmp_path)
    assert "(performance/shelf.svg)" in page.read_text()
    assert [path.name for path in tmp_path.glob("*.svg")] == ["shelf.svg"]
    assert described(tmp_path / "shelf.svg") == "retrieval: 10 1.429 ms, 100000 1.429e+04 ms"


def test_peers_stand_beside_ours() -> None:
    """A row for each peer that was there, with both kinds of work; a row of what was judged, on the same work."""
    figures = {
        "txtai_same_work_ms": 610.0,
        "txtai_same_work_worldbook_beside_it_ms": 10.0,
        "txtai_same_work_times_worldbook": 61.0,
        "txtai_least_work_ms": 5.0,
        "txtai_least_work_times_worldbook": 0.5,
        "txtai_least_work_mb_a_book": 7.5,
        "vectors_and_texts_of_worldbook_mb": 3.375,
        "leanest_peer_mb": 7.5,
        "vectors_and_texts_over_the_leanest_peer": 0.45,
    }
    results = {"peers": {"conditions": CONDITIONS, "figures": figures}}
    table = pages.peers(results).splitlines()
    assert [len(line.split("|")) for line in table[:3]] == [11] * 3
    assert table[2] == "| txtai | 610 | 10 | 61 | – | 5 | – | 0.5 | 7.5 |"
    assert table[-2:] == ["| vectors and texts of worldbook mb | 3.38 |", "| leanest peer mb | 7.5 |"]
    judged = pages.goals(results)
    assert "| txtai hybrid over ours, on the same work | `peers` | ≥ 50 | **61** | yes |" in judged
    assert "one vector an entry | `peers` | ≤ 0.5 | **0.45** | yes |" in judged


def test_goals_under_load() -> None:
    """Errors, the tail and memory at half of saturation, and what batches gain, are judged."""
    figures = {"errors": 3.0, "p95_over_p50": 2.0, "memory_growth": 1.2}
    judged = pages.goals({"steady": {"figures": figures}, "batching": {"figures": {"batching_gains": 1.6}}})
    assert "| errors at half of saturation | `steady` | ≤ 0 | **3** | **no** |" in judged
    assert "| ≤ 3 | **2** | yes |" in judged
    assert "| ≤ 1.05 | **1.2** | **no**, 1.14 times the bound |" in judged
    assert "| `batching` | ≥ 1 | **1.6** | yes |" in judged
    judged = pages.goals({"batching": {"figures": {"batching_gains": 0.8}}})
    assert "| ≥ 1 | **0.8** | **no**, the bound is 1.25 times as much |" in judged


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
