"""What the tests of the recall benchmark share: a lab without a model, and one with the default model."""

import os
from pathlib import Path

import pytest

from benchmarks.recall.lab import Lab
from benchmarks.recall.vectors import VectorStore
from embeddings import bundled, calibration
from embeddings.calibration import Calibration
from embeddings.hashing import HashingEmbedder
from service.settings import Settings


@pytest.fixture
def hashing(tmp_path: Path) -> Lab:
    """A lab over spelling alone: instant, the same everywhere."""
    embedder = HashingEmbedder()
    return Lab(store=VectorStore(embedder, tmp_path), calibration=Calibration.identity(embedder.space.dimension))


@pytest.fixture(scope="session")
def default_lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A lab over the default model and its shipped constants; nothing is remembered from earlier runs."""
    embedder = bundled.load(Settings().cache_dir, device="cpu")
    known = calibration.shipped(embedder.space)
    assert known is not None
    return Lab(store=VectorStore(embedder, tmp_path_factory.mktemp("vectors")), calibration=known)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public data sets that the variable DATA names."""
    folder = os.environ.get("DATA", "")
    if not folder or not Path(folder, "xquad").is_dir():
        pytest.skip("DATA names no folder with xquad/ in it; docs/recall.md says where to get it")
    return Path(folder)
