"""How pydantic reads the domain values at the edges; the domain itself never validates."""

from __future__ import annotations

STRICT = {"extra": "forbid", "use_attribute_docstrings": True}
"""Read by pydantic at the edges: a misspelt field is an error, and docstrings reach OpenAPI."""
OPEN = {**STRICT, "extra": "ignore"}
"""For what apps pass on as vendors shape it: fields that are not ours are left aside."""
