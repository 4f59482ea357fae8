"""A question to the books, answered in pages."""

from __future__ import annotations

import numpy as np
import pytest

from embeddings.index import VectorIndex
from service.lore.book import Book, Entry
from service.lore.open_book import AttachedBook, BookText, OpenBook
from service.lore.queries import Query
from service.lore.ranking import Meaning
from service.lore.searching import search
from tests.lore.worlds import TOKENIZER

QUESTION = "Who keeps the lighthouse at Cape Sorrow?"
WORDS = ("Salt", "The lighthouse keeper", "Who keeps the cape", "Sorrow at the lighthouse", "A lantern", "Wells")


def shelf(random: np.random.Generator) -> list[AttachedBook]:
    """Two books of 20 entries, whose spelling is as near to the question as it happens."""
    books = []
    for book_id in ("bakiru", "todane"):
        entries = tuple(
            Entry(id=n + 1, title=f"{random.choice(WORDS)} {n}", content="x", handle=f"{book_id}-{n + 1}")
            for n in range(20)
        )
        rows = random.normal(size=(20, 1, 8)).astype(np.float32)
        rows[:, :, 0] += 1
        rows /= np.linalg.norm(rows, axis=2, keepdims=True)
        text = BookText.build(Book(id=book_id, name="B"), entries)
        index = VectorIndex.build(8, {n: (row, row) for n, row in enumerate(rows)})
        books.append(AttachedBook(open=OpenBook(text=text, index=index)))
    return books


@pytest.mark.parametrize("seed", range(5))
def test_pages_hold_every_entry_once(seed: int) -> None:
    """M4: whatever the length of a page, the pages together are one list that has every entry once, though spelling
    puts some weak matches before strong ones.
    """
    books = shelf(np.random.default_rng(seed))
    meaning = Meaning(
        queries=(Query(text=QUESTION, message=0, voice="last"),), vectors=np.eye(1, 8, dtype=np.float32), spelling=0.35
    )

    def found(limit: int) -> list[str]:
        handles: list[str] = []
        more = True
        while more:
            page = search(books, QUESTION, meaning, TOKENIZER, offset=len(handles), limit=limit)
            handles += [item.handle for item in page.items]
            more = page.more
        return handles

    whole = found(50)
    assert len(set(whole)) == len(whole) == 40
    assert [found(limit) for limit in (1, 3, 10)] == [whole] * 3
