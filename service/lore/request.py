"""What is asked of a retrieval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le, MaxLen, MinLen

from service.lore.app_ids import AppId
from service.lore.at_most import AtMost
from service.lore.limits import MAX_MESSAGES
from service.lore.parts import Parts
from service.lore.strict import OPEN, STRICT, Whole
from service.lore.trigger import Generation, Name, Source

Role = Literal["system", "developer", "user", "assistant", "tool"]
IndexMode = Literal["rest", "all", "none"]
Trace = Literal["used", "full"]
Token = Annotated[str, MaxLen(4000)]
Texts = Literal["prompt", "sections", "entries"]
Lorebooks = Literal["messages", "inline"]
Strategy = Literal["character_first", "global_first", "evenly"]


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of the conversation. Only user and assistant messages are read, only their content; those without
    text, such as calls of tools, count as if they were not there.

    An app posts its list as it is: fields that are not ours, such as `tool_calls`, are left aside.
    """

    __pydantic_config__ = OPEN

    role: Role
    content: Annotated[str, MaxLen(200_000), Parts()]
    """A text, or parts, of which those that are text are joined by line breaks; null: none. Spans count the characters
    of the joined text."""
    name: str | None = None
    """Who speaks; never matched."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """Who is who; for the macros `{{user}}`, `{{char}}` and `{{bot}}`. Null: that macro stays as written."""

    __pydantic_config__ = STRICT

    user: Name | None = None
    char: Name | None = None
    bot: Name | None = None
    """Null: as `char`."""


@dataclass(frozen=True, kw_only=True)
class SourceText:
    """A text beside the messages that keys are searched in."""

    __pydantic_config__ = STRICT

    source: Source | Literal["prompt"]
    """`prompt`: an injected prompt that every entry scans, such as an author's note; the others are searched for
    entries that ask for them."""
    text: Annotated[str, MaxLen(200_000)]


@dataclass(frozen=True, kw_only=True)
class SillyTavern:
    """What the program knows beside the messages, and its user's settings with the defaults it ships."""

    __pydantic_config__ = STRICT

    generation: Generation = "normal"
    max_context: Annotated[int, Ge(0), Le(10_000_000)] = 8192
    """Tokens of the model's context, of which the budget is a share."""
    character: Name | None = None
    """File name of the character without its extension, for filters; null: `names.char`."""
    character_tags: Annotated[tuple[Name, ...], AtMost(1000)] | None = None
    """Null: unknown, tags filter nothing."""
    texts: Annotated[tuple[SourceText, ...], AtMost(64)] = ()
    scan_depth: Annotated[int, Ge(0), Le(1000)] = 2
    budget_percent: Annotated[int, Ge(0), Le(100)] = 25
    budget_cap: Annotated[int, Ge(0), Le(10_000_000)] = 0
    """Most tokens; 0: no cap."""
    include_names: bool = True
    """Whether `name: ` stands before each message that has a name when keys are searched."""
    recursive: bool = True
    case_sensitive: bool = False
    whole_words: bool = True
    min_activations: Annotated[int, Ge(0), Le(1000)] = 0
    """Widen the scan until so many entries are active; 0: off."""
    min_activations_depth: Annotated[int, Ge(0), Le(1000)] = 0
    """How far at most; 0: to the beginning."""
    max_recursion_steps: Annotated[int, Ge(0), Le(1000)] = 0
    """Passes in all, 1 for no recursion; 0: no limit. Above 0 there are no minimum activations."""
    group_scoring: bool = False
    strategy: Strategy = "character_first"
    """Whether the books of the character come before the global ones, after them, or sorted together with them."""


@dataclass(frozen=True, kw_only=True)
class RetrieveRequest:
    """The recent conversation, what is attached to it, and how much the model may read.

    `messages` and one of `hosts`, `books`, `conversation` are required.
    """

    __pydantic_config__ = STRICT

    messages: Annotated[tuple[Message, ...], AtMost(MAX_MESSAGES)]
    """Oldest first; of a longer conversation the newest, and `messages_before`."""
    hosts: Annotated[tuple[str, ...], AtMost(32)] = ()
    """`kind:key` of each host, for example `character:ilse`."""
    books: Annotated[tuple[str, ...], AtMost(64)] = ()
    """Ids of books to read without a host."""
    messages_before: Annotated[int, Ge(0), Le(1_000_000)] = 0
    """How many user and assistant messages precede the first one posted."""
    conversation: AppId | None = None
    """The app's own id of the conversation; its attachments join last. It seeds chance, and lorebooks keep their state
    under it; null: no state is kept."""
    turn: Whole | None = None
    """The caller's count, kept when a reply is regenerated; default: `messages_before` and the number of user
    messages that say something, so it grows for an app that posts a window and says where it begins."""
    response_id: AppId | None = None
    """The app's own id of the reply about to be written; what the model writes into a living book hangs on it."""
    names: Names | None = None
    """For macros, also in what tools show with the scope; null: they stay as written."""
    channel: Name | None = None
    """Where the conversation takes place; null: nothing that is restricted to channels is in scope."""
    channel_parent: Name | None = None
    """The channel whose thread `channel` is."""
    greeting: Whole | None = None
    """Which greeting began the conversation, 0 for the first; null: unknown."""
    model: Annotated[str, MaxLen(200)] | None = None
    """Name of the language model that will read the prompt; it chooses the tokenizer."""
    tokenizer: Annotated[str, MaxLen(200)] | None = None
    """Name of a tokenizer; wins over `model`."""
    budget_tokens: Annotated[int, Ge(0), Le(200_000)] | None = None
    """Tokens that world books may use; at 0 nothing fits but the first canon entry; null: the service's setting."""
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
    exclude: Annotated[tuple[str, ...], AtMost(1000)] = ()
    """Handles that the model already has in its context: neither sent nor indexed."""
    lorebooks: Lorebooks = "messages"
    """`inline`: activated entries of lorebooks go into the volatile part instead of `lorebook.messages`."""
    sillytavern: SillyTavern | None = None
    """What only lorebooks of that dialect ask; null: the defaults."""


def is_spoken(message: Message) -> bool:
    """Whether someone who is read says something: a call of a tool and its result are messages without text."""
    return message.role in ("user", "assistant") and bool(message.content.strip())


def turn_of(request: RetrieveRequest) -> int:
    """The turn that the request says, else the messages before it and the number of user messages that say something.

    Both grow from turn to turn, also while the window that is posted stays as long as it is.
    """
    if request.turn is not None:
        return request.turn
    return request.messages_before + sum(message.role == "user" and is_spoken(message) for message in request.messages)


@dataclass(frozen=True, kw_only=True)
class FetchRequest:
    """Entries by handle, title or alias, from what a scope, or hosts and books, make visible."""

    __pydantic_config__ = STRICT

    names: Annotated[tuple[Annotated[str, MaxLen(300)], ...], MinLen(1), AtMost(20)]
    """Handles, titles or aliases, in any case, width or normal form."""
    scope: Token | None = None
    """`scope.token` of a retrieval, instead of hosts, books and conversation."""
    hosts: Annotated[tuple[str, ...], AtMost(32)] = ()
    books: Annotated[tuple[str, ...], AtMost(64)] = ()
    conversation: AppId | None = None
    max_tokens: Whole | None = None
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
    hosts: Annotated[tuple[str, ...], AtMost(32)] = ()
    books: Annotated[tuple[str, ...], AtMost(64)] = ()
    conversation: AppId | None = None
    limit: Annotated[int, Ge(1), Le(50)] = 10
    cursor: str | None = None
    """`next_cursor` of the page before."""
