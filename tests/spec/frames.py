"""A strict reader of what a model is given: it sees frames, and whatever stands outside of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FRAME = re.compile(r"<(lore|index)-([0-9a-f]+)>\n")
NOTES = (
    re.compile(r'There is more: call (lore_)?(list|search) again with cursor "[A-Za-z0-9_=-]+"\.'),
    re.compile(r"Cut to fit [\d,]+ tokens: [a-z]+-\d+(, [a-z]+-\d+)*\. Fetch fewer at once to read more of them\."),
    re.compile(r"Search by what it is about with (lore_)?search, or fetch one of these\."),
    re.compile(r"Some entries can be found by their names only at the moment\."),
    re.compile(r"Nothing found\.|Nothing more is attached\."),
)


@dataclass(frozen=True)
class Frame:
    """What stands between a marker and its end; a frame of lines may stand in one of lore."""

    kind: str
    mark: str
    inside: str


def read(text: str) -> tuple[list[Frame], list[str]]:
    """The outermost frames, and the lines outside of them; asserts that every frame is closed and each line a note."""
    frames: list[Frame] = []
    notes: list[str] = []
    while text:
        if begun := _FRAME.match(text):
            kind, mark = begun.groups()
            inside, end, text = text[begun.end() :].partition(f"</{kind}-{mark}>\n")
            assert end, f"the frame {kind}-{mark} is not closed"
            frames.append(Frame(kind, mark, inside))
            continue
        line, _, text = text.partition("\n")
        assert any(note.fullmatch(line) for note in NOTES), f"stands outside of every frame: {line!r}"
        notes.append(line)
    assert len({frame.mark for frame in frames}) <= 1
    return frames, notes


def handles(frame: Frame, book: str) -> list[str]:
    """The handle of this book in each line of a frame; asserts that it has nothing but headings and such lines."""
    found = []
    for line in frame.inside.splitlines():
        if line.startswith("# "):
            continue
        entry = re.search(rf"\[({book}-\d+)\]", line)
        assert line.startswith("- ")
        assert entry, line
        found.append(entry[1])
    return found


def index_of(text: str) -> Frame:
    """The frame of lines in a part of a prompt, told by the marker of the frame around it from what only looks so."""
    [lore], _ = read(text)
    found = re.search(rf"^<index-{lore.mark}>\n(.*)^</index-{lore.mark}>$", lore.inside, re.DOTALL | re.MULTILINE)
    assert found
    return Frame("index", lore.mark, found[1])
