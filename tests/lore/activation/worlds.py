"""The shortest way to a lorebook and to what it activates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from embeddings.index import VectorIndex
from service.lore.activation.lorebooks import Lorebooks
from service.lore.activation.state import EMPTY, State
from service.lore.answer import Retrieved
from service.lore.book import Book, BookSettings, Dialect, Entry, handle_of
from service.lore.open_book import AttachedBook, BookText, OpenBook
from service.lore.request import Message, RetrieveRequest
from service.lore.retrieval import Defaults, prepare, retrieve
from service.lore.tokens import Tokenizer
from service.lore.traces import EntryTrace
from service.lore.trigger import EVERYWHERE, Channels, Trigger

LETTERS = Tokenizer(name="letters", encode=lambda text: [0] * len(text))
"""A token is a code point, so that budgets can be reckoned by eye."""


def entry(title: str, content: str | None = None, *, enabled: bool = True, **trigger: Any) -> Entry:
    """An entry that says its title, unless told otherwise."""
    return Entry(
        title=title,
        content=content or f"About {title}.",
        enabled=enabled,
        trigger=Trigger(**trigger),
    )


def lorebook(
    dialect: Dialect,
    *entries: Entry,
    id: str = "gomedi",
    via: Sequence[str] = (),
    label: str | None = None,
    enabled: bool = True,
    channels: Channels = EVERYWHERE,
    **settings: Any,
) -> AttachedBook:
    """An attached lorebook; entry ids from 1 in list order."""
    numbered = tuple(
        Entry(
            id=number,
            handle=handle_of(id, number),
            title=each.title,
            content=each.content,
            enabled=each.enabled,
            trigger=each.trigger,
        )
        for number, each in enumerate(entries, start=1)
    )
    book = Book(
        id=id,
        version=1,
        name=f"Book {id}",
        dialect=dialect,
        enabled=enabled,
        channels=channels,
        settings=BookSettings(**settings),
    )
    text = BookText.build(book, numbered)
    return AttachedBook(open=OpenBook(text=text, index=VectorIndex.build(1, {})), via=tuple(via), label=label)


def asked(*contents: str | Message, **fields: Any) -> RetrieveRequest:
    """User messages, oldest first, unless they are messages already."""
    messages = tuple(
        content if isinstance(content, Message) else Message(role="user", content=content) for content in contents
    )
    return RetrieveRequest(**{"messages": messages, "trace": "full", **fields})


def said(content: str, name: str | None = None) -> Message:
    """What the character says."""
    return Message(role="assistant", content=content, name=name)


class Turn:
    """What the books give at one turn."""

    def __init__(
        self,
        books: Sequence[AttachedBook] | AttachedBook,
        request: RetrieveRequest | str,
        state: State = EMPTY,
        *,
        characters: int = 8000,
        tokenizer: Tokenizer = LETTERS,
    ) -> None:
        self.books = [books] if isinstance(books, AttachedBook) else list(books)
        self.request = asked(request) if isinstance(request, str) else request
        self.lorebooks = Lorebooks(self.books, self.request, tokenizer, characters=characters, state=state)
        self.state = self.lorebooks.state
        self.answer = self.lorebooks.answer(inline=False, texts=False)

    @property
    def titles(self) -> list[str]:
        """Of the activated entries, in prompt order."""
        return [trace.title for trace in self.answer.entries]

    @property
    def traces(self) -> dict[str, EntryTrace]:
        """Of every entry, by title."""
        rest = [trace for book in self.books for trace in self.lorebooks.rest(book)]
        return {trace.title: trace for trace in (*self.answer.entries, *self.lorebooks.over_budget(), *rest)}

    def reason(self, title: str) -> Any:
        """Why the entry of this title is in or out."""
        return self.traces[title].reason


def whole_answer(books: Sequence[AttachedBook], request: RetrieveRequest, state: State = EMPTY) -> Retrieved:
    """The answer of a retrieval over these books."""
    prepared = prepare(books, request, LETTERS, Defaults(budget_tokens=2000, places=8), state)
    return retrieve(prepared)
