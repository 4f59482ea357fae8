"""What is asked of a retriever: books of entries, and conversations with the entries that should be found.

XQuAD splits by the number of the question: `choosing` (number % 3 == 0) sets parameters, `judging` (% 3 == 1) proves
them, the rest is never read. Titles are "Entry 1" to "Entry 240" and there are no aliases, so that no name helps.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from benchmarks import datasets
from service.lore.book import Entry
from service.lore.request import Message

Part = Literal["choosing", "judging"]
REMAINDER: dict[Part, int] = {"choosing": 0, "judging": 1}
CHATS = ("en", "es", "de", "ru", "zh", "ar", "hi", "th", "tr", "vi", "el")
BOOKS = ("en", "zh", "ar", "es")
DRAWS = 5
"""Mixed books that are averaged."""


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """The entries of one book; equal corpora are opened once."""

    name: str
    entries: tuple[Entry, ...]
    languages: tuple[str, ...]
    """Of each entry."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A conversation and the places of the entries that should be found; none for small talk."""

    messages: tuple[Message, ...]
    gold: frozenset[int]
    language: str
    kind: str = "question"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A book and what is asked of it."""

    name: str
    corpus: Corpus
    asks: tuple[Ask, ...]


def said(*contents: str) -> tuple[Message, ...]:
    """A conversation of turns that alternate, ending with the user's."""
    roles: tuple[Literal["user", "assistant"], ...] = ("user", "assistant")
    last = len(contents) - 1
    return tuple(Message(role=roles[(last - place) % 2], content=content) for place, content in enumerate(contents))


def make_corpus(name: str, texts: Iterable[tuple[str, str, tuple[str, ...]]], languages: Iterable[str]) -> Corpus:
    """A corpus of (title, content, aliases)."""
    entries = tuple(
        Entry(id=number, handle=f"book-{number}", title=title, content=content, aliases=aliases)
        for number, (title, content, aliases) in enumerate(texts, start=1)
    )
    return Corpus(name=name, entries=entries, languages=tuple(languages))


@lru_cache(maxsize=32)
def xquad(data: Path, language: str) -> datasets.Xquad:
    """XQuAD in one of the chat languages; Greek, which is not among the files at hand everywhere, from XQuAD-R."""
    return datasets.xquad_r(data, language) if language == "el" else datasets.xquad(data, language)


def numbered(name: str, contents: Sequence[str], languages: Sequence[str]) -> Corpus:
    """Entries whose titles say nothing."""
    texts = [(f"Entry {number}", content, ()) for number, content in enumerate(contents, start=1)]
    return make_corpus(name, texts, languages)


@lru_cache(maxsize=32)
def book_in(data: Path, language: str) -> Corpus:
    """The 240 paragraphs in one language."""
    return numbered(f"XQuAD {language}", xquad(data, language).paragraphs, [language] * 240)


@lru_cache(maxsize=32)
def mixed_book(data: Path, draw: int) -> Corpus:
    """The 240 paragraphs, each in one of the chat languages, drawn with a fixed seed."""
    languages = random.Random(f"mixed {draw}").choices(CHATS, k=240)
    contents = [xquad(data, language).paragraphs[number] for number, language in enumerate(languages)]
    return numbered(f"XQuAD mixed {draw}", contents, languages)


def questions(data: Path, language: str, part: Part) -> list[datasets.Question]:
    """The questions of one part in one language."""
    return list(xquad(data, language).questions[REMAINDER[part] :: 3])


def asked(data: Path, language: str, part: Part) -> tuple[Ask, ...]:
    """Those questions, each a chat of one message."""
    return tuple(
        Ask(messages=said(question.text), gold=frozenset({question.paragraph}), language=language)
        for question in questions(data, language, part)
    )


def pairs(data: Path, part: Part) -> list[tuple[str, str, Trial]]:
    """(chat language, book language, trial): every chat language with every book."""
    return [
        (chat, book, Trial(name=f"{chat} → {book}", corpus=book_in(data, book), asks=asked(data, chat, part)))
        for book in BOOKS
        for chat in CHATS
    ]


def mixed(data: Path, part: Part) -> list[tuple[str, int, Trial]]:
    """(chat language, draw, trial): every chat language with every mixed book."""
    return [
        (chat, draw, Trial(name=f"{chat} → mixed {draw}", corpus=mixed_book(data, draw), asks=asked(data, chat, part)))
        for draw in range(DRAWS)
        for chat in CHATS
    ]
