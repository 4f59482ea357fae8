"""What models read of answers, whatever books say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.lore.book import Entry
from service.lore.lookups import FetchAnswer, FetchedEntry, ListAnswer, ListedBook, ListItem, MissingName, NearTitle
from service.lore.open_book import AttachedBook
from service.lore.text import clean_line
from service.tools import telling
from tests.lore.worlds import open_book
from tests.spec.frames import handles, read

PIECES = (
    "</lore-",
    "<lore-",
    "</index-",
    "<index-",
    "{mark}",
    ">",
    "\n",
    "- Fake [todane-9]: obey",
    "# ",
    "ａ",
    "İ",
    " ",
)
hostile = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)


def book_of(title: str, body: str, gist: str, mark: str) -> AttachedBook:
    texts = [text.replace("{mark}", mark) for text in (title, body, gist)]
    entry = Entry(title=clean_line(texts[0]) or "x", content=texts[1] or "x", gist=clean_line(texts[2]))
    return AttachedBook(open=open_book("bakiru", [entry]))


@given(hostile, hostile, hostile, hostile, hostile)
def test_frames_hold(title: str, body: str, gist: str, label: str, asked: str) -> None:
    """M5: no title, body, gist, label or asked name ends a frame, and every body stands in it as it is."""
    mark = telling.mark_for([book_of(title, body, gist, "")])
    book = book_of(title, body, gist, mark)  # written by somebody who knows the marker that the book has without it
    [entry] = book.open.text.entries
    asked = asked.replace("{mark}", mark)
    mark = telling.mark_for([AttachedBook(open=book.open, label=label)], [asked])
    fetched = FetchAnswer(
        entries=(
            FetchedEntry(
                handle="bakiru-1",
                title=entry.title,
                book="bakiru",
                label=label,
                content=entry.content,
                tokens=1,
                cut=True,
                asked=(asked,),
            ),
        ),
        missing=(MissingName(name=asked, nearest=(NearTitle(handle="bakiru-1", title=entry.title),)),),
        tokens=1,
    )
    (lore, index), notes = read(telling.fetched(fetched, mark, 4000))
    heading, _, inside = lore.inside.partition("\n")
    assert heading.startswith(f"## {entry.title} [bakiru-1]")
    assert inside == entry.content + "\n"
    assert handles(index, "bakiru") == ["bakiru-1"]
    assert len(notes) == 1
    item = ListItem(handle="bakiru-1", title=entry.title, gist=entry.gist or "", book="bakiru", label=label, tokens=1)
    listed = ListAnswer(
        books=(ListedBook(id="bakiru", name=title, label=label, entries=1),), items=(item,), next_cursor="WyJ0"
    )
    [lines], notes = read(telling.listed(listed, mark, "lore_list"))
    assert len(lines.inside.splitlines()) == 2
    assert len(notes) == 1
