"""Entries named in the messages."""

from __future__ import annotations

from service.lore.book import Entry
from service.lore.naming import find_named
from service.lore.open_book import AttachedBook
from service.lore.request import Message
from tests.lore.worlds import open_book


def test_the_newest_message_comes_first() -> None:
    """W6: named entries are ordered by newest message, then first span in it, then list position."""
    entries = [Entry(title=title, content="x") for title in ("Ash", "Birch", "Cedar", "Ash")]
    books = [AttachedBook(open=open_book("bakiru", entries))]
    messages = [
        Message(role="assistant", content="A Birch stood there."),
        Message(role="user", content="Cedar, and Ash, and Ash again."),
    ]
    found = find_named(books, [0], messages)
    assert list(found) == [2, 0, 3, 1]
    assert [(hit.alias, hit.message, hit.span, hit.text) for hit in found[0]] == [("Ash", 1, (11, 14), "Ash")]


def test_spans_index_the_posted_text() -> None:
    """B3: the span of a hit slices the posted message, whatever was folded."""
    books = [AttachedBook(open=open_book("bakiru", [Entry(title="Straße", content="x", aliases=("塩の門",))]))]
    message = Message(role="user", content="👩‍🚀 İ DIE STRASSE zur 塩の門！")
    (hits,) = find_named(books, [0], [message]).values()
    assert [message.content[slice(*hit.span)] for hit in hits] == ["STRASSE", "塩の門"] == [hit.text for hit in hits]


def test_speakers_are_not_read() -> None:
    """M33: the name of a speaker names no entry."""
    books = [AttachedBook(open=open_book("bakiru", [Entry(title="Alice", content="x")]))]
    assert find_named(books, [0], [Message(role="user", name="Alice", content="hi")]) == {}


def test_disabled_entries_are_not_named() -> None:
    """W10: the title of a disabled entry in a message names nothing."""
    books = [AttachedBook(open=open_book("bakiru", [Entry(title="Alice", content="x", enabled=False)]))]
    assert find_named(books, [0], [Message(role="user", content="Alice")]) == {}
