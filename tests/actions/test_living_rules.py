"""No sequence of writes, edits, undos, discards and restarts ends in a state that the rules do not allow."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import count

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from service.actions import editing_books, editing_entries, model_writing, undoing
from service.actions.drafting import Draft
from service.actions.model_writing import Origin
from service.actions.runtime import running
from service.lore.book import Book, BookSettings, Entry, handle_of
from service.lore.errors import Conflict, LimitExceeded, NotFound, UndoRefused
from service.settings import Settings
from tests.actions.living_model import Logged, Model, Text

LIMIT = 4
numbers = count()
BOOKS = 2
MOST_ENTRIES = 4
REFUSALS: dict[str, type[Exception]] = {
    "discarded": Conflict,
    "other call": Conflict,
    "limit": LimitExceeded,
    "not living": Conflict,
    "absent": NotFound,
    "canon": Conflict,
    "no change": Conflict,
    "taken": Conflict,
}
# Few of everything, so that writes, edits and discards meet.
picks = st.integers(0, 50)
titles = st.sampled_from(["Gate", "GATE", "Wall", "Mill", "Bell"])
contents = st.sampled_from(["open", "shut"])
names = st.sampled_from([(), (), (), ("Tor", "門")])
turns = st.integers(1, 2)
replies = st.sampled_from("abcd")
calls = st.integers(0, 9)
mostly = st.sampled_from([True, True, True, False])


class LivingBooks(RuleBasedStateMachine):
    """The service beside the model."""

    options: Settings

    @initialize()
    def begin(self) -> None:
        self.running = ExitStack()
        self.rt = self.running.enter_context(running(self.options))
        self.conversation = f"c{next(numbers)}"
        self.made = [
            editing_books.create_book(self.rt, Book(name=f"B{n}", settings=BookSettings(living=True))).id
            for n in range(BOOKS)
        ]
        self.model = Model(LIMIT, dict.fromkeys(range(BOOKS), True), dict.fromkeys(range(BOOKS), 1))
        self.handles: dict[int, tuple[int, int]] = {}
        self.ids: list[str] = []
        [added] = editing_entries.add_entries(self.rt, self.made[0], [Entry(title="Gate", content="open")])
        self.handles[self.model.author_adds(0, ("Gate", "open", ()))] = (0, added.id)

    def teardown(self) -> None:
        if hasattr(self, "running"):
            for book in self.made:
                editing_books.delete_book(self.rt, book)
            self.running.close()

    def number(self, entry: int) -> tuple[str, int]:
        book, id_ = self.handles[entry]
        return self.made[book], id_

    def chosen(self, pick: int) -> int:
        entries = list(self.model.entries)
        return entries[pick % len(entries)]

    def response(self, turn: int, reply: str) -> str:
        return f"{reply}{turn}"

    @precondition(lambda self: self.model.born < MOST_ENTRIES)
    @rule(pick=picks, title=titles, content=contents, aliases=names, turn=turns, reply=replies, call=calls)
    def create(
        self, pick: int, title: str, content: str, aliases: tuple[str, ...], turn: int, reply: str, call: int
    ) -> None:
        self.write(pick % BOOKS, None, (title, content, aliases), turn, reply, call)

    @precondition(lambda self: self.model.born)
    @rule(pick=picks, title=titles, content=contents, aliases=names, turn=turns, reply=replies, call=calls)
    def edit(
        self, pick: int, title: str, content: str, aliases: tuple[str, ...], turn: int, reply: str, call: int
    ) -> None:
        entry = pick % self.model.born + 1  # deleted ones too
        self.write(self.handles[entry][0], entry, (title, content, aliases), turn, reply, call)

    @precondition(lambda self: self.model.entries)
    @rule(pick=picks, times=st.integers(1, 3), turn=turns, reply=replies)
    def rewrite(self, pick: int, times: int, turn: int, reply: str) -> None:
        """Edits that change something, by calls of their own, so that texts come back to what they were."""
        entry = self.chosen(pick)
        for _ in range(times):
            title, content, aliases = self.model.entries[entry].text
            other = "shut" if content == "open" else "open"
            self.write(self.handles[entry][0], entry, (title, other, aliases), turn, reply, call=1000 + next(numbers))

    def write(self, book: int, entry: int | None, text: Text, turn: int, reply: str, call: int) -> None:
        title, content, aliases = text
        response = self.response(turn, reply)
        expected = self.model.write(book, entry, text, turn, response, str(call))
        origin = Origin(conversation=self.conversation, turn=turn, response_id=response, call_id=str(call))
        handle = None if entry is None else handle_of(*self.number(entry))
        draft = Draft(title=title, content=content, aliases=aliases, handle=handle, book=self.made[book])
        if isinstance(expected, str):
            with pytest.raises(REFUSALS[expected]):
                model_writing.write(self.rt, origin, self.made, draft)
            return
        done = model_writing.write(self.rt, origin, self.made, draft)
        if expected == len(self.ids):
            self.ids.append(done.write_id)
            logged = self.model.log[expected]
            self.handles[logged.entry] = (book, int(done.handle.rpartition("-")[2]))
        assert done.write_id == self.ids[expected]

    @precondition(lambda self: self.model.entries)
    @rule(pick=picks, content=contents)
    def edit_by_hand(self, pick: int, content: str) -> None:
        entry = self.chosen(pick)
        editing_entries.change_entry(self.rt, *self.number(entry), {"content": content})
        title, _, aliases = self.model.entries[entry].text
        self.model.author_changes(entry, text=(title, content, aliases))

    @precondition(lambda self: self.model.entries)
    @rule(pick=picks, relevant=mostly, enabled=mostly)
    def set_by_hand(self, pick: int, relevant: bool, enabled: bool) -> None:
        entry = self.chosen(pick)
        tier = "relevant" if relevant else "canon"
        editing_entries.change_entry(self.rt, *self.number(entry), {"tier": tier, "enabled": enabled})
        self.model.author_changes(entry, canon=not relevant, enabled=enabled)

    @precondition(lambda self: len(self.model.entries) > 1)
    @rule(pick=picks)
    def delete_by_hand(self, pick: int) -> None:
        entry = self.chosen(pick)
        editing_entries.delete_entry(self.rt, *self.number(entry))
        self.model.author_deletes(entry)

    @rule(book=st.integers(0, BOOKS - 1), on=mostly)
    def switch(self, book: int, on: bool) -> None:
        editing_books.change_book(self.rt, self.made[book], {"settings": {"living": on}})
        self.model.living[book] = on
        self.model.versions[book] += 1

    @precondition(lambda self: self.ids)
    @rule()
    def undo_what_cannot_be(self) -> None:
        for place in range(len(self.ids)):
            if not self.model.may_take_back(place):
                self.undo_at(place)

    @precondition(lambda self: any(self.model.may_take_back(place) for place in range(len(self.ids))))
    @rule(pick=picks)
    def undo_what_can_be(self, pick: int) -> None:
        able = [place for place in range(len(self.ids)) if self.model.may_take_back(place)]
        self.undo_at(able[pick % len(able)])

    def undo_at(self, place: int) -> None:
        book, _ = self.handles[self.model.log[place].entry]
        if self.model.undo(place):
            assert undoing.undo(self.rt, self.made[book], self.ids[place]).state == "undone"
        else:
            with pytest.raises(UndoRefused):
                undoing.undo(self.rt, self.made[book], self.ids[place])

    @precondition(lambda self: self.model.entries)
    @rule(pick=picks, times=st.integers(2, 3), turn=turns, reply=replies)
    def regenerate(self, pick: int, times: int, turn: int, reply: str) -> None:
        """A reply that writes several times and is discarded at once."""
        self.rewrite(pick, times, turn, reply)
        self.discard(turn, reply)

    @rule(turn=turns, reply=replies)
    def discard(self, turn: int, reply: str) -> None:
        response = self.response(turn, reply)
        reverted, kept = self.model.discard(response)
        done = undoing.discard(self.rt, self.conversation, response)
        assert sorted(one.id for one in done.reverted) == sorted(self.ids[place] for place in reverted)
        assert sorted(one.write.id for one in done.kept) == sorted(self.ids[place] for place in kept)
        assert all(one.why for one in done.kept)

    @rule()
    def restart(self) -> None:
        self.running.close()
        self.running = ExitStack()
        self.rt = self.running.enter_context(running(self.options))

    @invariant()
    def agree(self) -> None:
        if not hasattr(self, "rt"):
            return
        for book, id_ in enumerate(self.made):
            read = editing_books.read_book(self.rt, id_, entries=True)
            mine = {self.handles[n][1]: e for n, e in self.model.entries.items() if e.book == book}
            assert read.version == self.model.versions[book]
            assert {one.id: (one.title, one.content, one.aliases) for one in read.entries or ()} == {
                number: entry.text for number, entry in mine.items()
            }
            assert {one.id: (one.tier == "canon", one.enabled) for one in read.entries or ()} == {
                number: (entry.canon, entry.enabled) for number, entry in mine.items()
            }
            logged = list(undoing.writes(self.rt, id_, limit=200).items)
            assert [(one.id, one.state) for one in reversed(logged)] == [
                (self.ids[place], one.state) for place, one in self.of_book(book)
            ]

    def of_book(self, book: int) -> list[tuple[int, Logged]]:
        return [(place, one) for place, one in enumerate(self.model.log) if self.handles[one.entry][0] == book]


def test_any_sequence_keeps_the_rules(settings: Settings) -> None:
    """W20, W21: Whatever models write and authors edit, undo, discard and switch, in any order, over restarts:
    books, versions and log are what the rules say."""
    check(settings, examples=20)


def test_any_sequence_keeps_the_rules_on_postgresql(settings: Settings, migrated_postgres: str) -> None:
    """W20, W21: The same on PostgreSQL."""
    check(settings.model_copy(update={"database_url": migrated_postgres}), examples=5)


def check(options: Settings, examples: int) -> None:
    machine = type("Machine", (LivingBooks,), {"options": options.model_copy(update={"max_writes_a_turn": LIMIT})})
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=examples, stateful_step_count=30, suppress_health_check=list(HealthCheck)),
    )
