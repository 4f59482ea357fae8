"""JSON Merge Patch, RFC 7396, and what of a book or an entry it may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from service.validation import dump, validate


def patched(current: Any, patch: Mapping[str, Any], writable: Sequence[str]) -> Any:
    """`current` with the patch merged into what the author may write; the service's own fields are ignored.

    Members of `extensions` are replaced whole: they hold what is kept of files, in which null is data.
    """
    theirs = {item.name for item in fields(current)} - set(writable)
    before = {name: value for name, value in dump(current).items() if name in writable}
    changes = {name: new for name, new in patch.items() if name not in theirs}
    after = merged(before, changes)
    kept = changes.get("extensions")
    if isinstance(kept, Mapping):
        after["extensions"] = _replaced(before["extensions"], kept)
    return validate(type(current), after)


def resolved(patch: Mapping[str, Any]) -> Mapping[str, Any]:
    """The patch; one that selects channels also settles the names that stood for no known channel (SPEC T9)."""
    channels = patch.get("channels")
    if isinstance(channels, Mapping) and "ids" in channels and "unresolved" not in channels:
        return {**patch, "channels": {**channels, "unresolved": []}}
    return patch


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


def _replaced(target: Mapping[str, Any], patch: Mapping[str, Any]) -> Any:
    """`target` with the members of the patch; null removes one, unless null is what it holds already."""
    result = dict(target)
    for name, value in patch.items():
        if value is not None:
            result[name] = value
        elif result.get(name) is not None:
            del result[name]
    return result
