"""What is asked of a retrieval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le, MaxLen, MinLen

from service.lore.book import STRICT

Role = Literal["system", "developer", "user", "assistant", "tool"]
IndexMode = Literal["rest", "all", "none"]
Trace = Literal["used", "full"]
Token = Annotated[str, MaxLen(4000)]
Texts = Literal["prompt", "sections", "entries"]


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of the conversation. Only user and assistant messages are read, only their content."""

    __pydantic_config__ = STRICT

    role: Role
    content: Annotated[str, MaxLen(200_000)]
    name: str | None = None
    """Who speaks; never matched."""


@dataclass(frozen=True, kw_only=True)
class RetrieveRequest:
    """The recent conversation, what is attached to it, and how much the model may read.

    `messages` and one of `hosts`, `books`, `conversation` are required.
    """

    __pydantic_config__ = STRICT

    messages: Annotated[tuple[Message, ...], MaxLen(200)]
    """Oldest first."""
    hosts: Annotated[tuple[str, ...], MaxLen(32)] = ()
    """`kind:key` of each host, for example `character:ilse`."""
    books: Annotated[tuple[str, ...], MaxLen(64)] = ()
    """Ids of books to read without a host."""
    conversation: Annotated[str, MaxLen(200)] | None = None
    """The app's own id of the conversation; its attachments join last."""
    turn: Annotated[int, Ge(0)] | None = None
    """The caller's count, kept when a reply is regenerated; default: the number of user messages."""
    response_id: Annotated[str, MaxLen(200)] | None = None
    """The app's own id of the reply about to be written; what the model writes into a living book hangs on it."""
    model: Annotated[str, MaxLen(200)] | None = None
    """Name of the language model that will read the prompt; it chooses the tokenizer."""
    tokenizer: Annotated[str, MaxLen(200)] | None = None
    """Name of a tokenizer; wins over `model`."""
    budget_tokens: Annotated[int, Ge(0), Le(200_000)] | None = None
    """Tokens that world books may use; 0 means that nothing fits; null: the service's setting."""
    canon_tokens: Annotated[int, Ge(0), Le(200_000)] | None = None
    """Tokens of the budget that canon may use; null: half of it."""
    tools: bool = True
    """Whether the model can call tools: without them the index gives no hint how to fetch."""
    index: IndexMode = "rest"
    """`rest`: one line per entry that is not in full; `all`: one per relevant entry, in the stable part; `none`."""
    trace: Trace | None = None
    """`used`: reasons of the entries in the prompt; `full`: of every entry. Null: `used`, in a preview `full`."""
    texts: Texts | None = None
    """How finely text is repeated in the answer. Null: `prompt`, in a preview `sections`."""
    places: Annotated[int, Ge(0), Le(100)] | None = None
    """How many entries may come by meaning; null: the books' settings."""
    floor: Annotated[float, Ge(-1.0), Le(2.0)] | None = None
    """Score below which nothing is claimed by meaning; null: the books' settings, else the model's."""
    exclude: Annotated[tuple[str, ...], MaxLen(1000)] = ()
    """Handles that the model already has in its context: neither sent nor indexed."""


@dataclass(frozen=True, kw_only=True)
class FetchRequest:
    """Entries by handle, title or alias, from what a scope, or hosts and books, make visible."""

    __pydantic_config__ = STRICT

    names: Annotated[tuple[Annotated[str, MaxLen(300)], ...], MinLen(1), MaxLen(20)]
    """Handles, titles or aliases, in any case, width or normal form."""
    scope: Token | None = None
    """`scope.token` of a retrieval, instead of hosts, books and conversation."""
    hosts: Annotated[tuple[str, ...], MaxLen(32)] = ()
    books: Annotated[tuple[str, ...], MaxLen(64)] = ()
    conversation: Annotated[str, MaxLen(200)] | None = None
    max_tokens: Annotated[int, Ge(0)] | None = None
    """Tokens of all bodies together; null: the service's setting, which is also the most."""
    model: Annotated[str, MaxLen(200)] | None = None
    tokenizer: Annotated[str, MaxLen(200)] | None = None


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """One question to the attached books."""

    __pydantic_config__ = STRICT

    query: Annotated[str, MinLen(1), MaxLen(2000)]
    scope: Token | None = None
    """`scope.token` of a retrieval, instead of hosts, books and conversation."""
    hosts: Annotated[tuple[str, ...], MaxLen(32)] = ()
    books: Annotated[tuple[str, ...], MaxLen(64)] = ()
    conversation: Annotated[str, MaxLen(200)] | None = None
    limit: Annotated[int, Ge(1), Le(50)] = 10
    cursor: str | None = None
    """`next_cursor` of the page before."""
