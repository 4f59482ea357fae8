"""What models may write into living books."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from service.actions import editing_books, editing_entries, exporting, importing, model_writing, undoing
from service.actions.drafting import Draft
from service.actions.model_writing import Origin, Written
from service.actions.runtime import Runtime, running
from service.lore.book import Book, BookSettings, Entry
from service.lore.errors import Conflict, Invalid, LimitExceeded, NotFound, WorldbookError
from service.lore.living import text_of
from service.settings import Settings

LIVING = BookSettings(living=True)
ENTRIES = (
    Entry(title="The Salt Gate", content="It is open.", aliases=("Porta",), gist="a gate"),
    Entry(title="The Drowning Law", content="Drown nobody.", tier="canon"),
    Entry(title="Old bell", content="It is lost.", enabled=False),
)


@pytest.fixture
def book(rt: Runtime) -> str:
    """A living book with a relevant, a canon and a disabled entry."""
    return editing_books.create_book(rt, Book(name="Coast", settings=LIVING, entries=ENTRIES)).id


def write(rt: Runtime, *books: str, reply: str = "r1", turn: int = 1, call: str | None = None, **draft: Any) -> Written:
    origin = Origin(conversation="c", turn=turn, response_id=reply, call_id=call)
    return model_writing.write(rt, origin, books, Draft(**{"title": "Fire", "content": "It took the mill.", **draft}))


def read(rt: Runtime, handle: str) -> Entry:
    book, _, number = handle.rpartition("-")
    return editing_entries.read_entry(rt, book, int(number))


def test_a_new_entry(rt: Runtime, book: str) -> None:
    """W20: A model adds a relevant entry at the end of the book, its title and aliases on one line."""
    done = write(rt, book, title=" The\nFire ", aliases=("Blaze\t2", " "), gist="a fire")
    assert (done.action, done.title, done.write_id[:3]) == ("create", "The Fire", "wr_")
    made = read(rt, done.handle)
    assert (made.title, made.aliases, made.gist, made.tier, made.enabled, made.position) == (
        "The Fire", ("Blaze 2",), "a fire", "relevant", True, 3,
    )  # fmt: skip


def test_an_edit(rt: Runtime, book: str) -> None:
    """W20: An edit sets title and content, adds aliases, and keeps gist, aliases, tier and place that it cannot see."""
    done = write(rt, book, handle=f"{book}-1", title="The Gate", content="Shut.", aliases=("Tor", "Porta"))
    assert done.action == "edit"
    gate = read(rt, f"{book}-1")
    assert (gate.title, gate.content, gate.aliases, gate.gist, gate.position) == (
        "The Gate", "Shut.", ("Porta", "Tor"), "a gate", 0,
    )  # fmt: skip
    write(rt, book, handle=f" [{book.upper()}-1]", title="The Gate", content="Shut.", gist="a shut gate")
    assert read(rt, f"{book}-1").gist == "a shut gate"


Attempt = Callable[[Runtime, str], object]
REFUSED: dict[str, tuple[Attempt, type[WorldbookError], str]] = {
    "canon": (lambda rt, b: write(rt, b, handle=f"{b}-2"), Conflict, "canon"),
    "a disabled entry": (lambda rt, b: write(rt, b, handle=f"{b}-3"), NotFound, "no entry"),
    "an absent entry": (lambda rt, b: write(rt, b, handle=f"{b}-99"), NotFound, "no entry"),
    "no handle": (lambda rt, b: write(rt, b, handle="the gate"), NotFound, "no entry"),
    "a huge number": (lambda rt, b: write(rt, b, handle=f"{b}-{'9' * 30}"), NotFound, "no entry"),
    "digits of another script": (lambda rt, b: write(rt, b, handle=f"{b}-١"), NotFound, "no entry"),
    "a book not allowed": (lambda rt, b: write(rt, book=b), NotFound, "no book"),
    "an entry of a book not allowed": (lambda rt, b: write(rt, handle=f"{b}-1"), NotFound, "no entry"),
    "no book": (lambda rt, b: write(rt), Conflict, "no book here is a living book"),
    "another book than the entry's": (
        lambda rt, b: write(rt, b, other(rt), handle=f"{b}-1", book="Other"), Invalid, "not in that book",
    ),
    "a book that does not live": (lambda rt, b: write(rt, b, other(rt), book="Other"), Conflict, "no living book"),
    "an entry of a book that does not live": (
        lambda rt, b: (lambda plain: write(rt, plain, handle=f"{plain}-1"))(other(rt)), Conflict, "no living book",
    ),
    "two living books": (lambda rt, b: write(rt, b, other(rt, LIVING)), Invalid, "several living books"),
    "nothing new": (
        lambda rt, b: write(rt, b, handle=f"{b}-1", title="The Salt Gate", content="It is open."),
        Conflict, "exactly that already",
    ),
    "a title that is taken": (
        lambda rt, b: write(rt, b, title=" the SALT\tgate"), Conflict, "^[a-z]+-1 is called so already$",
    ),
    "a title that canon has": (lambda rt, b: write(rt, b, title="The Drowning Law"), Conflict, "-2 is called so"),
    "a blank title": (lambda rt, b: write(rt, b, title=" \n"), Invalid, "blank"),
    "an empty title": (lambda rt, b: write(rt, b, title=""), Invalid, "at least 1 character"),
    "blank content": (lambda rt, b: write(rt, b, content=" \n"), Invalid, "white space"),
    "a long title": (lambda rt, b: write(rt, b, title="x" * 201), Invalid, "at most 200"),
    "a long entry": (lambda rt, b: write(rt, b, content="x" * 100_001), Invalid, "at most 100000"),
    "a long gist": (lambda rt, b: write(rt, b, gist="x" * 301), Invalid, "at most 300"),
    "too many aliases": (
        lambda rt, b: write(rt, b, handle=f"{b}-1", aliases=tuple(map(str, range(64)))), Invalid, "at most 64",
    ),
    "a lone surrogate": (lambda rt, b: write(rt, b, content="\ud83d"), Invalid, "lone surrogate"),
    "a NUL": (lambda rt, b: write(rt, b, aliases=("a\0",)), Invalid, "NUL"),
    "no reply": (lambda rt, b: write(rt, b, reply=""), Invalid, "at least 1"),
    "a negative turn": (lambda rt, b: write(rt, b, turn=-1), Invalid, "greater than or equal to 0"),
}  # fmt: skip


def other(rt: Runtime, settings: BookSettings | None = None) -> str:
    entries = (Entry(title="A", content="a"),)
    return editing_books.create_book(rt, Book(name="Other", settings=settings or BookSettings(), entries=entries)).id


@pytest.mark.parametrize("case", list(REFUSED))
def test_what_is_refused(rt: Runtime, book: str, case: str) -> None:
    """W20, S06: A model cannot write into canon, disabled entries, books that do not live or are not allowed, nor what
    cannot be stored; nothing changes then, and the error says why."""
    attempt, error, words = REFUSED[case]
    with pytest.raises(error, match=words) as caught:
        attempt(rt, book)
    assert caught.value.remedy
    read = editing_books.read_book(rt, book, entries=True)
    assert (read.version, [text_of(one) for one in read.entries or ()]) == (1, [text_of(one) for one in ENTRIES])
    assert undoing.writes(rt, book).items == ()


def test_a_disabled_book(rt: Runtime, book: str) -> None:
    """W10: A disabled book is not there for a model that writes either."""
    editing_books.change_book(rt, book, {"enabled": False})
    for draft, error in (({}, Conflict), ({"book": book}, NotFound), ({"handle": f"{book}-1"}, NotFound)):
        with pytest.raises(error):
            write(rt, book, **draft)


def test_the_book_is_chosen(rt: Runtime, book: str) -> None:
    """W20: A new entry goes into the only living book, or into the one named by id or name."""
    plain, second = other(rt), editing_books.create_book(rt, Book(name="Second", settings=LIVING)).id
    assert write(rt, plain, book).handle == f"{book}-4"
    assert write(rt, plain, book, second, book=second).handle == f"{second}-1"
    assert write(rt, plain, book, second, book=" second", title="Flood").handle == f"{second}-2"


def test_the_limit_of_a_turn(settings: Settings) -> None:
    """W20: So many writes a turn and no more, over all its replies and books; a discarded reply gives its share
    back."""
    with running(settings.model_copy(update={"max_writes_a_turn": 3})) as rt:
        one = editing_books.create_book(rt, Book(name="One", settings=LIVING)).id
        two = editing_books.create_book(rt, Book(name="Two", settings=LIVING)).id
        write(rt, one, title="A")
        write(rt, two, title="B")
        write(rt, one, title="C", reply="r2")
        with pytest.raises(LimitExceeded, match="3 writes") as caught:
            write(rt, two, title="D", reply="r2")
        assert (caught.value.limit, caught.value.actual) == (3, 4)
        write(rt, one, title="E", turn=2, reply="r3")
        undoing.discard(rt, "c", "r1")
        write(rt, one, title="F", reply="r2")
        write(rt, one, title="G", reply="r2")
        with pytest.raises(LimitExceeded):
            write(rt, one, title="H", reply="r2")


def test_the_limit_of_a_book(settings: Settings) -> None:
    """W20: A model cannot fill a book beyond its limit."""
    with running(settings.model_copy(update={"max_entries": 1})) as rt:
        book = editing_books.create_book(rt, Book(name="One", settings=LIVING)).id
        write(rt, book)
        with pytest.raises(LimitExceeded, match="2 entries in a book"):
            write(rt, book)


def test_a_call_sent_again(rt: Runtime, book: str) -> None:
    """W20: A call that is sent again answers the first result and writes nothing; its id with another write is refused
    rather than swallowed; in another reply or conversation it is another call."""
    first = write(rt, book, call="call_1", title=" Fire")
    assert write(rt, book, call="call_1") == first
    assert len(undoing.writes(rt, book).items) == 1
    with pytest.raises(Conflict, match="call_id"):
        write(rt, book, call="call_1", content="Something else.")
    assert write(rt, book, call="call_1", reply="r2", title="2").write_id != first.write_id
    origin = Origin(conversation="d", turn=1, response_id="r1", call_id="call_1")
    assert model_writing.write(rt, origin, [book], Draft(title="3", content="3")).write_id != first.write_id


def test_a_call_without_an_id(rt: Runtime, book: str) -> None:
    """W20: Calls of models that number none are each a write of its own."""
    handle = write(rt, book).handle
    first = write(rt, book, handle=handle, content="It burns.")
    assert write(rt, book, handle=handle, content="It is out.").write_id != first.write_id


def test_a_title_is_free_again(rt: Runtime, book: str) -> None:
    """W20: A new entry may be called as a disabled entry is, as one of another book, and as one whose write was taken
    back."""
    second = editing_books.create_book(rt, Book(name="Second", settings=LIVING)).id
    made = write(rt, book, title="Old bell")
    write(rt, book, second, book=second, title="Old bell")
    undoing.undo(rt, book, made.write_id)
    assert write(rt, book, title="Old bell").action == "create"


def test_too_late(rt: Runtime, book: str) -> None:
    """W21: What is written for a reply after its discard is refused, a repeated call too."""
    write(rt, book, call="call_1")
    undoing.discard(rt, "c", "r1")
    for call in ("call_1", "call_2", None):
        with pytest.raises(Conflict, match="discarded"):
            write(rt, book, call=call)
    assert write(rt, book, reply="r2").action == "create"


def test_a_discard_touches_only_what_it_reverts(rt: Runtime, book: str) -> None:
    """W21: A discard over several books raises the version of those in which something was reverted."""
    two = editing_books.create_book(rt, Book(name="Two", settings=LIVING)).id
    write(rt, book, handle=f"{book}-1")
    editing_entries.change_entry(rt, book, 1, {"content": "By hand."})
    write(rt, two)
    before = editing_books.read_book(rt, book).version
    answer = undoing.discard(rt, "c", "r1")
    assert ([one.handle for one in answer.reverted], [one.write.handle for one in answer.kept]) == (
        [f"{two}-1"], [f"{book}-1"],
    )  # fmt: skip
    assert (editing_books.read_book(rt, book).version, editing_books.read_book(rt, two).version) == (before, 3)


def test_a_replaced_book(rt: Runtime, book: str) -> None:
    """W21: An import that replaces the entries leaves the log, whose writes can be undone no more, and the setting."""
    done = write(rt, book)
    file = exporting.export_book(rt, other(rt)).data
    importing.import_book(rt, file, into=book, mode="replace")
    assert editing_books.read_book(rt, book).settings == LIVING
    [kept] = undoing.discard(rt, "c", "r1").kept
    assert (kept.write.id, editing_books.read_book(rt, book).counts.entries) == (done.write_id, 1)
    assert "deleted" in kept.why


def test_a_copy_of_a_living_book(rt: Runtime, book: str) -> None:
    """W21: A copy holds what the models wrote, has no log, and lets no model write until its owner says so; a file
    changes no book's setting, and the report says what it left out."""
    write(rt, book)
    file = exporting.export_book(rt, book).data
    report = importing.import_book(rt, file, name="Copy")
    assert [warning.kind for warning in report.warnings] == ["not_living"]
    assert report.book is not None
    copy = report.book.id or ""
    read = editing_books.read_book(rt, copy, entries=True)
    assert ([one.title for one in read.entries or ()][-1], read.settings.living) == ("Fire", False)
    assert undoing.writes(rt, copy).items == ()
    with pytest.raises(Conflict):
        write(rt, copy)
    plain = other(rt)
    importing.import_book(rt, file, into=plain, mode="replace")
    assert editing_books.read_book(rt, plain).settings.living is False


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Runtime]:
    """The service on either database."""
    url = request.getfixturevalue("migrated_postgres") if request.param == "postgresql" else ""
    with running(settings.model_copy(update={"database_url": url})) as rt:
        yield rt


