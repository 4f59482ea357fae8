"""Texts to the vectors of their pieces and windows, in steps small enough for queries to go in between."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from embeddings.embedder import EmbedderError, TextError, Vectors
from embeddings.windows import CountTokens, Cut, cut

Embed = Callable[[Sequence[str]], Vectors]

_TEXTS_A_CALL = 16
_BYTES_A_CALL = 6_000
"""UTF-8 bytes of the passages of one call, about 1,500 tokens: what a query waits for at most."""


@dataclass(frozen=True)
class TextVectors:
    """The vectors of one text."""

    pieces: Vectors
    """Shape (pieces, dimension), at least one row."""
    windows: Vectors
    """Shape (windows, dimension), at least one row."""


def steps(
    texts: Sequence[str], *, count: CountTokens, embed: Embed, piece_tokens: int
) -> Generator[None, None, list[TextVectors | EmbedderError]]:
    """Cut and embed each text, equal passages once; stops after every call of the model, and returns one answer a text.

    A text that has no vector gives a TextError in its place. Any other error of the model ends the work.
    """
    cuts: dict[str, Cut] = {}
    for text in dict.fromkeys(texts):
        cuts[text] = cut(text, count, piece_tokens=piece_tokens)
        yield
    passages = dict.fromkeys(passage for made in cuts.values() for passage in (*made.pieces, *made.windows))
    rows: dict[str, Vectors | TextError] = {}
    for batch in _batches(sorted(passages, key=_size)):
        rows.update(zip(batch, embed_each(batch, embed), strict=True))
        yield
    answers = {text: _assembled(made, rows) for text, made in cuts.items()}
    return [answers[text] for text in texts]


def embed_each(texts: Sequence[str], embed: Embed) -> list[Vectors | TextError]:
    """The row of each text, or why it alone has none; a batch that fails for one text is tried text by text."""
    if not texts:
        return []
    try:
        return list(embed(texts))
    except TextError as problem:
        if len(texts) == 1:
            return [problem]
    return [row for text in texts for row in embed_each([text], embed)]


def _size(passage: str) -> int:
    return len(passage.encode("utf-8", "replace"))


def _batches(passages: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for passage in passages:
        size += _size(passage)
        if batch and (len(batch) == _TEXTS_A_CALL or size > _BYTES_A_CALL):
            yield batch
            batch, size = [], _size(passage)
        batch.append(passage)
    if batch:
        yield batch


def _assembled(made: Cut, rows: dict[str, Vectors | TextError]) -> TextVectors | EmbedderError:
    if not made.pieces:
        return TextError("a text of nothing but white space has no vectors")
    sides: list[Vectors] = []
    for passages in (made.pieces, made.windows):
        side: list[Vectors] = []
        for passage in passages:
            row = rows[passage]
            if isinstance(row, TextError):
                return row
            side.append(row)
        sides.append(np.stack(side))
    return TextVectors(pieces=sides[0], windows=sides[1])
