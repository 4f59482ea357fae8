"""What lives as long as the service: settings, database, encoder, opened books, backlog."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Engine

from embeddings.embedder import Embedder, EmbedderError
from embeddings.encoding import Encoder
from service.actions.backlog import Backlog
from service.actions.opening import OpenBooks
from service.settings import Settings
from service.store.engine import check_schema, make_engine, migrate


@dataclass(frozen=True)
class Runtime:
    """The collaborators of every action."""

    settings: Settings
    engine: Engine
    encoder: Encoder
    opened: OpenBooks
    backlog: Backlog
    clock: Callable[[], datetime]

    def now(self) -> str:
        """The time, as it is stored and answered."""
        return timestamp(self.clock())


@contextmanager
def running(settings: Settings, *, load: Callable[[], Embedder] | None = None) -> Iterator[Runtime]:
    """Bring up the service; what it began ends with the block.

    `load` makes the embedder instead of the setting `model`; it runs on the encoder's own thread, so that a slow or
    failing model does not keep the service from starting. SQLite is migrated here, PostgreSQL by `worldbook migrate`.
    Raises `SchemaMismatch`, `Unavailable`.
    """
    with ExitStack() as ending:
        engine = make_engine(settings)
        ending.callback(engine.dispose)
        (migrate if engine.dialect.name == "sqlite" else check_schema)(engine)
        encoder = Encoder(load or partial(load_embedder, settings))
        backlog = Backlog(engine, encoder, lambda: timestamp(utc_now()))
        encoder.start()
        backlog.start()
        # In this order backwards: a batch in hand is given up rather than waited for.
        ending.callback(backlog.join)
        ending.callback(encoder.close)
        ending.callback(backlog.stop)
        yield Runtime(settings, engine, encoder, OpenBooks(settings.cache_bytes), backlog, utc_now)


def utc_now() -> datetime:
    """The clock of the service."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds: `2026-11-30T17:24:05.120Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


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
