"""Entries near to the conversation by meaning, from several queries over several books.

Queries take places in turn rather than weights: a weak match of the last message must not push out the strong match
of the reply before it, nor the other way round (docs/recall.md gives what each rule was measured to do).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embeddings.embedder import Vectors
from service.lore.lexical import query_grams, standing_out
from service.lore.open_book import AttachedBook
from service.lore.queries import Query, Voice
from service.lore.reasons import Strength

TURNS: tuple[Voice, ...] = ("last", "last", "previous", "last", "older", "last", "previous", "older")
"""Whose match takes the next place."""
HEIRS: Mapping[Voice, tuple[Voice, ...]] = {
    "last": ("last", "previous", "older"),
    "previous": ("previous", "last", "older"),
    "older": ("older", "previous", "last"),
}
"""Who takes the place of a voice that leaves it unused. In a chat of one reply and one message the reply has four
places: it may be about two things (recall in the eight places .91 to .97, docs/recall.md)."""
SPELLING = 0.35
"""Chosen by `python -m benchmarks.recall choose --only spelling`: more costs entries in other languages."""
STRONG = 0.30
"""A calibrated score from which on a match is told as strong (retrieval.md: 62 % of other topics lie below)."""


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What the conversation means, and how near is near in the space it was embedded in."""

    queries: tuple[Query, ...]
    vectors: Vectors
    """One row per query."""
    floor: Callable[[int], float] | None = None
    """Entries searched to the score below which nothing is claimed; none for a space that is not calibrated."""
    spelling: float = SPELLING
    """Weight of the lexical leg."""