def together(*acts: Callable[[], object]) -> list[object]:
    """What each answers or raises, begun at the same moment."""
    barrier = Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return act()
        except WorldbookError as error:
            return error

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def test_parallel_calls_keep_the_limit(either: Runtime) -> None:
    """W20: Calls of one reply that arrive together make no more writes than the turn may."""
    book = editing_books.create_book(either, Book(name="One", settings=LIVING)).id
    done = together(*(lambda n=n: write(either, book, title=f"T{n}", call=str(n)) for n in range(4)))  # type: ignore[misc]
    done += together(*(lambda n=n: write(either, book, title=f"U{n}", call=f"u{n}") for n in range(4)))  # type: ignore[misc]
    assert sum(isinstance(one, Written) for one in done) == 5
    assert editing_books.read_book(either, book).version == 6


def test_a_call_twice_at_the_same_moment(either: Runtime) -> None:
    """W20: A call that arrives several times together is one write."""
    book = editing_books.create_book(either, Book(name="One", settings=LIVING)).id
    done = together(*[lambda: write(either, book, call="call_1")] * 4)
    assert {one.write_id for one in done if isinstance(one, Written)} == {undoing.writes(either, book).items[0].id}
    assert len(undoing.writes(either, book).items) == 1


def test_a_discard_beside_writes(either: Runtime) -> None:
    """W21: A write that arrives together with the discard of its reply is reverted or refused, never left."""
    book = editing_books.create_book(either, Book(name="One", settings=LIVING)).id
    for attempt in range(6):
        reply = f"r{attempt}"
        together(
            *(lambda n=n: write(either, book, title=f"T{n}", reply=reply, turn=attempt) for n in range(3)),  # type: ignore[misc]  # noqa: B023
            lambda: undoing.discard(either, "c", reply),  # noqa: B023
        )
        assert editing_books.read_book(either, book).counts.entries == 0
