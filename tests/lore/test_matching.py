"""The literal matcher: the cases of every script, boundaries, order, and what holds for any text."""

from __future__ import annotations

import json
import unicodedata
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from service.lore.matching import Hit, Matcher, unusable
from service.lore.text import clean_line, fold
from tests.lore.test_text import ANY_TEXT

CASES = Path(__file__).parent.parent / "cases"
ROWS = [
    json.loads(line)
    for name in ("matching.jsonl", "matching_more.jsonl")
    for line in (CASES / name).read_text(encoding="utf-8").splitlines()
]

# A name of every script, and letters of that script to stand around it.
SPACED = {
    "Latin": ("Elara", "xr"),
    "Vietnamese": ("Nguyễn", "tọ"),
    "Greek": ("Γένεση", "δό"),
    "Cyrillic": ("Герой", "жй"),
    "Arabic": ("جزيرة", "دم"),
    "Hebrew": ("ירושלים", "קט"),
    "Devanagari": ("हिन्दी", "तमि"),
}
UNSPACED = {
    "Thai": ("น้ำแข็ง", "กร"),
    "Khmer": ("ទន្លេ", "ទៅ"),
    "Lao": ("ເຮືອ", "ກດ"),
    "Burmese": ("မြို့", "ဒက"),
    "Hangul": ("앨리스", "가를"),
    "kana": ("ガラス", "のパ"),
    "Han": ("魔都", "到了"),
}
NAMES = SPACED | UNSPACED


def hits(text: str, *aliases: str) -> list[Hit]:
    return Matcher.build(list(enumerate(aliases))).find(fold(text))


def found(text: str, *aliases: str) -> list[str]:
    return [text[hit.start : hit.end] for hit in hits(text, *aliases)]


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_case(row: dict[str, Any]) -> None:
    """B3: the alias is found or not, as the table says, and the span slices out text that folds to the alias."""
    slices = found(row["text"], row["alias"])
    assert bool(slices) == row["expect"]
    assert {fold(piece).text for piece in slices} <= {fold(row["alias"]).text.strip()}


def test_cases_are_told_apart() -> None:
    """No id stands twice in the tables."""
    assert len({row["id"] for row in ROWS}) == len(ROWS)


def variants(name: str) -> set[str]:
    forms = {unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    return {case(form) for form in forms for case in (str, str.upper, str.lower, str.title, wide)}


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


@pytest.mark.parametrize("script", NAMES)
def test_variants_of_a_name_are_found(script: str) -> None:
    """M08, M10, M14: normal form, width and case of alias and text do not matter, in any script."""
    name = NAMES[script][0]
    for alias, written in product(variants(name), variants(name)):
        assert found(f"« {written}, {written}", alias) == [written, written]


@pytest.mark.parametrize("script", SPACED)
@given(data=st.data())
def test_a_name_inside_a_word_is_not_found(script: str, data: st.DataObject) -> None:
    """M04, M06: between letters and digits of its own spaced script an alias is part of another word, with underscores
    between them too; underscores alone are emphasis."""
    name, letters = SPACED[script]
    near = st.text(st.sampled_from([*letters.replace("ि", ""), "7", "_"]), max_size=3)
    before, after = data.draw(near), data.draw(near)
    assert bool(found(before + name + after, name)) == (not before.strip("_") and not after.strip("_"))


@pytest.mark.parametrize("script", UNSPACED)
@given(data=st.data())
def test_a_name_in_running_text_is_found(script: str, data: st.DataObject) -> None:
    """M01, M02, M11, M25, M26: in scripts without blanks, and with Hangul particles, a name is found anywhere."""
    name, letters = UNSPACED[script]
    near = st.text(st.sampled_from([c for c in letters if unicodedata.category(c)[0] == "L"] + ["7", "a"]), max_size=3)
    assert found(data.draw(near) + name + data.draw(near), name) == [name]


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (outer, inner)
        for outer, inner in product(NAMES, SPACED)
        if outer != inner and {outer, inner} != {"Latin", "Vietnamese"}
    ],
)
def test_a_change_of_script_is_a_boundary(outer: str, inner: str) -> None:
    """M05: a name between letters of another script is a word of its own."""
    around, name = NAMES[outer][0], SPACED[inner][0]
    assert found(around + name + around, name) == [name]


