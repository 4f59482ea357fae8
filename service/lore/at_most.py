"""Lists that are counted before their items are looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class AtMost:
    """Annotates a tuple of at most `most` items, as `MaxLen` does, but refuses more before any is validated.

    `MaxLen` counts what is valid only: the faults of a million wrong items take seconds and a gigabyte. With
    `first_only`, for lists of strings within entries, only the first wrong item is told.

    Pydantic asks annotations for these two methods by name, so the domain needs not import it.
    """

    def __init__(self, most: int, *, first_only: bool = False) -> None:
        self.most = most
        self.first_only = first_only

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> dict[str, Any]:
        counted = {"type": "list", "max_length": self.most}
        return {"type": "chain", "steps": [counted, {**handler(source), "fail_fast": self.first_only}]}

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], Any]) -> dict[str, Any]:
        while "steps" not in schema:  # what other annotations have put around it
            schema = schema["schema"]
        return {**handler(schema["steps"][-1]), "maxItems": self.most}
