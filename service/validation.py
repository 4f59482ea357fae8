"""The one way in: bytes to JSON, JSON to domain values, with every fault named.

The plain constructors of the domain values do not validate, so bodies, files, database rows and tool calls all pass
through here.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from threading import Lock
from typing import Any, TypeVar, get_args, get_type_hints

import orjson
from pydantic import TypeAdapter, ValidationError

from service.lore.errors import FieldError, Invalid, UnreadableFile
from service.lore.strict import MAX_INTEGER

T = TypeVar("T")
MAX_DEPTH = 200
MAX_FILE_DEPTH = MAX_DEPTH + 20
"""Of files: what came in at the most is in more objects in a backup and in an export, and has to come in again."""
MAX_FLOAT = 1e300
MAX_FAULTS = 100
MISSING = "required field is missing"
_BUILDING = Lock()
"""Two threads that build validators at once crash the compiler of Python 3.11."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_SUSPECT = re.compile(rb"\\u0000|[0-9]{16}|[eE]\+?0*[1-9][0-9]{2}")
"""How a NUL is written, a number beyond 2^53, a number beyond 1e300; surrogates that are alone and NaN are no JSON to
`orjson`."""
_HUGE = re.compile(rb"[0-9]{20}")
"""What may be an integer beyond 2^64, of which `orjson` makes a float."""


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def adapter(kind: Any) -> TypeAdapter[Any]:
    """The validator of a domain type, built once."""
    with _BUILDING:
        return _adapter(kind)


def validate(kind: type[T], value: object) -> T:
    """`value` as a `kind`, or `Invalid` with every wrong field."""
    try:
        result: T = adapter(kind).validate_python(value)
    except ValidationError as error:
        raise Invalid(field_errors(error.errors(include_url=False), kind)) from None
    return result


def dump(value: object) -> Any:
    """A domain value as plain JSON values."""
    return adapter(type(value)).dump_python(value, mode="json")


def parse_json(data: bytes, deepest: int = MAX_DEPTH) -> Any:
    """JSON as strictly as a service needs it.

    Accepts UTF-8 with or without a byte-order mark. Raises `UnreadableFile` (fault `not_json` or `encoding`) when it is
    no JSON, `Invalid` when it is JSON that no store can keep: NaN, numbers beyond 2^53-1, lone surrogates, NUL,
    nesting deeper than `deepest`.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _why_unreadable(data, str(error), deepest) from None
    if data.count(b"{") + data.count(b"[") > deepest or _SUSPECT.search(data):
        check_storable(value, deepest)
        if _HUGE.search(data):
            check_storable(json.loads(data), deepest)
    return value


def check_storable(value: object, deepest: int = MAX_DEPTH) -> None:
    """Raises `Invalid` when a JSON value holds what no store can keep."""
    faults = _faults(value, deepest)
    if faults:
        raise Invalid(faults)


def _why_unreadable(data: bytes, detail: str, deepest: int) -> UnreadableFile | Invalid:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return UnreadableFile(
            f"byte {error.start} is not UTF-8", fault="encoding", remedy="Save it as UTF-8 and send it again."
        )
    try:
        value = json.loads(text)
    except RecursionError:
        return Invalid([FieldError(pointer="#", detail=f"nested deeper than {deepest}", remedy="flatten it")])
    except json.JSONDecodeError as error:
        return UnreadableFile(
            f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}",
            fault="not_json",
            remedy="Send one JSON value.",
        )
    except ValueError:
        return Invalid([FieldError(pointer="#", detail="a number of thousands of digits", remedy="shorten it")])
    faults = _faults(value, deepest) or [FieldError(pointer="#", detail=detail)]
    return Invalid(faults)


def _faults(value: object, deepest: int) -> list[FieldError]:
    """What a JSON value holds that cannot be stored or answered, the first hundred of it.

    Iterative, so that depth cannot exhaust the stack; a pointer is only spelled out where something is wrong.
    """
    found: list[FieldError] = []
    level: list[tuple[_Path | None, object]] = [(None, [value])]
    for depth in range(deepest + 2):
        deeper: list[tuple[_Path | None, object]] = []
        for path, container in level:
            pairs = container.items() if isinstance(container, dict) else enumerate(container)  # type: ignore[arg-type]  # dict or list
            for key, child in pairs:
                if isinstance(child, (dict, list)):
                    deeper.append(((path, key) if depth else None, child))
                elif wrong := _wrong(child):
                    found.append(FieldError(pointer=_pointer((path, key) if depth else None), **wrong))
                if isinstance(key, str) and (wrong := _wrong(key)):
                    found.append(FieldError(pointer=_pointer(path), **wrong))
                if len(found) >= MAX_FAULTS:
                    return found
        if not deeper:
            return found
        level = deeper
    path = level[0][0]
    return [FieldError(pointer=_pointer(path), detail=f"nested deeper than {deepest}", remedy="flatten it"), *found]


_Path = tuple["_Path | None", object]
"""Where a value stands: the container's own path, and the key in it."""