def test_all_hits_in_order() -> None:
    """Overlapping and contained aliases, and those of two entries, are all found: by start, longest first, book."""
    text = "The Salt Gate of Salt; salt gate"
    assert hits(text, "Salt", "Salt Gate", "gate of salt", "SALT") == [
        Hit(1, "Salt Gate", 4, 13),
        Hit(0, "Salt", 4, 8),
        Hit(3, "SALT", 4, 8),
        Hit(2, "gate of salt", 9, 21),
        Hit(0, "Salt", 17, 21),
        Hit(3, "SALT", 17, 21),
        Hit(1, "Salt Gate", 23, 32),
        Hit(0, "Salt", 23, 27),
        Hit(3, "SALT", 23, 27),
    ]


def test_spans_are_code_points() -> None:
    """M12: spans count code points of the original, whatever its characters take in UTF-8 or fold to."""
    text = "𠀀… İ魔都 ｱﾘｽ"
    assert [(hit.start, hit.end) for hit in hits(text, "魔都", "アリス", "İ")] == [(3, 4), (4, 6), (7, 10)]


def test_an_alias_given_twice_for_one_entry_hits_once() -> None:
    """A repeated (owner, alias) pair is one name."""
    assert Matcher.build([(0, "Oru"), (0, "Oru")]).find(fold("oru")) == [Hit(0, "Oru", 0, 3)]


@pytest.mark.parametrize("count", [400, 2_000])
def test_every_size_of_book_finds_the_same(count: int) -> None:
    """The automaton that many aliases get finds what the one of few aliases finds."""
    matcher = Matcher.build([(n, f"name {n} é") for n in range(count)])
    text = "Name 7 É, name 39 e and name 399 é; name 4000 é"
    assert [(hit.owner, text[hit.start : hit.end]) for hit in matcher.find(fold(text))] == [
        (7, "Name 7 É"),
        (39, "name 39 e"),
        (399, "name 399 é"),
    ]
    assert matcher.nbytes > 100 * count


@pytest.mark.parametrize("alias", ["", " ", "\n", "\u200b", " \u00ad\u200d", "ـ", "\u064b", "\ufe0f", "\x00"])
def test_an_alias_of_nothing_is_unusable(alias: str) -> None:
    """M29: an alias without anything to look for is named as such and never matches."""
    assert unusable(alias)
    assert hits("a b\n\u200b\u00ad ـ x\x00y", alias) == []


@pytest.mark.parametrize("alias", ["a", "塩", "+", "🔥", "é", "'"])
def test_an_alias_of_one_character_is_usable(alias: str) -> None:
    """Anything visible can be an alias."""
    assert not unusable(alias)
    assert found(f"x {alias} y", alias) == [alias]


def test_no_aliases_find_nothing() -> None:
    """A book without usable aliases has a matcher that costs nothing."""
    matcher = Matcher.build([(0, " "), (1, "")])
    assert matcher.find(fold("any text")) == []
    assert matcher.nbytes == 0


@given(st.lists(ANY_TEXT, max_size=6), ANY_TEXT, st.lists(st.integers(0, 5), max_size=5))
def test_any_span_folds_to_its_alias(aliases: list[str], filler: str, order: list[int]) -> None:
    """B3: whatever the aliases and the text, a span slices out text that folds to the alias it names."""
    text = filler + " ".join(aliases[n] + filler for n in order if n < len(aliases))
    for hit in hits(text, *aliases):
        assert 0 <= hit.start < hit.end <= len(text)
        assert fold(text[hit.start : hit.end]).text == fold(clean_line(hit.alias)).text.strip(" ")
        assert aliases[hit.owner] == hit.alias


@given(ANY_TEXT)
def test_any_usable_alias_finds_itself(alias: str) -> None:
    """An alias that stands alone is found, whatever it is made of, unless it begins with a bare mark."""
    line = " ".join(alias.split())
    edges = fold(line).text.strip(" ")
    joins_what_stands_before = regex.match(r"\p{M}|\p{Grapheme_Cluster_Break=Extend}", edges)
    if unusable(line) or joins_what_stands_before or any(unicodedata.category(c) == "Cc" for c in line):
        return
    assert (0, line) in {(hit.owner, hit.alias) for hit in hits(f"; {line} ;", line)}
