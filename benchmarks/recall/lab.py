"""Runs systems on trials: opens books from remembered vectors and ranks with the product's own functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.recall.measures import Measure, mean
from benchmarks.recall.systems import Reading, System
from benchmarks.recall.trials import Ask, Corpus, Trial
from benchmarks.recall.vectors import Role, VectorStore
from embeddings.calibration import Calibration
from embeddings.embedder import Vectors
from embeddings.index import VectorIndex
from embeddings.passages import TextVectors
from service.lore.book import Book
from service.lore.naming import find_named
from service.lore.open_book import AttachedBook, BookText, OpenBook
from service.lore.queries import Query, read_by_meaning
from service.lore.ranking import Meaning, Ranking, rank
from service.lore.recipe import embedding_text
from service.lore.request import Message

DEPTH = 10
"""Places that are asked for where a measure does not want more or fewer."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Places of the entries found, best first, and the score of each by meaning (nan for a name)."""

    ask: Ask
    places: tuple[int, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Lab:
    """A model with its calibration. `window_tokens`: windows of another size than the product's."""

    store: VectorStore
    calibration: Calibration
    window_tokens: int | None = None
    _texts: dict[str, BookText] = field(default_factory=dict)
    _books: dict[tuple[str, bool, bool, bool, str], AttachedBook] = field(default_factory=dict)
    _rows: dict[tuple[bool, str], Vectors] = field(default_factory=dict)

    def with_calibration(self, calibration: Calibration) -> Lab:
        """The same model, another calibration, nothing remembered but texts."""
        return replace(self, calibration=calibration, _books={}, _rows={})

    def with_windows(self, tokens: int) -> Lab:
        """The same model and calibration with other windows."""
        return replace(self, window_tokens=tokens, _books={})

    def run(self, system: System, trial: Trial, depth: int = DEPTH) -> list[Result]:
        """What the system finds for each ask."""
        book = self.open(trial.corpus, system)
        queries = [read(ask.messages, system.reading) if system.meaning else [] for ask in trial.asks]
        self.embed({query.text for asked in queries for query in asked}, directions=system.directions)
        return [self._find(system, book, ask, asked, depth) for ask, asked in zip(trial.asks, queries, strict=True)]

    def scores(self, system: System, trial: Trial) -> list[Ranking]:
        """The whole ranking of each ask, with the score of every entry and no floor."""
        book = self.open(trial.corpus, system)
        queries = [read(ask.messages, system.reading) for ask in trial.asks]
        self.embed({query.text for asked in queries for query in asked}, directions=system.directions)
        return [_rank(book, self.meaning(replace(system, floor=False), asked), frozenset(), DEPTH) for asked in queries]

    def meaning(self, system: System, queries: Sequence[Query]) -> Meaning:
        """What the product makes of the queries, whose texts are embedded already."""
        return Meaning(
            queries=tuple(queries),
            vectors=np.stack([self._rows[system.directions, query.text] for query in queries]),
            floor=self.calibration.floor if system.floor else None,
            spelling=system.spelling,
        )

    def embed(self, texts: Iterable[str], *, directions: bool) -> None:
        """Remember the query vectors of the texts."""
        missing = [text for text in dict.fromkeys(sorted(texts)) if (directions, text) not in self._rows]
        rows = self._calibrated("query", self.store.queries(missing), directions=directions)
        self._rows.update(((directions, text), row) for text, row in zip(missing, rows, strict=True))

    def open(self, corpus: Corpus, system: System) -> AttachedBook:
        """The book as the service would open it, with the vectors of this system."""
        key = (corpus.name, system.meaning, system.directions, system.windows, system.storage)
        if key not in self._books:
            text = self._texts.setdefault(
                corpus.name, BookText.build(Book(id="book", name=corpus.name), corpus.entries)
            )
            groups = {}
            if system.meaning:
                embedded = self.entries(corpus, windows=system.windows)
                for ordinal, found in enumerate(embedded):
                    sides = [
                        _stored(self._calibrated("passage", side, directions=system.directions), system)
                        for side in (found.pieces, found.windows)
                    ]
                    groups[ordinal] = (sides[0], sides[1])
            index = VectorIndex.build(self.store.dimension, groups, rounded=system.storage == "int8")
            self._books[key] = AttachedBook(open=OpenBook(text=text, index=index))
        return self._books[key]

    def entries(self, corpus: Corpus, *, windows: bool) -> list[TextVectors]:
        """Raw vectors of the entries; without windows each text is one vector, cut where the model stops reading."""
        texts = [embedding_text(entry) for entry in corpus.entries]
        if windows:
            return self.store.texts(texts, window_tokens=self.window_tokens)
        none = np.zeros((0, self.store.dimension), np.float32)
        return [TextVectors(pieces=row[None], windows=none) for row in self.store.passages(texts)]

    def _calibrated(self, role: Role, rows: Vectors, *, directions: bool) -> Vectors:
        if not directions:
            return rows
        return self.calibration.queries(rows) if role == "query" else self.calibration.passages(rows)

    def _find(self, system: System, book: AttachedBook, ask: Ask, queries: Sequence[Query], depth: int) -> Result:
        named = list(find_named([book], [0], ask.messages)) if system.named else []
        if not queries:
            return Result(ask=ask, places=tuple(named), scores=(float("nan"),) * len(named))
        matches = _rank(book, self.meaning(system, queries), frozenset(named), depth).matches
        return Result(
            ask=ask,
            places=(*named, *(match.place for match in matches)),
            scores=(*(float("nan") for _ in named), *(match.score for match in matches)),
        )


def average(measure: Measure, results: Iterable[Result]) -> float:
    """The mean of a measure over results."""
    return mean(measure(result.places, result.ask.gold) for result in results)


def read(messages: Sequence[Message], reading: Reading) -> list[Query]:
    """The queries of a conversation."""
    queries = read_by_meaning(messages)
    if reading == "last":
        return [query for query in queries if query.voice == "last"]
    if reading == "equal":
        return [replace(query, voice="last") for query in queries]
    if reading == "joined":
        text = "\n".join(message.content for message in messages)
        return [Query(text=text, message=len(messages) - 1, voice="last")]
    return queries


def _rank(book: AttachedBook, meaning: Meaning, skip: frozenset[int], depth: int) -> Ranking:
    return rank([book], [0], [0], meaning, skip=skip, places=depth, book_places={0: depth})


def _stored(rows: Vectors, system: System) -> Vectors:
    """Rows as they come back from the database."""
    return rows if system.storage == "float32" else rows.astype(np.float16).astype(np.float32)
