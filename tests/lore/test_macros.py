"""Macros in one pass."""

from __future__ import annotations

import pytest

from service.lore.macros import has_macro, macro_values, replace_macros, without_comments
from service.lore.request import Names

NAMES = Names(user="Mira", char="Ilse")
CASES = [
    ("all three", "{{user}} {{char}} {{bot}}", NAMES, "Mira Ilse Ilse"),
    ("bot of its own", "{{bot}}", Names(char="Ilse", bot="Guide"), "Guide"),
    ("any case", "{{User}} {{CHAR}}", NAMES, "Mira Ilse"),
    ("every other stays", "{{foo}} {{random:a,b}} {{ user }} {user} {{user:x}}", NAMES,
     "{{foo}} {{random:a,b}} {{ user }} {user} {{user:x}}"),
    ("no name, no change", "{{user}} {{char}}", Names(user="Mira"), "Mira {{char}}"),
    ("no names at all", "{{user}}", None, "{{user}}"),
    ("Fault P04: a name that is a macro", "{{user}}", Names(user="{{char}}", char="Ilse"), "{{char}}"),
    ("names that would join to a macro", "{{us{{char}}er}}", Names(user="Mira", char=""), "{{user}}"),
    ("a name with a backslash", "{{user}}", Names(user=r"\1 \g<0>"), r"\1 \g<0>"),
    ("nested braces", "{{{user}}}", NAMES, "{Mira}"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "names", "replaced"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_replaced(text: str, names: Names | None, replaced: str) -> None:
    """Fault P04: macros are replaced by names in one pass, and everything else stays as written."""
    assert replace_macros(text, macro_values(names)) == replaced


def test_the_label_is_the_character() -> None:
    """In a group `{{char}}` is the character whose book the text comes from, and so is a `{{bot}}` without a name."""
    assert replace_macros("{{char}} {{bot}} {{user}}", macro_values(NAMES, "Oru")) == "Oru Oru Mira"


def test_no_names_no_label() -> None:
    """A request without names leaves the macros, in a labelled book too."""
    assert macro_values(None, "Oru") == {}


COMMENTS = [
    ("x {{// Mordor}} y", "x               y"),
    ("{{Comment: two\nlines}}{{//}}.", " " * 28 + "."),
    ("{{hidden_key:Mordor}} {{commentary}} // comment: x", "{{hidden_key:Mordor}} {{commentary}} // comment: x"),
    ("a }} {{// b", "a }} {{// b"),
    ("{{// " * 50_000, "{{// " * 50_000),
]


@pytest.mark.parametrize(("text", "blanked"), COMMENTS, ids=range(len(COMMENTS)))
def test_comments_are_blanked(text: str, blanked: str) -> None:
    """Comments are blanked character for character; other macros and what is no whole comment stay."""
    assert without_comments(text) == blanked


@pytest.mark.parametrize(("text", "found"), [("{{user}}", True), ("{{Bot}}", True), ("{{x}}", False), ("user", False)])
def test_has_macro(text: str, found: bool) -> None:
    """A text without one of the three macros depends on no name."""
    assert has_macro(text) is found
