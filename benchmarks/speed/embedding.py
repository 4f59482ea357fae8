"""Passages a second and the time of one query, per backend, beside plain sentence-transformers in float32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.speed.lore import words
from benchmarks.speed.size import Figures, Size
from benchmarks.speed.timing import alternate, median
from embeddings.embedder import Embedder, EmbedderError
from service.actions.loading import load_embedder
from service.formats import read
from service.lore.recipe import embedding_text
from service.sample import world
from service.settings import Settings

PAUSE = 0.05
"""Threads of one library spin for a while after a call, and would disturb the next."""


def plain_model() -> Any:
    """The default model as anyone would load it."""
    import torch  # before sentence_transformers, which is slow enough to import on its own
    from sentence_transformers import SentenceTransformer

    from embeddings.bundled import unpack

    torch.set_grad_enabled(False)
    return SentenceTransformer(str(unpack(Settings().cache_dir)), device="cpu", local_files_only=True)


def backends() -> dict[str, Embedder]:
    """The product's, by name, as far as they are installed."""
    found: dict[str, Embedder] = {}
    for backend in ("torch", "openvino"):
        try:
            found[backend] = load_embedder(Settings(model="bundled", backend=backend))
        except EmbedderError as error:
            print(f"{backend}: left out: {error}")
    return found


def measure_embed(size: Size) -> Figures:
    """Every backend in turn over the same passages of about 108 tokens and the same new queries."""
    plain, ours = plain_model(), backends()
    texts = [embedding_text(entry)[:600] for entry in read(world()).book.entries or ()]
    texts = [texts[i % len(texts)] for i in range(size.passages)]
    passages: dict[str, Callable[[], object]] = {
        "plain": lambda: plain.encode(texts, prompt="passage: ", normalize_embeddings=True),
        **{name: _passages(embedder, texts) for name, embedder in ours.items()},
    }
    random = np.random.default_rng(3)
    asked = [" ".join(words(random, 12)) + "?" for _ in range(size.rounds + 1)]
    queries: dict[str, Callable[[], object]] = {
        "plain": _one_by_one(asked, lambda text: plain.encode([text], prompt="query: ", normalize_embeddings=True)),
        **{name: _one_by_one(asked, _query(embedder)) for name, embedder in ours.items()},
    }
    crowd = {f"{name} batch": _crowd(embedder, asked) for name, embedder in ours.items()}
    slow = alternate(passages, rounds=size.slow_rounds, pause=PAUSE)
    quick = alternate(queries, rounds=size.rounds, pause=PAUSE)
    crowded = alternate(crowd, rounds=max(1, size.rounds // 4), pause=PAUSE)
    figures: Figures = {}
    for name, seconds in slow.items():
        figures[f"{name}_passages_per_second"] = len(texts) / median(seconds)
        figures[f"{name}_query_ms"] = 1000 * median(quick[name])
    for name in ours:
        figures[f"{name}_passages_times_plain"] = median(slow["plain"]) / median(slow[name])
        figures[f"{name}_query_over_plain"] = median(quick[name]) / median(quick["plain"])
        figures[f"{name}_query_of_a_batch_ms"] = 1000 * median(crowded[f"{name} batch"]) / min(16, len(asked))
    if "openvino" in ours and "torch" in ours:
        rows = [ours[name].embed_queries(asked) for name in ("torch", "openvino")]
        figures["openvino_smallest_cosine"] = float(np.einsum("ij,ij->i", *rows).min())
    return figures


def _passages(embedder: Embedder, texts: Sequence[str]) -> Callable[[], object]:
    return lambda: embedder.embed_passages(texts)


def _query(embedder: Embedder) -> Callable[[str], object]:
    return lambda text: embedder.embed_queries([text])


def _crowd(embedder: Embedder, texts: Sequence[str]) -> Callable[[], object]:
    return lambda: embedder.embed_queries(texts[:16])


def _one_by_one(texts: Sequence[str], embed: Callable[[str], object]) -> Callable[[], object]:
    """Another text at each call."""
    left = iter(texts)
    return lambda: embed(next(left))
