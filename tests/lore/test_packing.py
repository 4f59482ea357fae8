"""Packing as properties over random books and budgets, and the rules of DESIGN as small cases."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.lore.answer import Retrieved
from service.lore.book import Entry
from service.lore.open_book import AttachedBook
from service.lore.request import RetrieveRequest
from tests.lore.worlds import TOKENIZER, asking, open_book, run, shelves

COMMON = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
BUDGETS = st.one_of(st.integers(0, 20_000), st.integers(0, 400))
MODES = st.sampled_from(["rest", "all", "none"])


def request_of(data: st.DataObject, books: list[AttachedBook], **fields: object) -> RetrieveRequest:
    """A request that names a few entries and asks about others."""
    titles = [entry.title for book in books for entry in book.open.text.entries]
    named = data.draw(st.lists(st.sampled_from(titles), max_size=4)) if titles else []
    drawn = {
        "budget_tokens": data.draw(BUDGETS),
        "canon_tokens": data.draw(st.one_of(st.none(), BUDGETS)),
        "index": data.draw(MODES),
        "tools": data.draw(st.booleans()),
        "places": data.draw(st.sampled_from([None, 0, 1, 3])),
        "floor": data.draw(st.sampled_from([None, -0.2, 0.0, 0.2])),
        "trace": "full",
        "texts": "entries",
    }
    return asking(f"Tell me of {', '.join(named)}.", **(drawn | fields))


def full_entries(answer: Retrieved) -> list[str]:
    sections = answer.sections
    return [
        entry.handle
        for section in (sections.canon, sections.whole, sections.named, sections.matched)
        for entry in section.entries
    ]


@COMMON
@given(shelves(), st.data())
def test_the_rendered_prompt_never_exceeds_the_budget(books: list[AttachedBook], data: st.DataObject) -> None:
    """T12: the rendered tokens stay within the budget, but for a single first canon entry, and are told exactly."""
    answer = run(books, request_of(data, books))
    for part in (answer.prompt.stable, answer.prompt.volatile):
        assert TOKENIZER.count(part.text) == part.tokens
    used = answer.prompt.stable.tokens + answer.prompt.volatile.tokens
    assert used == answer.budget.used
    if used > answer.budget.limit:
        assert len(full_entries(answer)) == len(answer.sections.canon.entries) == 1
        assert not answer.sections.index.lines
        assert answer.sections.canon.entries[0].reason.kept_over_budget


@COMMON
@given(shelves(), st.data())
def test_every_entry_has_one_status(books: list[AttachedBook], data: st.DataObject) -> None:
    """B1: the statuses are exclusive and complete, and the counts sum to the entries attached."""
    answer = run(books, request_of(data, books))
    sections = answer.sections
    traced = [
        *sections.canon.entries, *sections.whole.entries, *sections.named.entries, *sections.matched.entries,
        *answer.over_budget, *answer.rest,
    ]  # fmt: skip
    everything = [entry.handle for book in books for entry in book.open.text.entries]
    assert sorted(entry.handle for entry in traced) == sorted(everything)
    told = {(count.status, count.reason): count.count for count in answer.counts}
    assert told == dict(Counter((entry.status, entry.reason.kind) for entry in traced))


@COMMON
@given(shelves(), st.data())
def test_no_entry_is_lost(books: list[AttachedBook], data: st.DataObject) -> None:
    """W8: every enabled entry is in full, has an index line or is counted, and nothing else is in the prompt."""
    request = request_of(data, books, index=data.draw(st.sampled_from(["rest", "all"])))
    answer = run(books, request)
    enabled = {
        entry.handle
        for book in books
        if book.open.text.book.enabled
        for entry in book.open.text.entries
        if entry.enabled
    }
    full = full_entries(answer)
    text = answer.prompt.stable.text + answer.prompt.volatile.text
    marked = answer.sections.index.text or ""
    lines = {
        line.partition("]")[0].rpartition("[")[2]
        for line in marked.splitlines()
        if line.startswith("- ") and not line.startswith("- … and")
    }
    assert len(lines) == answer.sections.index.lines
    assert enabled == set(full) | lines | (enabled if answer.sections.index.more else set())
    if request.index == "rest":
        assert len(full) + len(lines) + answer.sections.index.more == len(enabled)
    if answer.sections.index.more and answer.sections.index.tokens:
        assert f"… and {answer.sections.index.more} more" in marked
    disabled = {entry.handle for book in books for entry in book.open.text.entries} - enabled
    assert not any(f"[{handle}]" in text for handle in disabled)


@COMMON
@given(shelves(), st.data())
def test_the_stable_part_does_not_follow_the_conversation(books: list[AttachedBook], data: st.DataObject) -> None:
    """B2: whatever the messages say, the stable part has the same bytes and the same hash."""
    first = request_of(data, books)
    second = asking(data.draw(st.text(max_size=200)), **{
        name: getattr(first, name) for name in ("budget_tokens", "canon_tokens", "index", "tools")
    })  # fmt: skip
    assert run(books, first).prompt.stable == run(books, second).prompt.stable


@COMMON
@given(shelves(), st.data())
def test_the_same_request_gives_the_same_answer(books: list[AttachedBook], data: st.DataObject) -> None:
    """B7: retrieval is a function of books and request."""
    request = request_of(data, books)
    assert run(books, request) == run(books, request)


def entry(title: str, tokens: int, **fields: object) -> Entry:
    """An entry with a body of about so many tokens."""
    return Entry(title=title, content="salt " * tokens, **fields)  # type: ignore[arg-type]


def shelf(*entries: Entry) -> list[AttachedBook]:
    return [AttachedBook(open=open_book("bakiru", entries, name="Salt"))]


def titles(answer: Retrieved, section: str) -> list[str]:
    return [found.title for found in getattr(answer.sections, section).entries]


def test_a_smaller_canon_entry_fits_where_a_larger_did_not() -> None:
    """W3, T08: a canon entry that does not fit is skipped, and a later one that fits is taken."""
    books = shelf(*(entry(name, size, tier="canon") for name, size in (("A", 60), ("B", 90), ("C", 20))))
    answer = run(books, asking("hm", budget_tokens=400, canon_tokens=130))
    assert titles(answer, "canon") == ["A", "C"]
    assert [(left.title, left.status, left.reason.kind) for left in answer.over_budget] == [
        ("B", "canon_over_budget", "over_budget")
    ]


def test_the_first_canon_entry_is_always_kept() -> None:
    """W3, T10: the first canon entry is kept alone above the budget; the others are told as over it."""
    books = shelf(*(entry(name, 40, tier="canon") for name in "ABC"))
    answer = run(books, asking("hm", budget_tokens=30))
    assert titles(answer, "canon") == ["A"]
    assert answer.sections.canon.entries[0].reason.kept_over_budget
    assert [left.title for left in answer.over_budget] == ["B", "C"]
    assert answer.budget.used > answer.budget.limit


def test_canon_goes_in_list_order() -> None:
    """T17: with room for two of three, the first two of the list go in."""
    books = shelf(*(entry(name, 40, tier="canon") for name in "ABC"))
    assert titles(run(books, asking("hm", budget_tokens=600, canon_tokens=130)), "canon") == ["A", "B"]


@pytest.mark.parametrize(("missing", "taken"), [(0, True), (1, False)])
def test_an_exact_fit_is_taken(missing: int, taken: bool) -> None:
    """T09: a whole book that needs exactly the budget goes in; with one token less it does not."""
    books = shelf(entry("A", 40), entry("B", 40))
    needed = run(books, asking("hm", budget_tokens=10_000)).budget.used
    answer = run(books, asking("hm", budget_tokens=needed - missing))
    assert (answer.books[0].went == "whole") is taken


def test_a_budget_is_read() -> None:
    """T13, T14: budget 0 means that nothing fits, but for the first canon entry."""
    books = shelf(entry("A", 10), entry("B", 10))
    answer = run(books, asking("A and B", budget_tokens=0))
    assert answer.prompt.stable.text == answer.prompt.volatile.text == ""
    assert answer.sections.index.more == 2


def test_a_named_entry_that_does_not_fit_gets_the_first_index_line() -> None:
    """W8: what the conversation named but the budget cut stands first in the index, and its reason says so."""
    books = shelf(entry("Ash", 20), entry("Birch", 20), entry("Cedar", 5000))
    answer = run(books, asking("the Cedar", budget_tokens=200, places=0, trace="full", texts="sections"))
    lines = (answer.sections.index.text or "").splitlines()
    assert lines[2].startswith("- Cedar [bakiru-3]")
    (cedar,) = (left for left in answer.rest if left.title == "Cedar")
    assert (cedar.status, cedar.reason.kind, cedar.hits[0].alias) == ("indexed", "over_budget", "Cedar")


def test_whole_books_leave_a_third_for_the_others() -> None:
    """W5: with several books that do not all fit, whole books take at most two thirds of what canon left."""
    books = [
        AttachedBook(open=open_book("bakiru", [entry("A", 100)], name="One")),
        AttachedBook(open=open_book("todane", [entry("B", 300), entry("C", 300)], name="Two")),
    ]
    small = run(books, asking("hm", budget_tokens=400))
    assert [book.went for book in small.books] == ["whole", "matched"]
    assert [book.went for book in run(books, asking("hm", budget_tokens=165)).books] == ["matched", "matched"]
    assert [book.went for book in run(books, asking("hm", budget_tokens=1000)).books] == ["whole", "whole"]


def test_an_entry_named_in_a_whole_book_is_whole() -> None:
    """B1: an entry named in a book that goes whole has status whole, and its hits list the alias."""
    answer = run(shelf(entry("Ash", 5)), asking("the Ash", budget_tokens=500))
    (ash,) = answer.sections.whole.entries
    assert (ash.status, [hit.alias for hit in ash.hits]) == ("whole", ["Ash"])


def test_left_over_tokens_lengthen_gists() -> None:
    """W8: between the room for short gists and for long ones, the first lines get long gists."""
    gist = "the long and winding tale of a gate that nobody has opened since the tide took the road away"
    books = shelf(*(Entry(title=f"E{number:02}", content="salt " * 300, gist=gist) for number in range(10)))
    shapes = {
        run(books, asking("hm", budget_tokens=budget, places=0)).sections.index.shape for budget in range(150, 500, 10)
    }
    assert shapes == {"titles", "short_gists", "long_gists"}
    mixed = run(books, asking("hm", budget_tokens=260, places=0, texts="sections")).sections.index
    assert (mixed.lines, mixed.more) == (10, 0)
    lengths = [len(line.partition(": ")[2]) for line in (mixed.text or "").splitlines() if line.startswith("- ")]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[-1]


def test_excluded_entries_are_neither_sent_nor_indexed() -> None:
    """An excluded handle appears nowhere in the prompt and is counted as excluded."""
    books = shelf(entry("Ash", 5, tier="canon"), entry("Birch", 5), entry("Cedar", 5))
    answer = run(books, asking("Birch", budget_tokens=500, exclude=("bakiru-1", "bakiru-2", "nobody-9", "x")))
    assert "bakiru-1" not in answer.prompt.stable.text + answer.prompt.volatile.text
    assert titles(answer, "whole") == ["Cedar"]
    assert {(count.status, count.count) for count in answer.counts} == {("excluded", 2), ("whole", 1)}


def test_the_index_begins_with_what_is_near() -> None:
    """W8: after what did not fit, the nearest entries by meaning come first in the index, claimed or not."""
    books = shelf(*(Entry(title=f"E{number}", content=f"tale {number}, " * 30 + "end") for number in range(12)))
    question = books[0].open.text.entries[7].content
    answer = run(books, asking(question, budget_tokens=200, places=0, texts="sections"))
    lines = [line for line in (answer.sections.index.text or "").splitlines() if line.startswith("- E")]
    assert lines[0].startswith("- E7 [bakiru-8]")
