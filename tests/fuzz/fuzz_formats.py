"""Mutated files of every format through every reader and writer: `make fuzz`, or `python -m tests.fuzz.fuzz_formats`.

Each input is a sample of tests/formats/samples with a few faults; input N of a seed is always the same, and
`--only N` runs it alone. Asserted: nothing but errors of the domain comes out; what is read is a valid book that every
writer takes and every reader reads again with as many entries; an input takes at most two seconds of the processor,
and, measured on some, 64 MB of memory.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from service.formats import WRITTEN, losses, read, write
from service.lore.book import Book
from service.lore.errors import WorldbookError
from service.validation import dump, validate
from tests.formats.samples import SAMPLES
from tests.formats.samples.sample import Sample
from tests.fuzz.mutating import mutated_bytes, mutated_json

SECONDS = 2.0
BYTES = 64_000_000
_TAKEN_FOR = {
    "sillytavern": {"sillytavern", "chub"},
    "character_book_v2": {"character_book_v2", "character_book_v3"},
    "character_book_v3": {"character_book_v2", "character_book_v3"},
}
"""What a written file may be recognised as; an empty book may be anything's."""
MEASURED = 47
"""Memory is measured on one input in so many, since that is slow; a prime, so that every sample has its turn."""


@dataclass
class Figures:
    """What a run found."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By format of the sample, and `read` or the name of the error."""
    slowest: tuple[float, int] = (0.0, 0)
    """Seconds, and the number of the input."""
    largest: tuple[int, int] = (0, 0)
    """Bytes, and the number of the input."""
    measured: int = 0
    faults: list[str] = field(default_factory=list)


def fuzz(numbers: Iterable[int], seed: int, figures: Figures) -> Figures:
    """Run these inputs; faults are collected, not raised."""
    for number in numbers:
        sample, data = make(number, seed)
        measuring = number % MEASURED == 0
        if measuring:
            tracemalloc.start()
        begun = time.thread_time()
        try:
            outcome = run(data)
        except Exception as error:  # whatever comes out that is not of the domain is what is looked for
            outcome = type(error).__name__
            figures.faults.append(f"input {number} ({sample}): {outcome}: {error!s:.200}")
        taken = time.thread_time() - begun
        if measuring:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            figures.measured += 1
            figures.largest = max(figures.largest, (peak, number))
            if peak > BYTES:
                figures.faults.append(f"input {number} ({sample}): {peak:,} bytes of memory")
        else:
            figures.slowest = max(figures.slowest, (taken, number))
            if taken > SECONDS:
                figures.faults.append(f"input {number} ({sample}): {taken:.2f} s")
        figures.outcomes[sample.format, outcome] += 1
    return figures


def make(number: int, seed: int) -> tuple[Sample, bytes]:
    """The input of this number: the samples take turns, and so do the two ways to mutate one."""
    chance = random.Random(f"{seed}:{number}")
    sample = SAMPLES[number % len(SAMPLES)]
    is_json = sample.inside.lstrip()[:1] in (b"{", b"[")
    if is_json and number // len(SAMPLES) % 2:
        return sample, sample.boxed(mutated_json(sample.inside, chance))
    return sample, mutated_bytes(sample.data, chance)


def run(data: bytes) -> str:
    """`read`, or the name of the domain error with which the file is refused."""
    try:
        found = read(data)
    except WorldbookError as error:
        return type(error).__name__
    if found.book is None:
        return "no book"
    book = replace(found.book, name=found.book.name or "Named")
    validate(Book, dump(book))
    assert len(found.places) == len(book.entries or ()), "each entry has a place"
    for format in WRITTEN:
        losses(book, format)
        again = read(write(book, format))
        assert len(again.book.entries or ()) == len(book.entries or ()), f"{format} loses entries"
        known = not book.entries or again.format.name in _TAKEN_FOR.get(format, {format})
        assert known, f"{format} is taken for {again.format.name}"
    return "read"


def told(figures: Figures, seed: int, seconds: float) -> Iterator[str]:
    """The figures, a line each."""
    count = figures.outcomes.total()
    yield f"{count:,} inputs from {len(SAMPLES)} samples, seed {seed}: {seconds:.0f} s, {count / seconds:.0f} a second"
    for format in sorted({format for format, _ in figures.outcomes}):
        row = {outcome: times for (of, outcome), times in sorted(figures.outcomes.items()) if of == format}
        yield f"  {format:<16} {sum(row.values()):>8,}  " + "  ".join(f"{name} {n:,}" for name, n in row.items())
    yield f"slowest: {figures.slowest[0] * 1000:.0f} ms of the processor (input {figures.slowest[1]})"
    largest, number = figures.largest
    yield f"most memory of {figures.measured:,} measured: {largest / 1e6:.1f} MB (input {number})"
    yield f"faults: {len(figures.faults)}"
    yield from figures.faults[:20]


def main() -> None:
    """The command; exits with 1 when there is a fault."""
    parser = argparse.ArgumentParser(description="Mutated files of every format through every reader and writer.")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="run this input alone, and print it")
    options = parser.parse_args()
    if options.only is not None:
        sys.stdout.write(f"{make(options.only, options.seed)[1]!r}\n{run(make(options.only, options.seed)[1])}\n")
        return
    begun = time.perf_counter()
    figures = fuzz(range(options.inputs), options.seed, Figures())
    for line in told(figures, options.seed, time.perf_counter() - begun):
        sys.stdout.write(f"{line}\n")
    sys.exit(bool(figures.faults))


if __name__ == "__main__":
    main()
