"""The rules of living books told once more, as plainly as they can be: a log, and what each entry says.

Independent of the service: nothing here imports it. Texts are (title, content, aliases); entries and books are numbers
of the model's own, which the test maps to handles.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Text = tuple[str, str, tuple[str, ...]]


@dataclass
class Entry:
    """What an entry is."""

    book: int
    text: Text
    canon: bool = False
    enabled: bool = True


@dataclass
class Logged:
    """One write, in the order in which they were made."""

    entry: int
    before: Text | None
    after: Text
    turn: int
    response: str
    call: str
    state: str = "live"


@dataclass
class Model:
    """Everything that the rules speak of."""

    limit: int
    living: dict[int, bool]
    versions: dict[int, int]
    entries: dict[int, Entry] = field(default_factory=dict)
    log: list[Logged] = field(default_factory=list)
    discarded: set[str] = field(default_factory=set)
    born: int = 0

    def author_adds(self, book: int, text: Text, *, canon: bool = False) -> int:
        self.born += 1
        self.entries[self.born] = Entry(book, text, canon)
        self.versions[book] += 1
        return self.born

    def author_changes(self, entry: int, **changes: object) -> None:
        for name, value in changes.items():
            setattr(self.entries[entry], name, value)
        self.versions[self.entries[entry].book] += 1

    def author_deletes(self, entry: int) -> None:
        self.versions[self.entries.pop(entry).book] += 1

    def write(self, book: int, entry: int | None, text: Text, turn: int, response: str, call: str) -> int | str:
        """The place in the log of the write, an earlier one for a repeated call; or why it is refused."""
        title, content, aliases = text
        if response in self.discarded:
            return "discarded"
        for place, one in enumerate(self.log):
            if (one.response, one.call) == (response, call):
                return place if one.after[:2] == (title, content) else "other call"
        if sum(one.turn == turn and one.state != "discarded" for one in self.log) >= self.limit:
            return "limit"
        if not self.living[book]:
            return "not living"
        before = None
        if entry is not None:
            if entry not in self.entries or not self.entries[entry].enabled:
                return "absent"
            if self.entries[entry].canon:
                return "canon"
            before = self.entries[entry].text
            text = (title, content, before[2] + tuple(alias for alias in aliases if alias not in before[2]))
            if text == before:
                return "no change"
            self.entries[entry].text = text
            self.versions[book] += 1
        else:
            if any(
                one.book == book and one.enabled and one.text[0].lower() == title.lower()
                for one in self.entries.values()
            ):
                return "taken"
            entry = self.author_adds(book, text)
        self.log.append(Logged(entry, before, text, turn, response, call))
        return len(self.log) - 1

    def may_take_back(self, place: int) -> bool:
        """Only the newest write of an entry that still stands, and only while the entry says what it wrote."""
        one = self.log[place]
        newer = [later for later in self.log[place + 1 :] if later.entry == one.entry and later.state == "live"]
        there = self.entries.get(one.entry)
        return one.state == "live" and not newer and there is not None and there.text == one.after

    def _take_back(self, place: int, state: str) -> int:
        one = self.log[place]
        book = self.entries[one.entry].book
        if one.before is None:
            del self.entries[one.entry]
        else:
            self.entries[one.entry].text = one.before
        one.state = state
        return book

    def undo(self, place: int) -> bool:
        if not self.may_take_back(place):
            return False
        self.versions[self._take_back(place, "undone")] += 1
        return True

    def _waits(self, entry: int) -> int | None:
        """The place of a write that can go and that only another one kept standing when its reply was discarded."""
        able = [place for place in range(len(self.log)) if self.log[place].entry == entry and self.may_take_back(place)]
        return next((place for place in able if self.log[place].response in self.discarded), None)

    def discard(self, response: str) -> tuple[list[int], list[int]]:
        """The places reverted and kept."""
        self.discarded.add(response)
        reverted, kept, touched = [], [], set()
        for place in reversed(range(len(self.log))):
            if self.log[place].response != response or self.log[place].state != "live":
                continue
            if not self.may_take_back(place):
                kept.append(place)
                continue
            behind: int | None = place
            while behind is not None:
                touched.add(self._take_back(behind, "discarded"))
                reverted.append(behind)
                behind = self._waits(self.log[place].entry)
        for book in touched:
            self.versions[book] += 1
        return reverted, kept
