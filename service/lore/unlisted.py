"""The entries that an answer does not tell of one by one: one reason code for each (SPEC C7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.lore.activation.lorebooks import Lorebooks
from service.lore.reasons import Status
from service.lore.shelf import Shelf
from service.lore.tracing import Tracer


@dataclass(frozen=True, kw_only=True)
class Unlisted:
    """Entries of one book, alike in status and kind of reason."""

    status: Status
    reason: str
    book: str
    runs: tuple[tuple[int, int], ...]
    """Entry ids that follow each other, as their first and last."""


def unlisted(tracer: Tracer, lorebooks: Lorebooks) -> Iterator[Unlisted]:
    """Every entry that is neither in a section or a lorebook's text, nor among those over a budget."""
    for status, reason, places in _of_shelf(tracer):
        yield from _by_book(tracer.shelf, status, reason, places)
    yield from _of_lorebooks(lorebooks)


def _of_shelf(tracer: Tracer) -> Iterator[tuple[Status, str, NDArray[np.int64]]]:
    """Places in groups."""
    left = [place for place in tracer.volatile.left if place not in tracer.full]
    for place in left:
        status = tracer.status(place)
        yield status, tracer.reason(place, status).kind, np.array([place])
    for status, reason, which in tracer.alike():
        yield status, reason, np.flatnonzero(which)


def _by_book(shelf: Shelf, status: Status, reason: str, places: NDArray[np.int64]) -> Iterator[Unlisted]:
    for number, book in enumerate(shelf.books):
        own = shelf.of(number)
        first, last = np.searchsorted(places, [own.start, own.stop])
        if first < last:
            ids = book.open.text.ids[places[first:last] - own.start]
            yield Unlisted(status=status, reason=reason, book=book.open.text.book.id, runs=_runs(ids))


def _of_lorebooks(lorebooks: Lorebooks) -> Iterator[Unlisted]:
    found: dict[tuple[Status, str, str], list[int]] = {}
    for book, entry, status, reason in lorebooks.unlisted():
        found.setdefault((status, reason, book), []).append(entry)
    for (status, reason, book), ids in found.items():
        yield Unlisted(status=status, reason=reason, book=book, runs=_runs(np.array(ids)))


def _runs(ids: NDArray[np.int64]) -> tuple[tuple[int, int], ...]:
    last = np.flatnonzero(ids[1:] - ids[:-1] != 1).tolist()
    firsts, lasts = [0, *(place + 1 for place in last)], [*last, len(ids) - 1]
    return tuple(zip(ids[firsts].tolist(), ids[lasts].tolist(), strict=True))