def _wrong(value: object) -> dict[str, str]:
    """Detail and remedy of a value that no store can keep."""
    if isinstance(value, str):
        if "\0" in value:
            return {"detail": "holds a NUL character", "remedy": "remove U+0000"}
        if not value.isascii() and (lone := _SURROGATE.search(value)):
            return {
                "detail": f"lone surrogate at character {lone.start()}",
                "remedy": "send well-formed Unicode text",
            }
    elif isinstance(value, float):
        if not math.isfinite(value) or abs(value) > MAX_FLOAT:
            return {"detail": "not a finite number", "remedy": "send a finite number or null"}
    elif isinstance(value, int) and abs(value) > MAX_INTEGER:
        return {"detail": "integer beyond 2^53-1", "remedy": "send a smaller number"}
    return {}


def _pointer(path: _Path | None) -> str:
    parts: list[str] = []
    while path is not None:
        path, key = path
        parts.append(_escaped(key))
    return "/".join(["#", *reversed(parts)])


def _escaped(part: object) -> str:
    return str(part).replace("~", "~0").replace("/", "~1").encode("utf-8", "replace").decode()


def field_errors(errors: Sequence[Any], kind: Any = None) -> list[FieldError]:
    """The first hundred errors of pydantic as pointers, plain words and remedies; with a guess for a misspelt field."""
    return [
        FieldError(
            pointer="#" + "".join(f"/{_escaped(part)}" for part in error["loc"]),
            detail=_detail(error),
            remedy=_remedy(error, kind),
        )
        for error in errors[:MAX_FAULTS]
    ]


def _detail(error: Mapping[str, Any]) -> str:
    given = error.get("input")
    shown = f"{given!r} is wrong: " if isinstance(given, (str, int, float, bool)) and len(str(given)) <= 80 else ""
    match error["type"]:
        case "unexpected_keyword_argument" | "extra_forbidden":
            return "unknown field"
        case "missing" | "missing_argument" | "missing_keyword_only_argument":
            return MISSING
        case "value_error":
            return str(error["ctx"]["error"])
        case "string_pattern_mismatch":  # AppId has the only pattern
            return shown + "holds a line break or another control character"
        case "literal_error" | "enum" if shown:
            return shown.removesuffix(": ")  # the remedy lists what is right
        case "dataclass_type" | "dict_type" | "mapping_type":
            return "expected a JSON object"
        case _:
            return shown + str(error["msg"])


_REMEDIES: Mapping[str, str] = {
    "missing": "add it",
    "missing_argument": "add it",
    "missing_keyword_only_argument": "add it",
    "greater_than_equal": "send at least {ge}",
    "less_than_equal": "send at most {le}",
    "string_too_short": "send {min_length} or more characters",
    "string_too_long": "shorten it to {max_length} characters",
    "string_pattern_mismatch": "send it without control characters",
    "too_short": "send {min_length} or more",
    "too_long": "send at most {max_length}",
    "string_type": "send a string",
    "bool_type": "send true or false",
    "bool_parsing": "send true or false",
    "int_type": "send a whole number",
    "int_parsing": "send a whole number",
    "int_parsing_size": "send a smaller number",
    "int_from_float": "send a whole number",
    "float_type": "send a number",
    "float_parsing": "send a number",
    "list_type": "send a list",
    "tuple_type": "send a list",
    "dict_type": "send an object",
    "mapping_type": "send an object",
    "dataclass_type": "send an object",
}
"""Of pydantic's types of error."""


def _remedy(error: Mapping[str, Any], kind: Any) -> str:
    if error["type"] == "too_long" and tuple(error["loc"]) == ("messages",):
        most = error["ctx"]["max_length"]
        return f"post the newest {most} and say with messages_before how many precede them"
    if error["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
        known = sorted(_names(kind, error["loc"][:-1]))
        close = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        return f"did you mean {close[0]}?" if close else "remove it" + (f"; known: {', '.join(known)}" if known else "")
    context = error.get("ctx") or {}
    if "expected" in context:
        return f"one of {context['expected']}"
    return _REMEDIES.get(error["type"], "").format_map(context)


def _names(kind: Any, path: Sequence[object]) -> set[str]:
    """Field names of the dataclasses reached from `kind` along `path`, through lists and unions."""
    kinds = _dataclasses(kind)
    for part in path:
        if isinstance(part, str):
            kinds = [
                found
                for each in kinds
                for item in fields(each)
                if item.name == part
                for found in _dataclasses(_annotations(each).get(part))
            ] or kinds
    return {item.name for each in kinds for item in fields(each)}


@cache
def _annotations(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _dataclasses(kind: Any) -> list[type]:
    if isinstance(kind, type) and is_dataclass(kind):
        return [kind]
    return [found for argument in get_args(kind) for found in _dataclasses(argument)]
