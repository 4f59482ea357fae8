"""What the tests of the package share, unpacked and loaded once a session: the default model and a small one."""

from pathlib import Path

import platformdirs
import pytest
from packing import pack

from embeddings import bundled
from embeddings.sentence_transformer import SentenceTransformerEmbedder


@pytest.fixture(scope="session")
def cache_dir() -> Path:
    """The user's own cache, so that the default model is unpacked once and not once a run."""
    return Path(platformdirs.user_cache_dir("worldbook", False))


@pytest.fixture(scope="session")
def default_model(cache_dir: Path) -> SentenceTransformerEmbedder:
    return bundled.load(cache_dir, device="cpu")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model of random weights, unpacked like the default one."""
    root = tmp_path_factory.mktemp("small")
    pack(root / "small.bin")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundled, "_packed_file", lambda: root / "small.bin")
        return bundled.unpack(root / "cache")