@dataclass(frozen=True, kw_only=True)
class Match:
    """An entry near to a message."""

    place: int
    rank: int
    score: float
    message: int

    @property
    def strength(self) -> Strength:
        return "strong" if self.score >= STRONG else "weak"


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The matches by rank, and what the others scored where that is known."""

    matches: tuple[Match, ...]
    owners: NDArray[np.int64]
    """Places of the entries that were compared."""
    scores: NDArray[np.float32]
    """Best score of each of them over the queries."""
    near: NDArray[np.bool_]
    """Whether that is no lower than the floor; those that are no match then found all places taken."""
    floors: Mapping[int, float | None]
    """Floor of each searched book, by its number."""

    @cached_property
    def nearest(self) -> NDArray[np.int64]:
        """The places compared, the nearest first, whether they are claimed or not."""
        return self.owners[np.argsort(-self.scores, kind="stable")]


NOTHING = Ranking(
    matches=(), owners=np.zeros(0, np.int64), scores=np.zeros(0, np.float32), near=np.zeros(0, np.bool_), floors={}
)


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    order: float
    """The score with what spelling adds."""
    place: int
    score: float
    message: int


def rank(
    books: Sequence[AttachedBook],
    starts: Sequence[int],
    searched: Sequence[int],
    meaning: Meaning,
    *,
    skip: Set[int] = frozenset(),
    places: int,
    book_places: Mapping[int, int],
    floor: float | None = None,
    strong_first: bool = True,
) -> Ranking:
    """The best `places` entries of the `searched` books, at most `book_places` of each, none of `skip`.

    `floor` stands for every book's own. What the floor is compared with, and what is told, is the score by meaning
    alone; spelling only changes the order. Without `strong_first` the first of more places are those of fewer.
    """
    indexes = [books[number].open.index for number in searched]
    owners = np.concatenate([starts[number] + index.numbers for number, index in zip(searched, indexes, strict=True)])
    scores = np.concatenate([index.scores(meaning.vectors) for index in indexes], axis=1)
    wanted = np.isin(owners, list(skip), invert=True)
    floors = _floors(books, searched, meaning, floor, int(wanted.sum()))
    least = np.repeat([_lowest(floors[number]) for number in searched], [index.groups for index in indexes])
    least[~wanted] = math.inf
    ends = np.cumsum([index.groups for index in indexes]).tolist()
    limited = [
        (end - index.groups, end, book_places[number])
        for number, index, end in zip(searched, indexes, ends, strict=True)
        if book_places[number] < places
    ]
    best: dict[Voice, dict[int, _Candidate]] = {"last": {}, "previous": {}, "older": {}}
    for query, row in zip(meaning.queries, scores, strict=True):
        voice = best[query.voice]
        order = row
        if query.voice == "last" and meaning.spelling:
            order = row + meaning.spelling * _spelling(books, starts, searched, owners, wanted, query)
        near = _within(np.flatnonzero(row >= least), order, limited)
        for column in _highest(near, order, places):
            place, value = int(owners[column]), float(order[column])
            if place not in voice or voice[place].order < value:
                voice[place] = _Candidate(order=value, place=place, score=float(row[column]), message=query.message)
    chosen = _take_turns(best, places, lambda place: bisect_right(starts, place) - 1, book_places)
    if strong_first:  # a budget cuts from the end: a strong match of a reply goes before a weak one of "and why?"
        chosen.sort(key=lambda each: each.score < STRONG)
    matches = tuple(
        Match(place=each.place, rank=position, score=each.score, message=each.message)
        for position, each in enumerate(chosen, start=1)
    )
    highest = scores.max(axis=0)[wanted]
    return Ranking(matches=matches, owners=owners[wanted], scores=highest, near=highest >= least[wanted], floors=floors)


def _within(
    columns: NDArray[np.int64], order: NDArray[np.floating], limited: Sequence[tuple[int, int, int]]
) -> NDArray[np.int64]:
    """Those of the columns, ascending, that the limits leave, each the most of a range of columns.

    What a book has no place for must not hold the places of the others.
    """
    for first, end, most in limited:
        before, after = np.searchsorted(columns, [first, end])
        kept = np.sort(np.array(_highest(columns[before:after], order, most), np.int64))
        columns = np.concatenate([columns[:before], kept, columns[after:]])
    return columns


def _highest(columns: NDArray[np.int64], order: NDArray[np.floating], most: int) -> list[int]:
    """Those of the columns, ascending, that stand highest, the highest first; ties by the lower column."""
    if 0 < most < len(columns):
        least = np.partition(order[columns], -most)[-most]
        columns = columns[order[columns] >= least]
    return [int(column) for column in columns[np.argsort(-order[columns], kind="stable")][:most]]


def _floors(
    books: Sequence[AttachedBook], searched: Sequence[int], meaning: Meaning, asked: float | None, groups: int
) -> dict[int, float | None]:
    """The request's floor, else the book's own, else that of the space for so many groups."""
    calibrated = meaning.floor(groups) if meaning.floor else None
    floors = {}
    for number in searched:
        own = books[number].open.text.book.settings.floor
        floors[number] = asked if asked is not None else own if own is not None else calibrated
    return floors


def _lowest(floor: float | None) -> float:
    return -math.inf if floor is None else floor


def _spelling(
    books: Sequence[AttachedBook],
    starts: Sequence[int],
    searched: Sequence[int],
    owners: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    query: Query,
) -> NDArray[np.float64]:
    """How much each owner's spelling stands out among those that are wanted."""
    asked = query_grams(query.text)
    covered = np.zeros(max(starts[number] + len(books[number].open.text.entries) for number in searched))
    for number in searched:
        lexicon = books[number].open.text.lexicon
        covered[starts[number] : starts[number] + lexicon.texts] = lexicon.coverage(asked)
    gains = np.zeros(len(owners))
    gains[wanted] = standing_out(covered[owners[wanted]])
    return gains


def _take_turns(
    best: Mapping[Voice, Mapping[int, _Candidate]],
    places: int,
    book_of: Callable[[int], int],
    book_places: Mapping[int, int],
) -> list[_Candidate]:
    waiting = {
        voice: sorted(found.values(), key=lambda each: (each.order, -each.place)) for voice, found in best.items()
    }
    taken: dict[int, _Candidate] = {}
    room = dict(book_places)

    def next_of(voice: Voice) -> _Candidate | None:
        while waiting[voice]:
            candidate = waiting[voice].pop()
            if candidate.place not in taken and room[book_of(candidate.place)] > 0:
                return candidate
        return None

    for turn in range(places):
        heirs = HEIRS[TURNS[turn % len(TURNS)]]
        candidate = next((found for voice in heirs if (found := next_of(voice)) is not None), None)
        if candidate is None:
            break
        taken[candidate.place] = candidate
        room[book_of(candidate.place)] -= 1
    return list(taken.values())
