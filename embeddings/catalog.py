"""One row per known model: what must be put before its texts, how much it reads, and its measured floor.

A model that is not here works as well: prompts come from its own files, and its floor is unknown (None) until
somebody measures it. Prompts are those of each model's own card.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class KnownModel:
    name: str
    """Last component of the model's name, in lower case."""
    dimension: int
    max_tokens: int
    query_prompt: str = ""
    passage_prompt: str = ""
    floor: tuple[float, float] | None = None
    """(a, b): the noise floor of a score among N groups is a + b ln N; None where nobody measured it."""


def _e5(name: str, dimension: int, floor: tuple[float, float] | None = None) -> KnownModel:
    return KnownModel(
        name=name,
        dimension=dimension,
        max_tokens=512,
        query_prompt="query: ",
        passage_prompt="passage: ",
        floor=floor,
    )


def _nomic(name: str, max_tokens: int) -> KnownModel:
    return KnownModel(
        name=name,
        dimension=768,
        max_tokens=max_tokens,
        query_prompt="search_query: ",
        passage_prompt="search_document: ",
    )


MODELS = (
    # Floors: chosen on the choosing half of XQuAD and of our small talk, for the constants that are shipped here, by
    # `python -m benchmarks.recall choose --only floor`.
    _e5("multilingual-e5-small-q4", 384, floor=(0.154, 0.019)),
    _e5("multilingual-e5-small", 384, floor=(0.154, 0.019)),
    _e5("multilingual-e5-base", 768),
    _e5("multilingual-e5-large", 1024),
    _e5("e5-small-v2", 384),
    _e5("e5-base-v2", 768),
    _e5("e5-large-v2", 1024),
    _nomic("nomic-embed-text", 8192),
    _nomic("nomic-embed-text-v1.5", 8192),
    _nomic("nomic-embed-text-v2-moe", 512),
    KnownModel(name="bge-m3", dimension=1024, max_tokens=8192),
    KnownModel(name="paraphrase-multilingual-minilm-l12-v2", dimension=384, max_tokens=128),
    KnownModel(name="all-minilm-l6-v2", dimension=384, max_tokens=256),
    KnownModel(name="text-embedding-3-small", dimension=1536, max_tokens=8191),
    KnownModel(name="text-embedding-3-large", dimension=3072, max_tokens=8191),
)


def find(name: str) -> KnownModel | None:
    """The row of a model given as hub name, folder or provider's tag (`intfloat/…`, `/models/…`, `bge-m3:latest`)."""
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2].partition(":")[0].lower()
    return next((row for row in MODELS if row.name == last), None)
