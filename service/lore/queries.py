"""Who reads which messages.

Only user and assistant messages that say something are read, and only what they say, never who says it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from embeddings.windows import windows_of
from service.lore.request import Message, is_spoken

Voice = Literal["last", "previous", "older"]
OLDER = 4
QUERY_CHARACTERS = 20_000
WINDOW_TOKENS = 128


@dataclass(frozen=True, kw_only=True)
class Query:
    """A message, or a piece of one, that is compared by meaning."""

    text: str
    message: int
    """Place of the message in the request, from 0."""
    voice: Voice


def read_literally(messages: Sequence[Message]) -> list[int]:
    """The newest user message and the two newest assistant messages that say something, newest first."""
    spoken = _spoken(messages)
    users = [place for place in spoken if messages[place].role == "user"]
    assistants = [place for place in spoken if messages[place].role == "assistant"]
    return sorted(users[-1:] + assistants[-2:], reverse=True)


def read_by_meaning(messages: Sequence[Message]) -> list[Query]:
    """Every message its own query, never one joined text; what came before the last message in windows.

    last: the newest user message, else the newest message; previous: the newest assistant message before it; older:
    the four before that. A long message is read to its last 20,000 characters.
    """
    spoken = _spoken(messages)
    if not spoken:
        return []
    last = next((place for place in reversed(spoken) if messages[place].role == "user"), spoken[-1])
    before = [place for place in spoken if place < last]
    previous = next((place for place in reversed(before) if messages[place].role == "assistant"), None)
    older = [place for place in before if previous is None or place != previous][-OLDER:]
    voices: list[tuple[int, Voice]] = [(last, "last")]
    if previous is not None:
        voices.append((previous, "previous"))
    voices += [(place, "older") for place in reversed(older)]
    return [
        Query(text=text, message=place, voice=voice)
        for place, voice in voices
        for text in _pieces(messages[place].content[-QUERY_CHARACTERS:].strip())
    ]


def _spoken(messages: Sequence[Message]) -> list[int]:
    return [place for place, message in enumerate(messages) if is_spoken(message)]


@lru_cache(maxsize=512)
def _pieces(content: str) -> tuple[str, ...]:
    # An app posts the same messages turn after turn.
    return tuple(windows_of(content, _estimated_tokens, WINDOW_TOKENS))


def _estimated_tokens(texts: Sequence[str]) -> list[int]:
    """About as many tokens as a multilingual model sees: one per four bytes of UTF-8."""
    return [1 + len(text.encode("utf-8", "replace")) // 4 for text in texts]
