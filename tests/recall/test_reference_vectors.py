"""The default model still gives the vectors that were stored: prompts, pooling, normalisation, constants.

`python tests/recall/test_reference_vectors.py` stores them anew, for when a change of the space is wanted.
"""

from pathlib import Path

import numpy as np
import pytest

from embeddings.calibration import Calibration, shipped
from embeddings.embedder import Embedder

STORED = Path(__file__).with_name("reference_vectors.npz")
SENTENCES = (
    "The lamp of the old lighthouse burns whale oil.",
    "Quem guarda a chave do portão de sal?",
    "灯台守は毎晩、階段を数えながら上る。",
    "Смотритель маяка не продаёт мёд тем, кто в трауре.",
    "من يفتح بوابة الملح مرتين في السنة؟",
    "盐门一年只为鲱鱼船队打开两次。",
)


def embedded(embedder: Embedder) -> dict[str, np.ndarray]:
    """Raw and calibrated vectors of both roles."""
    known = shipped(embedder.space)
    assert known is not None
    queries, passages = embedder.embed_queries(SENTENCES), embedder.embed_passages(SENTENCES)
    return {
        "raw queries": queries,
        "raw passages": passages,
        "queries": known.queries(queries),
        "passages": known.passages(passages),
    }


@pytest.mark.model
@pytest.mark.parametrize("kind", ["raw queries", "raw passages", "queries", "passages"])
def test_vectors_are_those_that_were_stored(default_lab, kind):
    """Each vector has unit length and lies within a cosine of .999 of the stored one."""
    rows = embedded(default_lab.store.embedder)[kind]
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    with np.load(STORED) as stored:
        cosines = np.einsum("ij,ij->i", rows, stored[kind].astype(np.float32))
    assert cosines.min() > 0.999


@pytest.mark.model
def test_stored_vectors_tell_prompts_and_constants_apart(default_lab):
    """What this check must see differs by more than it allows: the other prompt, none, and no calibration."""
    model = default_lab.store.embedder
    now = embedded(model)
    prompts = model._query_prompt, model._passage_prompt
    try:
        model._query_prompt = model._passage_prompt = ""
        without = model.embed_queries(SENTENCES), model.embed_passages(SENTENCES)
    finally:
        model._query_prompt, model._passage_prompt = prompts
    for one, other in (
        (now["raw queries"], now["raw passages"]),
        (now["raw queries"], without[0]),
        (now["raw passages"], without[1]),
        (now["queries"], now["raw queries"]),
        (now["passages"], now["raw passages"]),
        (now["passages"], Calibration.identity(384).passages(now["raw passages"])),
    ):
        assert np.einsum("ij,ij->i", one, other).max() < 0.999


if __name__ == "__main__":
    from embeddings import bundled
    from service.settings import Settings

    rows = embedded(bundled.load(Settings().cache_dir, device="cpu"))
    np.savez_compressed(STORED, **{kind: each.astype(np.float16) for kind, each in rows.items()})
    print(f"{STORED}: {STORED.stat().st_size} bytes")
