"""Tools for models: their definitions, and one route that runs a call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import Body, Query
from starlette.responses import Response

from service.api.answers import as_json
from service.api.deps import BearerScope, JsonOnce, Rt, with_scope
from service.api.documenting import answering, routes_of
from service.api.examples import tools as examples
from service.lore.strict import STRICT
from service.tools import calling, definitions
from service.tools.calling import CallAnswer, ToolCall

router = routes_of("Tools")

FlavorName = Literal["openai", "openai-responses", "anthropic", "gemini"]


@dataclass(frozen=True, kw_only=True)
class Tools:
    """The list that a request to the vendor takes."""

    __pydantic_config__ = STRICT

    tools: tuple[dict[str, Any], ...]


@router.get("/v1/tools", responses=answering(200, examples.TOOLS, "invalid-request"))
def list_tools(
    flavor: Annotated[FlavorName, Query(description="Whose API reads the definitions.")] = "openai",
    write: Annotated[bool, Query(description="With `lore_write`: when `scope.tools` has `write`.")] = False,
) -> Tools:
    """The definitions to give to the model: the same at every call, so ask once and keep them."""
    names = definitions.READING if not write else (*definitions.READING, "write")
    return Tools(tools=tuple(definitions.definitions(definitions.FLAVORS[flavor], names)))


@router.post(
    "/v1/tools/call",
    response_model=CallAnswer,
    responses=answering(
        200,
        examples.CALLED,
        "malformed-body",
        "unauthenticated",
        "scope-expired",
        "in-progress",
        "too-large",
        "unsupported-media-type",
        "invalid-request",
        "idempotency-mismatch",
    ),
)
def call_tool(
    runtime: Rt, bearer: BearerScope, asked: Annotated[ToolCall, Body(examples=[examples.CALL])], once: JsonOnce
) -> Response:
    """Run what the model asked for and answer the text to give back to it.

    Pass `arguments` on as the vendor gave them. What the model did wrong is an answer with `is_error`, whose text tells
    it what to do; a scope that is missing or no longer good is a problem.
    """
    call = with_scope(asked, bearer)
    scope = calling.scope_of_call(runtime, call)  # also for an answer that is only repeated
    same = replace(once, content=once.content + (call.scope or "").encode())
    return same(lambda: as_json(calling.run(runtime, scope, call.name, call.arguments, call.call_id)))
