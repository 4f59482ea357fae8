"""Findings about the entries of a book."""

from __future__ import annotations

import pytest

from service.lore.book import Book, Entry
from service.lore.health import MAX_HANDLES, Finding, findings
from service.lore.open_book import BookText
from tests.lore.worlds import TOKENIZER

STORY = "The keeper of the seventh lamp walks the wall at dusk and counts the gulls that do not come back."
EVERYDAY = ("Please close the window.", "The window is open.", "窓を閉めてください。")


def found(*entries: Entry, used: dict[int, tuple[int, int]] | None = None) -> tuple[Finding, ...]:
    numbered = tuple(
        Entry(**{**vars(entry), "id": number, "handle": f"b-{number}"}) for number, entry in enumerate(entries, 1)
    )
    return findings(BookText.build(Book(name="B"), numbered), used or {}, EVERYDAY, TOKENIZER, 50)


def told(content: str, *more: str) -> list[list[str]]:
    """The groups of near duplicates among entries of these contents."""
    entries = [Entry(title=f"Zweeb {place}", content=text) for place, text in enumerate((content, *more))]
    return [list(one.handles) for one in found(*entries) if one.kind == "near_duplicates"]


@pytest.mark.parametrize(
    ("contents", "groups"),
    [
        ((STORY, STORY), [["b-1", "b-2"]]),
        ((STORY, STORY.upper()), [["b-1", "b-2"]]),
        ((STORY, STORY.replace("seventh", "eighth")), [["b-1", "b-2"]]),
        ((STORY, STORY + " They are many, and each of them has a name that only the keeper knows."), []),
        ((STORY, "A market opens on the third day of the thaw, and nobody sells there what he caught."), []),
        (
            ("塩の門は干潮の時だけ開き、塩を持つ者だけを通す。", "塩の門は干潮の時にだけ開き、塩を持つ者だけを通す。"),
            [["b-1", "b-2"]],
        ),
        (("Old.", "Old."), [["b-1", "b-2"]]),
        (("Old.", "New."), []),
        ((*[STORY] * 12,), [[f"b-{number}" for number in range(1, 13)]]),
        ((*[STORY] * (MAX_HANDLES + 5),), [[f"b-{number}" for number in range(1, MAX_HANDLES + 1)]]),
    ],
)
def test_near_duplicates(contents: tuple[str, ...], groups: list[list[str]]) -> None:
    """W16: Entries that say nearly the same are one finding, in any script, however many they are."""
    assert told(*contents) == groups


def test_two_groups_become_one() -> None:
    """W16: The measure of a group is that of its least alike pair."""
    other = STORY.replace("seventh", "eighth")
    [group] = found(*(Entry(title=f"Zweeb {n}", content=text) for n, text in enumerate((STORY, STORY, other, other))))
    assert (group.handles, group.measure < 100) == (("b-1", "b-2", "b-3", "b-4"), True)


def test_everyday_words() -> None:
    """W16: A title or alias that stands in everyday sentences is told with their number, in any script."""
    words = found(
        Entry(title="Window", content="a"),
        Entry(title="Zweeb", content="b", aliases=("窓",)),
        Entry(title="Win", content="c"),
    )
    assert [(one.kind, one.handles, one.measure) for one in words] == [
        ("common_word", ("b-1",), 2),
        ("common_word", ("b-2",), 1),
    ]


def test_long_entries() -> None:
    """W16: An entry longer than the model reads at once is told with its tokens; one as long is not."""
    fits, too_long = Entry(title="Zweeb", content="salt " * 30), Entry(title="Quorl", content="tide " * 60)
    [long] = found(fits, too_long)
    assert (long.kind, long.handles) == ("long_entry", ("b-2",))
    assert long.measure > 60


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ({}, None),
        ({1: (19, 0)}, None),
        ({1: (20, 0)}, ("b-2", "b-4")),
        ({1: (20, 0), 2: (0, 1)}, ("b-4",)),
        ({1: (20, 0), 2: (1, 0), 4: (1, 0)}, None),
    ],
)
def test_never_used(used: dict[int, tuple[int, int]], expected: tuple[str, ...] | None) -> None:
    """W16: Relevant, enabled entries that were neither used nor fetched are told once the book was used enough."""
    entries = (
        Entry(title="Zweeb", content="a"),
        Entry(title="Quorl", content="b"),
        Entry(title="Vorn", content="c", enabled=False),
        Entry(title="Brisk", content="d"),
        Entry(title="Law", content="e", tier="canon"),
    )
    never = [one.handles for one in found(*entries, used=used) if one.kind == "never_used"]
    assert never == ([] if expected is None else [expected])
