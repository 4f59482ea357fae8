"""A book made ready to be read: everything derived from its entries, immutable, droppable at any time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from embeddings.index import VectorIndex
from service.lore import advice
from service.lore.activation.rules import Lorebook, compile_lorebook
from service.lore.book import WORLD, Book, Entry, Warning
from service.lore.dialects import DIALECTS, DialectRules
from service.lore.lexical import Lexicon
from service.lore.macros import has_macro, macro_values, spoken
from service.lore.matching import Matcher
from service.lore.recipe import embedding_text
from service.lore.rendering import entry_block, frame_words, index_lines
from service.lore.request import Names, SillyTavern
from service.lore.text import fold
from service.lore.tokens import Tokenizer

T = TypeVar("T")
ID_DIGITS = 16
"""More than any entry's id has."""
SHEETS = 8
"""Tokenizers and labels whose costs a book keeps."""
LOREBOOKS = 4
"""Ways in which a lorebook keeps its keys: program settings, and names where keys have macros."""


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """What the entries of a book cost with one tokenizer and label, by ordinal; counted at first use."""

    entries: tuple[Entry, ...]
    tokenizer: Tokenizer
    label: str | None
    base: Sheet | None = None
    """The sheet from which this one differs at `changed` only."""
    changed: tuple[int, ...] = ()

    def spoken(self, macros: Mapping[str, str], ordinals: Sequence[int]) -> Sheet:
        """The same with macros replaced in the entries of these ordinals."""
        entries = list(self.entries)
        for ordinal in ordinals:
            entries[ordinal] = spoken(entries[ordinal], macros)
        return Sheet(
            entries=tuple(entries),
            tokenizer=self.tokenizer,
            label=self.label,
            base=self,
            changed=tuple(ordinals),
        )

    @cached_property
    def full(self) -> NDArray[np.int64]:
        """Tokens of each entry's block."""
        if self.base is not None:
            full = self.base.full.copy()
            for ordinal in self.changed:
                full[ordinal] = self.tokenizer.count(entry_block(self.entries[ordinal], self.label))
            return full
        return np.array([self.tokenizer.count(entry_block(entry, self.label)) for entry in self.entries], np.int64)

    @cached_property
    def lines(self) -> tuple[tuple[str, ...], ...]:
        """Index lines: with the title alone, with a short gist, with a long one."""
        if self.base is not None:
            shapes = [list(shape) for shape in self.base.lines]
            for ordinal in self.changed:
                for shape, line in zip(shapes, index_lines(self.entries[ordinal]), strict=True):
                    shape[ordinal] = line
            return tuple(map(tuple, shapes))
        lines = [index_lines(entry) for entry in self.entries]
        return tuple(tuple(line[shape] for line in lines) for shape in range(3))

    @cached_property
    def line_tokens(self) -> NDArray[np.int64]:
        """Tokens of the index lines, shape (3, entries)."""
        if self.base is not None:
            tokens = self.base.line_tokens.copy()
            for ordinal in self.changed:
                tokens[:, ordinal] = [self.tokenizer.count(shape[ordinal]) for shape in self.lines]
            return tokens
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
    """Over titles and aliases of enabled entries; of a trigger lorebook nothing."""
    _sheets: dict[Hashable, Sheet] = field(default_factory=dict, repr=False, compare=False)
    _lorebooks: dict[Hashable, Lorebook] = field(default_factory=dict, repr=False, compare=False)
    _keeping: Lock = field(default_factory=Lock, repr=False, compare=False)

    @classmethod
    def build(cls, book: Book, entries: tuple[Entry, ...]) -> BookText:
        names = [
            (ordinal, name)
            for ordinal, entry in enumerate(entries)
            if entry.enabled and book.enabled and book.dialect == WORLD
            for name in (entry.title, *entry.aliases)
        ]
        return cls(book=book, entries=entries, matcher=Matcher.build(names))

    def sheet(self, tokenizer: Tokenizer, label: str | None) -> Sheet:
        """The costs under `label`; the latest few are kept."""
        key = (tokenizer.name, tokenizer.exact, tokenizer.margin, label)
        sheet = self._sheets.get(key)
        if sheet is None:
            sheet = Sheet(entries=self.entries, tokenizer=tokenizer, label=label)
            sheet = self._kept(self._sheets, key, sheet, SHEETS)
        return sheet

    def lorebook(self, dialect: DialectRules, program: SillyTavern, macros: Mapping[str, str]) -> Lorebook:
        """The triggers and keys of a trigger lorebook; the latest few are kept."""
        named = tuple(macros.items()) if dialect.key_macros and self.key_macros else ()
        key = (dialect.dialect, program.whole_words, program.case_sensitive, named)
        lorebook = self._lorebooks.get(key)
        if lorebook is None:
            lorebook = compile_lorebook(self.book, self.entries, dialect, program, macros)
            lorebook = self._kept(self._lorebooks, key, lorebook, LOREBOOKS)
        return lorebook

    def _kept(self, kept: dict[Hashable, T], key: Hashable, value: T, most: int) -> T:
        """The value that is now kept under `key`: this one, unless another thread was first. The oldest go."""
        with self._keeping:
            while key not in kept and len(kept) >= most:
                del kept[next(iter(kept))]
            return kept.setdefault(key, value)

    @cached_property
    def macros(self) -> tuple[int, ...]:
        """Ordinals of the entries whose text depends on the names of a request."""
        return tuple(
            ordinal
            for ordinal, entry in enumerate(self.entries)
            if any(map(has_macro, (entry.title, entry.content, entry.gist or "")))
        )

    @cached_property
    def advice(self) -> tuple[Warning, ...]:
        """What the author of a lorebook should know about the book."""
        rows = (row for row in DIALECTS if row.dialect == self.book.dialect and advice.is_recursive(self.book))
        recursive = [(row, self.lorebook(row, row.program or SillyTavern(), {})) for row in rows]
        return (*advice.of_book(self.book), *(told for row, each in recursive for told in advice.of_keys(row, each)))

    @cached_property
    def key_macros(self) -> bool:
        """Whether the keys depend on the names of a request."""
        triggers = [entry.trigger for entry in self.entries if entry.trigger]
        return any(has_macro(key) for trigger in triggers for key in (*trigger.keys, *trigger.secondary_keys))

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
    def ids(self) -> NDArray[np.int64]:
        """Entry ids by ordinal."""
        return np.array([entry.id for entry in self.entries], np.int64)

    @cached_property
    def ordinals(self) -> Mapping[int, int]:
        """Entry id to ordinal."""
        return {entry.id: ordinal for ordinal, entry in enumerate(self.entries)}

    def ordinal_of(self, entry_id: str) -> int | None:
        """The ordinal of the entry whose id somebody wrote so; None: it is none of this book."""
        # Python reads no number of thousands of digits.
        return self.ordinals.get(int(entry_id)) if entry_id.isdecimal() and len(entry_id) <= ID_DIGITS else None

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
        keys = sum(len(entry.trigger.keys) for entry in self.entries if entry.trigger)
        return 10 * letters + self.matcher.nbytes + 1500 * (len(self.entries) + keys)


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
        return self.text.nbytes + self.index.nbytes + self.index.nbytes_of_scores


