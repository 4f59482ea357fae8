"""One process under load.

    python -m benchmarks.load saturate    8 min   the rate at which it can no longer keep up
    python -m benchmarks.load steady     45 min   20,000 requests at half of that rate
    python -m benchmarks.load batching    4 min   throughput with and without batches of concurrent query embeddings
    python -m benchmarks.load overload    1 min   twice the rate of saturation: who is refused, and how quickly

Twenty books of 300 entries, the more popular ones more often, three a request; 50 conversations of which a request
sends the last six messages, about 4 kB of prose. Each request is the next turn: it brings the model's last reply and
what the user says to it. Options choose the number of books, the words of messages, and with --share-new less than 1
how many requests repeat a turn instead. Model and backend are those of the settings. --into writes COMMAND.json into a
folder; `steady` and `overload` read the rate from saturate.json there, or take --rate. --tiny shows that it works.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.conditions import conditions
from benchmarks.load.plan import Work, bodies, opening
from benchmarks.load.runs import Run, closed_run, open_run
from benchmarks.server import Served, serving, wait_until_ready
from benchmarks.speed import results
from benchmarks.speed.library import fill
from benchmarks.speed.size import Figures
from service.actions.loading import load_embedder
from service.settings import Settings

CALLERS = 16
"""Twice as many would wait for the model for longer than WORLDBOOK_EMBED_TIMEOUT on two cores."""
FEW_CALLERS = 4
"""With whole new chats."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """The defaults are what the goals are about."""

    books: int = 20
    entries: int = 300
    conversations: int = 50
    probe: int = 1_500
    """Requests that measure throughput."""
    step_seconds: float = 30.0
    alone: int = 300
    """Requests one at a time, to see what the messages themselves take."""
    steady: int = 20_000
    batching: int = 400


TINY = Size(books=3, entries=8, conversations=4, probe=20, step_seconds=0.5, alone=5, steady=30, batching=6)
STEPS = (0.6, 0.75, 0.9, 1.0, 1.1, 1.2, 1.35)
"""Of the throughput of callers who never pause."""


@dataclass(frozen=True)
class Prepared:
    """A filled database with a model's vectors."""

    size: Size
    work: Work
    environment: Mapping[str, str]


@contextmanager
def _prepared(size: Size, chosen: Mapping[str, Any]) -> Iterator[Prepared]:
    space = load_embedder(Settings()).space
    with TemporaryDirectory() as folder:
        ids = fill(Path(folder), space, [size.entries] * size.books)
        work = Work(books=ids, conversations=size.conversations, **chosen)
        yield Prepared(size, work, {"WORLDBOOK_DATA_DIR": folder})


@contextmanager
def _service(prepared: Prepared, module: str = "service.cli") -> Iterator[Served]:
    with serving(prepared.environment, module=module) as served:
        wait_until_ready(served.client)
        closed_run(served, bodies(prepared.work, 10 * len(prepared.work.books), seed=1), callers=2)
        yield served


def _open(served: Served, work: Work, count: int, rate: float, seed: int) -> Run:
    """At a fixed rate, of conversations that the service has seen: it never meets all of its chats at once."""
    closed_run(served, opening(work, seed), FEW_CALLERS)
    return open_run(served, bodies(work, count, seed), rate, seed)


def saturate(prepared: Prepared, _: float | None) -> Figures:
    """Throughput of callers who never pause, then rising rates until one is too high."""
    size = prepared.size
    with _service(prepared) as served:
        closed_run(served, opening(prepared.work, seed=2), FEW_CALLERS)
        throughput = closed_run(served, bodies(prepared.work, size.probe, seed=2), CALLERS).per_second
        figures: Figures = {"closed_loop_per_second": throughput, "saturation_per_second": 0.0}
        for number, step in enumerate(STEPS):
            rate = step * throughput
            count = max(10, int(rate * size.step_seconds))
            run = _open(served, prepared.work, count, rate, seed=10 + number)
            figures |= {f"at_{step:g}_p50_ms": run.percentile(50), f"at_{step:g}_p95_ms": run.percentile(95)}
            if not run.holds():
                break
            figures["saturation_per_second"] = rate
    return figures


