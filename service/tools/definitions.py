"""The tools, defined once, and the shape in which each vendor wants them.

The schemas are flat and use no keyword but type, description, items, properties, required and what marks an optional
parameter: each vendor refuses some other. Limits are said in the descriptions and checked at the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import MaxLen, MinLen
from pydantic import BeforeValidator

from service.lore.answer import ToolName
from service.lore.at_most import AtMost
from service.lore.strict import STRICT
from service.validation import adapter

Schema = dict[str, Any]
PREFIX = "lore_"
"""Of the names in a vendor's list, which is one flat namespace; over MCP the client adds the server's name instead."""
Word = Annotated[str, MaxLen(300)]
Cursor = Annotated[str, MaxLen(2000)]


def _listed(given: object) -> object:
    return (given,) if isinstance(given, str) else given


OneOrMore = BeforeValidator(_listed)
"""The schema says a list, but models often send the only item bare."""


@dataclass(frozen=True, kw_only=True)
class FetchArguments:
    """What `fetch` is called with."""

    __pydantic_config__ = STRICT

    names: Annotated[tuple[Word, ...], MinLen(1), AtMost(20), OneOrMore]
    """Handles such as bakiru-17, titles or aliases, in any language; at most 20."""


@dataclass(frozen=True, kw_only=True)
class SearchArguments:
    """What `search` is called with."""

    __pydantic_config__ = STRICT

    query: Annotated[str, MinLen(1), MaxLen(2000)]
    """What you want to know, in any language."""
    cursor: Cursor | None = None
    """Leave out or null at first; then the cursor of the last answer, with the same query."""


@dataclass(frozen=True, kw_only=True)
class ListArguments:
    """What `list` is called with."""

    __pydantic_config__ = STRICT

    book: Word | None = None
    """Id or name of one book; leave out or null for all."""
    cursor: Cursor | None = None
    """Leave out or null at first; then the cursor of the last answer."""


@dataclass(frozen=True, kw_only=True)
class WriteArguments:
    """What `write` is called with."""

    __pydantic_config__ = STRICT

    title: Annotated[str, MinLen(1), MaxLen(200)]
    """A short noun phrase: the name by which the entry will be known; at most 200 characters."""
    content: Annotated[str, MinLen(1), MaxLen(100_000)]
    """All that is true about it from now on, written so that it can be understood alone. An edit replaces the text."""
    aliases: Annotated[Annotated[tuple[Word, ...], AtMost(64)] | None, OneOrMore] = None
    """Other names of it, in any language; leave out or null for none."""
    gist: Annotated[str, MaxLen(300)] | None = None
    """One sentence that says what it is, for the index; leave out or null to have the first sentence."""
    handle: Word | None = None
    """Handle of the entry to change; leave out or null for a new one."""
    book: Word | None = None
    """Id or name of the book of a new entry; leave out or null when there is only one to write in."""


SEND: Mapping[str, str] = {
    "names": 'send a list of 1 to 20 names, for example ["Warden Oru"]',
    "query": "send what you want to know, in 1 to 2,000 characters",
    "cursor": "send the cursor of the last answer as it was, or leave it out for the first page",
    "title": "send a short noun phrase of 1 to 200 characters",
    "content": "send the text of the entry, 1 to 100,000 characters",
    "aliases": 'send a list of at most 64 names, for example ["Porta de Sal"], or leave it out',
    "gist": "send one sentence of at most 300 characters, or leave it out",
    "handle": "send a handle that you were given, such as bakiru-17, or leave it out for a new entry",
    "book": "send the id or the name of one book, or leave it out",
}
"""By the name of an argument, what a model is told that sent something else."""


@dataclass(frozen=True)
class Tool:
    """One tool in neutral terms."""

    name: ToolName
    title: str
    description: str
    """When to call, what comes back, how to page. `{fetch}` stands for the name of that tool."""
    arguments: type
    read_only: bool = True
    idempotent: bool = True


TOOLS = (
    Tool(
        "fetch",
        "Read lore",
        "Read entries of the world in full. Call it when the world index, a search or a list shows an entry that you "
        "need, or when you know its name. Ask for all that you need in one call. Returns each entry's text, shortened "
        "when together they are too long; for a name that nothing has, the nearest titles.",
        FetchArguments,
    ),
    Tool(
        "search",
        "Search lore",
        "Search the attached world for entries about something. Use it when the index does not show what you need. "
        "Returns one line per entry with a handle, nearest first; read the full text with {fetch}. For more results, "
        "call again with the cursor you were given.",
        SearchArguments,
    ),
    Tool(
        "list",
        "List lore",
        "List the entries of the attached world, book by book. Use it to see what exists; to find something, {search} "
        "is quicker. Returns one line per entry with a handle, 50 at a time; read the full text with {fetch}. For the "
        "next page, call again with the cursor you were given.",
        ListArguments,
    ),
    Tool(
        "write",
        "Write lore",
        "Write a lasting change of the world down: a new entry, or a new text for one that you have read with {fetch}. "
        "Call it when the story has made something true that must still hold in later conversations, not for what only "
        "happens now. Search first, so that nothing is written twice. Returns the handle of the entry. A few writes a "
        "turn are allowed, and each can be undone.",
        WriteArguments,
        read_only=False,
        idempotent=False,
    ),
)
READING: tuple[ToolName, ...] = ("fetch", "search", "list")
"""Those that change nothing."""
BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}

Optional = Literal["null type", "nullable", "left out"]


@dataclass(frozen=True)
class Flavor:
    """What a vendor wants different."""

    schema_key: str
    """Where in a definition the schema of the parameters stands."""
    optional: Optional
    """How a parameter that may be missing is marked: required with the type null beside its own, with a keyword of
    its own, or by not being required."""
    closed: bool
    """Whether to say that there are no other parameters."""
    strict: bool
    """Whether to ask that calls keep to the schema."""
    wrap: Callable[[list[Schema]], list[Schema]]
    """The definitions as the list that a request of this vendor takes."""


def _function(definitions: list[Schema]) -> list[Schema]:
    return [{"type": "function", "function": definition} for definition in definitions]


def _typed(definitions: list[Schema]) -> list[Schema]:
    return [{"type": "function", **definition} for definition in definitions]


def _plain(definitions: list[Schema]) -> list[Schema]:
    return definitions


def _declarations(definitions: list[Schema]) -> list[Schema]:
    return [{"function_declarations": definitions}]


FLAVORS: Mapping[str, Flavor] = {
    "openai": Flavor("parameters", "null type", closed=True, strict=True, wrap=_function),
    "openai-responses": Flavor("parameters", "null type", closed=True, strict=True, wrap=_typed),
    "anthropic": Flavor("input_schema", "left out", closed=True, strict=True, wrap=_plain),
    "gemini": Flavor("parameters", "nullable", closed=False, strict=False, wrap=_declarations),
}


def definitions(flavor: Flavor, names: Sequence[ToolName]) -> list[Schema]:
    """The tools of these names for a vendor; the same bytes every time, since tools stand first in prompt caches."""
    return flavor.wrap([_definition(tool, flavor) for tool in TOOLS if tool.name in names])


def _definition(tool: Tool, flavor: Flavor) -> Schema:
    definition: Schema = {"name": PREFIX + tool.name}
    if flavor.strict:
        definition["strict"] = True
    definition["description"] = described(tool, PREFIX)
    definition[flavor.schema_key] = parameters(tool, flavor.optional, closed=flavor.closed)
    return definition


def described(tool: Tool, prefix: str) -> str:
    """The description with the other tools called as the model knows them."""
    return tool.description.format(**{name: prefix + name for name in BY_NAME})


def parameters(tool: Tool, optional: Optional, *, closed: bool) -> Schema:
    """The schema of a tool's arguments."""
    described = adapter(tool.arguments).json_schema()
    needed = described.get("required", [])
    properties = {
        name: _property(found, None if name in needed else optional) for name, found in described["properties"].items()
    }
    required = list(properties) if optional == "null type" else needed
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False} if closed else schema


def _property(found: Schema, optional: Optional | None) -> Schema:
    branches = found.get("anyOf", [found])
    branch = next(each for each in branches if each["type"] != "null")
    kind = [branch["type"], "null"] if optional == "null type" else branch["type"]
    schema: Schema = {"type": kind, "description": found["description"]}
    if "items" in branch:
        schema["items"] = {"type": branch["items"]["type"]}
    if optional == "nullable":
        schema["nullable"] = True
    return schema
