"""The noise floor of a model, measured on the background sentences alone."""

from __future__ import annotations

import numpy as np
import pytest

from embeddings import background, noise
from embeddings.calibrating import calibrate
from embeddings.calibration import Calibration, shipped
from embeddings.hashing import HashingEmbedder
from embeddings.sentence_transformer import SentenceTransformerEmbedder

TEXTS = background.sentences()


def test_entries_are_made_of_unrelated_sentences() -> None:
    """Each language says every sentence twice, eight to an entry, in other orders, the same ones at every call."""
    made = noise.entries({"en": TEXTS["en"], "pt": TEXTS["pt"]})
    assert len(made) == 20
    assert made == noise.entries({"en": TEXTS["en"], "pt": TEXTS["pt"]})
    english = made[:10]
    assert sorted(number for each in english for number in each.says) == sorted([*range(40)] * 2)
    assert all(TEXTS["en"][number] in each.text for each in english for number in each.says)
    assert len({each.says for each in english}) == 10


def test_a_sentence_is_not_compared_with_an_entry_that_says_it() -> None:
    """The floor is the noise of unrelated texts: it lies far below the score of an entry that says the sentence."""
    model = HashingEmbedder()
    few = {code: TEXTS[code] for code in ("en", "pt", "ja", "ar")}
    raw = Calibration.identity(model.space.dimension)
    queries = [model.embed_queries(lines) for lines in few.values()]
    made = noise.entries(few)
    found = noise.floor(model, raw, queries, made)
    said = [
        float(model.embed_passages([each.text])[0] @ queries[0][number]) for each in made[:10] for number in each.says
    ]
    assert found(10) < np.median(said)


def test_small_talk_in_other_words_claims_little() -> None:
    """Of unrelated sentences about one in twenty exceeds the floor, for ten entries as for a hundred."""
    model = HashingEmbedder()
    some = {code: TEXTS[code] for code in ("ar", "de", "en", "es", "fr", "hi", "ja", "pt", "ru", "tr", "vi", "zh")}
    found = calibrate(model, some)
    assert found.floor is not None
    made = noise.entries(some)
    rows = found.passages(model.embed_passages([each.text for each in made]))
    others = [[place for place, each in enumerate(made) if number not in each.says] for number in range(40)]
    chance = np.random.default_rng(1)
    scores = np.concatenate([found.queries(model.embed_queries(lines)) @ rows.T for lines in some.values()])
    for size in (10, 80):
        best = [row[chance.choice(others[number % 40], size)].max() for number, row in enumerate(scores)]
        assert 0.0 < np.mean(np.array(best) > found.floor(size)) < 0.10


def test_progress_ends_with_everything() -> None:
    """How far the measuring is grows from call to call up to the number of texts that was told from the start."""
    told: list[tuple[int, int]] = []
    calibrate(HashingEmbedder(), {code: TEXTS[code] for code in ("en", "pt")}, lambda *each: told.append(each))
    assert [done for done, _ in told] == sorted({done for done, _ in told})
    assert {whole for _, whole in told} == {told[-1][0]}


@pytest.mark.slow
@pytest.mark.model
def test_the_method_comes_near_the_chosen_floor(default_model: SentenceTransformerEmbedder) -> None:
    """B5: for the default model the floor of the sentences lies within .015 of the one chosen on other data."""
    constants = shipped(default_model.space)
    assert constants is not None
    assert constants.floor is not None
    queries = [default_model.embed_queries(lines) for lines in TEXTS.values()]
    found = noise.floor(default_model, constants, queries, noise.entries(TEXTS))
    assert all(abs(found(size) - constants.floor(size)) < 0.015 for size in (5, 20, 120, 240))
