"""Trials with long entries, earlier messages or invented names: the recipes of goals G6, G7, G8 and G11."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from benchmarks.recall import lines
from benchmarks.recall.trials import (
    BOOKS,
    CHATS,
    Ask,
    Corpus,
    Part,
    Trial,
    make_corpus,
    numbered,
    questions,
    said,
    xquad,
)
from embeddings.windows import CountTokens, sentences

LONG_TOKENS = 800
FACT_FROM = 500
"""Token of an entry behind which the paragraph of a question must begin."""
REPLY_TOKENS = (300, 400)
REPLIES = 24
"""Long replies a language and kind; every question draws two of them."""
_BOOK_OF_180 = frozenset(random.Random("book of 180").sample(range(240), 180))


# --- long entries -----------------------------------------------------------------------------------------------------


def long_entries(data: Path, part: Part, count: CountTokens) -> list[tuple[str, str, Trial]]:
    """(chat, book, trial): 48 entries, each of the paragraphs of an article up to 800 tokens or more, and questions on
    paragraphs that begin past token 500 of their entry.
    """
    made = []
    for book in BOOKS:
        contents, deep = _articles(data, book, count)
        corpus = numbered(f"XQuAD long {book}", contents, [book] * len(contents))
        for chat in CHATS:
            asks = tuple(
                Ask(messages=said(question.text), gold=frozenset({deep[question.paragraph]}), language=chat)
                for question in questions(data, chat, part)
                if question.paragraph in deep
            )
            made.append((chat, book, Trial(name=f"{chat} → long {book}", corpus=corpus, asks=asks)))
    return made


def _articles(data: Path, language: str, count: CountTokens) -> tuple[list[str], dict[int, int]]:
    """The long entries, and for each paragraph that begins past token 500 the place of its entry."""
    paragraphs = xquad(data, language).paragraphs
    tokens = count(paragraphs)
    contents: list[str] = []
    deep: dict[int, int] = {}
    for first in range(0, len(paragraphs), 5):
        taken, total = [], 0
        for number in range(first, first + 5):
            if total >= LONG_TOKENS:
                break
            if total > FACT_FROM:
                deep[number] = len(contents)
            taken.append(paragraphs[number])
            total += tokens[number]
        contents.append("\n".join(taken))
    return contents, deep


# --- conversations ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def book_of_180(data: Path, language: str) -> tuple[Corpus, dict[int, int]]:
    """180 of the paragraphs under their own numbers, and the place of each paragraph that is in it."""
    kept = sorted(_BOOK_OF_180)
    paragraphs = xquad(data, language).paragraphs
    texts = [(f"Entry {number + 1}", paragraphs[number], ()) for number in kept]
    corpus = make_corpus(f"XQuAD 180 {language}", texts, [language] * 180)
    return corpus, {number: place for place, number in enumerate(kept)}


def _conversations(
    data: Path, part: Part, name: str, chat_of: Callable[[str], Sequence[tuple[int, tuple[str, ...]]]]
) -> list[tuple[str, str, Trial]]:
    """(chat, book, trial) of conversations given as (gold paragraph, contents) for each chat language."""
    told = {chat: [each for each in chat_of(chat) if each[0] in _BOOK_OF_180] for chat in CHATS}
    made = []
    for book in BOOKS:
        corpus, places = book_of_180(data, book)
        for chat in CHATS:
            asks = tuple(
                Ask(messages=said(*contents), gold=frozenset({places[paragraph]}), language=chat)
                for paragraph, contents in told[chat]
            )
            made.append((chat, book, Trial(name=f"{chat} → 180 {book} {name} {part}", corpus=corpus, asks=asks)))
    return made


def after_replies(data: Path, part: Part, count: CountTokens, *, of_book: bool) -> list[tuple[str, str, Trial]]:
    """A question after two replies of 300-400 tokens and a follow-up, the replies about other entries or about none."""

    def told(chat: str) -> list[tuple[int, tuple[str, ...]]]:
        replies = _replies(data, chat, count, of_book=of_book)
        chance = random.Random(f"after replies {chat} {of_book}")
        conversations: list[tuple[int, tuple[str, ...]]] = []
        for question in questions(data, chat, part):
            other = [text for text, about in replies if question.paragraph not in about]
            first, second = chance.sample(other, 2)
            line = chance.choice(lines.follow_ups(chat))
            conversations.append((question.paragraph, (first, line, second, question.text)))
        return conversations

    return _conversations(data, part, f"after replies {of_book}", told)


def _replies(data: Path, language: str, count: CountTokens, *, of_book: bool) -> list[tuple[str, frozenset[int]]]:
    """Long replies and the paragraphs that each is made of."""
    paragraphs = xquad(data, language).paragraphs
    pool = [number for number in range(240) if (number in _BOOK_OF_180) == of_book]
    chance = random.Random(f"replies {of_book}")
    least, most = REPLY_TOKENS
    made = []
    for _ in range(REPLIES):
        about: list[int] = []
        text = ""
        for number in chance.sample(pool, len(pool)):
            about.append(number)
            text = f"{text}\n{paragraphs[number]}".strip()
            if count([text])[0] >= least:
                break
        made.append((_cut_to(text, count, most), frozenset(about)))
    return made


def _cut_to(text: str, count: CountTokens, most: int) -> str:
    """As many whole sentences from the beginning as fit, at least one."""
    parts = list(sentences(text))
    total, kept = 0, 0
    for tokens in count(parts):
        if kept and total + tokens > most:
            break
        total += tokens
        kept += 1
    return "".join(parts[:kept]).strip()


def topic_in_reply(data: Path, part: Part, *, diluted: bool) -> list[tuple[str, str, Trial]]:
    """A follow-up after a reply that holds the first half of the gold paragraph, alone or behind another paragraph."""

    def told(chat: str) -> list[tuple[int, tuple[str, ...]]]:
        paragraphs = xquad(data, chat).paragraphs
        chance = random.Random(f"topic in reply {chat} {diluted}")
        conversations: list[tuple[int, tuple[str, ...]]] = []
        for number in range(0 if part == "choosing" else 1, 240, 2):
            half = _first_half(paragraphs[number])
            other = chance.choice([each for each in range(240) if each // 5 != number // 5])
            reply = f"{paragraphs[other]}\n{half}" if diluted else half
            conversations.append((number, (reply, chance.choice(lines.follow_ups(chat)))))
        return conversations

    return _conversations(data, part, f"topic in reply {diluted}", told)


def _first_half(text: str) -> str:
    parts = list(sentences(text))
    return "".join(parts[: max(1, len(parts) // 2)]).strip()


def topic_in_question(data: Path, part: Part) -> list[tuple[str, str, Trial]]:
    """A follow-up after the question and a reply that says nothing."""

    def told(chat: str) -> list[tuple[int, tuple[str, ...]]]:
        chance = random.Random(f"topic in question {chat}")
        empty = lines.small_talk(part)[chat]
        return [
            (question.paragraph, (question.text, chance.choice(empty), chance.choice(lines.follow_ups(chat))))
            for question in questions(data, chat, part)
        ]

    return _conversations(data, part, "topic in question", told)


# --- invented names ---------------------------------------------------------------------------------------------------


def invented_names(data: Path, part: Part, *, wrong: bool) -> list[tuple[str, Trial]]:
    """(book language, trial): 120 entries under invented names, and a short message about each."""
    made = []
    for book in BOOKS:
        kept = sorted(random.Random(f"named entries {part}").sample(range(240), 120))
        paragraphs = xquad(data, book).paragraphs
        given = lines.names(part)
        texts = [(name, paragraphs[number], ()) for name, number in zip(given, kept, strict=True)]
        corpus = make_corpus(f"XQuAD named {book} {part}", texts, [book] * 120)
        templates = lines.name_questions(book)
        asks = tuple(
            Ask(
                messages=said(templates[place % len(templates)].format(name=lines.misspelt(name) if wrong else name)),
                gold=frozenset({place}),
                language=book,
                kind="misspelt" if wrong else "name",
            )
            for place, name in enumerate(given)
        )
        made.append((book, Trial(name=f"names {book} {wrong} {part}", corpus=corpus, asks=asks)))
    return made
