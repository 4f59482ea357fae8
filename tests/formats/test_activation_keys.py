"""Keys of trigger lorebooks: which are regular expressions, and how a typed list splits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.formats.keys import is_regex, split
from tests.formats.worlds import unhurried


@pytest.mark.parametrize(
    "key",
    [
        "/or[uo]/",
        "/a,b/i",
        r"/a\/b/",
        "/(a|b)+/gimsuy",
        "/[(]*/",
        r"/\(*/",
        "/(?:a)?/",
        "/a+/",
        r"/\\/",
    ],
)
def test_regular_expressions_are_told(key: str) -> None:
    """A key between slashes with known flags and a sound pattern is a regular expression."""
    assert is_regex(key)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/",
        "//",
        "orc",
        "/orc",
        "orc/",
        "/(/",
        "/)/",
        "/[a/",
        "/*/",
        "/?/",
        "/a|+/",
        "/a/x",
        "/a/ii",
        "/a/b/",
        "and/or",
        "/a\\/",
    ],
)
def test_other_keys_are_plain(key: str) -> None:
    """What is not `/pattern/flags`, or has no sound pattern, is plain text."""
    assert not is_regex(key)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("a, b", ["a", "b"]),
        ("a,,b, ", ["a", "", "b", ""]),
        ("/a,b/i, c", ["/a,b/i", "c"]),
        (" /a,b/ , /c,d/", ["/a,b/", "/c,d/"]),
        (r"/a\/,b/, c", [r"/a\/,b/", "c"]),
        ("/(/, b", ["/(/", "b"]),
        ("/a, b", ["/a", "b"]),
        ("/x,(/, b", ["/x", "(/", "b"]),
        ("and/or, x", ["and/or", "x"]),
        ("", [""]),
    ],
)
def test_a_typed_list_splits_at_commas(text: str, keys: list[str]) -> None:
    """I25: a list in a string splits at its commas, but not inside a regular expression."""
    assert list(split(text)) == keys


@unhurried
@given(st.lists(st.text(st.characters(exclude_characters=",/")).map(str.strip), min_size=1))
def test_plain_keys_split_as_joined(keys: list[str]) -> None:
    """Keys without commas and slashes come out of a joined list as they went in."""
    assert list(split(",".join(keys))) == keys


@unhurried
@given(st.text("/\\,a( "))
def test_splitting_loses_no_word(text: str) -> None:
    """Whatever the slashes, only commas and blanks disappear."""
    kept = "".join(split(text))
    assert [char for char in text if char not in ", "] == [char for char in kept if char not in ", "]
