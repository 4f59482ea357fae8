"""Places taken in turn by the queries of a conversation."""

from __future__ import annotations

import numpy as np
import pytest

from embeddings.index import VectorIndex
from service.lore.book import Book, BookSettings, Entry
from service.lore.open_book import AttachedBook, BookText, OpenBook
from service.lore.queries import Query, Voice
from service.lore.ranking import Meaning, Ranking, rank

AXES = np.eye(12, dtype=np.float32)


def book(rows: np.ndarray, book_id: str = "bakiru", **settings: object) -> AttachedBook:
    """A book whose entry n has exactly this vector."""
    entries = tuple(Entry(id=n + 1, title=f"E{n}", content="x", handle=f"{book_id}-{n + 1}") for n in range(len(rows)))
    text = BookText.build(Book(id=book_id, name="B", settings=BookSettings(**settings)), entries)  # type: ignore[arg-type]
    return AttachedBook(
        open=OpenBook(text=text, index=VectorIndex.build(12, {n: (row[None], row[None]) for n, row in enumerate(rows)}))
    )


def ranked(books: list[AttachedBook], asked: list[tuple[Voice, np.ndarray]], **options: object) -> Ranking:
    sizes = [len(each.open.text.entries) for each in books]
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    queries = tuple(Query(text="?", message=n, voice=voice) for n, (voice, _) in enumerate(asked))
    meaning = Meaning(queries=queries, vectors=np.array([row for _, row in asked], np.float32))
    numbers = list(range(len(books)))
    given = {"places": 8, "book_places": dict.fromkeys(numbers, 8), "floor": 0.5} | options
    return rank(books, starts, numbers, meaning, **given)  # type: ignore[arg-type]


def mixture(*weights: float) -> np.ndarray:
    row = np.zeros(12, np.float32)
    row[: len(weights)] = weights
    return row / np.linalg.norm(row)


def test_voices_take_places_in_turn() -> None:
    """W7: last, last, previous, last, older: a reply is heard though the last message has more matches."""
    last, previous, older = mixture(1), mixture(0, 1), mixture(0, 0, 1)
    rows = [mixture(1, 0, 0, step / 10) for step in range(6)] + [AXES[1], AXES[2]]
    found = ranked([book(np.array(rows))], [("last", last), ("previous", previous), ("older", older)])
    assert [match.place for match in found.matches] == [0, 1, 6, 2, 7, 3, 4, 5]
    assert [match.rank for match in found.matches] == list(range(1, 9))
    assert [match.message for match in found.matches[:5]] == [0, 0, 1, 0, 2]


def test_nothing_below_the_floor_is_claimed() -> None:
    """V16, V17: a score below the floor claims nothing, and the score is kept for the trace."""
    found = ranked([book(np.array([mixture(1, 1.8), mixture(1, 0.1)]))], [("last", AXES[0])])
    assert [match.place for match in found.matches] == [1]
    assert found.scores[0] == pytest.approx(1 / np.hypot(1, 1.8), abs=0.005)


def test_ties_go_by_attachment_then_list_order() -> None:
    """B7: equal scores keep the order of attachment and of the list."""
    same = np.array([AXES[0], AXES[0]])
    found = ranked([book(same, "bakiru"), book(same, "todane")], [("last", AXES[0])], places=3)
    assert [match.place for match in found.matches] == [0, 1, 2]


def test_a_near_book_does_not_hide_a_far_one() -> None:
    """V14: only attached books are searched, so the entries of one are found however near another's would be."""
    far = book(np.array([mixture(1, 0.2), mixture(1, 0.3), mixture(1, 0.4)]))
    assert len(ranked([far], [("last", AXES[0])]).matches) == 3


@pytest.mark.parametrize("places", [0, 1, 3])
def test_no_more_than_the_places_are_taken(places: int) -> None:
    """V01: at most `places` entries come by meaning, also when there are fewer entries than places."""
    rows = np.array([AXES[0], mixture(1, 0.1)])
    assert len(ranked([book(rows)], [("last", AXES[0])], places=places).matches) == min(places, 2)


def test_skipped_entries_take_no_place() -> None:
    """Named and canon entries leave their places to others."""
    rows = np.array([AXES[0], mixture(1, 0.1), mixture(1, 0.2)])
    found = ranked([book(rows)], [("last", AXES[0])], skip={0}, places=2)
    assert [match.place for match in found.matches] == [1, 2]


def test_a_book_may_have_its_own_places_and_floor() -> None:
    """The settings of a book bound what comes from it and no other."""
    rows = np.array([AXES[0], mixture(1, 0.1), mixture(1, 0.9)])
    books = [book(rows, "bakiru", floor=0.99), book(rows, "todane")]
    found = ranked(books, [("last", AXES[0])], floor=None, book_places={0: 8, 1: 2})
    assert sorted(match.place for match in found.matches) == [0, 1, 3, 4]


@pytest.mark.parametrize("own", [0, 1, 2])
def test_a_book_of_few_places_leaves_the_others_theirs(own: int) -> None:
    """The nearer entries for which a book has no place do not hold the places of another book."""
    near = book(np.array([mixture(1, step / 100) for step in range(12)]), "bakiru")
    far = book(np.array([mixture(1, 0.5), mixture(1, 0.6), mixture(1, 0.7)]), "todane")
    asked: list[tuple[Voice, np.ndarray]] = [("last", AXES[0]), ("previous", mixture(1, 0.01)), ("older", AXES[0])]
    for books, limits in (([near, far], {0: own, 1: 4}), ([far, near], {0: 4, 1: own})):
        starts = (0, 12) if books[0] is near else (3, 0)
        places = [match.place for match in ranked(books, asked, places=4, book_places=limits).matches]
        assert sum(starts[0] <= place < starts[0] + 12 for place in places) == own
        assert len(places) == min(4, own + 3)


def test_strength_is_told() -> None:
    """B5: a match says whether it is weak or strong."""
    rows = np.array([AXES[0], mixture(0.25, 1)])
    found = ranked([book(rows)], [("last", AXES[0])], floor=0.2)
    assert [match.strength for match in found.matches] == ["strong", "weak"]
