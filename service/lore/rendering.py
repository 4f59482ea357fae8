"""The text of every block of a prompt, and the frame that lore cannot close.

A block begins with `#`, `-` or `<` and ends with a line break (see `tokens`). Bodies stand in it verbatim. The frame
carries a marker that occurs in no text of the attached books, so no body can close it or open another; index lines
stand in a frame of their own, so no body can add one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence, Set
from itertools import count

from embeddings.windows import sentences
from service.lore.book import Entry
from service.lore.text import clean_line, fold

LONG_GIST = 120
SHORT_GIST = 48
NAMED_HEADING = "# Named in the conversation\n"
MATCHED_HEADING = "# Related to the conversation\n"
LOREBOOK_HEADING = "# Lorebook\n"
_FRAME_WORDS = re.compile(r"(?:lore|index)\s*[-\u2010-\u2015_]\s*([0-9a-f]{4,})")


def frame_words(texts: Iterable[str]) -> frozenset[str]:
    """The hexadecimal words that stand in `texts` where a frame's marker would, whatever their case or width."""
    folded = (fold(text).text for text in texts)
    return frozenset(word for text in folded for word in _FRAME_WORDS.findall(text))


def marker(book_ids: Sequence[str], taken: Set[str]) -> str:
    """The frame's marker: hexadecimal digits that depend on the attached books alone and begin no word of `taken`."""
    for step in count():
        digits = hashlib.sha256(f"{step} {' '.join(book_ids)}".encode()).hexdigest()[: 4 + step // 64]
        if not any(word.startswith(digits) for word in taken):
            return digits
    raise AssertionError("unreachable")


def frame_start(mark: str) -> str:
    return f"<lore-{mark}>\n"


def frame_end(mark: str) -> str:
    return f"</lore-{mark}>\n"


def index_start(mark: str, *, tools: bool) -> str:
    hint = ", with a handle to fetch it in full" if tools else ""
    return f"<index-{mark}>\n# World index: one line per entry{hint}\n"


def index_end(mark: str) -> str:
    return f"</index-{mark}>\n"


def more_line(more: int, *, tools: bool) -> str:
    """The closing line that counts what got no line of its own."""
    hint = "; search to find them" if tools else ""
    return f"- … and {more} more{hint}\n"


def canon_heading(book_name: str) -> str:
    return f"# Canon: {book_name}\n"


def book_heading(book_name: str) -> str:
    return f"# {book_name}\n"


def entry_block(entry: Entry, label: str | None) -> str:
    """An entry in full."""
    return block(entry.title, entry.handle, label, entry.content)


def block(title: str, handle: str, label: str | None, content: str) -> str:
    """A title with its handle, and a body as it is."""
    labelled = f" ({clean_line(label)})" if label else ""
    return f"## {title} [{handle}]{labelled}\n{content}\n"


def index_line(title: str, handle: str, gist: str) -> str:
    """One entry on one line."""
    return f"- {title} [{handle}]{f': {gist}' if gist else ''}\n"


def lorebook_block(contents: Sequence[str]) -> str:
    """What trigger lorebooks give, without titles, which are never sent; "" when they give nothing."""
    return LOREBOOK_HEADING + "".join(f"{content}\n" for content in contents) if contents else ""


def index_lines(entry: Entry) -> tuple[str, str, str]:
    """The index line of an entry with its title alone, with a short gist, and with a long one."""
    head = f"- {entry.title} [{entry.handle}]"
    gist = gist_of(entry)
    if not gist:
        return (f"{head}\n",) * 3
    return f"{head}\n", f"{head}: {shortened(gist, SHORT_GIST)}\n", f"{head}: {gist}\n"


def gist_of(entry: Entry) -> str:
    """The author's gist, else the first sentence of the content, at most 120 characters, cut at a word."""
    if entry.gist:
        return clean_line(entry.gist)
    opening = entry.content.lstrip()[: 4 * LONG_GIST]
    first = next(iter(sentences(opening)), "")
    return shortened(clean_line(first), LONG_GIST)


def shortened(text: str, most: int) -> str:
    """`text` in at most `most` characters, cut at a blank where one is near the end, with an ellipsis."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    blank = cut.rfind(" ")
    if blank >= most // 2:
        cut = cut[:blank]
    return cut.rstrip(" ,;:，、；：") + "…"


def text_hash(text: str) -> str:
    """32 hex digits of SHA-256: fits a provider's prompt-cache key."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
