"""The tokens of the default model through sentencepiece are those of its tokenizer.json."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from embeddings import background, bundled
from embeddings.pieces import FILE, Pieces

TEXTS = [
    "",
    " ",
    "   ",
    "\x00",
    "salt   coast\n\tsalt",
    "▁salt ▁ coast",
    "ｓａｌｔ Ωx",
    "<s></s> <mask>salt<mask> coast  <unk><pad>",
    "<mask",
    "salt " * 400,
]


def _both(folder: Path) -> tuple[Pieces, Tokenizer]:
    return Pieces(folder / FILE), Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.fixture(scope="module")
def small(folder: Path) -> tuple[Pieces, Tokenizer]:
    """Of a small model."""
    return _both(folder)


def _agree(both: tuple[Pieces, Tokenizer], texts: list[str]) -> None:
    ours, theirs = both
    for special in (True, False):
        theirs.no_truncation()
        found = [each.ids for each in theirs.encode_batch(texts, add_special_tokens=special)]
        assert ours.ids(texts, special=special) == found
    theirs.enable_truncation(20)
    assert ours.ids(texts, limit=20) == [each.ids for each in theirs.encode_batch(texts)]


def test_special_and_blank_texts(small: tuple[Pieces, Tokenizer]) -> None:
    """Blanks, control characters, wide letters and the names of special tokens are read alike, and cut alike."""
    _agree(small, TEXTS)


@given(
    st.lists(
        st.sampled_from(["salt", "coast", " ", "\n", "▁", "Ω", "<mask>", "</s>", "<s", ">", "x", "漢"]), max_size=30
    )
)
def test_any_text(small: tuple[Pieces, Tokenizer], parts: list[str]) -> None:
    """So is any mixture of them."""
    _agree(small, ["".join(parts)])


@pytest.mark.model
def test_the_default_tokenizer(cache_dir: Path) -> None:
    """All sentences of the background, in forty languages, have the same tokens."""
    _agree(_both(bundled.unpack(cache_dir)), [text for own in background.sentences().values() for text in own] + TEXTS)


def test_a_damaged_file(tmp_path: Path) -> None:
    """What is no model is a ValueError that names the file."""
    (tmp_path / FILE).write_bytes(b"no model")
    with pytest.raises(ValueError, match=FILE):
        Pieces(tmp_path / FILE)


def test_wide_letters_are_no_special_tokens(small: tuple[Pieces, Tokenizer]) -> None:
    """What only normalising turns into the name of a special token is letters, unlike in tokenizer.json."""
    ours, theirs = small
    special = {token for name in ("<s>", "</s>", "<mask>") if (token := theirs.token_to_id(name)) is not None}
    first, *inner, last = ours.ids(["＜s＞ ＜mask＞ ＜/s＞"])[0]
    assert {first, last} < special
    assert special.isdisjoint(inner)
