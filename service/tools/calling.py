"""One call of a tool: what the vendor gave goes in as it is, a text for the model comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, TypeVar

from annotated_types import MaxLen

from service.actions import listing, model_writing, retrieving
from service.actions.drafting import Draft
from service.actions.model_writing import Origin, Written
from service.actions.presenting import default_tokenizer
from service.actions.runtime import Runtime
from service.actions.scoping import scope_of
from service.lore.errors import (
    Conflict,
    FieldError,
    Invalid,
    NameTaken,
    NotFound,
    TooLarge,
    Unauthenticated,
    UnreadableFile,
)
from service.lore.lookups import FetchAnswer, ListAnswer, SearchAnswer
from service.lore.request import FetchRequest, SearchRequest, Token
from service.lore.scope import Scope
from service.lore.strict import STRICT
from service.tools import telling
from service.tools.definitions import (
    BY_NAME,
    PREFIX,
    SEND,
    FetchArguments,
    ListArguments,
    SearchArguments,
    WriteArguments,
)
from service.validation import parse_json, validate

FAULTS_OF_A_MODEL = (Invalid, NotFound, UnreadableFile, TooLarge, NameTaken, Conflict)
"""What a model can do better next time; anything else is the app's or the service's to mend."""
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """What a model asked for, as its vendor's API gave it."""

    __pydantic_config__ = STRICT

    name: Annotated[str, MaxLen(200)]
    """`lore_fetch`, or `fetch`, and so on."""
    arguments: Mapping[str, Any] | Annotated[str, MaxLen(500_000)] | None = None
    """An object, or the JSON text of one, as OpenAI sends it."""
    scope: Token | None = None
    """`scope.token` of the retrieval; may be the bearer instead."""
    call_id: Annotated[str, MaxLen(200)] | None = None
    """The vendor's id of the call: a write repeated with it, in the same reply, is done once. "" is as null: a vendor
    gave none."""


@dataclass(frozen=True, kw_only=True)
class FetchResult(FetchAnswer):
    """What `fetch` found."""

    kind: Literal["fetch"] = "fetch"


@dataclass(frozen=True, kw_only=True)
class SearchResult(SearchAnswer):
    """What `search` found."""

    kind: Literal["search"] = "search"


@dataclass(frozen=True, kw_only=True)
class ListResult(ListAnswer):
    """What there is."""

    kind: Literal["list"] = "list"


@dataclass(frozen=True, kw_only=True)
class WriteResult(Written):
    """What was written."""

    kind: Literal["write"] = "write"


Result = FetchResult | SearchResult | ListResult | WriteResult
RESULTS: Mapping[str, type] = {"fetch": FetchResult, "search": SearchResult, "list": ListResult, "write": WriteResult}
"""By the name of the tool."""


@dataclass(frozen=True, kw_only=True)
class CallAnswer:
    """What to give back to the model."""

    __pydantic_config__ = STRICT

    text: str
    """Goes into the tool result as it is."""
    is_error: bool
    """The model did something wrong; the text says what."""
    tokens: int
    """Of the text, by the service's tokenizer."""
    result: Result | None
    """The same as data; null with an error."""


@dataclass(frozen=True)
class Caller:
    """Who calls, and how it knows the tools."""

    rt: Runtime
    scope: Scope
    prefix: str
    call_id: str | None


def scope_of_call(rt: Runtime, asked: ToolCall) -> Scope:
    """What the call may reach. Raises `Unauthenticated` and `ScopeExpired`: the app's faults and not the model's."""
    if asked.scope is None:
        raise Unauthenticated("a tool call needs the scope of a retrieval")
    return scope_of(rt, asked.scope)


