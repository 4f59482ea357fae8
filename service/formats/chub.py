"""World info from Chub's hub: SillyTavern's file with every entry said twice, in the names of a character book as well.

Where the two differ SillyTavern's names win, as they do there. The book is kept as one of SillyTavern's, so that an
untouched file comes out of its writer as it came in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from service.formats import sillytavern
from service.formats.format import Format
from service.formats.names import truth
from service.formats.report import FormatName, ImportWarning, Reading
from service.formats.rows import keyed

NAME = "chub"
_TWICE = {"key": "keys", "keysecondary": "secondary_keys", "order": "insertion_order"}


def recognise(value: object) -> bool:
    """World info with what the hub adds to it."""
    if not sillytavern.recognise(value) or not isinstance(value, dict) or not isinstance(value["entries"], dict):
        return False
    extensions = value.get("extensions")
    return "is_creation" in value or (isinstance(extensions, Mapping) and "chub" in extensions)


def read(value: Any) -> Reading:
    """As SillyTavern's reader does, with a warning for each entry that contradicts itself.

    Raises `LimitExceeded`.
    """
    found = sillytavern.read(value)
    inside = set(found.places)
    warnings = [
        ImportWarning(kind="two_dialects", index=place, detail=f"{ours} was read, which differs from {other}")
        for place, (_, row) in enumerate(keyed(value["entries"]))
        if place in inside
        for ours, other in _differing(row)
    ]
    return replace(found, format=FormatName(name=NAME), warnings=(*found.warnings, *warnings))


FORMAT = Format(name=NAME, recognise=recognise, read=read, spelled=sillytavern.SPELLED)


def _differing(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for ours, other in _TWICE.items():
        if ours in raw and other in raw and (raw[ours] or None) != (raw[other] or None):
            yield ours, other
    if raw.get("disable") is not None and "enabled" in raw and truth(raw["disable"]) == truth(raw["enabled"]):
        yield "disable", "enabled"
