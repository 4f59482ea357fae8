"""Lists, a page at a time. A cursor holds the sort keys of the last item, so that a page costs the same everywhere."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from service.lore.errors import FieldError, Invalid
from service.lore.strict import STRICT

MAX_LIMIT = 200
MAX_KEY = 2**31 - 1
"""Positions, versions and entry ids are integers of the database."""
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Page(Generic[T]):
    """Some items of a list, and how to get at the next ones."""

    __pydantic_config__ = STRICT

    items: tuple[T, ...]
    next_cursor: str | None
    """Send it as `cursor` for the next page; null: this was the last."""
    total: int | None = None
    """How many items all pages have together, where that is exact and free."""


def checked_limit(limit: int) -> int:
    """`limit`, or `Invalid`."""
    if not 1 <= limit <= MAX_LIMIT:
        fault = FieldError(parameter="limit", detail=f"{limit} items a page", remedy=f"ask for 1 to {MAX_LIMIT}")
        raise Invalid([fault])
    return limit


def page_of(
    found: Sequence[T], limit: int, sort: str, keys: Callable[[T], tuple[Any, ...]], total: int | None = None
) -> Page[T]:
    """The first `limit` of the items found, of which the store was asked for one more than that."""
    items = tuple(found[:limit])
    more = len(found) > limit
    return Page(items=items, next_cursor=_write(sort, keys(items[-1])) if more else None, total=total)


def after(cursor: str | None, sort: str, *kinds: type) -> tuple[Any, ...] | None:
    """The sort keys in a cursor that `page_of` made for the same sort. Raises `Invalid` for any other text."""
    if cursor is None:
        return None
    try:
        made_for, *keys = json.loads(base64.b64decode(cursor.encode(), altchars=b"-_", validate=True))
        if made_for != sort or [type(key) for key in keys] != list(kinds):
            raise ValueError(cursor)
        for key in keys:
            if isinstance(key, int) and not 0 <= key <= MAX_KEY:
                raise ValueError(cursor)
            str(key).encode()  # a lone surrogate could not be bound
    except (ValueError, TypeError):
        fault = FieldError(
            parameter="cursor",
            detail="no cursor of this list and sort",
            remedy="send next_cursor of the page before, or none",
        )
        raise Invalid([fault]) from None
    return tuple(keys)


def _write(sort: str, keys: Sequence[object]) -> str:
    # Escapes of what is not ASCII would make a cursor of a long name too long to be taken again.
    return base64.urlsafe_b64encode(json.dumps([sort, *keys], ensure_ascii=False).encode()).decode()
