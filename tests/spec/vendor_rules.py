"""What each vendor demands of tool definitions, as a checker that says what is wrong.

Sources, read in November 2026; where a vendor's page and reports of refused requests disagree, the stricter counts:

- OpenAI: platform.openai.com/docs/guides/function-calling ("strict mode": every property required, optional ones with
  the type null beside their own, additionalProperties false) and .../guides/structured-outputs ("supported schemas":
  root an object and no anyOf, at most 5 levels and 5,000 properties, 120,000 characters of names and values).
  Function names: letters, digits, _ and -, at most 64 (API reference, chat completions, tools).
  posit-dev/chatlas#255 and Kilo-Org/kilocode#4426: `format`, missing `required` refused.
- Anthropic: platform.claude.com/docs/en/agents-and-tools/tool-use/strict-tool-use and .../build-with-claude/
  structured-outputs, "JSON Schema limitations" (additionalProperties false; no recursion, no numeric or length
  limits; at most 24 optional parameters and 20 strict tools a request). Tool names: [a-zA-Z0-9_-]{1,64} (define-tools).
  langchain-ai/langchain#39271, dearlordylord/huly-mcp#66: no oneOf, anyOf, allOf at the top level; property names
  [a-zA-Z0-9_.-]{1,64}; one bad tool refuses the whole request.
- Gemini: ai.google.dev/api/caching#Schema and #FunctionDeclaration ("a select subset of an OpenAPI 3.0 schema"; name:
  letters, digits, underscores, dots and dashes, at most 64, begun by a letter or underscore).
  pizza-bot-app/pizza-bot#62, brightwave-inc/tidebreak#1516, router-for-me/CLIProxyAPI#97: `additionalProperties`,
  `$schema`, a list of types, `default` and length limits refused by older models and proxies; an empty `required` too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
SIMPLE = {"string", "number", "integer", "boolean"}


@dataclass(frozen=True)
class Vendor:
    """How a vendor's list is taken apart, and what its schemas may hold."""

    functions: Callable[[list[Json]], list[Json]]
    schema: str
    keywords: frozenset[str]
    null_types: bool
    closed: bool
    all_required: bool
    strict: bool
    property_name: re.Pattern[str]
    function_name: re.Pattern[str]


def _openai(tools: list[Json]) -> list[Json]:
    assert all(tool.keys() == {"type", "function"} and tool["type"] == "function" for tool in tools)
    return [tool["function"] for tool in tools]


def _responses(tools: list[Json]) -> list[Json]:
    assert all(tool["type"] == "function" and "function" not in tool for tool in tools)
    return [{key: value for key, value in tool.items() if key != "type"} for tool in tools]


def _gemini(tools: list[Json]) -> list[Json]:
    [declarations] = tools
    assert declarations.keys() == {"function_declarations"}
    found: list[Json] = declarations["function_declarations"]
    return found


COMMON = frozenset({"type", "description", "properties", "required", "items", "enum"})
DASHED = re.compile(r"[A-Za-z0-9_-]{1,64}")
DOTTED = re.compile(r"[A-Za-z0-9_.-]{1,64}")
BEGUN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
VENDORS: Mapping[str, Vendor] = {
    "openai": Vendor(_openai, "parameters", COMMON | {"additionalProperties"}, True, True, True, True, DASHED, DASHED),
    "openai-responses": Vendor(
        _responses, "parameters", COMMON | {"additionalProperties"}, True, True, True, True, DASHED, DASHED
    ),
    "anthropic": Vendor(
        lambda tools: tools, "input_schema", COMMON | {"additionalProperties"}, False, True, False, True, DOTTED, DASHED
    ),
    "gemini": Vendor(_gemini, "parameters", COMMON | {"nullable"}, False, False, False, False, BEGUN, BEGUN),
}


def faults(vendor: Vendor, tools: list[Json]) -> list[str]:
    """Everything that this vendor would refuse."""
    found: list[str] = []
    functions = vendor.functions(tools)
    for function in functions:
        name = function.get("name", "")
        extra = {"strict"} if vendor.strict else set()
        if function.keys() != {"name", "description", vendor.schema, *extra}:
            found.append(f"{name}: keys {sorted(function)}")
            continue
        if not vendor.function_name.fullmatch(name):
            found.append(f"{name}: not a name")
        if not 0 < len(function["description"]) <= 1024:
            found.append(f"{name}: description of {len(function['description'])} characters")
        if vendor.strict and function["strict"] is not True:
            found.append(f"{name}: not strict")
        if function[vendor.schema].get("type") != "object":
            found.append(f"{name}: root is no object")
        found += [f"{name}{fault}" for fault in _schema(vendor, function[vendor.schema], "")]
    if len({function.get("name") for function in functions}) != len(functions):
        found.append("a name twice")
    optional = sum(
        len(function[vendor.schema].get("properties", {})) - len(function[vendor.schema].get("required", []))
        for function in functions
    )
    if optional > 24 or len(functions) > 20:
        found.append("too many optional parameters or tools")
    return found


def _schema(vendor: Vendor, schema: Json, where: str) -> Iterator[str]:
    for keyword in schema.keys() - vendor.keywords:
        yield f"{where}: {keyword}"
    kind = schema.get("type")
    if isinstance(kind, list):
        if not vendor.null_types or len(kind) != 2 or kind[1] != "null":
            yield f"{where}: type {kind}"
        kind = kind[0]
    if kind == "object":
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        if not properties:
            yield f"{where}: an object without properties"
        if vendor.closed and schema.get("additionalProperties") is not False:
            yield f"{where}: open"
        if vendor.all_required and set(required) != set(properties):
            yield f"{where}: optional {sorted(set(properties) - set(required))}"
        if "required" in schema and not required:
            yield f"{where}: empty required"
        if not set(required) <= set(properties):
            yield f"{where}: requires what it has not"
        for name, inner in properties.items():
            if not vendor.property_name.fullmatch(name):
                yield f"{where}.{name}: not a name"
            if not inner.get("description"):
                yield f"{where}.{name}: no description"
            yield from _schema(vendor, inner, f"{where}.{name}")
    elif kind == "array":
        if "items" not in schema:
            yield f"{where}: an array of anything"
        yield from _schema(vendor, schema.get("items", {}), f"{where}[]")
    elif kind not in SIMPLE:
        yield f"{where}: type {kind}"
