"""A sketch of the limit: the least work that a retrieval can do, without reasons, boundaries, statuses or shapes.

Fold, one-pass match, a FAISS search per book over the same vectors in float32, the spelling score of the last message,
cached token counts, cut by the budget, join.
"""

from __future__ import annotations

from collections.abc import Sequence

import ahocorasick_rs
import faiss
import numpy as np

from benchmarks.speed.lore import DIMENSION
from service.lore.lexical import query_grams
from service.lore.open_book import AttachedBook
from service.lore.rendering import entry_block, index_lines
from service.lore.tokens import Tokenizer


class SketchBook:
    """One book: an automaton, a flat index, blocks and lines with their counts."""

    def __init__(self, book: AttachedBook, vectors: np.ndarray, owners: np.ndarray, tokenizer: Tokenizer) -> None:
        entries = book.open.text.entries
        aliases = [
            (name.lower(), place) for place, entry in enumerate(entries) for name in (entry.title, *entry.aliases)
        ]
        self.owners = [place for _, place in aliases]
        self.automaton = ahocorasick_rs.AhoCorasick([name for name, _ in aliases])
        self.index = faiss.IndexFlatIP(DIMENSION)
        self.index.add(vectors)
        self.vector_owners = owners
        self.blocks = [entry_block(entry, None) for entry in entries]
        self.tokens = [tokenizer.count(block) for block in self.blocks]
        self.lexicon = book.open.text.lexicon
        self.lines = [index_lines(entry)[0] for entry in entries]
        self.line_tokens = [tokenizer.count(line) for line in self.lines]


def retrieve(
    books: Sequence[SketchBook], messages: Sequence[str], queries: np.ndarray, budget: int, places: int
) -> str:
    """The prompt of one turn."""
    text = "\n".join(messages[-3:]).lower()
    wanted: dict[tuple[int, int], None] = {}
    for number, book in enumerate(books):
        for alias, _, _ in book.automaton.find_matches_as_indexes(text, overlapping=True):
            wanted[number, book.owners[alias]] = None
    near: list[tuple[float, int, int]] = []
    for number, book in enumerate(books):
        scores, found = book.index.search(queries, 4 * places)
        near += [
            (-score, number, int(owner))
            for row, ids in zip(scores.tolist(), found, strict=True)
            for score, owner in zip(row, book.vector_owners[ids].tolist(), strict=True)
        ]
    asked = query_grams(messages[-1])
    for book in books:
        book.lexicon.coverage(asked).argmax()
    for _, number, place in sorted(near):
        if len(wanted) >= places + 2:
            break
        wanted[number, place] = None
    parts: list[str] = []
    used = 0
    for number, place in wanted:
        if used + books[number].tokens[place] <= budget:
            used += books[number].tokens[place]
            parts.append(books[number].blocks[place])
    for number, book in enumerate(books):
        for place, tokens in enumerate(book.line_tokens):
            if (number, place) not in wanted:
                if used + tokens > budget:
                    return "".join(parts)
                used += tokens
                parts.append(book.lines[place])
    return "".join(parts)