@dataclass(frozen=True, kw_only=True)
class AttachedBook:
    """An open book in the order and under the label in which a request reads it."""

    open: OpenBook
    label: str | None = None
    """The character whose book it is, in a group."""
    via: tuple[str, ...] = ()
    """The hosts that brought it."""
    names: Names | None = None
    """Who is who where single entries are shown; None: macros stay as written."""

    @cached_property
    def macros(self) -> Mapping[str, str]:
        """What each macro of its entries stands for."""
        return macro_values(self.names, self.label)

    def shown(self, ordinal: int) -> Entry:
        """An entry as it is shown, with macros replaced."""
        return spoken(self.open.text.entries[ordinal], self.macros)

    @cached_property
    def named(self) -> Mapping[str, tuple[int, ...]]:
        """`BookText.named`, and titles as they are shown."""
        text = self.open.text
        shown: dict[str, tuple[int, ...]] = {}
        for ordinal in text.macros if self.macros else ():
            title = fold(self.shown(ordinal).title).text.strip()
            known = shown.get(title, text.named.get(title, ()))
            if text.enabled[ordinal] and ordinal not in known:
                shown[title] = (*known, ordinal)
        return {**text.named, **shown} if shown else text.named

    def cost(self, ordinal: int, tokenizer: Tokenizer) -> int:
        """Tokens of the block of an entry as it is shown."""
        entry = self.shown(ordinal)
        if entry is not self.open.text.entries[ordinal]:
            return tokenizer.count(entry_block(entry, self.label))
        return int(self.open.text.sheet(tokenizer, self.label).full[ordinal])


def world_books(books: Sequence[AttachedBook]) -> list[AttachedBook]:
    """Those that are read by meaning and by name; entries of the others come by their triggers only."""
    return [book for book in books if book.open.text.book.dialect == WORLD]


def starts_of(books: Sequence[AttachedBook]) -> list[int]:
    """The place of the first entry of each book, when the entries of all of them are numbered through."""
    return [0, *accumulate(len(book.open.text.entries) for book in books)][:-1]
