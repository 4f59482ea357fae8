"""What a model reads of an answer: lore in the frame that it cannot close, lines in one of their own, notes outside.

The notes hold nothing that comes from a book but handles and cursors, and a refusal to write the name of the book.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from service.actions.model_writing import Written
from service.lore import rendering
from service.lore.answer import Degraded
from service.lore.errors import FieldError, Invalid, WorldbookError
from service.lore.lookups import FetchAnswer, ListAnswer, ListedBook, ListItem, MissingName, SearchAnswer, SearchItem
from service.lore.open_book import AttachedBook
from service.lore.text import clean_line
from service.tools.definitions import SEND
from service.validation import MISSING

QUOTED = 80
"""Characters of a name or a cursor's call that are repeated."""


def mark_for(books: Sequence[AttachedBook], shown: Iterable[str] = ()) -> str:
    """The marker of the frames: no text of the books has it, and nothing else that is shown.

    `shown`: what was asked, and texts with names in them: a text may say half of a marker, and a name the other half.
    """
    taken = frozenset().union(*(book.open.text.frame_words for book in books))
    said = rendering.frame_words([*(book.label or "" for book in books), *shown])
    return rendering.marker([book.open.text.book.id for book in books], taken | said)


def fetched(answer: FetchAnswer, mark: str, most: int) -> str:
    """The entries in full, then the names that nothing has, then which entries were cut."""
    bodies = "".join(rendering.block(entry.title, entry.handle, entry.label, entry.content) for entry in answer.entries)
    lore = rendering.frame_start(mark) + bodies + rendering.frame_end(mark) if bodies else ""
    cut = ", ".join(entry.handle for entry in answer.entries if entry.cut)
    note = f"Cut to fit {most:,} tokens: {cut}. Fetch fewer at once to read more of them.\n" if cut else ""
    return lore + missed(answer.missing, mark) + note


def nothing_fetched(answer: FetchAnswer, search: str) -> str:
    """What to do when nothing has any of the names."""
    if any(each.nearest for each in answer.missing):
        return f"Search by what it is about with {search}, or fetch one of these.\n"
    return "There are no entries in what is attached.\n"  # any entry at all would be near


def missed(missing: Sequence[MissingName], mark: str) -> str:
    """Names that nothing has, each with the titles that are written most alike."""
    parts = []
    for each in missing:
        name = rendering.shortened(clean_line(each.name), QUOTED)
        parts.append(f'# Nothing is called "{name}"{"; nearest titles:" if each.nearest else "."}\n')
        parts += [rendering.index_line(near.title, near.handle, "") for near in each.nearest]
    return _lines(parts, mark)


def found(answer: SearchAnswer, mark: str, tool: str) -> str:
    """One line per entry, nearest first."""
    lines = map(_line, answer.items)
    told = _lines(["# Found, nearest first\n", *lines], mark) if answer.items else "Nothing found.\n"
    return told + _more(answer.next_cursor, tool) + _poorer(answer.degraded)


def listed(answer: ListAnswer, mark: str, tool: str) -> str:
    """One line per entry under its book."""
    headings = {
        book.id: f"# {clean_line(book.name)} [{book.id}]{f' ({clean_line(book.label)})' if book.label else ''}"
        f": {book.entries:,} {'entry' if book.entries == 1 else 'entries'}\n"
        for book in answer.books
    }
    parts = [
        line
        for book, items in groupby(answer.items, key=lambda item: item.book)
        for line in (headings[book], *map(_line, items))
    ]
    return (_lines(parts, mark) or _nothing_listed(answer.books)) + _more(answer.next_cursor, tool)


def _nothing_listed(books: Sequence[ListedBook]) -> str:
    if any(book.entries for book in books):
        return "Nothing more is attached.\n"  # the last page was the end, or what came behind it is gone
    what = {0: "No book is attached", 1: "The book has no entries"}.get(len(books), "The books have no entries")
    return f"{what}.\n"


def written(done: Written) -> str:
    """That it is done, and the handle; the title is the model's own and need not be said again."""
    return f"{'Created' if done.action == 'create' else 'Changed'} {done.handle}.\n"


def refused(error: WorldbookError) -> str:
    """A sentence that a model can act on."""
    if not isinstance(error, Invalid):
        return f"{error.detail}. {error.remedy}".strip() + "\n"
    faults = dict.fromkeys(map(_fault, error.errors))
    return f"The call was not run. {'; '.join(faults)}.\n"


def argument(fault: FieldError) -> str:
    """The argument in which something is wrong."""
    return _where(fault).partition("/")[0]


def _where(fault: FieldError) -> str:
    return (fault.pointer or fault.parameter or "").lstrip("#/")


def _fault(fault: FieldError) -> str:
    """What is wrong with an argument; the validator's words, and those about pages of the API, are not for models."""
    where, name = _where(fault), argument(fault)
    if name in SEND and (name == "cursor" or not fault.remedy):
        return f"{name}: {f'{MISSING}, ' if fault.detail == MISSING else ''}{SEND[name]}"
    return f"{where or 'arguments'}: {fault.detail}" + (f" ({fault.remedy})" if fault.remedy else "")


def _line(item: SearchItem | ListItem) -> str:
    return rendering.index_line(item.title, item.handle, item.gist)


def _lines(parts: Sequence[str], mark: str) -> str:
    return f"<index-{mark}>\n{''.join(parts)}{rendering.index_end(mark)}" if parts else ""


def _more(cursor: str | None, tool: str) -> str:
    return f'There is more: call {tool} again with cursor "{cursor}".\n' if cursor else ""


def _poorer(degraded: Sequence[Degraded]) -> str:
    return "Some entries can be found by their names only at the moment.\n" if degraded else ""
