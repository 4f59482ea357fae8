"""JSON Merge Patch, RFC 7396."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merged(target: Any, patch: Any) -> Any:
    """`target` as the patch wants it: null removes a member, an object merges, anything else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result
