"""The model embedder, on a small model with random weights and on the default one."""

import json
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embeddings import background, bundled, precision
from embeddings.embedder import EmbedderError
from embeddings.sentence_transformer import SentenceTransformerEmbedder

TEXTS = [
    "Why?",
    "who keeps the lighthouse of the salt coast",
    "灯台守は毎晩ランプをともす。",
    "Смотритель маяка каждую ночь зажигает лампу, а утром гасит её и идёт домой.",
    "ผู้ดูแลประภาคารจุดตะเกียงทุกคืน",
    "The keeper climbs the stairs at dusk, trims the wick, fills the lamp with oil and waits for the ships. " * 3,
]


@pytest.fixture(scope="module")
def small(folder: Path) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(folder, device="cpu")


def test_the_stamp_tells_the_model(small: SentenceTransformerEmbedder, folder: Path) -> None:
    """The space names the folder, a hash of its weights, the prompts, the pooling and the dimension."""
    space = small.space
    assert (space.model, space.dimension, space.pooling) == (folder.name, 32, "mean")
    assert (space.query_prompt, space.passage_prompt) == ("query: ", "passage: ")
    assert len(space.revision) == 16


def test_other_weights_are_another_revision(folder: Path, tmp_path: Path) -> None:
    """V05: the same folder name with other weights is another space."""
    from safetensors.numpy import load_file, save_file

    copy = copytree(folder, tmp_path / folder.name)
    weights = load_file(copy / "model.safetensors")
    weights["embeddings.LayerNorm.bias"][0] += 1
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    changed, same = SentenceTransformerEmbedder(copy).space, SentenceTransformerEmbedder(folder).space
    assert changed.model == same.model
    assert changed.revision != same.revision
    assert changed.id != same.id


def test_prompts_of_the_catalogue(folder: Path, tmp_path: Path) -> None:
    """E04: an E5 model that ships no prompts of its own still gets `query: ` and `passage: `."""
    copy = copytree(folder, tmp_path / "e5-small-v2")
    (copy / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {}}))
    space = SentenceTransformerEmbedder(copy).space
    assert (space.query_prompt, space.passage_prompt) == ("query: ", "passage: ")
    unknown = copytree(copy, tmp_path / "somebodys-model")
    assert SentenceTransformerEmbedder(unknown).space.query_prompt == ""


def test_a_query_is_not_a_passage(small: SentenceTransformerEmbedder) -> None:
    """E04: the same text has another vector as a query than as a passage."""
    query, passage = small.embed_queries(["salt coast"]), small.embed_passages(["salt coast"])
    assert not np.allclose(query, passage, atol=1e-3)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(alphabet="salt co漢字.", max_size=90), min_size=1, max_size=20))
def test_queries_do_not_depend_on_their_batch(small: SentenceTransformerEmbedder, texts: list[str]) -> None:
    """B7: a query has the same bits alone and in a crowd, whatever the lengths of the others."""
    together = small.embed_queries(texts)
    for text, row in zip(texts, together, strict=True):
        assert np.array_equal(small.embed_queries([text])[0], row)


@pytest.mark.parametrize("text", ["", "   ", "x" * 1_000_000, "漢" * 50_000, " " * 1_000_000, "\x00", "<s></s><mask>"])
def test_any_text_has_a_unit_vector(small: SentenceTransformerEmbedder, text: str) -> None:
    """C06, V13: blank, endless and special texts have finite vectors of unit length."""
    for vectors in (small.embed_queries([text]), small.embed_passages([text, "salt"])):
        assert np.isfinite(vectors).all()
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_tokens_are_counted_as_the_model_sees_them(small: SentenceTransformerEmbedder) -> None:
    """Counts leave out prompts and special tokens, for which `max_tokens` keeps room."""
    assert small.count_tokens(["salt coast", "", "salt"]) == [2, 0, 1]
    assert small.count_tokens([]) == []
    assert small.max_tokens == 64 - 2 - len("▁passage:▁")
    assert small.embed_queries([]).shape == small.embed_passages([]).shape == (0, 32)


@pytest.mark.parametrize("broken", ["missing", "empty", "truncated"])
def test_a_model_that_cannot_be_loaded(folder: Path, tmp_path: Path, broken: str) -> None:
    """B6: a folder without a model, or with a damaged one, is an EmbedderError that names it."""
    path = tmp_path / broken
    if broken == "empty":
        path.mkdir()
    if broken == "truncated":
        copytree(folder, path)
        (path / "model.safetensors").write_bytes((path / "model.safetensors").read_bytes()[:5000])
    if broken == "missing":
        path = Path("/no/such/folder")
    with pytest.raises(EmbedderError, match=broken if broken != "missing" else "no/such"):
        SentenceTransformerEmbedder(path)


@pytest.mark.model
def test_the_default_model_in_any_batch(default_model: SentenceTransformerEmbedder) -> None:
    """B7: with the default model a query has the same bits alone, among others, and among copies of itself."""
    alone = np.concatenate([default_model.embed_queries([text]) for text in TEXTS])
    assert np.array_equal(default_model.embed_queries(TEXTS), alone)
    assert np.array_equal(default_model.embed_queries(TEXTS[::-1]), alone[::-1])
    assert np.array_equal(default_model.embed_queries([TEXTS[1]] * 5), np.repeat(alone[1:2], 5, axis=0))


@pytest.mark.model
def test_the_default_model_agrees_with_plain_encoding(
    default_model: SentenceTransformerEmbedder, cache_dir: Path
) -> None:
    """Both paths agree with sentence-transformers' own float32 encoding: to .9999, or in float32 the last bits."""
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(bundled.unpack(cache_dir)), device="cpu", local_files_only=True)
    queries, passages = default_model.embed_queries(TEXTS), default_model.embed_passages(TEXTS)
    if precision.bfloat16_bert(plain) is None:
        assert np.allclose(queries, plain.encode_query(TEXTS), atol=1e-5)
    assert np.einsum("ij,ij->i", queries, plain.encode_query(TEXTS)).min() > 0.9999
    assert np.einsum("ij,ij->i", passages, plain.encode_document(TEXTS)).min() > 0.999


@pytest.mark.model
def test_queries_of_the_two_precisions_are_interchangeable(
    default_model: SentenceTransformerEmbedder, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On another processor queries go in float32, in the same space and with a cosine of .9999 or more."""
    monkeypatch.setattr(precision, "_processor", set)
    slow = bundled.load(cache_dir, device="cpu")
    texts = [text for own in background.sentences().values() for text in own[:2]]
    assert slow.space == default_model.space
    assert np.einsum("ij,ij->i", slow.embed_queries(texts), default_model.embed_queries(texts)).min() > 0.9999
    assert np.array_equal(slow.embed_queries(TEXTS)[::-1], slow.embed_queries(TEXTS[::-1]))


@pytest.mark.model
def test_the_default_model_reads_across_languages(default_model: SentenceTransformerEmbedder) -> None:
    """W7: a question in one language is nearest to its answer in another."""
    answers = ["Die Bäckerei ist abgebrannt.", "El tren sale a las siete.", "祖母は毎週日曜日にパンを焼く。"]
    questions = ["What happened to the bakery?", "When does the train leave?", "Who bakes bread on Sundays?"]
    scores = default_model.embed_queries(questions) @ default_model.embed_passages(answers).T
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]
