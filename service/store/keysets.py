"""Pages of rows by keyset: the next page begins behind the last row of the one before, whatever was added meanwhile."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ColumnElement, Select, and_, or_


def in_order(
    query: Select[Any],
    by: ColumnElement[Any],
    id_: Column[Any],
    *,
    most_first: bool = False,
    after: tuple[Any, Any] | None,
    limit: int,
) -> Select[Any]:
    """Up to `limit` rows of the query sorted by `by`, those with the same by `id_`, behind the keyset `after`.

    The keyset is what these two were in the last row of the page before.
    """
    if after is not None:
        beyond = by < after[0] if most_first else by > after[0]
        query = query.where(or_(beyond, and_(by == after[0], id_ > after[1])))
    return query.order_by(by.desc() if most_first else by, id_).limit(limit)
