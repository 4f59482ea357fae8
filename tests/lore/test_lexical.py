"""Spelling: what is shared, in every script, and what stands out."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.lore.lexical import K1, B, Lexicon, grams, query_grams, standing_out

TEXTS = [
    "The Salt Gate opens twice a day.",
    "Warden Oru keeps the sea wall.",
    "塩の門は一日に二度開く。",
    "เกลือมาจากทะเล",
    "Соляные ворота открыты дважды в день.",
    "",
]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("the salt gate?", 0),
        ("wardens of the wall", 1),
        ("塩の門とは", 2),
        ("เกลือ", 3),
        ("СОЛЯНЫХ ворот", 4),
        ("sallt gaet", 0),
    ],
)
def test_shared_spelling_is_found(query: str, best: int) -> None:
    """A query covers most the text that shares its words, inflected or misspelt, with spaces or without."""
    assert Lexicon.build(TEXTS).coverage(query_grams(query)).argmax() == best


def test_another_script_covers_nothing() -> None:
    """V21: where no spelling can be shared the leg says nothing, and an empty text never covers anything."""
    covered = Lexicon.build([*TEXTS[:2], ""]).coverage(query_grams("Соляные ворота 塩の門"))
    assert covered.tolist() == [0.0, 0.0, 0.0]
    assert Lexicon.build([]).coverage(query_grams("salt")).tolist() == []
    assert Lexicon.build(TEXTS).coverage(query_grams("")).max() == 0.0


@settings(max_examples=100)
@given(st.lists(st.text(max_size=80), max_size=8), st.text(max_size=80))
def test_coverage_is_a_share(texts: list[str], query: str) -> None:
    """Coverage lies between 0 and 1, whatever the texts."""
    covered = Lexicon.build(texts).coverage(query_grams(query))
    assert covered.shape == (len(texts),)
    assert ((covered >= 0) & (covered <= 1 + 1e-9)).all()


def test_coverage_is_bm25_over_its_best() -> None:
    """One gram, three texts of one word: BM25 by hand, divided by idf (k1 + 1)."""
    lexicon = Lexicon.build(["gate", "gate", "salt"])
    frequency_part = 2.2 / (1 + 1.2)
    assert lexicon.coverage(query_grams("gate")).tolist() == pytest.approx([frequency_part / 2.2] * 2 + [0.0], abs=1e-6)


def test_rare_and_common_grams() -> None:
    """In a book of many texts common grams are a matrix and rare ones postings; coverage is BM25 all the same."""
    texts = [
        f"the gate of {name} and {name * count}" for count in (1, 2, 3) for name in ("oru", "salt", "mist", "wall")
    ]
    texts += ["", *(f"nothing but {'xyzwv'[number % 5] * 3}{number}" for number in range(30))]
    lexicon = Lexicon.build(texts)
    assert (lexicon.columns >= 0).any()
    assert (lexicon.columns < 0).any()
    held = [Counter(grams(text).tolist()) for text in texts]
    average = sum(each.total() for each in held) / len(texts)
    for query in ("the gate of oru", "nothing", "mist on the wall", "zzz17 unheard of"):
        asked = query_grams(query)
        holders = {gram: sum(gram in each for each in held) for gram in asked.tolist()}
        rarity = {gram: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for gram, n in holders.items()}
        by_hand = [
            sum(
                rarity[gram] * each[gram] * (K1 + 1) / (each[gram] + K1 * (1 - B + B * each.total() / average))
                for gram in rarity
            )
            for each in held
        ]
        best = sum(rarity.values()) * (K1 + 1)
        assert lexicon.coverage(asked).tolist() == pytest.approx([value / best for value in by_hand], abs=0.005)


@pytest.mark.parametrize(
    ("covered", "gains"),
    [
        ([0.9, 0.1, 0.2, 0.3, 0.4, 0.05], [0.8, 0.0, 0.1, 0.2, 0.3, 0.0]),
        ([0.5, 0.2], [0.3, 0.0]),
        ([0.5], [0.0]),
        ([], []),
        ([0.2] * 9, [0.0] * 9),
    ],
)
def test_only_what_stands_out_gains(covered: list[float], gains: list[float]) -> None:
    """The gain is what lies above the fifth best coverage, or above the worst of fewer."""
    assert standing_out(np.array(covered)).tolist() == pytest.approx(gains)
