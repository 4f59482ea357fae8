"""Bytes of an uploaded file to a JSON value that has lost nothing."""

from __future__ import annotations

import json
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from dataclasses import dataclass, replace
from typing import Any

from service.lore.errors import FieldError, Invalid, TooLarge, UnreadableFile
from service.validation import MAX_FILE_DEPTH, check_storable, parse_json

MAX_CONTAINERS = 1_000_000
"""Lists and objects of a file: each takes fifty times its two bytes in memory, and no lorebook has so many."""
_HIDDEN = "nested too deep under a repeated key"
UTF8 = "Save it as UTF-8 and send it again."


class Repeating(dict[str, Any]):
    """A JSON object in which a key stands twice: as a dict the last wins, `pairs` has them all."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


@dataclass(frozen=True)
class Decoded:
    """The value of a file, and those of its objects that repeat a key."""

    value: Any
    repeating: tuple[Repeating, ...]


def decode(data: bytes) -> Decoded:
    """The JSON value of a file in UTF-8, or in UTF-16 with a byte-order mark.

    Raises what `parse_json` raises, `UnreadableFile` (fault `encoding`) for other bytes, and `TooLarge` for more lists
    and objects than any lorebook has.
    """
    text = _text(data)
    if len(text) > MAX_CONTAINERS and (containers := text.count(b"[") + text.count(b"{")) > MAX_CONTAINERS:
        raise TooLarge(
            f"the file has {containers:,} lists and objects, and {MAX_CONTAINERS:,} is the limit",
            limit=MAX_CONTAINERS,
            actual=containers,
            remedy="Split the book.",
        )
    # Names every fault; the standard library then reads again, since it tells of repeated keys.
    parse_json(text, MAX_FILE_DEPTH)
    repeating: list[Repeating] = []

    def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        repeating.append(Repeating(pairs))
        return repeating[-1]

    try:
        value = json.loads(text.removeprefix(BOM_UTF8).decode(), object_pairs_hook=as_object)
    except RecursionError:
        raise Invalid([FieldError(pointer="#", detail=_HIDDEN, remedy="flatten it")]) from None
    for each in repeating:  # `parse_json` saw but the last value of each key
        _check_hidden(each)
    return Decoded(value, tuple(repeating))


def _check_hidden(repeating: Repeating) -> None:
    try:
        check_storable([list(pair) for pair in repeating.pairs])
    except Invalid as error:
        faults = [replace(fault, pointer="#", detail=f"under a repeated key: {fault.detail}") for fault in error.errors]
        raise Invalid(faults) from None


def _text(data: bytes) -> bytes:
    """The file in UTF-8."""
    if data.startswith((BOM_UTF32_LE, BOM_UTF32_BE)):
        raise UnreadableFile("the file is UTF-32", fault="encoding", remedy=UTF8)
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        try:
            return data.decode("utf-16").encode()
        except UnicodeDecodeError as error:
            raise UnreadableFile(f"byte {error.start} is not UTF-16", fault="encoding", remedy=UTF8) from None
    if b"\0" in data[:4]:
        raise UnreadableFile("UTF-16 or UTF-32 without a byte-order mark", fault="encoding", remedy=UTF8)
    return data
