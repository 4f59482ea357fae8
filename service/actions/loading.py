"""The embedder that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from embeddings.embedder import Embedder, EmbedderError
from service.settings import Settings


def load_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name, loaded. Raises EmbedderError."""
    named = settings.model if settings.model in _EMBEDDERS else _FOLDER
    return (_WITH_OPENVINO if settings.backend == "openvino" else _EMBEDDERS).get(named, _EMBEDDERS[named])(settings)


def _bundled(settings: Settings) -> Embedder:
    from embeddings import bundled

    return bundled.load(settings.cache_dir, device=_device(settings))


def _bundled_with_openvino(settings: Settings) -> Embedder:
    from embeddings import bundled, openvino

    return openvino.load(
        lambda: bundled.unpack(settings.cache_dir),
        settings.cache_dir,
        model=bundled.NAME,
        revision=bundled.revision(),
    )


def _sentence_transformer(settings: Settings) -> Embedder:
    from embeddings.sentence_transformer import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(settings.model, device=_device(settings))


def _folder_with_openvino(settings: Settings) -> Embedder:
    from embeddings import openvino
    from embeddings.sentence_transformer import weights_hash

    folder = Path(settings.model).resolve()
    if not folder.is_dir():
        raise EmbedderError(
            f"backend=openvino needs a folder, and {settings.model!r} is none: download the model first"
        )
    return openvino.load(lambda: folder, settings.cache_dir, model=folder.name, revision=weights_hash(folder))


def _hashing(_: Settings) -> Embedder:
    from embeddings.hashing import HashingEmbedder

    return HashingEmbedder()


def _remote(settings: Settings) -> Embedder:
    from embeddings.remote import RemoteEmbedder

    return RemoteEmbedder(settings.remote_url, settings.remote_model, key=settings.remote_key.get_secret_value())


def _device(settings: Settings) -> str | None:
    return None if settings.device == "auto" else settings.device


_FOLDER = ""
_EMBEDDERS: Mapping[str, Callable[[Settings], Embedder]] = {
    "bundled": _bundled,
    "hashing": _hashing,
    "remote": _remote,
    _FOLDER: _sentence_transformer,
}
"""By the setting `model`; any other name is a sentence-transformers model."""
_WITH_OPENVINO: Mapping[str, Callable[[Settings], Embedder]] = {
    "bundled": _bundled_with_openvino,
    _FOLDER: _folder_with_openvino,
}
"""The rows that another backend changes."""
