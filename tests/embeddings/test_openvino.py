"""The OpenVINO backend on a small model with random weights, and on the default one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from embeddings import bundled, conversion, openvino
from embeddings.embedder import EmbedderError
from embeddings.openvino import OpenVinoEmbedder
from embeddings.sentence_transformer import SentenceTransformerEmbedder
from service.actions.loading import load_embedder
from service.settings import Settings

# not by importing it, since the first import decides about its telemetry
pytestmark = pytest.mark.skipif(find_spec("openvino") is None, reason="the extra openvino is not installed")

TEXTS = [
    "Why?",
    "who keeps the lighthouse of the salt coast",
    "灯台守は毎晩ランプをともす。",
    "Смотритель маяка каждую ночь зажигает лампу, а утром гасит её и идёт домой.",
    "The keeper climbs the stairs at dusk, trims the wick, fills the lamp with oil and waits for the ships. " * 3,
    "oil " * 3000,
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def small(folder: Path, cache: Path) -> OpenVinoEmbedder:
    return openvino.load(lambda: folder, cache, model="small", revision="1")


@pytest.fixture(scope="module")
def torch(folder: Path) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(folder, device="cpu", model="small", revision="1")


def test_the_same_space(small: OpenVinoEmbedder, torch: SentenceTransformerEmbedder) -> None:
    """Stamp, limit and token counts are those of torch, and no vector is further than cosine .999 from its own."""
    assert small.space == torch.space
    assert small.max_tokens == torch.max_tokens
    assert small.count_tokens(TEXTS) == torch.count_tokens(TEXTS)
    for ours, theirs in ((small.embed_queries, torch.embed_queries), (small.embed_passages, torch.embed_passages)):
        assert np.einsum("ij,ij->i", ours(TEXTS), theirs(TEXTS)).min() >= conversion.MIN_COSINE
    assert not np.allclose(small.embed_queries(TEXTS), small.embed_passages(TEXTS))


def test_a_query_does_not_depend_on_its_batch(small: OpenVinoEmbedder) -> None:
    """The same query has the same bits alone, in a crowd, and in another order."""
    texts = TEXTS * 5
    together = small.embed_queries(texts)
    assert np.array_equal(together[::-1], small.embed_queries(texts[::-1]))
    assert all(np.array_equal(together[i], small.embed_queries([text])[0]) for i, text in enumerate(TEXTS))
    assert small.embed_passages([]).shape == (0, 32)


def test_the_next_batch_is_of_one_length(small: OpenVinoEmbedder, torch: SentenceTransformerEmbedder) -> None:
    """Of waiting queries the first and those of its length go next, by either backend."""
    queries = ["salt coast", "a", "salt", "b", "coast", "the lighthouse keeper of the salt coast"]
    assert [len(tokens) for tokens in (small.next_batch(queries), torch.next_batch(queries))] == [5, 5]
    for embedder in (small, torch):
        assert list(embedder.next_batch(queries[::-1])) == [0]
        assert list(embedder.next_batch(queries)) == [0, 1, 2, 3, 4]


def test_it_is_converted_once(small: OpenVinoEmbedder, cache: Path, tmp_path: Path) -> None:
    """A converted folder is used again; one that was damaged is made anew."""

    def forbidden() -> Path:
        raise AssertionError("converted again")

    assert openvino.load(forbidden, cache, model="small", revision="1").space == small.space
    [kept] = cache.glob("small-1-*")
    damaged = copytree(kept, tmp_path / kept.name)
    (damaged / openvino.ABOUT).write_text("{}")
    with pytest.raises(AssertionError, match="converted again"):
        openvino.load(forbidden, tmp_path, model="small", revision="1")


def test_other_vectors_are_refused(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A conversion whose vectors are not those of the model is an error, and no folder."""
    monkeypatch.setattr(OpenVinoEmbedder, "embed_passages", OpenVinoEmbedder.embed_queries)
    with pytest.raises(EmbedderError, match=r"differ from those of torch: cosine 0\.\d+"):
        conversion.convert(folder, tmp_path, model="small", revision="1")


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    """What cannot be converted says why, and what to use instead."""
    with pytest.raises(EmbedderError, match=r"cannot convert none for OpenVINO: .*Use backend=torch"):
        openvino.load(lambda: tmp_path, tmp_path / "cache", model="none", revision="1")


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the error names the extra to install."""

    def missing(_: str) -> str:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(EmbedderError, match=r"pip install 'worldbook\[openvino\]'"):
        openvino.load(lambda: tmp_path, tmp_path, model="small", revision="1")


@pytest.mark.parametrize(
    ("fields", "kind"),
    [({"model": "hashing"}, "HashingEmbedder"), ({"model": "FOLDER"}, "OpenVinoEmbedder")],
)
def test_the_setting_chooses(fields: dict[str, str], kind: str, folder: Path, cache: Path) -> None:
    """`backend=openvino` changes what runs a local model, and nothing for the others."""
    named = fields["model"].replace("FOLDER", str(folder))
    settings = Settings(_env_file=None, backend="openvino", cache_dir=cache, model=named)
    assert type(load_embedder(settings)).__name__ == kind


def test_a_name_of_the_hub_is_refused(cache: Path) -> None:
    """A model that is no folder is refused with what to do."""
    settings = Settings(_env_file=None, backend="openvino", cache_dir=cache, model="someone/some-model")
    with pytest.raises(EmbedderError, match="download the model first"):
        load_embedder(settings)


def test_nothing_is_reported_and_torch_stays_out(small: OpenVinoEmbedder, cache: Path) -> None:
    """A process that embeds with a converted model has loaded neither the telemetry of OpenVINO nor torch."""
    code = (
        "import sys; from pathlib import Path; from embeddings.openvino import OpenVinoEmbedder\n"
        f"OpenVinoEmbedder(next(Path({str(cache)!r}).glob('small-1-*'))).embed_queries(['a'])\n"
        "print([name for name in ('torch', 'openvino_telemetry') if sys.modules.get(name)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.model
def test_the_default_model_keeps_its_space(default_model: SentenceTransformerEmbedder, cache_dir: Path) -> None:
    """The default model gives the same stamp, and vectors of cosine .999 or more to those of torch."""
    load: Callable[[], Path] = lambda: bundled.unpack(cache_dir)  # noqa: E731
    ours = openvino.load(load, cache_dir, model=bundled.NAME, revision=bundled.revision())
    assert ours.space == default_model.space
    for one, other in (
        (ours.embed_queries, default_model.embed_queries),
        (ours.embed_passages, default_model.embed_passages),
    ):
        assert np.einsum("ij,ij->i", one(TEXTS), other(TEXTS)).min() >= conversion.MIN_COSINE