def run(
    rt: Runtime, scope: Scope, name: str, arguments: Mapping[str, Any] | str | None, call_id: str | None
) -> CallAnswer:
    """Run a call in this scope; what the model did wrong comes back as a sentence it can act on."""
    prefix = PREFIX if name.startswith(PREFIX) else ""
    caller = Caller(rt, scope, prefix, call_id or None)
    try:
        text, result = _tool(name.removeprefix(prefix), prefix)(caller, _object(arguments))
    except FAULTS_OF_A_MODEL as error:
        text, result = telling.refused(error), None
    tokens = default_tokenizer(rt).count(text)
    return CallAnswer(text=text, is_error=result is None, tokens=tokens, result=result)


Told = tuple[str, Result | None]


def _fetch(caller: Caller, given: object) -> Told:
    names = _arguments(FetchArguments, given).names
    books = retrieving.reach_of(caller.rt, caller.scope)
    answer = retrieving.fetch_from(caller.rt, books, FetchRequest(names=names))
    mark = telling.mark_for(books, [*names, *(each.content for each in answer.entries)])
    text = telling.fetched(answer, mark, caller.rt.settings.max_fetch_tokens)
    if not answer.entries:
        return text + telling.nothing_fetched(answer, f"{caller.prefix}search"), None
    return text, _as(FetchResult, answer)


def _search(caller: Caller, given: object) -> Told:
    asked = _arguments(SearchArguments, given)
    books = retrieving.reach_of(caller.rt, caller.scope)
    answer = retrieving.search_in(caller.rt, books, SearchRequest(query=asked.query, cursor=asked.cursor))
    mark = telling.mark_for(books, [item.gist for item in answer.items])
    return telling.found(answer, mark, f"{caller.prefix}search"), _as(SearchResult, answer)


def _list(caller: Caller, given: object) -> Told:
    asked = _arguments(ListArguments, given)
    books = retrieving.reach_of(caller.rt, caller.scope)
    answer = listing.list_entries(caller.rt, books, asked.book, asked.cursor)
    mark = telling.mark_for(books, [item.gist for item in answer.items])
    return telling.listed(answer, mark, f"{caller.prefix}list"), _as(ListResult, answer)


def _write(caller: Caller, given: object) -> Told:
    asked = _arguments(WriteArguments, given)
    scope = caller.scope
    if scope.conversation is None or scope.turn is None or scope.response_id is None:
        raise Conflict("nothing can be written in this conversation", remedy="The world can only be read.")
    origin = Origin(
        conversation=scope.conversation, turn=scope.turn, response_id=scope.response_id, call_id=caller.call_id
    )
    draft = Draft(
        title=asked.title,
        content=asked.content,
        aliases=asked.aliases or (),
        gist=asked.gist,
        handle=asked.handle,
        book=asked.book,
    )
    books = [book.open.text.book.id for book in retrieving.reach_of(caller.rt, scope)]
    written = model_writing.write(caller.rt, origin, books, draft)
    return telling.written(written), _as(WriteResult, written)


_RUN: Mapping[str, Callable[[Caller, object], Told]] = {
    "fetch": _fetch,
    "search": _search,
    "list": _list,
    "write": _write,
}


def _tool(name: str, prefix: str) -> Callable[[Caller, object], Told]:
    if name not in _RUN:
        known = ", ".join(prefix + each for each in BY_NAME)
        raise Invalid([FieldError(pointer="#/name", detail="there is no such tool", remedy=f"one of {known}")])
    return _RUN[name]


def _object(arguments: Mapping[str, Any] | str | None) -> object:
    if not isinstance(arguments, str):
        return arguments or {}
    value = parse_json(arguments.encode()) if arguments.strip() else {}
    if not isinstance(value, dict):
        raise Invalid([FieldError(pointer="#", detail="are no JSON object", remedy='send {"name": value}')])
    return value


def _arguments(kind: type[T], given: object) -> T:
    """Raises `Invalid`, without the validator's remedies where there are words for models."""
    try:
        return validate(kind, given)
    except Invalid as invalid:
        faults = (replace(each, remedy="") if telling.argument(each) in SEND else each for each in invalid.errors)
        raise Invalid(tuple(faults)) from None


def _as(kind: type[T], answer: Any) -> T:
    return kind(**{item.name: getattr(answer, item.name) for item in fields(answer)})
