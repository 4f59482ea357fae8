"""The account of a retrieval: what became of each entry and book, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from service.lore.answer import IndexSection, Section, Sections
from service.lore.packing import Stable, Volatile, written_index
from service.lore.prompt import SectionTexts
from service.lore.ranking import Match, Ranking
from service.lore.reasons import (
    Canon,
    Disabled,
    Excluded,
    Matched,
    Named,
    NoRoom,
    OverBudget,
    Reason,
    Status,
    Unmatched,
    WholeBook,
)
from service.lore.request import Texts
from service.lore.shelf import Shelf
from service.lore.traces import BookTrace, EntryTrace, StatusCount, Went


class Tracer:
    """Gives each entry its one status and its one reason."""

    def __init__(
        self,
        shelf: Shelf,
        stable: Stable,
        volatile: Volatile,
        named: Mapping[int, tuple[Named, ...]],
        ranking: Ranking,
        *,
        texts: Texts,
    ) -> None:
        self.shelf = shelf
        self.stable = stable
        self.volatile = volatile
        self.named = named
        self.ranking = ranking
        self.texts = texts
        self.matches: dict[int, Match] = {match.place: match for match in ranking.matches}
        self.index = written_index(stable, volatile)
        self.full: dict[int, Status] = {}
        for status, places in (
            ("canon", stable.canon),
            ("whole", stable.whole),
            ("named", volatile.named),
            ("matched", volatile.matched),
        ):
            self.full.update(dict.fromkeys(places, status))  # type: ignore[arg-type]  # the four literals above
        self.lined = set(self.index.places.tolist())
        self.canon_place = {place: position for position, place in enumerate(stable.canon, start=1)}

    @cached_property
    def scores(self) -> dict[int, float]:
        """Place of each entry that was compared to its score, as it is told."""
        ranking = self.ranking
        return {
            place: round(score, 3)
            for place, score in zip(ranking.owners.tolist(), ranking.scores.tolist(), strict=True)
        }

    @cached_property
    def near(self) -> NDArray[np.bool_]:
        """Of every place, whether its entry was compared and is no lower than its floor."""
        near = np.zeros_like(self.shelf.open)
        near[self.ranking.owners[self.ranking.near]] = True
        return near

    @cached_property
    def floors(self) -> dict[int, float | None]:
        """Number of each book that was searched to its floor, as it is told."""
        return {number: None if floor is None else round(floor, 3) for number, floor in self.ranking.floors.items()}

    @cached_property
    def closed(self) -> dict[int, Status]:
        """Places of the entries that could not go in, and why."""
        places = np.flatnonzero(~self.shelf.open).tolist()
        return {place: "excluded" if self.shelf.enabled[place] else "disabled" for place in places}

    def status(self, place: int) -> Status:
        if place in self.full:
            return self.full[place]
        if place in self.closed:
            return self.closed[place]
        if place in self.stable.canon_left:
            return "canon_over_budget"
        if place in self.lined:
            return "indexed"
        if self.index.more:
            return "counted"
        return "cut" if place in self.volatile.left else "unmatched"

    def reason(self, place: int, status: Status) -> Reason:
        match status:
            case "indexed" | "counted" | "unmatched" | "cut":  # thousands, so they come first
                if (short := self.volatile.left.get(place)) is not None:
                    return OverBudget(budget="total", needed=short.needed, left=short.left)
                floor = self.floors.get(self.shelf.numbers[place])
                if self.near[place]:
                    return NoRoom(score=self.scores[place], floor=floor)
                return Unmatched(score=self.scores.get(place), floor=floor)
            case "canon":
                first = place == self.stable.canon[0]
                kept = first and self.stable.kept_over_budget
                return Canon(place=self.canon_place[place], kept_over_budget=kept)
            case "whole":
                return WholeBook()
            case "named":
                return self.named[place][0]
            case "matched":
                return self._matched(self.matches[place])
            case "disabled":
                return Disabled(by="entry" if self.shelf.book(place).open.text.book.enabled else "book")
            case "excluded":
                return Excluded()
            case "canon_over_budget":
                short = self.stable.canon_left[place]
                return OverBudget(budget="canon", needed=short.needed, left=short.left)
            case "activated" | "not_activated" | "out_of_scope":
                raise ValueError(f"{status} is for entries of lorebooks")

    def _matched(self, match: Match) -> Matched:
        return Matched(rank=match.rank, score=round(match.score, 3), strength=match.strength, message=match.message)

    def trace(self, place: int) -> EntryTrace:
        shelf = self.shelf
        number = shelf.numbers[place]
        book = shelf.books[number]
        text = book.open.text
        entry = text.entries[place - shelf.starts[number]]
        status = self.status(place)
        shown = self.texts == "entries" and place in self.full
        return EntryTrace(
            handle=entry.handle,
            id=entry.id,
            book=text.book.id,
            label=book.label,
            title=entry.title,
            status=status,
            tokens=shelf.tokens[place],
            text=shelf.block(place) if shown else None,
            reason=self.reason(place, status),
            hits=self.named.get(place, ()),
        )

    def counts(self) -> Counter[tuple[Status, str]]:
        """How many entries have each status and kind of reason, without a trace of each."""
        found: Counter[tuple[Status, str]] = Counter()
        for place in self._special:
            status = self.status(place)
            found[status, self.reason(place, status).kind] += 1
        for status, reason, which in self.alike():
            found[status, reason] += int(which.sum())
        return found

    def alike(self) -> Iterator[tuple[Status, str, NDArray[np.bool_]]]:
        """Those neither in full nor over a budget, by status and reason; thousands are told without a look at each."""
        shelf = self.shelf
        plain = shelf.open.copy()
        plain[list(self._special)] = False
        lined = np.zeros_like(plain)
        lined[self.index.places] = True
        rest: Status = "counted" if self.index.more else "unmatched"
        for reason, of_reason in (("no_room", plain & self.near), ("unmatched", plain & ~self.near)):
            yield "indexed", reason, of_reason & lined
            yield rest, reason, of_reason & ~lined
        yield "disabled", "disabled", ~shelf.enabled
        yield "excluded", "excluded", shelf.enabled & shelf.excluded

    @property
    def _special(self) -> set[int]:
        return {*self.full, *self.stable.canon_left, *self.volatile.left}

    def sections(self, traces: Mapping[int, EntryTrace], texts: SectionTexts) -> Sections:
        """What is in the prompt, section by section; with its text when the request wants it."""
        stable, volatile = self.stable, self.volatile
        told = self.texts != "prompt"

        def section(text: str, places: Iterable[int], tokens: int) -> Section:
            entries = tuple(traces[place] for place in places)
            return Section(tokens=tokens, text=text if told else None, entries=entries)

        return Sections(
            canon=section(texts.canon, stable.canon, stable.canon_tokens),
            whole=section(texts.whole, stable.whole, stable.whole_tokens),
            named=section(texts.named, volatile.named, volatile.named_tokens),
            matched=section(texts.matched, volatile.matched, volatile.matched_tokens),
            index=IndexSection(
                tokens=self.index.tokens,
                text=texts.index if told else None,
                lines=len(self.index.places),
                shape=self.index.shape,
                more=self.index.more,
            ),
        )


def status_counts(found: Counter[tuple[Status, str]]) -> tuple[StatusCount, ...]:
    """By status, then reason; what there is none of is left out."""
    return tuple(
        StatusCount(status=status, reason=reason, count=number)
        for (status, reason), number in sorted(found.items())
        if number
    )


def book_trace(shelf: Shelf, stable: Stable, number: int) -> BookTrace:
    attached = shelf.books[number]
    book = attached.open.text.book
    mine = shelf.open & (shelf.book_of == number)
    went: Went
    if not book.enabled:
        went = "disabled"
    elif not mine.any():
        went = "empty"
    elif number in stable.whole_books:
        went = "whole"
    elif not (mine & ~shelf.canon).any():
        went = "canon"
    else:
        went = "matched"
    return BookTrace(
        id=book.id,
        version=book.version,
        name=book.name,
        dialect=book.dialect,
        label=attached.label,
        via=attached.via,
        went=went,
        pending_vectors=attached.open.pending,
    )
