"""How pydantic reads the domain values at the edges; the domain itself never validates."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Le

MAX_INTEGER = 2**53 - 1
"""The largest integer that every reader of JSON keeps exactly."""
Whole = Annotated[int, Ge(0), Le(MAX_INTEGER)]
"""A count. Pydantic takes digits in a string for a number, so a field without a bound would have none at all."""

STRICT = {"extra": "forbid", "use_attribute_docstrings": True}
"""Read by pydantic at the edges: a misspelt field is an error, and docstrings reach OpenAPI."""
OPEN = {**STRICT, "extra": "ignore"}
"""For what apps pass on as vendors shape it: fields that are not ours are left aside."""
