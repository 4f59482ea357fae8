"""Decorators alone and with their fallbacks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.lore.decorators import (
    ANY_GREETING,
    CHAT,
    NONE,
    PLAIN,
    SILLYTAVERN,
    Decorations,
    Vocabulary,
    ignored,
    read_decorators,
)

ALONE = [
    ("probability 50", {"chance": 50.0}),
    ("probability 12.5", {"chance": 12.5}),
    ("probability 50%", {"chance": 50.0}),
    ("probability 0", {"chance": 0.0}),
    ("scan_depth 3", {"scan_depth": 3}),
    ("scan_depth 0", {"scan_depth": 0}),
    ("order 7", {"order": 7}),
    ("order -7", {"order": -7}),
    ("insertion_order 7", {"order": 7}),
    ("priority 9", {"priority": 9}),
    ("role user", {"role": "user"}),
    ("match_full_word", {"whole_words": True}),
    ("match_partial_word", {"whole_words": False}),
    ("activate_only_after 4", {"only_after": 4}),
    ("activate_only_every 3", {"only_every": 3}),
    ("keep", {"after_match": "keep"}),
    ("keep_activate_after_match", {"after_match": "keep"}),
    ("dont_activate_after_match", {"after_match": "never"}),
    ("is_greeting", {"greeting": ANY_GREETING}),
    ("is_greeting 2", {"greeting": 2}),
    ("activate", {"forced": True}),
    ("dont_activate", {"barred": True}),
    ("ignore_on_max_context", {"drops_first": True}),
    ("additional_keys a, b ,,c", {"additional_keys": (("a", "b", "c"),)}),
    ("exclude_keys a,b", {"exclude_keys": ("a", "b")}),
]
NOT_VALID = [
    "probability", "probability fifty", "probability NaN", "probability -1", "probability 101", "probability 5e1",
    "probability ٥", "scan_depth -1", "scan_depth 1.5", "scan_depth 1001", "order", "order 1e3", "order 99999999999",
    "role narrator", "role", "activate_only_after -1", "activate_only_every 0", "activate_only_every -2", "keep maybe",
    "is_greeting first", "is_greeting -1", "additional_keys", "exclude_keys ,", "depth 3", "position after_desc",
    "reverse_depth 1", "instruct_depth 5", "Keep", "unheard_of", "", "3", "keep_",
]  # fmt: skip


@pytest.mark.parametrize(("line", "said"), ALONE, ids=[line for line, _ in ALONE])
def test_alone(line: str, said: dict[str, object]) -> None:
    """C5: each decorator sets its one thing and leaves the content."""
    assert read_decorators(f"@@{line}\nThe tide.", CHAT) == (Decorations(**said), "The tide.")  # type: ignore[arg-type]


@pytest.mark.parametrize(("line", "said"), ALONE, ids=[line for line, _ in ALONE])
def test_as_a_fallback(line: str, said: dict[str, object]) -> None:
    """C5: each is taken as the fallback of one that is unknown here, at the end of a chain of six."""
    chain = "".join(f"@@@{unknown}\n" for unknown in ("one", "depth 3", "three", "four", "probability high"))
    content = f"@@unheard_of\n{chain}@@@{line}\n@@@order 999\nThe tide."
    assert read_decorators(content, CHAT) == (Decorations(**said), "The tide.")  # type: ignore[arg-type]


@pytest.mark.parametrize("line", NOT_VALID)
def test_not_valid(line: str) -> None:
    """C5: what is unknown or not valid is ignored, and its fallback is taken instead."""
    assert read_decorators(f"@@{line}\n@@@priority 5\nThe tide.", CHAT) == (Decorations(priority=5), "The tide.")


CHAINS = [
    ("a fallback of what is known is skipped", "@@order 1\n@@@order 2\n@@@priority 3\nx", Decorations(order=1), "x"),
    ("an orphan fallback is ignored", "@@@order 2\nx", PLAIN, "x"),
    ("the first fallback that is valid wins", "@@a\n@@@order x\n@@@order 2\n@@@order 3\nx", Decorations(order=2), "x"),
    ("the next decorator ends a chain", "@@a\n@@order 1\n@@@order 2\nx", Decorations(order=1), "x"),
    ("of one name the first wins", "@@order 1\n@@order 2\nx", Decorations(order=1), "x"),
    ("of synonyms the first wins", "@@keep\n@@dont_activate_after_match\nx", Decorations(after_match="keep"), "x"),
    ("an invalid first does not count", "@@order x\n@@order 2\nx", Decorations(order=2), "x"),
    ("lists of additional keys add up", "@@additional_keys a\n@@additional_keys b,c\nx",
     Decorations(additional_keys=(("a",), ("b", "c"))), "x"),
    ("blank lines around the block go", "\n \n@@order 1\r\n\r\n\nx\n\ny\n", Decorations(order=1), "x\n\ny\n"),
    ("a blank line ends the block", "@@order 1\n\n@@priority 2\nx", Decorations(order=1), "@@priority 2\nx"),
    ("later lines are text", "x\n@@order 1", PLAIN, "x\n@@order 1"),
    ("nothing else is left", "@@depth 0", PLAIN, ""),
    ("tabs and blanks part name and value", "@@order \t 1  \nx", Decorations(order=1), "x"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "said", "left"), [row[1:] for row in CHAINS], ids=[row[0] for row in CHAINS])
def test_chains(content: str, said: Decorations, left: str) -> None:
    """C5: fallbacks, repeats and the end of the block, as card V3 says."""
    assert read_decorators(content, CHAT) == (said, left)


def test_sillytavern_knows_two() -> None:
    """In the `sillytavern` dialect only `@@activate` and `@@dont_activate` hold, and all others leave the content."""
    content = "@@probability 1\n@@activate_only_after 5\n@@@dont_activate\n@@activate\nx"
    assert read_decorators(content, SILLYTAVERN) == (Decorations(forced=True, barred=True), "x")


def test_server_knows_none() -> None:
    """In the `server` dialect a content that looks decorated is only text."""
    assert read_decorators("@@order 1\nx", NONE) == (PLAIN, "@@order 1\nx")


@given(
    st.lists(
        st.sampled_from(["@@", "@@@", "order 1", "keep", "\n", "\r\n", " ", "x", "@@order 3\n", "🌊"]), max_size=12
    )
)
def test_any_content(parts: list[str]) -> None:
    """Whatever stands there, what is left is the end of the content and begins with no decorator line of the block."""
    content = "".join(parts)
    _, left = read_decorators(content, CHAT)
    assert content.endswith(left)
    assert left == content or not left.startswith(("\n", "\r"))


def test_many_lines() -> None:
    """A content of a hundred thousand characters of decorators is read in one go."""
    assert read_decorators("@@a\n" * 25_000 + "x", CHAT) == (PLAIN, "x")


@pytest.mark.parametrize(
    ("content", "vocabulary", "names"),
    [
        ("@@depth 4\n@@@role user\n@@order 1\nx", CHAT, ("@@depth",)),
        ("@@depth 4\n@@@order 3\n@@depth 2\nx", SILLYTAVERN, ("@@depth", "@@@order")),
        ("@@order 1\nx", NONE, ("@@order",)),
        ("x\n@@depth 4", SILLYTAVERN, ()),
        ("@@activate\nx", SILLYTAVERN, ()),
        ("@@\nx", SILLYTAVERN, ()),
    ],
)
def test_decorators_that_are_not_known(content: str, vocabulary: Vocabulary, names: tuple[str, ...]) -> None:
    """C5: the decorators that a dialect does not know are named once each, as they stand there."""
    assert ignored(content, vocabulary) == names
