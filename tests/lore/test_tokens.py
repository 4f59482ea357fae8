"""Counts are exact, additive over blocks, and survive what breaks tiktoken."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.lore.errors import Invalid
from service.lore.tokens import Tokenizer
from service.tokenizers import known, tokenizer_for

BLOCKS = st.tuples(st.sampled_from(["# ", "## ", "- ", "<lore-1>", "</lore-1>", "-", "#"]), st.text(max_size=60)).map(
    lambda pair: f"{pair[0]}{pair[1]}\n"
)


def tokenizer(name: str | None = None, model: str | None = None, default: str = "") -> Tokenizer:
    return tokenizer_for(tokenizer=name, model=model, default=default, margin=1.15)


@pytest.mark.parametrize("name", known())
@settings(max_examples=300)
@given(blocks=st.lists(BLOCKS, min_size=1, max_size=8))
def test_tokens_of_blocks_add_up(name: str, blocks: list[str]) -> None:
    """D6: the tokens of a text made of blocks are exactly the sum of the tokens of its blocks."""
    counting = tokenizer(name)
    assert counting.count("".join(blocks)) == sum(map(counting.count, blocks))


def test_special_tokens_are_ordinary_text() -> None:
    """T01, P06: lore that holds special tokens of a chat template is counted as the letters it consists of."""
    assert tokenizer("cl100k_base").count("x <|endoftext|> y <|im_start|>") > 8


@pytest.mark.parametrize(
    "text", [" " * 1_000_000, "\t" * 1_000_000, "\u3000" * 1_000_000, "a" * 1_000_000, "漢" * 20_000]
)
def test_long_runs_are_counted_quickly(text: str) -> None:
    """T02, T03: a run of a million characters is counted, without a panic, in a few seconds at most."""
    began = time.perf_counter()
    assert tokenizer("cl100k_base").count(text) > 0
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("model", ["claude-opus-4", "gpt-4x", "", "llama"])
def test_unknown_models_fall_back_with_a_margin(model: str) -> None:
    """T04, T05: a model that is not known is counted with cl100k_base and a margin, and the answer says so."""
    found = tokenizer(model=model)
    assert (found.name, found.exact) == ("cl100k_base", False)
    assert found.detail is not None
    assert repr(model) in found.detail
    assert found.count("word " * 100) >= 1.15 * tokenizer("cl100k_base").count("word " * 100)


def test_ideographs_are_never_undercounted() -> None:
    """T06: a stand-in counts at least one token per ideograph, kana or syllable."""
    for text in ("的" * 140, "我們到了魔都" * 20, "の" * 50, "이다" * 50):
        assert tokenizer(model="claude-opus-4").count(text) >= len(text)


def test_a_known_model_is_exact() -> None:
    """C6: a model whose tokenizer is at hand is counted with it."""
    found = tokenizer(model="gpt-4")
    assert (found.name, found.exact, found.detail) == ("cl100k_base", True, None)


def test_a_named_tokenizer_wins_over_the_model() -> None:
    """T16: behind a proxy's model name the caller may name the tokenizer."""
    found = tokenizer("cl100k_base", model="my-proxy")
    assert (found.name, found.exact) == ("cl100k_base", True)


def test_an_unknown_tokenizer_is_refused() -> None:
    """A tokenizer that is not known is an error that lists those that are."""
    with pytest.raises(Invalid) as raised:
        tokenizer("o900k_base")
    assert "cl100k_base" in raised.value.errors[0].remedy


def test_no_vocabulary_is_fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """T07: without any cached vocabulary the default still counts, from what the package carries."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert tokenizer(default="cl100k_base").count("salt") == 1
