"""The two rules of ranking that the benchmark chose: who inherits a place, and that strong matches come first."""

import numpy as np
import pytest

from embeddings.index import VectorIndex
from service.lore.book import Book, Entry
from service.lore.open_book import AttachedBook, BookText, OpenBook
from service.lore.queries import Query
from service.lore.ranking import Meaning, rank


def ranked(scores: dict[str, list[float]]) -> list[int]:
    """Places of eight entries in the order found, from the score of each entry for each voice."""
    size = len(next(iter(scores.values())))
    entries = tuple(Entry(id=number, title=f"E{number}", content="x") for number in range(size))
    axes = np.eye(size, dtype=np.float32)
    index = VectorIndex.build(size, {number: (row[None], row[None]) for number, row in enumerate(axes)})
    text = BookText.build(Book(id="book", name="rules"), entries)
    book = AttachedBook(open=OpenBook(text=text, index=index))
    queries = tuple(Query(text="?", message=number, voice=voice) for number, voice in enumerate(scores))
    meaning = Meaning(queries=queries, vectors=np.array(list(scores.values()), np.float32), spelling=0.0)
    found = rank([book], [0], [0], meaning, places=8, book_places={0: 8}, floor=0.1)
    return [match.place for match in found.matches]


def test_a_reply_inherits_the_places_of_older_messages():
    """Without older messages the reply before the last message has four of eight places."""
    last = [0.29, 0.28, 0.27, 0.26, 0.25, 0.24, 0, 0, 0, 0, 0, 0]
    reply = [0, 0, 0, 0, 0, 0, 0.29, 0.28, 0.27, 0.26, 0.25, 0.24]
    assert ranked({"last": last, "previous": reply}) == [0, 1, 6, 2, 7, 3, 8, 9]


def test_the_last_message_inherits_what_a_reply_leaves():
    """A reply that nothing is near to leaves its places to the last message."""
    last = [0.29, 0.28, 0.27, 0.26, 0.25, 0.24, 0.23, 0.22]
    assert ranked({"last": last, "previous": [0.0] * 8}) == [0, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("reply", "order"),
    [
        (0.6, [2, 3, 0, 1]),  # both of the reply's are strong: "and why?" has its topic there
        (0.29, [0, 1, 2, 3]),  # all are weak: turns decide
    ],
)
def test_strong_matches_come_before_weak_ones(reply, order):
    """A weak match of the last message does not stand before a strong one of the reply, where a budget may cut."""
    assert ranked({"last": [0.2, 0.19, 0, 0], "previous": [0, 0, reply, reply - 0.01]}) == order
