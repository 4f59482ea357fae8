"""The one function that decides what the model gets to read.

Pure: the same books, request, meaning and tokenizer give the same answer, byte for byte. Preview and live retrieval
both call it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from service.lore.activation.lorebooks import Lorebooks, lorebook_trace
from service.lore.activation.state import EMPTY, State
from service.lore.answer import Budget, Degraded, Retrieved, TokenizerTrace
from service.lore.book import WORLD
from service.lore.naming import find_named
from service.lore.open_book import AttachedBook, world_books
from service.lore.packing import Stable, pack_stable, pack_volatile
from service.lore.prompt import prompt, section_texts
from service.lore.queries import Query, read_by_meaning
from service.lore.ranking import NOTHING, Meaning, Ranking, rank
from service.lore.request import RetrieveRequest
from service.lore.shelf import Shelf
from service.lore.tokens import Tokenizer
from service.lore.traces import BookTrace, EntryTrace
from service.lore.tracing import Tracer, book_trace, status_counts
from service.lore.unlisted import Unlisted, unlisted


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What holds where neither request nor book says."""

    budget_tokens: int
    places: int
    budget_characters: int = 8_000
    """Of all attached server lorebooks together."""


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
    books: Sequence[AttachedBook]
    """All of them; `shelf` holds the world books."""
    lorebooks: Lorebooks

    @property
    def state(self) -> State:
        """What the lorebooks leave to the next turn of the conversation."""
        return self.lorebooks.state

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
    books: Sequence[AttachedBook],
    request: RetrieveRequest,
    tokenizer: Tokenizer,
    defaults: Defaults,
    state: State = EMPTY,
) -> Prepared:
    """Activate the lorebooks and pack the stable part: canon, whole books and, when asked for in full, the index.

    `state` is what the greatest turn before this one left.
    """
    budget = defaults.budget_tokens if request.budget_tokens is None else request.budget_tokens
    canon_limit = budget // 2 if request.canon_tokens is None else request.canon_tokens
    lorebooks = Lorebooks(
        [book for book in books if book.open.text.book.dialect != WORLD],
        request,
        tokenizer,
        characters=defaults.budget_characters,
        state=state,
    )
    beside = lorebooks.contents if request.lorebooks == "inline" else ()
    shelf = Shelf(world_books(books), tokenizer, request.exclude, names=request.names, beside=beside)
    stable = pack_stable(shelf, budget=budget, canon_limit=canon_limit, index=request.index, tools=request.tools)
    return Prepared(
        request=request,
        shelf=shelf,
        stable=stable,
        budget=budget,
        canon_limit=canon_limit,
        places=defaults.places,
        books=books,
        lorebooks=lorebooks,
    )


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What was decided, and what an account of it beyond the answer needs."""

    answer: Retrieved
    tracer: Tracer
    lorebooks: Lorebooks

    def unlisted(self) -> Iterator[Unlisted]:
        """The entries that the answer, but for `rest`, does not list."""
        return unlisted(self.tracer, self.lorebooks)


def retrieve(prepared: Prepared, meaning: Meaning | None = None, degraded: Sequence[Degraded] = ()) -> Retrieved:
    """The answer of `decide`."""
    return decide(prepared, meaning, degraded).answer


def decide(prepared: Prepared, meaning: Meaning | None = None, degraded: Sequence[Degraded] = ()) -> Decision:
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
        nearest=ranking.nearest,
        index=request.index,
        tools=request.tools,
    )
    texts = section_texts(shelf, stable, volatile, tools=request.tools)
    inline = prepared.lorebooks.contents if request.lorebooks == "inline" else ()
    tracer = Tracer(shelf, stable, volatile, named, ranking, texts=request.texts or "prompt")
    traces = {place: tracer.trace(place) for place in (*given, *volatile.named, *volatile.matched, *stable.canon_left)}
    lorebooks = prepared.lorebooks
    answer = Retrieved(
        prompt=prompt(shelf, stable, volatile, texts, inline),
        sections=tracer.sections(traces, texts),
        lorebook=lorebooks.answer(inline=request.lorebooks == "inline", texts=request.texts == "entries"),
        over_budget=(*(traces[place] for place in stable.canon_left), *lorebooks.over_budget()),
        rest=tuple(_rest(prepared, tracer, set(traces))) if request.trace == "full" else (),
        counts=status_counts(tracer.counts() + lorebooks.counts()),
        books=_book_traces(prepared),
        budget=Budget(
            limit=prepared.budget,
            used=stable.tokens + volatile.tokens,
            canon_limit=prepared.canon_limit,
            canon_used=stable.canon_tokens,
        ),
        tokenizer=TokenizerTrace(name=tokenizer.name, exact=tokenizer.exact, detail=tokenizer.detail),
        degraded=tuple(degraded),
    )
    return Decision(answer=answer, tracer=tracer, lorebooks=lorebooks)


def _rest(prepared: Prepared, tracer: Tracer, told: Container[int]) -> Iterator[EntryTrace]:
    """Every entry that is not told elsewhere, in book order."""
    numbers = iter(range(len(prepared.shelf.books)))
    for book in prepared.books:
        if book.open.text.book.dialect == WORLD:
            places = prepared.shelf.of(next(numbers))
            yield from (tracer.trace(place) for place in range(places.start, places.stop) if place not in told)
        else:
            yield from prepared.lorebooks.rest(book)


def _book_traces(prepared: Prepared) -> tuple[BookTrace, ...]:
    numbers = iter(range(len(prepared.shelf.books)))
    return tuple(
        book_trace(prepared.shelf, prepared.stable, next(numbers))
        if book.open.text.book.dialect == WORLD
        else lorebook_trace(book)
        for book in prepared.books
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
