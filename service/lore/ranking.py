"""Entries near to the conversation by meaning, from several queries over several books.

Queries take places in turn rather than weights: a weak match of the last message must not push out the strong match
of the reply before it, nor the other way round (docs/recall.md gives what each rule was measured to do).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from embeddings.embedder import Vectors
from service.lore.answer import Strength
from service.lore.open_book import AttachedBook
from service.lore.queries import Query, Voice

TURNS: tuple[Voice, ...] = ("last", "last", "previous", "last", "older", "last", "previous", "older")
"""Whose match takes the next place; what a voice leaves unused goes to the last message."""
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
    scores: Mapping[int, float]
    """Best score of every entry that was looked at, by place."""
    floors: Mapping[int, float | None]
    """Floor of each searched book, by its number."""


NOTHING = Ranking(matches=(), scores={}, floors={})


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    score: float
    place: int
    message: int


def rank(
    books: Sequence[AttachedBook],
    starts: Sequence[int],
    searched: Sequence[int],
    meaning: Meaning,
    *,
    skip: Collection[int] = (),
    places: int,
    book_places: Mapping[int, int],
    floor: float | None = None,
    every_score: bool = False,
) -> Ranking:
    """The best `places` entries of the `searched` books, at most `book_places` of each, none of `skip`.

    `floor` stands for every book's own. With `every_score` each entry is scored, not only the nearest.
    """
    sizes = [books[number].open.index.groups for number in searched]
    claims = sum(sizes) - len(skip)
    floors: dict[int, float | None] = {}
    best: dict[Voice, dict[int, _Candidate]] = {"last": {}, "previous": {}, "older": {}}
    scores: dict[int, float] = {}
    for number, size in zip(searched, sizes, strict=True):
        own = books[number].open.text.book.settings.floor
        calibrated = meaning.floor(max(claims, 1)) if meaning.floor else None
        floors[number] = floor if floor is not None else own if own is not None else calibrated
        wanted = size if every_score else min(size, places + len(skip))
        found = books[number].open.index.search(meaning.vectors, wanted) if wanted else ()
        for query, (groups, values) in zip(meaning.queries, found, strict=False):
            voice = best[query.voice]
            for group, value in zip(groups.tolist(), values.tolist(), strict=True):
                place = starts[number] + group
                if place in skip:
                    continue
                scores[place] = max(value, scores.get(place, -math.inf))
                least = floors[number]
                if least is not None and value < least:
                    continue
                if place not in voice or voice[place].score < value:
                    voice[place] = _Candidate(score=value, place=place, message=query.message)
    chosen = _take_turns(best, places, lambda place: bisect_right(starts, place) - 1, book_places)
    matches = tuple(
        Match(place=each.place, rank=position, score=each.score, message=each.message)
        for position, each in enumerate(chosen, start=1)
    )
    return Ranking(matches=matches, scores=scores, floors=floors)


def _take_turns(
    best: Mapping[Voice, Mapping[int, _Candidate]],
    places: int,
    book_of: Callable[[int], int],
    book_places: Mapping[int, int],
) -> list[_Candidate]:
    waiting = {
        voice: sorted(found.values(), key=lambda each: (each.score, -each.place)) for voice, found in best.items()
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
        voices = dict.fromkeys((TURNS[turn % len(TURNS)], "last", "previous", "older"))
        candidate = next((found for voice in voices if (found := next_of(voice)) is not None), None)
        if candidate is None:
            break
        taken[candidate.place] = candidate
        room[book_of(candidate.place)] -= 1
    return list(taken.values())
