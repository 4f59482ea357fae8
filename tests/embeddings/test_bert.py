"""The default model without sentence-transformers: the same bits, and none of its imports."""

import subprocess
import sys
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from embeddings import background, bert, bundled
from embeddings.embedder import EmbedderError
from embeddings.sentence_transformer import SentenceTransformerEmbedder

TEXTS = [
    "",
    "   ",
    "salt",
    "salt coast",
    "Who keeps the lighthouse, 灯台守, of the salt coast? " * 2,
    "<s></s><mask> <unk> salt",
    "the lighthouse keeper of the salt coast, " * 2_000,
    "\x00",
]


def _agree(ours: SentenceTransformerEmbedder, theirs: SentenceTransformerEmbedder, texts: list[str]) -> None:
    assert ours.space == theirs.space
    assert ours.max_tokens == theirs.max_tokens
    assert ours.count_tokens(texts) == theirs.count_tokens(texts)
    assert np.array_equal(ours.embed_queries(texts), theirs.embed_queries(texts))
    assert np.array_equal(ours.embed_passages(texts), theirs.embed_passages(texts))


def test_the_bits_of_sentence_transformers(folder: Path) -> None:
    """Any text has the same tokens and the same bits as through sentence-transformers, as query and as passage."""
    loaded = bert.load(folder, device="cpu")
    ours = SentenceTransformerEmbedder(folder, loaded=loaded)
    _agree(ours, SentenceTransformerEmbedder(folder, device="cpu"), TEXTS)


@pytest.mark.model
def test_the_bits_of_the_default_model(default_model: SentenceTransformerEmbedder, cache_dir: Path) -> None:
    """So do short and long texts in every language of the background with the default model."""
    folder = bundled.unpack(cache_dir)
    theirs = SentenceTransformerEmbedder(folder, device="cpu", model=bundled.NAME, revision=bundled.revision())
    own = background.sentences().values()
    _agree(default_model, theirs, [*TEXTS, *(text for each in own for text in (each[0], " ".join(each[:8])))])


def test_nothing_else_is_imported(folder: Path) -> None:
    """Loading and embedding imports neither of the two libraries, nor the compiler of torch and what belongs to it."""
    unwanted = ["sentence_transformers", "transformers", "torch._dynamo", "sympy", "sklearn", "scipy"]
    program = (
        "import sys; from pathlib import Path\n"
        "from embeddings import bert; from embeddings.sentence_transformer import SentenceTransformerEmbedder\n"
        "folder = Path(sys.argv[1])\n"
        "SentenceTransformerEmbedder(folder, loaded=bert.load(folder, device='cpu')).embed_passages(['salt'])\n"
        "print([name for name in sys.argv[2:] if name in sys.modules])"
    )
    command = [sys.executable, "-c", program, str(folder), *unwanted]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["model.safetensors", "pieces.model", "config.json"])
@pytest.mark.parametrize("size", [None, 0, 200])
def test_a_damaged_folder(folder: Path, tmp_path: Path, name: str, size: int | None) -> None:
    """A folder with a file missing, empty or cut short is an EmbedderError that names it."""
    copy = copytree(folder, tmp_path / "damaged")
    kept = b"" if size is None else (copy / name).read_bytes()[:size]
    (copy / name).unlink()
    if size is not None:
        (copy / name).write_bytes(kept)
    with pytest.raises(EmbedderError, match="damaged"):
        bert.load(copy, device="cpu")


def test_weights_of_another_shape(folder: Path, tmp_path: Path) -> None:
    """Weights that are not those of the configuration are refused rather than half loaded."""
    from safetensors.numpy import load_file, save_file

    copy = copytree(folder, tmp_path / "damaged")
    weights = load_file(copy / "model.safetensors")
    del weights["encoder.layer.1.output.dense.bias"]
    save_file(weights, copy / "model.safetensors")
    with pytest.raises(EmbedderError, match="damaged"):
        bert.load(copy, device="cpu")