def steady(prepared: Prepared, rate: float | None) -> Figures:
    """Many requests at half of saturation: percentiles, errors, and memory over time; a few one at a time before."""
    assert rate is not None
    half = rate / 2
    with _service(prepared) as served:
        closed_run(served, opening(prepared.work, seed=5), FEW_CALLERS)
        alone = closed_run(served, bodies(prepared.work, prepared.size.alone, seed=5), callers=1)
        run = _open(served, prepared.work, prepared.size.steady, half, seed=3)
    memory = [mb for _, mb in run.memory]
    fifth = max(1, len(memory) // 5)
    early, late = memory[fifth : 2 * fifth] or memory[:1], memory[-fifth:]
    return {
        **_told(run),
        "one_at_a_time_p50_ms": alone.percentile(50),
        "one_at_a_time_p95_ms": alone.percentile(95),
        "rate_per_second": half,
        "memory_of_the_second_fifth_mb": sum(early) / len(early),
        "memory_of_the_last_fifth_mb": sum(late) / len(late),
        "memory_growth": (sum(late) / len(late)) / (sum(early) / len(early)),
    }


def overload(prepared: Prepared, rate: float | None) -> Figures:
    """Twice the rate of saturation for a while."""
    assert rate is not None
    count = max(10, int(2 * rate * prepared.size.step_seconds))
    with _service(prepared) as served:
        run = _open(served, prepared.work, count, 2 * rate, seed=4)
        refusals = [1000 * seconds for _, seconds, status, _ in run.results if status == 503]
        health = served.client.get("/healthz").status_code
    return {
        **_told(run),
        "rate_per_second": 2 * rate,
        "share_refused": run.refused / count,
        "longest_refusal_ms": max(refusals, default=0.0),
        "healthz_after": float(health),
    }


def batching(prepared: Prepared, _: float | None) -> Figures:
    """Callers with new turns only, in turn against a service that batches and one that does not."""
    work = replace(prepared.work, share_new=1.0)
    rates: dict[str, list[float]] = {"batched": [], "unbatched": []}
    with ExitStack() as stack:
        served = {
            "batched": stack.enter_context(_service(prepared)),
            "unbatched": stack.enter_context(_service(prepared, "benchmarks.load.unbatched")),
        }
        for turn in range(3):
            for number, (name, service) in enumerate(served.items()):
                planned = bodies(work, prepared.size.batching, seed=100 + 2 * turn + number)
                rates[name].append(closed_run(service, planned, CALLERS).per_second)
    middle = {name: sorted(found)[len(found) // 2] for name, found in rates.items()}
    return {
        "batched_per_second": middle["batched"],
        "unbatched_per_second": middle["unbatched"],
        "batching_gains": middle["batched"] / middle["unbatched"],
    }


def _told(run: Run) -> Figures:
    return {
        "requests": float(len(run.results)),
        "errors": float(run.errors),
        "answered_per_second": run.per_second,
        "p50_ms": run.percentile(50),
        "p95_ms": run.percentile(95),
        "p99_ms": run.percentile(99),
        "p99.9_ms": run.percentile(99.9),
        "p95_over_p50": run.percentile(95) / run.percentile(50),
    }


COMMANDS: Mapping[str, Callable[[Prepared, float | None], Figures]] = {
    "saturate": saturate,
    "steady": steady,
    "batching": batching,
    "overload": overload,
}
NEED_RATE = ("steady", "overload")
CHOICES = ("share_new", "user_words", "reply_words")
"""Fields of `Work` that have an option."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, print and write what it measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=list(COMMANDS))
    parser.add_argument("--into", type=Path, help="write COMMAND.json into this folder")
    parser.add_argument("--rate", type=float, help="saturation in requests a second, instead of saturate.json")
    parser.add_argument("--requests", type=int, help="of `steady`, instead of 20,000")
    parser.add_argument("--books", type=int, help="in the store, instead of 20")
    parser.add_argument(
        "--share-new", type=float, default=argparse.SUPPRESS, help="of requests: the next turn of a chat"
    )
    for name in ("user", "reply"):
        low, high = getattr(Work, f"{name}_words")
        parser.add_argument(
            f"--{name}-words",
            type=int,
            nargs=2,
            default=argparse.SUPPRESS,
            metavar=("FEWEST", "MOST"),
            help=f"of a message, short ones more often, instead of {low} {high}",
        )
    parser.add_argument("--tiny", action="store_true", help="so little that it only shows that it works")
    options = parser.parse_args(arguments)
    known = results.read_figures(options.into or results.RESULTS, "saturate") or {}
    rate = options.rate or known.get("saturation_per_second")
    if options.command in NEED_RATE and not rate:
        parser.error("no rate is known: run `saturate --into FOLDER` first, or give --rate")
    around = conditions()
    size = TINY if options.tiny else Size()
    size = replace(size, books=options.books or size.books, steady=options.requests or size.steady)
    chosen = {name: value for name, value in vars(options).items() if name in CHOICES}
    with _prepared(size, chosen) as prepared:
        figures = COMMANDS[options.command](prepared, rate)
    results.show(options.command, figures)
    if options.into:
        results.write(options.into, options.command, figures, tiny=options.tiny, around=around)
    return 0


if __name__ == "__main__":
    sys.exit(main())
