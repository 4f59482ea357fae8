"""The fold: what it ignores, what it keeps, and that the fast one is the slow one."""

from __future__ import annotations

import random
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.lore.folding_table import folding_table
from service.lore.text import Folded, clean_line, fold
from tests.lore.slow_fold import slow_fold

# One string of characters that act on each other per line of thought; mixed, they make the hard clusters.
MIXED = (
    "aeiouAEIOUsStTnyœß", "ıIİi", "\u0301\u0308\u0307\u031b\u0323\u0345\u0338\u20dd\u20e3", " \t\n\r\u00a0\u3000",
    "\u200b\u200c\u200d\u00ad\ufe0f\ufe0e\u2060\ufeff\u200f\u034f\U000e0101", "’‘ʼ'`´", "αάΐςΣΩᾳΆ",
    "аеиіИйЙгкЁё\u0301\u0306\u0308", "أإآاٱكتوليىهئةﻻﷲ\u0640\u064b\u0651\u0653\u0654\u0655\u0670",
    "שלוםבִ\u05bc\u05c1", "कनरळ\u093c\u094d\u093f\u0947क़", "কখ\u09c7\u09be\u09d7\u09cd", "கஒ\u0bc6\u0bbe\u0bd7\u0bcd",
    "ಕ\u0cbf\u0cc6\u0cc2\u0cd5\u0cca", "ක\u0dd9\u0dcf\u0dca\u0ddc", "ขาว่้ำุเ\u0e4d", "ລາຳ່", "ទនលេ\u17d2",
    "မရ\u102e\u1025\u1039\u103a", "가각\u1100\u1161\u11a8\u1112ㄱㅏㅋﾡￂ\uffa0\u3164", "がかカﾊﾞﾟ\u3099\u309aー゛",
    "漢魔\u2f00豈\U00020000\U0002f800", "①⑴⒈²½…™ﬁ№㎏㊀🄁Ⓐ", "👩🚀❤🔥👍🏽🏿\u200d\ufe0f♂🇺🇸🇩🏴\U000e0067\U000e007f↔",
    "0123٣४_-.", "\ud800\udfff\ud83d\ude00", "𝓐𝓵ａＡｉ", "\x00\x07\x1f\x7f", "\u0f71\u0f72\u0f40\u0f42\u0fb7",
    "\U000110ba\U00011099\U00011131\U00011127\U0001d158\U0001d165\U0001d15f",
)  # fmt: skip

ANY_TEXT = st.text(
    st.one_of(st.sampled_from("".join(MIXED)), st.characters(), st.characters(categories=["Cs"])), max_size=24
)


def assert_fast_equals_slow(text: str) -> None:
    folded = fold(text)
    slow, breaks = slow_fold(text)
    assert folded.text == slow
    for at in range(len(slow) + 1):
        inside = 0 < at < len(slow) and unicodedata.category(slow[at])[0] == "M"
        assert (not inside and not folded.splits_cluster(at)) == (at in breaks)
        if at in breaks:
            assert folded.span(at, at)[0] == breaks[at][1]


@given(ANY_TEXT)
def test_any_text_folds_as_cluster_by_cluster(text: str) -> None:
    """The fast fold equals the reference on any string, in its text, its cluster boundaries and its way back."""
    assert_fast_equals_slow(text)


def test_many_mixtures_fold_as_cluster_by_cluster() -> None:
    """The fast fold equals the reference on a large seeded sample of scripts mixed, short and long."""
    rng = random.Random(20)
    for n in range(3000):
        alphabets = rng.sample(MIXED, rng.choice([1, 1, 2, 3]))
        length = 250 if n % 20 == 0 else rng.randint(1, 14)
        assert_fast_equals_slow("".join(rng.choice(rng.choice(alphabets)) for _ in range(length)))


def test_every_code_point_folds_as_in_the_reference() -> None:
    """No character between a letter and a mark folds differently in the table than in the reference."""
    table = folding_table().folded[:-1]
    changing = np.flatnonzero(table != np.arange(len(table))).tolist()
    rest = range(0, sys.maxunicode + 1, 211)  # a sample of Han, Hangul, private use, unassigned
    for point in sorted({*changing, *rest}):
        text = f"x{chr(point)}\u0301"
        assert fold(text).text == slow_fold(text)[0], hex(point)


@pytest.mark.parametrize("alphabet", MIXED)
def test_long_mixtures_fold_as_cluster_by_cluster(alphabet: str) -> None:
    """Many clusters, which are found in another way than a few, fold as in the reference in every script."""
    rng = random.Random(21)
    assert_fast_equals_slow("".join(rng.choice(alphabet + alphabet + " a") for _ in range(800)))


