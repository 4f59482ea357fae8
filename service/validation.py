"""The one way in: bytes to JSON, JSON to domain values, with every fault named.

The plain constructors of the domain values do not validate, so bodies, files, database rows and tool calls all pass
through here.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

import orjson
from pydantic import TypeAdapter, ValidationError

from service.lore.errors import FieldError, Invalid, UnreadableFile

T = TypeVar("T")
MAX_DEPTH = 200
MAX_INTEGER = 2**53 - 1


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def adapter(kind: Any) -> TypeAdapter[Any]:
    """The validator of a domain type, built once."""
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


def parse_json(data: bytes) -> Any:
    """JSON as strictly as a service needs it.

    Accepts UTF-8 with or without a byte-order mark. Raises `UnreadableFile` (fault `not_json` or `encoding`) when it is
    no JSON, `Invalid` when it is JSON that no store can keep: NaN, numbers beyond 2^53-1, lone surrogates, NUL,
    nesting deeper than 200.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _why_unreadable(data, str(error)) from None
    faults = list(_faults(value))
    if faults:
        raise Invalid(faults)
    return value


def _why_unreadable(data: bytes, detail: str) -> UnreadableFile | Invalid:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return UnreadableFile(
            f"byte {error.start} is not UTF-8", fault="encoding", remedy="Save it as UTF-8 and send it again."
        )
    try:
        value = json.loads(text)
    except RecursionError:
        return Invalid([FieldError(pointer="#", detail=f"nested deeper than {MAX_DEPTH}", remedy="flatten it")])
    except json.JSONDecodeError as error:
        return UnreadableFile(
            f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}",
            fault="not_json",
            remedy="Send one JSON value.",
        )
    except ValueError:
        return Invalid([FieldError(pointer="#", detail="a number of thousands of digits", remedy="shorten it")])
    faults = list(_faults(value)) or [FieldError(pointer="#", detail=detail)]
    return Invalid(faults)


def _faults(value: object) -> Iterable[FieldError]:
    """What a JSON value holds that cannot be stored or answered; iterative, so that depth cannot exhaust the stack."""
    waiting: list[tuple[str, int, object]] = [("#", 0, value)]
    while waiting:
        pointer, depth, item = waiting.pop()
        if isinstance(item, str):
            yield from _string_faults(pointer, item)
        elif isinstance(item, bool) or item is None:
            continue
        elif isinstance(item, int) and abs(item) > MAX_INTEGER:
            yield FieldError(pointer=pointer, detail="integer beyond 2^53-1", remedy="send a smaller number")
        elif isinstance(item, float) and (item != item or abs(item) > 1e300):
            yield FieldError(pointer=pointer, detail="not a finite number", remedy="send a finite number or null")
        elif isinstance(item, (dict, list)):
            if depth >= MAX_DEPTH:
                yield FieldError(pointer=pointer, detail=f"nested deeper than {MAX_DEPTH}", remedy="flatten it")
                return
            pairs = item.items() if isinstance(item, dict) else enumerate(item)
            for key, child in pairs:
                if isinstance(key, str):
                    yield from _string_faults(pointer, key)
                if child is not None and not isinstance(child, bool):
                    waiting.append((f"{pointer}/{_escaped(key)}", depth + 1, child))


def _string_faults(pointer: str, text: str) -> Iterable[FieldError]:
    if "\0" in text:
        yield FieldError(pointer=pointer, detail="holds a NUL character", remedy="remove U+0000")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            yield FieldError(
                pointer=pointer,
                detail=f"lone surrogate at character {error.start}",
                remedy="send well-formed Unicode text",
            )


def _escaped(part: object) -> str:
    return str(part).replace("~", "~0").replace("/", "~1").encode("utf-8", "replace").decode()


def field_errors(errors: Sequence[Any], kind: Any = None) -> list[FieldError]:
    """Errors of pydantic as pointers, plain words and remedies; with a guess for a misspelt field."""
    return [
        FieldError(
            pointer="#" + "".join(f"/{_escaped(part)}" for part in error["loc"]),
            detail=_detail(error),
            remedy=_remedy(error, kind),
        )
        for error in errors
    ]


def _detail(error: Mapping[str, Any]) -> str:
    given = error.get("input")
    shown = f"{given!r} is wrong: " if isinstance(given, (str, int, float, bool)) and len(str(given)) <= 80 else ""
    match error["type"]:
        case "unexpected_keyword_argument" | "extra_forbidden":
            return "unknown field"
        case "missing" | "missing_argument" | "missing_keyword_only_argument":
            return "required field is missing"
        case _:
            return shown + str(error["msg"])


def _remedy(error: Mapping[str, Any], kind: Any) -> str:
    if error["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
        known = sorted(_names(kind, error["loc"][:-1]))
        close = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        return f"did you mean {close[0]}?" if close else "remove it" + (f"; known: {', '.join(known)}" if known else "")
    context = error.get("ctx") or {}
    return f"one of {context['expected']}" if "expected" in context else ""


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
