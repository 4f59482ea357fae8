"""The one function that decides what the model gets to read.

Pure: the same books, request, meaning and tokenizer give the same answer, byte for byte. Preview and live retrieval
both call it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.lore import rendering
from service.lore.answer import (
    BookTrace,
    Budget,
    Canon,
    Degraded,
    Disabled,
    EntryTrace,
    Excluded,
    IndexSection,
    Matched,
    Named,
    OverBudget,
    Prompt,
    PromptPart,
    Reason,
    Retrieved,
    Section,
    Sections,
    Status,
    StatusCount,
    TokenizerTrace,
    Unmatched,
    Went,
    WholeBook,
)
from service.lore.naming import find_named
from service.lore.open_book import AttachedBook
from service.lore.packing import PackedIndex, Shelf, Stable, Volatile, pack_stable, pack_volatile, written_index
from service.lore.queries import Query, read_by_meaning
from service.lore.ranking import NOTHING, Match, Meaning, Ranking, rank
from service.lore.request import RetrieveRequest, Texts
from service.lore.tokens import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What holds where neither request nor book says."""

    budget_tokens: int
    places: int


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A request over open books, as far as the conversation does not matter; knows what must be embedded."""

    request: RetrieveRequest
    shelf: Shelf
    stable: Stable
    budget: int
    canon_limit: int
    places: int
    """Of a book that does not say."""

    @cached_property
    def searched(self) -> tuple[int, ...]:
        """The books, by number, from which something may come by meaning."""
        relevant = self.shelf.open & ~self.shelf.canon
        return tuple(
            number
            for number in range(len(self.shelf.books))
            if number not in self.stable.whole_books and relevant[self.shelf.of(number)].any()
        )

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """The texts to embed; none when every book goes whole."""
        return tuple(read_by_meaning(self.request.messages)) if self.searched else ()


def prepare(
    books: Sequence[AttachedBook], request: RetrieveRequest, tokenizer: Tokenizer, defaults: Defaults
) -> Prepared:
    """Pack the stable part: canon, whole books and, when asked for in full, the index."""
    budget = defaults.budget_tokens if request.budget_tokens is None else request.budget_tokens
    canon_limit = budget // 2 if request.canon_tokens is None else request.canon_tokens
    shelf = Shelf(books, tokenizer, request.exclude)
    stable = pack_stable(shelf, budget=budget, canon_limit=canon_limit, index=request.index, tools=request.tools)
    return Prepared(
        request=request, shelf=shelf, stable=stable, budget=budget, canon_limit=canon_limit, places=defaults.places
    )


def retrieve(prepared: Prepared, meaning: Meaning | None = None, degraded: Sequence[Degraded] = ()) -> Retrieved:
    """Canon, whole books, named and matched entries and the index of the rest, within the budget.

    `meaning` holds the vectors of `prepared.queries`; None: nothing is matched by meaning, and `degraded` says why.
    """
    shelf, stable, request = prepared.shelf, prepared.stable, prepared.request
    tokenizer = shelf.tokenizer
    named = find_named(shelf.books, shelf.starts, request.messages)
    given = {*stable.canon, *stable.whole}
    wanted = [place for place in named if shelf.open[place] and not shelf.canon[place] and place not in given]
    ranking = _rank(prepared, meaning, wanted)
    volatile = pack_volatile(
        shelf,
        stable,
        budget=prepared.budget,
        named=wanted,
        matched=[match.place for match in ranking.matches],
        index=request.index,
        tools=request.tools,
    )
    tracer = _Tracer(shelf, stable, volatile, named, ranking, texts=request.texts or "prompt")
    traces = {place: tracer.trace(place) for place in (*given, *volatile.named, *volatile.matched, *stable.canon_left)}
    rest: tuple[EntryTrace, ...] = ()
    if request.trace == "full":
        rest = tuple(tracer.trace(place) for place in range(len(shelf.open)) if place not in traces)
    return Retrieved(
        prompt=_prompt(shelf, stable, volatile, tools=request.tools),
        sections=tracer.sections(traces, tools=request.tools),
        over_budget=tuple(traces[place] for place in stable.canon_left),
        rest=rest,
        counts=tracer.counts(),
        books=tuple(_book_trace(shelf, stable, number) for number in range(len(shelf.books))),
        budget=Budget(
            limit=prepared.budget,
            used=stable.tokens + volatile.tokens,
            canon_limit=prepared.canon_limit,
            canon_used=stable.canon_tokens,
        ),
        tokenizer=TokenizerTrace(name=tokenizer.name, exact=tokenizer.exact, detail=tokenizer.detail),
        degraded=tuple(degraded),
    )


def _rank(prepared: Prepared, meaning: Meaning | None, named: Sequence[int]) -> Ranking:
    shelf, request = prepared.shelf, prepared.request
    if meaning is None or not prepared.searched:
        return NOTHING
    book_places = {}
    for number in prepared.searched:
        own = shelf.books[number].open.text.book.settings.places
        book_places[number] = (
            request.places if request.places is not None else own if own is not None else prepared.places
        )
    withheld = shelf.enabled & (shelf.canon | shelf.excluded) & np.isin(shelf.book_of, prepared.searched)
    return rank(
        shelf.books,
        shelf.starts,
        prepared.searched,
        meaning,
        skip=set(np.flatnonzero(withheld).tolist()).union(named),
        places=max(book_places.values()),
        book_places=book_places,
        floor=request.floor,
    )


class _Tracer:
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
        self.scores: dict[int, float] = dict(zip(ranking.owners.tolist(), ranking.scores.tolist(), strict=True))
        self.lined = set(self.index.places.tolist())
        self.canon_place = {place: position for position, place in enumerate(stable.canon, start=1)}

    def status(self, place: int) -> Status:
        if place in self.full:
            return self.full[place]
        if not self.shelf.enabled[place]:
            return "disabled"
        if self.shelf.excluded[place]:
            return "excluded"
        if place in self.stable.canon_left:
            return "canon_over_budget"
        if place in self.lined:
            return "indexed"
        if self.index.more:
            return "counted"
        return "cut" if place in self.volatile.left else "unmatched"

    def reason(self, place: int, status: Status) -> Reason:
        match status:
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
                return OverBudget(budget="canon", left=self.stable.canon_left[place])
        if place in self.volatile.left:
            return OverBudget(budget="total", left=self.volatile.left[place])
        return Unmatched(
            score=_rounded(self.scores.get(place)),
            floor=_rounded(self.ranking.floors.get(int(self.shelf.book_of[place]))),
        )

    def _matched(self, match: Match) -> Matched:
        return Matched(rank=match.rank, score=round(match.score, 3), strength=match.strength, message=match.message)

    def trace(self, place: int) -> EntryTrace:
        entry = self.shelf.entry(place)
        book = self.shelf.book(place)
        status = self.status(place)
        shown = self.texts == "entries" and place in self.full
        return EntryTrace(
            handle=entry.handle,
            id=entry.id,
            book=book.open.text.book.id,
            label=book.label,
            title=entry.title,
            status=status,
            tokens=int(self.shelf.full[place]),
            text=self.shelf.block(place) if shown else None,
            reason=self.reason(place, status),
            hits=self.named.get(place, ()),
        )

    def counts(self) -> tuple[StatusCount, ...]:
        """How many entries have each status and kind of reason, without a trace of each."""
        found: Counter[tuple[Status, str]] = Counter()
        shelf = self.shelf
        special = {*self.full, *self.stable.canon_left, *self.volatile.left}
        for place in special:
            status = self.status(place)
            found[status, self.reason(place, status).kind] += 1
        plain = shelf.open.copy()
        plain[list(special)] = False
        lined = sum(1 for place in self.lined if place not in special)
        others = int(plain.sum()) - lined
        found["indexed", "unmatched"] += lined
        found["counted" if self.index.more else "unmatched", "unmatched"] += others
        found["disabled", "disabled"] += int((~shelf.enabled).sum())
        found["excluded", "excluded"] += int((shelf.enabled & shelf.excluded).sum())
        return tuple(
            StatusCount(status=status, reason=reason, count=number)
            for (status, reason), number in sorted(found.items())
            if number
        )

    def sections(self, traces: Mapping[int, EntryTrace], *, tools: bool) -> Sections:
        stable, volatile = self.stable, self.volatile
        told = self.texts != "prompt"
        texts = _section_texts(self.shelf, stable, volatile, tools=tools) if told else {}

        def section(name: str, places: Iterable[int], tokens: int) -> Section:
            return Section(tokens=tokens, text=texts.get(name), entries=tuple(traces[place] for place in places))

        return Sections(
            canon=section("canon", stable.canon, stable.canon_tokens),
            whole=section("whole", stable.whole, stable.whole_tokens),
            named=section("named", volatile.named, volatile.named_tokens),
            matched=section("matched", volatile.matched, volatile.matched_tokens),
            index=IndexSection(
                tokens=self.index.tokens,
                text=texts.get("index"),
                lines=len(self.index.places),
                shape=self.index.shape,
                more=self.index.more,
            ),
        )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _section_texts(shelf: Shelf, stable: Stable, volatile: Volatile, *, tools: bool) -> dict[str, str]:
    """The text of each section without the frame around the part."""
    return {
        "canon": _by_book(shelf, stable.canon, rendering.canon_heading),
        "whole": _by_book(shelf, stable.whole, rendering.book_heading),
        "named": _blocks(shelf, volatile.named, rendering.NAMED_HEADING),
        "matched": _blocks(shelf, volatile.matched, rendering.MATCHED_HEADING),
        "index": _index_text(shelf, written_index(stable, volatile), tools=tools),
    }


def _by_book(shelf: Shelf, places: Sequence[int], heading: Callable[[str], str]) -> str:
    parts: list[str] = []
    previous = -1
    for place in places:
        number = int(shelf.book_of[place])
        if number != previous:
            parts.append(heading(shelf.books[number].open.text.book.name))
            previous = number
        parts.append(shelf.block(place))
    return "".join(parts)


def _blocks(shelf: Shelf, places: Sequence[int], heading: str) -> str:
    return heading + "".join(map(shelf.block, places)) if places else ""


def _index_text(shelf: Shelf, index: PackedIndex, *, tools: bool) -> str:
    if not index.tokens:
        return ""
    lines = map(shelf.line, index.places.tolist(), index.shapes.tolist())
    closing = rendering.more_line(index.more, tools=tools) if index.closing else ""
    return rendering.index_start(shelf.mark, tools=tools) + "".join(lines) + closing + rendering.index_end(shelf.mark)


def _prompt(shelf: Shelf, stable: Stable, volatile: Volatile, *, tools: bool) -> Prompt:
    texts = _section_texts(shelf, stable, volatile, tools=tools)
    fixed, moving = (texts["index"], "") if stable.index.exists else ("", texts["index"])
    return Prompt(
        stable=_part(shelf, texts["canon"] + texts["whole"] + fixed, stable.tokens),
        volatile=_part(shelf, texts["named"] + texts["matched"] + moving, volatile.tokens),
    )


def _part(shelf: Shelf, body: str, tokens: int) -> PromptPart:
    text = rendering.frame_start(shelf.mark) + body + rendering.frame_end(shelf.mark) if body else ""
    return PromptPart(text=text, tokens=tokens, hash=rendering.text_hash(text))


def _book_trace(shelf: Shelf, stable: Stable, number: int) -> BookTrace:
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
