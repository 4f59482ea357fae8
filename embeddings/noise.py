"""How near unrelated texts lie in a space: the noise floor of a model, from our background sentences alone.

A message is a sentence, an entry eight others of one language, in any order. The best score among N entries that do not
say the sentence, in any language, is noise; the floor is what 5 % of the messages exceed, as a straight line in ln N.
With the default model this comes within .01 of the floor that was chosen on small talk against an encyclopaedia, for 5
to 240 entries (docs/recall.md); with entries of a single sentence it would lie .06 to .13 too high.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from embeddings.calibration import Calibration, Floor
from embeddings.embedder import Embedder, Vectors
from embeddings.index import VectorIndex
from embeddings.passages import TextVectors, steps
from embeddings.windows import cut

Answer = TypeVar("Answer")

SENTENCES = 8
"""In an entry: as long as ordinary lore, 100 to 200 tokens."""
EXCEEDED = 0.05
"""Share of unrelated messages that may claim an entry."""
SIZES = (5, 20, 80, 240)
"""Numbers of entries that the line is drawn through."""
_ORDERS = 2
"""How often every sentence is said: 240 must leave a choice."""
_DRAWS = 4
"""Choices of entries for each message and size."""


@dataclass(frozen=True)
class Made:
    """An entry made of background sentences."""

    text: str
    says: frozenset[int]
    """Numbers of its sentences, which are the same in every language."""


def entries(texts: Mapping[str, Sequence[str]]) -> list[Made]:
    """Every sentence of every language twice, in orders that are always the same."""
    made: list[Made] = []
    for language, lines in [each for each in texts.items() for _ in range(_ORDERS)]:
        order = random.Random(f"{language} {len(made)}").sample(range(len(lines)), len(lines))  # noqa: S311 - an order, no secret
        for start in range(0, len(order), SENTENCES):
            numbers = order[start : start + SENTENCES]
            made.append(Made(text=" ".join(lines[number] for number in numbers), says=frozenset(numbers)))
    return made


def passages(embedder: Embedder, made: Sequence[Made]) -> int:
    """How many passages are embedded for these entries."""
    cuts = [cut(each.text, embedder.count_tokens, piece_tokens=embedder.max_tokens) for each in made]
    return len({passage for each in cuts for passage in (*each.pieces, *each.windows)})


def floor(embedder: Embedder, calibration: Calibration, queries: Sequence[Vectors], made: Sequence[Made]) -> Floor:
    """The floor of a model whose other constants are known. Raises EmbedderError.

    `queries` are the raw vectors of the sentences as queries, an array a language.
    """
    answers = _returned(
        steps(
            [each.text for each in made],
            count=embedder.count_tokens,
            embed=lambda batch: calibration.passages(embedder.embed_passages(batch)),
            piece_tokens=embedder.max_tokens,
        )
    )
    groups: dict[int, tuple[Vectors, Vectors]] = {}
    for number, answer in enumerate(answers):
        if not isinstance(answer, TextVectors):
            raise answer
        groups[number] = (answer.pieces, answer.windows)
    index = VectorIndex.build(embedder.space.dimension, groups)
    chance = np.random.default_rng(0)
    best: dict[int, list[float]] = {size: [] for size in SIZES}
    for asked in queries:
        for number, row in enumerate(index.scores(calibration.queries(asked))):
            unrelated = row[[number not in each.says for each in made]]
            for size in SIZES:
                best[size] += [float(_draw(chance, unrelated, size).max()) for _ in range(_DRAWS)]
    exceeded = [float(np.quantile(best[size], 1 - EXCEEDED)) for size in SIZES]
    slope, base = np.polyfit(np.log(SIZES), exceeded, 1)
    return Floor(round(float(base), 4), round(float(slope), 4))


def _draw(chance: np.random.Generator, scores: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    drawn: NDArray[np.float32] = chance.choice(scores, min(size, len(scores)), replace=False)
    return drawn


def _returned(work: Generator[None, None, Answer]) -> Answer:
    """What a generator returns when it has come to its end."""
    while True:
        try:
            next(work)
        except StopIteration as done:
            answer: Answer = done.value
            return answer
