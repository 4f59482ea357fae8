"""The text form in which an author edits an entry."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.cli import form

LINE = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1)
ENTRY = st.fixed_dictionaries(
    {
        "title": LINE,
        "content": st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r"), min_size=1),
        "aliases": st.lists(LINE),
        "gist": st.none() | LINE,
        "tier": st.sampled_from(["canon", "relevant"]),
        "enabled": st.booleans(),
    }
)


LOREBOOK_ENTRY = st.fixed_dictionaries(
    {
        "title": LINE,
        "content": st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r"), min_size=1),
        "enabled": st.booleans(),
        "trigger": st.fixed_dictionaries(
            {
                "keys": st.lists(LINE),
                "secondary_keys": st.lists(LINE),
                "logic": st.sampled_from(["any", "all", "none", "not_all"]),
                "constant": st.booleans(),
                "chance": st.none() | st.floats(0, 100),
                "order": st.integers(-1_000, 1_000),
            }
        ),
    }
)


@given(entry=ENTRY)
def test_round_trip(entry: dict[str, Any]) -> None:
    """What is written into the form and not touched is read back exactly."""
    assert form.from_text(form.to_text(entry)) == entry


@given(before=ENTRY, after=ENTRY)
def test_changes_are_what_differs(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Exactly the fields that the author made different are sent."""
    sent = form.changes(before, form.from_text(form.to_text(after)))
    assert {**before, **sent} == after
    assert all(before[name] != value for name, value in sent.items())


@given(entry=LOREBOOK_ENTRY)
def test_round_trip_of_a_lorebook(entry: dict[str, Any]) -> None:
    """What wakes an entry of a lorebook is written into the form and read back exactly, and there is no alias."""
    text = form.to_text(entry)
    assert form.from_text(text, lorebook=True) == entry
    assert "alias:" not in text.partition("\n\n")[0].split("\n")
    assert form.changes(entry, entry) == {}


def test_keys_that_are_left_alone_stay_as_they_are() -> None:
    """A key that holds a line break is one line of the form, and another key that is edited does not change it."""
    entry = {**form.EMPTY, "title": "Tide", "content": "x", "trigger": {"keys": ["/a\nb/", " tide "], "order": 7}}
    edited = form.to_text(entry).replace("key:  tide", "key: flood")
    changed = form.changes(entry, form.from_text(edited, lorebook=True))
    assert changed == {"trigger": {"keys": ["/a\nb/", "flood"]}}


def test_line_ends_are_no_edit() -> None:
    """A content with CRLF that the editor shows with LF counts as unchanged."""
    entry = {**form.EMPTY, "title": "Gate", "content": "one\r\ntwo"}
    assert form.changes(entry, form.from_text(form.to_text(entry))) == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("titel: Gate\n\nx\n", "titel: Gate"),
        ("title: Gate\nno colon here\n\nx\n", "no colon here"),
        ("enabled: maybe\n\nx\n", "yes or no"),
    ],
)
def test_wrong_header_lines_are_named(text: str, fault: str) -> None:
    """A header line that says nothing known is an error that quotes it."""
    with pytest.raises(form.FormError, match=fault):
        form.from_text(text)


@pytest.mark.parametrize(
    ("line", "fault"), [("chance: often", "per cent"), ("order: 1.5", "whole number"), ("alias: Sal", "key")]
)
def test_wrong_lines_of_a_lorebook_are_named(line: str, fault: str) -> None:
    """A line of a lorebook's entry that cannot be read is an error that says what was expected."""
    with pytest.raises(form.FormError, match=fault):
        form.from_text(f"{line}\n\nx\n", lorebook=True)
