"""How queries are put together: by their padded length, so that none is padded further because of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from embeddings.embedder import Vectors

MOST = 16
"""Texts of a batch."""
PADDING = 16
"""Tokens are padded to a multiple of these."""
_TOKENS = 256
"""Of a batch of queries. On a CPU a larger one gains little, and all its queries wait for its end: callers with long
messages would then all be late together."""

_SAMPLE = "Who lit the lamp of the old lighthouse, 灯台守, смотритель маяка? "


def padded(length: int, limit: int) -> int:
    """Tokens of a text of `length` tokens with its padding, no more than `limit`."""
    return min(-(-length // PADDING) * PADDING, limit)


def batches(members: Sequence[int], size: int = MOST) -> list[list[int]]:
    """`members` in their order, so many at a time."""
    return [list(members[start : start + size]) for start in range(0, len(members), size)]


def query_batches(lengths: Sequence[int], *, limit: int, most: int) -> list[list[int]]:
    """Indices of queries of these lengths in tokens, `most` a batch; the first batch begins with the first query."""
    groups: dict[tuple[int, bool], list[int]] = {}
    for index, length in enumerate(lengths):
        tokens = padded(length, limit)
        # torch takes another path through attention without padding, so full rows do not mix with the rest
        groups.setdefault((tokens, length >= tokens), []).append(index)
    return [
        batch
        for (tokens, _), members in groups.items()
        for batch in batches(members, min(most, max(1, _TOKENS // tokens)))
    ]


def rows_agree(embed_queries: Callable[[Sequence[str]], Vectors]) -> bool:
    """Whether queries that fill batches of several lengths have the same bits there as alone.

    A product of matrices may pick its kernel by the number of rows, so a batch proves nothing about a larger one.
    """
    texts = [(_SAMPLE * 3)[:size] for size in (*range(4, 36, 2), *range(42, 58, 2), *range(150, 158, 2))]
    together = embed_queries(texts)
    some = {*range(0, len(texts), 3), len(texts) - 1}  # all of them would hold up the start
    return all(np.array_equal(together[i], embed_queries([texts[i]])[0]) for i in some)
