"""What every embedder's answer must be, the stamp of a space, and the catalogue of models."""

from dataclasses import fields, replace

import numpy as np
import pytest

from embeddings import catalog
from embeddings.embedder import EmbedderError, EmbeddingSpace, TextError, checked
from embeddings.hashing import HashingEmbedder


@pytest.mark.parametrize(
    ("answer", "count", "why"),
    [
        ([], 1, "1 texts"),
        ([[1.0, 2.0]], 2, "2 texts"),
        ([[1.0, 2.0, 3.0]], 1, "dimension 3"),
        ([[]], 1, "dimension 0"),
        ([1.0, 2.0], 2, "shape"),
        ([["a", "b"]], 1, "numbers"),
        ([[1.0], [1.0, 2.0]], 2, "numbers"),
        (None, 1, "shape"),
    ],
)
def test_a_wrong_answer_is_refused(answer: object, count: int, why: str) -> None:
    """C10, V05: too few rows, another dimension or no numbers at all is an EmbedderError that says which."""
    with pytest.raises(EmbedderError, match=why):
        checked(answer, count=count, dimension=2)


@pytest.mark.parametrize("row", [[np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0]])
def test_a_row_without_direction_is_refused(row: list[float]) -> None:
    """V13: a row that is zero or not finite is a TextError, since only its text is to blame."""
    with pytest.raises(TextError):
        checked([[1.0, 2.0], row], count=2, dimension=2)


def test_rows_come_out_at_unit_length() -> None:
    """Rows are scaled to unit length in float32, whatever type they had; no texts give no rows."""
    rows = checked([[3, 4], [0, 2]], count=2)
    assert rows.dtype == np.float32
    assert np.allclose(rows, [[0.6, 0.8], [0, 1]])
    assert checked([], count=0, dimension=5).shape == (0, 5)


def test_the_bits_of_a_row_do_not_depend_on_the_others() -> None:
    """B7: a row alone is scaled to the same bits as among others."""
    rows = np.random.default_rng(0).normal(size=(50, 383)).astype(np.float32)
    together = checked(rows, count=50)
    assert all(np.array_equal(checked(rows[i : i + 1], count=1)[0], together[i]) for i in range(50))


@pytest.mark.parametrize("name", [field.name for field in fields(EmbeddingSpace)])
def test_any_other_stamp_is_another_space(name: str) -> None:
    """V05: a change of any field of the stamp changes the id, so vectors of two models are never compared."""
    space = HashingEmbedder().space
    value = getattr(space, name)
    changed = replace(space, **{name: not value if isinstance(value, bool) else value * 2 or "x"})
    assert changed.id != space.id
    assert replace(space).id == space.id


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("intfloat/multilingual-e5-small", "multilingual-e5-small"),
        ("/models/E5-Base-v2/", "e5-base-v2"),
        (r"C:\models\bge-m3", "bge-m3"),
        ("nomic-embed-text:latest", "nomic-embed-text"),
        ("somebody/unheard-of", None),
        ("", None),
    ],
)
def test_models_are_known_by_the_end_of_their_name(name: str, row: str | None) -> None:
    """A hub name, a folder and a provider's tag of one model find the same row."""
    found = catalog.find(name)
    assert (found.name if found else None) == row


def test_catalogue_rows_are_distinct() -> None:
    """Every name stands once, in lower case, as `find` looks it up."""
    names = [row.name for row in catalog.MODELS]
    assert len(set(names)) == len(names)
    assert all(catalog.find(name) is row for name, row in zip(names, catalog.MODELS, strict=True))
