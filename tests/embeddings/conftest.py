"""What the tests of the package share: the default model, unpacked and loaded once a session."""

from pathlib import Path

import platformdirs
import pytest

from embeddings import bundled
from embeddings.sentence_transformer import SentenceTransformerEmbedder


@pytest.fixture(scope="session")
def cache_dir() -> Path:
    """The user's own cache, so that the default model is unpacked once and not once a run."""
    return Path(platformdirs.user_cache_dir("worldbook", False))


@pytest.fixture(scope="session")
def default_model(cache_dir: Path) -> SentenceTransformerEmbedder:
    return bundled.load(cache_dir, device="cpu")
