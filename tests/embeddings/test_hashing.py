"""The embedder without a model."""

import os
import subprocess
import sys

import numpy as np
import pytest

from embeddings.hashing import HashingEmbedder


def test_names_find_each_other() -> None:
    """A query that shares a name with a passage is nearer to it than to any other passage."""
    embedder = HashingEmbedder()
    passages = ["Kira rules the Salt Coast.", "The mill of Oden burned down.", "灯台守は毎晩ランプをともす。"]
    scores = (
        embedder.embed_queries(["who is Kira?", "the mill of oden", "灯台守のランプ"])
        @ embedder.embed_passages(passages).T
    )
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]


def test_every_process_gives_the_same_vectors() -> None:
    """Vectors do not depend on the process, unlike Python's own hash of a str."""
    code = (
        "from embeddings.hashing import HashingEmbedder; import hashlib;"
        "print(hashlib.sha256(HashingEmbedder().embed_queries(['the salt coast']).tobytes()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize("text", ["", "   ", "a", "\ud83d", "漢", "a\x00b"])
def test_any_text_has_a_unit_vector(text: str) -> None:
    """V13: even a blank text or a lone surrogate has a finite vector of unit length."""
    vectors = HashingEmbedder(64).embed_passages([text])
    assert vectors.shape == (1, 64)
    assert np.isclose(np.linalg.norm(vectors), 1)


def test_counts_and_empty_batches() -> None:
    """Counts are per text and never zero for a word; no text gives no rows but the dimension."""
    embedder = HashingEmbedder()
    assert embedder.count_tokens(["a b c", "漢字漢字", ""]) == [3, 3, 0]
    assert embedder.embed_queries([]).shape == (0, 256)
