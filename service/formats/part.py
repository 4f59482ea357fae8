"""The lore in a file that holds more: a saved game, a prompt."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from service.formats.report import ImportWarning

MAX_DETAIL = 300


def part(
    value: Any, field: str, beside: Collection[str]
) -> tuple[list[Any], dict[str, Any], tuple[ImportWarning, ...]]:
    """The rows in `field`, what belongs to them in the fields `beside`, and a warning that names what else is there.

    A list is all rows.
    """
    if isinstance(value, list):
        return value, {}, ()
    left_out = sorted(name for name, each in value.items() if each and name != field and name not in beside)
    detail = f"only {field} was read, not {', '.join(left_out)}"[:MAX_DETAIL]
    told = (ImportWarning(kind="rest_left_out", detail=detail),) if left_out else ()
    return value[field], {name: each for name, each in value.items() if name in beside}, told
