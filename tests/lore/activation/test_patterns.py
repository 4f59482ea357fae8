"""Regular-expression keys: JavaScript's syntax, and no pattern that stalls a request."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.lore.activation.patterns import REQUEST_SECONDS, Patience, read_pattern

FOUND = [
    ("/cat/", "a cat", (2, 5)),
    ("/CAT/i", "a cat", (2, 5)),
    ("/кот/i", "КОТ", (0, 3)),
    ("/a.b/", "a\nb", None),
    ("/a.b/s", "a\nb", (0, 3)),
    ("/b$/", "b\na", None),
    ("/b$/m", "b\na", (0, 1)),
    ("/b$/", "b\n", None),
    ("/a\\/b/", "a/b", (0, 3)),
    ("/(?<x>a)b/", "ab", (0, 2)),
    ("/(?<x>a)\\k<x>/", "aa", (0, 2)),
    ("/(a)\\1/", "aa", (0, 2)),
    ("/[^]/", "\n", (0, 1)),
    ("/a[]/", "a", None),
    ("/\\s/", "\u3000", (0, 1)),
    ("/[\\s]/", "\ufeff", (0, 1)),
    ("/\\S/", " \xa0x", (2, 3)),
    ("/\\u6d77/", "海", (0, 1)),
    ("/\\u{1F30A}/u", "🌊", (0, 1)),
    ("/\\p{Script=Han}/u", "x海", (1, 2)),
    ("/\\p{L}+/u", "…né", (1, 3)),
    ("/\\x41/", "A", (0, 1)),
    ("/\\d+/", "٣3", (1, 2)),
    ("/\\bcat\\b/", "écat", (1, 4)),
    ("/[a&&b]/", "&", (0, 1)),
    ("/[[]/", "[", (0, 1)),
    ("/(?!the )c/", "c", (0, 1)),
    ("/(?<=a)b/", "ab", (1, 2)),
    ("/a/y", "a", None),
    ("/a{2,1001}/", "aa", (0, 2)),
    ("/\\q\\-/", "q-", (0, 2)),
    ("/\\0/", "\0", (0, 1)),
    ("/[\\b]/", "\b", (0, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("key", "text", "span"), FOUND, ids=[row[0] for row in FOUND])
def test_syntax(key: str, text: str, span: tuple[int, int] | None) -> None:
    """What JavaScript finds is found at the same place."""
    pattern = read_pattern(key)
    assert pattern is not None
    assert pattern.search(text, Patience()) == span


TEXT = [
    "cat",
    "//",
    "/a",
    "a/",
    "/a/b/",
    "/a/gg",
    "/a/d",
    "/a/v",
    "/(/",
    "/[/",
    "/*/",
    "/a\\/",
    "/\\p{L/u",
    "/a/ b",
    "/(?<a/",
]


@pytest.mark.parametrize("key", TEXT)
def test_plain_text(key: str) -> None:
    """A key that is no regular expression, or none that JavaScript takes, is text."""
    assert read_pattern(key) is None


STALLS = [
    "/(a+)+$/",
    "/(a|a)*b$/",
    "/(?=a)(a+)+$/",
    "/(?=a)(a|aa)+$/",
    "/(.*)*\\1x/",
    "/(?:a?){900}b/",
    "/([ab]{1,900}c|a)+z/",
]


@pytest.mark.parametrize("key", STALLS)
def test_no_stall(key: str) -> None:
    """P05: patterns that stall a backtracking engine are through in a fraction of a second on 100,000 characters."""
    pattern = read_pattern(key)
    assert pattern is not None
    began = time.perf_counter()
    assert pattern.search("a" * 100_000 + "!", Patience()) is None
    assert time.perf_counter() - began < 2


def test_patience() -> None:
    """P05: a book of such patterns takes the seconds of one request together, then none of them matches."""
    patience = Patience()
    patterns = [read_pattern(f"/(?=a)(a|aa)+${n}/") for n in range(500)]
    began = time.perf_counter()
    assert all(pattern is not None and pattern.search("a" * 5000 + "!", patience) is None for pattern in patterns)
    assert time.perf_counter() - began < 3 * REQUEST_SECONDS
    calm = read_pattern("/a/")
    assert calm is not None
    assert calm.search("a", Patience(left=0)) is None
    assert calm.search("a", Patience()) == (0, 1)


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            ["a", "b", "\\", "[", "]", "(", ")", "?", "*", "+", "{2}", "{", "|", "^", "$", ".", "-", "\\d", "\\u{61}",
             "<",             ":", "=", "!", "k", "p", "{L}", "u", "é", "/", "\n", "(?<n>", "(?:"]
        ),
        max_size=12,
    ),
    st.sampled_from(["", "i", "u", "ms", "y", "gimsuy"]),
)  # fmt: skip
def test_anything(parts: list[str], flags: str) -> None:
    """Whatever a key holds, it is a pattern or text, and searching it raises nothing."""
    pattern = read_pattern(f"/{''.join(parts)}/{flags}")
    if pattern is not None:
        span = pattern.search("ab é\nba", Patience())
        assert span is None or 0 <= span[0] <= span[1] <= 7
