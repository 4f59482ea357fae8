"""How queries are put together, and the proof that a batch changes no bit."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embeddings.batching import MOST, padded, query_batches, rows_agree
from embeddings.embedder import Vectors
from embeddings.hashing import HashingEmbedder
from embeddings.sentence_transformer import SentenceTransformerEmbedder


@given(st.lists(st.integers(1, 600), max_size=60), st.sampled_from([64, 512]), st.integers(1, MOST))
def test_batches_of_one_length(lengths: list[int], limit: int, most: int) -> None:
    """Every query is in one batch, with others of its padded length only, and no batch is larger than 256 tokens."""
    found = query_batches(lengths, limit=limit, most=most)
    assert sorted(index for batch in found for index in batch) == list(range(len(lengths)))
    for batch in found:
        assert batch == sorted(batch)
        [tokens] = {padded(lengths[index], limit) for index in batch}
        assert len(batch) <= most
        assert len(batch) == 1 or len(batch) * tokens <= 256
        assert len({lengths[index] >= tokens for index in batch}) == 1
    assert not lengths or found[0][0] == 0


def test_short_queries_fill_a_batch() -> None:
    """Sixteen short queries go at once, long ones alone."""
    assert [len(batch) for batch in query_batches([9] * 20, limit=512, most=16)] == [16, 4]
    assert [len(batch) for batch in query_batches([60] * 5, limit=512, most=16)] == [4, 1]
    assert [len(batch) for batch in query_batches([130] * 2, limit=512, most=16)] == [1, 1]


def test_a_bit_that_depends_on_the_batch_is_seen() -> None:
    """An embedder whose vectors change from a number of texts on is found out."""
    inner = HashingEmbedder(64)

    def embed(texts: Sequence[str]) -> Vectors:
        vectors = inner.embed_queries(texts)
        return np.nextafter(vectors, np.float32(2)) if len(texts) > 1 else vectors

    assert rows_agree(inner.embed_queries)
    assert not rows_agree(embed)


@pytest.mark.model
def test_the_proof_fills_batches(default_model: SentenceTransformerEmbedder) -> None:
    """B7: what is proved of the default model at its start are batches as large as any that comes later."""
    asked: list[list[str]] = []

    def embed(texts: Sequence[str]) -> Vectors:
        asked.append(list(texts))
        return default_model.embed_queries(texts)

    assert rows_agree(embed)
    left, sizes = asked[0], []
    while left:
        batch = default_model.next_batch(left)
        sizes.append(len(batch))
        left = [text for index, text in enumerate(left) if index not in batch]
    assert sizes == [16, 8, 4]
    assert len(asked) > 9
