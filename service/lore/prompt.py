"""The text of the prompt from what was packed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from service.lore import rendering
from service.lore.answer import Prompt, PromptPart
from service.lore.indexing import PackedIndex
from service.lore.packing import Stable, Volatile, written_index
from service.lore.shelf import Shelf


@dataclass(frozen=True, kw_only=True)
class SectionTexts:
    """The text of each section, without the frame around its part; "" when it is empty."""

    canon: str
    whole: str
    named: str
    matched: str
    index: str


def section_texts(shelf: Shelf, stable: Stable, volatile: Volatile, *, tools: bool) -> SectionTexts:
    """Render what was packed."""
    return SectionTexts(
        canon=_by_book(shelf, stable.canon, rendering.canon_heading),
        whole=_by_book(shelf, stable.whole, rendering.book_heading),
        named=_blocks(shelf, volatile.named, rendering.NAMED_HEADING),
        matched=_blocks(shelf, volatile.matched, rendering.MATCHED_HEADING),
        index=_index_text(shelf, written_index(stable, volatile), tools=tools),
    )


def prompt(
    shelf: Shelf, stable: Stable, volatile: Volatile, texts: SectionTexts, triggered: Sequence[str] = ()
) -> Prompt:
    """The two parts, each in its frame. `triggered`: contents of lorebooks, which go ahead of what was retrieved."""
    fixed, moving = (texts.index, "") if stable.index.exists else ("", texts.index)
    lorebook = rendering.lorebook_block(triggered)
    tokens = volatile.tokens
    if lorebook:
        tokens = (tokens or shelf.frame_cost) + shelf.tokenizer.count(lorebook)
    return Prompt(
        stable=_part(shelf, texts.canon + texts.whole + fixed, stable.tokens),
        volatile=_part(shelf, lorebook + texts.named + texts.matched + moving, tokens),
    )


def _by_book(shelf: Shelf, places: Sequence[int], heading: Callable[[str], str]) -> str:
    parts: list[str] = []
    previous = -1
    for place in places:
        number = int(shelf.book_of[place])
        if number != previous:
            parts.append(heading(shelf.books[number].open.text.book.name))
            previous = number
        parts.append(shelf.block(place))
    return "".join(parts)


def _blocks(shelf: Shelf, places: Sequence[int], heading: str) -> str:
    return heading + "".join(map(shelf.block, places)) if places else ""


def _index_text(shelf: Shelf, index: PackedIndex, *, tools: bool) -> str:
    if not index.tokens:
        return ""
    lines = map(shelf.line, index.places.tolist(), index.shapes.tolist())
    closing = rendering.more_line(index.more, tools=tools) if index.closing else ""
    return rendering.index_start(shelf.mark, tools=tools) + "".join(lines) + closing + rendering.index_end(shelf.mark)


def _part(shelf: Shelf, body: str, tokens: int) -> PromptPart:
    text = rendering.frame_start(shelf.mark) + body + rendering.frame_end(shelf.mark) if body else ""
    return PromptPart(text=text, tokens=tokens, hash=rendering.text_hash(text))
