"""What will be asked, and when: written down before the first request is sent.

Arrivals are those of many callers who do not know of each other (a Poisson process of a fixed rate), so a slow answer
does not keep the next request from being sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.recall import lore

Body = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Work:
    """What the requests are like."""

    books: Sequence[str]
    books_a_request: int = 3
    share_new: float = 1.0
    """Of the requests: the next turn of a chat. The others repeat a turn, like a regeneration or a preview."""
    user_words: tuple[int, int] = (5, 80)
    """Of a user message: between these, short ones more often."""
    reply_words: tuple[int, int] = (80, 300)
    """Of the model's."""
    messages: int = 6
    """With the lengths above they have about 4 kB together."""
    conversations: int = 50


def arrivals(rate: float, count: int, seed: int) -> np.ndarray:
    """Seconds from the start at which each of `count` requests is due."""
    gaps = np.random.default_rng(seed).exponential(1 / rate, count)
    return np.cumsum(gaps)


def opening(work: Work, seed: int) -> list[Body]:
    """One request of each conversation of `bodies`, as it stands before them: what a service that runs has seen."""
    random = np.random.default_rng(seed)
    return [_body(books, messages) for books, messages in _chats(work, random, _Speaker(work, random))]


def bodies(work: Work, count: int, seed: int) -> list[Body]:
    """Requests of many conversations that go on by a reply and a user message at a time.

    Each conversation has its books, popular ones more often.
    """
    random = np.random.default_rng(seed)
    speaker = _Speaker(work, random)
    chats = _chats(work, random, speaker)
    planned = []
    for _ in range(count):
        books, messages = chats[random.integers(len(chats))]
        if random.random() < work.share_new:
            messages[:] = [*messages, speaker.said("assistant"), speaker.said("user")][-work.messages :]
        planned.append(_body(books, messages))
    return planned


class _Speaker:
    """Prose, since a model reads twice as many tokens in as many made-up words."""

    def __init__(self, work: Work, random: np.random.Generator) -> None:
        self._words = {"user": work.user_words, "assistant": work.reply_words}
        self._random = random

    def said(self, role: str) -> str:
        length = int(np.exp(self._random.uniform(*np.log(self._words[role]))))
        first = self._random.integers(len(lore.english()) - length)
        return " ".join(lore.english()[first : first + length])


def _chats(work: Work, random: np.random.Generator, speaker: _Speaker) -> list[tuple[list[str], list[str]]]:
    """The books and the messages of each conversation."""
    popularity = 1 / np.arange(1, len(work.books) + 1)
    popularity /= popularity.sum()
    attached = min(work.books_a_request, len(work.books))
    return [
        (
            [work.books[place] for place in random.choice(len(work.books), attached, replace=False, p=popularity)],
            [speaker.said(role) for role in _roles(work.messages)],
        )
        for _ in range(work.conversations)
    ]


def _body(books: list[str], messages: list[str]) -> Body:
    told = [{"role": role, "content": text} for role, text in zip(_roles(len(messages)), messages, strict=True)]
    return {"books": books, "messages": told}


def _roles(count: int) -> list[str]:
    """The user has the last word."""
    return [("user", "assistant")[left % 2] for left in reversed(range(count))]