@given(ANY_TEXT)
def test_a_folded_character_folds_to_itself(text: str) -> None:
    """Folding what was folded changes nothing: no character that a fold can yield folds further."""
    for character in fold(text).text:
        assert fold(character).text == character


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ÀÉÎ Ñandú", "aei nandu"),
        ("NGƯỜI Bệnh", "nguoi benh"),
        ("Łódź", "łodz"),
        ("Γένεση ΟΔΟΣ", "γενεση οδοσ"),
        ("Straße", "strasse"),
        ("Й Ё ѓ", "й ё ѓ"),
        ("за́мок", "замок"),
        ("İIıi", "iiii"),
        ("أإآٱا ؤ ئ", "ااااا ؤ ئ"),
        ("مُحَمَّدٌ ـ", "محمد "),
        ("שָׁלוֹם", "שלום"),
        ("हिन्दी", "हिन्दी"),
        ("ก่า", "ก่า"),
        ("ｶﾞｷﾞ が", "ガギ が"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("’‘ʼʻ'", "'''''"),
        ("a\u200bb\u00adc\u2060d\ufeff", "abcd"),
        ("❤️ 👩\u200d🚀 a\u200db", "❤ 👩\u200d🚀 ab"),
        ("① ⑴ ² ½", "① ⑴ 2 1⁄2"),
        ("a \t\r\n\u3000 b ", "a b "),
        ("a \u200b b", "a b"),
        ("\ud800x", "\ufffdx"),
        ("", ""),
    ],
)
def test_what_the_fold_ignores_and_keeps(text: str, folded: str) -> None:
    """Case, width, accents of Latin and Greek, optional marks and blanks are folded; what tells words apart stays."""
    assert fold(unicodedata.normalize("NFC", text)).text == unicodedata.normalize("NFC", folded)
    assert fold(unicodedata.normalize("NFD", text)).text == unicodedata.normalize("NFC", folded)


@pytest.mark.parametrize(
    ("text", "part", "original"),
    [
        ("İstanbul'da", "istanbul", "İstanbul"),
        ("I\u0307stanbul", "istanbul", "I\u0307stanbul"),
        ("die  \n Straße dort", "strasse", "Straße"),
        ("so Ela\u200bra\u200b.", "elara", "Ela\u200bra\u200b"),
        ("\ufeffAlice", "alice", "Alice"),
        ("wait… Alice", "alice", "Alice"),
        ("𝓐𝓵𝓲𝓬𝓮 𠀀", "𠀀", "𠀀"),
        ("a ⚽️!", "⚽", "⚽️"),
    ],
)
def test_spans_lead_back_to_whole_clusters(text: str, part: str, original: str) -> None:
    """M12: a span of the folded text maps to the code points of the original, marks and invisible ones included."""
    folded = fold(text)
    start = folded.text.index(part)
    first, last = folded.span(start, start + len(part))
    assert text[first:last] == original


def test_half_of_an_expanded_letter_is_no_boundary() -> None:
    """The two letters that ß folds to stay one cluster."""
    folded = fold("aßb")
    assert [folded.splits_cluster(at) for at in range(5)] == [False, False, True, False, False]


def test_ascii_folds_one_to_one() -> None:
    """A text of single-spaced ASCII needs no way back."""
    assert fold("The Salt\tGate") == Folded("the salt gate", "The Salt\tGate")


@pytest.mark.parametrize("mark", ["\u0301\u0316", "\u093c\u094d", "\u200d😀", " \u200b", "\u1161"])
def test_endless_clusters_take_linear_time(mark: str) -> None:
    """A cluster of a hundred thousand code points folds like its first 32, so that no one can stall the service."""
    folded = fold("и" + mark * 50_000 + "z")
    assert folded.text.endswith("z")
    assert folded.span(len(folded.text) - 1, len(folded.text)) == (1 + 50_000 * len(mark), 2 + 50_000 * len(mark))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  Salt Gate\n", "Salt Gate"),
        ("Salt\r\nGate", "Salt Gate"),
        ("a\x00b\x7fc\x85d\u2028e", "a b c d e"),
        ("塩の門", "塩の門"),
        ("a  b", "a  b"),
        ("\n\t ", ""),
    ],
)
def test_a_name_is_one_line(text: str, line: str) -> None:
    """Control characters and line breaks in titles, aliases and names become one blank; the ends are trimmed."""
    assert clean_line(text) == line
