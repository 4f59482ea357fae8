"""Measure what a model and the chain around it find.

    python -m benchmarks.recall goals    --data FOLDER [--only G1,G6]          goals G1 to G14, one row a figure
    python -m benchmarks.recall run      --data FOLDER [--only lore,xquad]     data sets × systems
    python -m benchmarks.recall run      --data FOLDER --beir FOLDER           any folder in BEIR's layout
    python -m benchmarks.recall ablation --data FOLDER                         each step off in turn
    python -m benchmarks.recall budget   --data FOLDER [--plots FOLDER]        gold within N tokens, on our lore set
    python -m benchmarks.recall pairs    --data FOLDER [--plots FOLDER]        R@5 of every pair of languages
    python -m benchmarks.recall choose   --data FOLDER [--only floor,spelling] candidates, on the choosing half
    python -m benchmarks.recall served   --data FOLDER                         the whole service over HTTP beside it
    python -m benchmarks.recall cost     --data FOLDER                         time and memory, chain on and off

With `--model` any model that the service's setting `model` may name. Vectors are kept in the service's cache folder.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.datasets import MissingDataError
from benchmarks.recall import ablation, budget, choosing, cost, lore, plots, report, runs, served
from benchmarks.recall.bench import Bench
from benchmarks.recall.goals import GOALS
from benchmarks.recall.lab import Lab
from benchmarks.recall.systems import BARE, LITERAL, SERVED, WITHOUT
from benchmarks.recall.trials import Part
from benchmarks.recall.vectors import VectorStore
from embeddings import background, calibration
from embeddings.calibrating import calibrate
from embeddings.calibration import Calibration
from embeddings.embedder import Embedder, EmbedderError
from service.actions.calibrating import folder
from service.actions.loading import load_embedder
from service.settings import Settings

Report = dict[str, Any]


def make_lab(model: str | None, cache: Path | None = None) -> Lab:
    """The model as the service would load it, its constants, and what was embedded before. Raises EmbedderError."""
    settings = Settings() if model is None else Settings(model=model)
    embedder = load_embedder(settings)
    store = VectorStore(embedder, cache or settings.cache_dir)
    return Lab(store=store, calibration=_constants(embedder, settings))


def _constants(embedder: Embedder, settings: Settings) -> Calibration:
    """Those of the service; of a model that was never calibrated, measured now and kept beside its vectors."""
    found = calibration.found(embedder.space, folder(settings))
    kept = calibration.kept_in(settings.cache_dir, embedder.space)
    found = found or Calibration.load(kept, embedder.space)
    if found is None:
        found = calibrate(embedder, background.sentences())
        found.save(kept, embedder.space)
    return found


def goals(bench: Bench, options: argparse.Namespace) -> Report:
    """Every goal, or those named; each is printed when it is done."""
    rows = []
    for goal in _chosen({goal.id: goal for goal in GOALS}, options.only):
        found = report.goal_rows([(goal, goal.measure(bench))])
        report.show(report.goal_table(found))
        rows += found
    return {"goals": rows}


def run(bench: Bench, options: argparse.Namespace) -> Report:
    """Data sets by systems."""
    chosen = [runs.beir(options.beir)] if options.beir else _chosen(runs.DATA_SETS, options.only)
    return {"runs": [_shown(measure(bench)) for measure in chosen]}


def ablate(bench: Bench, options: argparse.Namespace) -> Report:
    """Each step off in turn, on XQuAD and on our lore set."""
    return {
        "ablation": _shown(ablation.ablation(bench)),
        "lore ablation": _shown(ablation.lore_rows(bench, (SERVED, *WITHOUT))),
    }


def budgets(bench: Bench, options: argparse.Namespace) -> Report:
    """Budget recall of our lore set."""
    trial = lore.trial(bench.part)
    rows: list[Report] = [
        {
            "system": system.name,
            "tokens": found.tokens,
            "in full": found.in_full,
            "or indexed": found.indexed,
            "used": found.used,
        }
        for system in (LITERAL, BARE, SERVED)
        for found in budget.budget_recall(bench.lab, system, trial)
    ]
    if options.plots:
        plots.budget_plot(rows, options.plots / "budget.png")
    return {"budget": _shown(rows)}


def pairs(bench: Bench, options: argparse.Namespace) -> Report:
    """R@5 of each pair of languages."""
    table, ours, bare = runs.heat_map(bench), runs.lore_pairs(bench), runs.heat_map(bench, BARE)
    rows: list[Report] = [{"pair": pair, "bare": bare[pair], "R@5": value} for pair, value in table.items()]
    if options.plots:
        plots.heat_plot({row["pair"]: row["R@5"] for row in rows}, options.plots / "pairs.png")
    lore_rows: list[Report] = [{"pair": pair, "R@5": value} for pair, value in ours.items()]
    return {"pairs": _shown(rows), "lore pairs": _shown(lore_rows)}


def choose(bench: Bench, options: argparse.Namespace) -> Report:
    """Candidates for each parameter."""
    names = options.only.split(",") if options.only else list(choosing.CHOICES)
    return {
        name: _shown(measure(bench))
        for name, measure in zip(names, _chosen(choosing.CHOICES, options.only), strict=True)
    }


def over_http(bench: Bench, options: argparse.Namespace) -> Report:
    """Our lore set through a real server, beside the same chain in process."""
    trial = lore.trial(bench.part)
    with served.serving(trial.corpus, bench.lab, options.model) as (client, book):
        results = served.run(client, book, trial)
    inside = bench.run(SERVED, trial, 8)
    rows = [
        {"system": name, **ablation.lore_figures(found)}
        for name, found in (("whole service over HTTP", results), ("the same chain in process", inside))
    ]
    same = sum(one.places == two.places for one, two in zip(results, inside, strict=True))
    return {"served": _shown(rows), "same answer": f"{same} of {len(results)}"}


def costs(bench: Bench, options: argparse.Namespace) -> Report:
    """Time and memory of a retrieve."""
    return {"cost": _shown(cost.cost())}


COMMANDS: Mapping[str, Callable[[Bench, argparse.Namespace], Report]] = {
    "goals": goals,
    "run": run,
    "ablation": ablate,
    "budget": budgets,
    "pairs": pairs,
    "choose": choose,
    "served": over_http,
    "cost": costs,
}


def _chosen(table: Mapping[str, Any], only: str | None) -> list[Any]:
    names = only.split(",") if only else list(table)
    if unknown := [name for name in names if name not in table]:
        raise SystemExit(f"--only {', '.join(unknown)}: known are {', '.join(table)}")
    return [table[name] for name in names]


def _shown(rows: list[Any]) -> list[Any]:
    report.show(report.rows_table(rows))
    return rows


def main() -> int:
    """Run one command; 2 when data or model are missing, 1 when a goal is not met."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recall", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds xquad/, xquad-r/, tatoeba/")
    parser.add_argument("--model", help="what the setting `model` may be (default: the service's)")
    parser.add_argument("--only", help="rows to measure, separated by commas")
    parser.add_argument("--part", choices=("choosing", "judging"), help="half of the data to read")
    parser.add_argument("--beir", type=Path, help="with run: a folder in BEIR's layout instead of the known data sets")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--plots", type=Path, help="write plots into this folder")
    options = parser.parse_args()
    part: Part = options.part or ("choosing" if options.command == "choose" else "judging")
    try:
        bench = Bench(make_lab(options.model), options.data, part)
        found = COMMANDS[options.command](bench, options)
    except (MissingDataError, EmbedderError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        space = asdict(bench.lab.store.embedder.space)
        found = {"model": space["model"], "revision": space["revision"], "part": part, **found}
        report.write_json(options.json, found)
    return int(any(row["met"] == "no" for row in found.get("goals", ())))


if __name__ == "__main__":
    sys.exit(main())
