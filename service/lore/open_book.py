"""A book made ready to be read: everything derived from its entries, immutable, droppable at any time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embeddings.index import VectorIndex
from service.lore.book import Book, Entry
from service.lore.lexical import Lexicon
from service.lore.matching import Matcher
from service.lore.recipe import embedding_text
from service.lore.rendering import entry_block, frame_words, index_lines
from service.lore.text import fold
from service.lore.tokens import Tokenizer

SHEETS = 8
"""Tokenizers and labels whose costs a book keeps."""


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """What the entries of a book cost with one tokenizer and label, by ordinal; counted at first use."""

    entries: tuple[Entry, ...]
    tokenizer: Tokenizer
    label: str | None

    @cached_property
    def full(self) -> NDArray[np.int64]:
        """Tokens of each entry's block."""
        return np.array([self.tokenizer.count(entry_block(entry, self.label)) for entry in self.entries], np.int64)

    @cached_property
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Index lines: with the title alone, with a short gist, with a long one."""
        lines = [index_lines(entry) for entry in self.entries]
        return tuple(tuple(line[shape] for line in lines) for shape in range(3))

    @cached_property
    def line_tokens(self) -> NDArray[np.int64]:
        """Tokens of the index lines, shape (3, entries)."""
        counts = [[self.tokenizer.count(line) for line in shape] for shape in self.lines]
        return np.array(counts, np.int64).reshape(3, len(self.entries))


@dataclass(frozen=True, kw_only=True)
class BookText:
    """What is derived from the words of a book at one version: names, costs, switches."""

    book: Book
    """Without its entries."""
    entries: tuple[Entry, ...]
    """In list order, disabled ones too; an ordinal is a place in this tuple."""
    matcher: Matcher
    """Over titles and aliases of enabled entries."""
    _sheets: dict[tuple[str, float, str | None], Sheet] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def build(cls, book: Book, entries: tuple[Entry, ...]) -> BookText:
        names = [
            (ordinal, name)
            for ordinal, entry in enumerate(entries)
            if entry.enabled and book.enabled
            for name in (entry.title, *entry.aliases)
        ]
        return cls(book=book, entries=entries, matcher=Matcher.build(names))

    def sheet(self, tokenizer: Tokenizer, label: str | None) -> Sheet:
        """The costs under `label`; the latest few are kept."""
        key = (tokenizer.name, tokenizer.margin, label)
        sheet = self._sheets.get(key)
        if sheet is None:
            while len(self._sheets) >= SHEETS:
                self._sheets.pop(next(iter(self._sheets)), None)
            sheet = self._sheets[key] = Sheet(entries=self.entries, tokenizer=tokenizer, label=label)
        return sheet

    @cached_property
    def enabled(self) -> NDArray[np.bool_]:
        return np.array([entry.enabled and self.book.enabled for entry in self.entries], np.bool_)

    @cached_property
    def canon(self) -> NDArray[np.bool_]:
        return np.array([entry.tier == "canon" for entry in self.entries], np.bool_)

    @cached_property
    def lexicon(self) -> Lexicon:
        """Spelling of the embedding texts of enabled entries."""
        return Lexicon.build(
            [
                embedding_text(entry) if enabled else ""
                for entry, enabled in zip(self.entries, self.enabled, strict=True)
            ]
        )

    @cached_property
    def frame_words(self) -> frozenset[str]:
        """Words that the frame's marker must not begin."""
        texts = [self.book.name]
        for entry in self.entries:
            texts += [entry.title, entry.content, entry.gist or ""]
        return frame_words(texts)

    @cached_property
    def ordinals(self) -> Mapping[int, int]:
        """Entry id to ordinal."""
        return {entry.id: ordinal for ordinal, entry in enumerate(self.entries)}

    @cached_property
    def named(self) -> Mapping[str, tuple[int, ...]]:
        """Folded title or alias to the ordinals of the enabled entries that bear it."""
        found: dict[str, list[int]] = defaultdict(list)
        for ordinal, entry in enumerate(self.entries):
            if self.enabled[ordinal]:
                for name in dict.fromkeys(fold(name).text.strip() for name in (entry.title, *entry.aliases)):
                    found[name].append(ordinal)
        return {name: tuple(ordinals) for name, ordinals in found.items()}

    @cached_property
    def nbytes(self) -> int:
        """About how much memory the text side takes once its lexicon and one sheet are built."""
        letters = sum(len(entry.content) + len(entry.title) for entry in self.entries)
        return 10 * letters + self.matcher.nbytes + 1500 * len(self.entries)


@dataclass(frozen=True, kw_only=True)
class OpenBook:
    """The words of a book and the vectors that have arrived for them."""

    text: BookText
    index: VectorIndex
    """Groups are ordinals of enabled entries."""
    pending: int = 0
    """Enabled entries that have no vectors yet."""
    failed: int = 0
    """Enabled entries whose text cannot be embedded."""

    @property
    def nbytes(self) -> int:
        return self.text.nbytes + self.index.nbytes


@dataclass(frozen=True, kw_only=True)
class AttachedBook:
    """An open book in the order and under the label in which a request reads it."""

    open: OpenBook
    label: str | None = None
    """The character whose book it is, in a group."""
    via: tuple[str, ...] = ()
    """The hosts that brought it."""
