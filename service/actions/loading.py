"""The embedder that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from embeddings.embedder import Embedder
from service.settings import Settings


def load_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name, loaded. Raises EmbedderError."""
    return _EMBEDDERS.get(settings.model, _sentence_transformer)(settings)


def _bundled(settings: Settings) -> Embedder:
    from embeddings import bundled

    return bundled.load(settings.cache_dir, device=_device(settings))


def _sentence_transformer(settings: Settings) -> Embedder:
    from embeddings.sentence_transformer import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(settings.model, device=_device(settings))


def _hashing(_: Settings) -> Embedder:
    from embeddings.hashing import HashingEmbedder

    return HashingEmbedder()


def _remote(settings: Settings) -> Embedder:
    from embeddings.remote import RemoteEmbedder

    return RemoteEmbedder(settings.remote_url, settings.remote_model, key=settings.remote_key.get_secret_value())


def _device(settings: Settings) -> str | None:
    return None if settings.device == "auto" else settings.device


_EMBEDDERS: Mapping[str, Callable[[Settings], Embedder]] = {
    "bundled": _bundled,
    "hashing": _hashing,
    "remote": _remote,
}
"""By the setting `model`; any other name is a sentence-transformers model."""
