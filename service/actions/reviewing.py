"""What an author learns about a book from its use, and what is worth a look in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from embeddings import background
from service.actions.paging import Page, after, checked_limit, page_of
from service.actions.presenting import OWNER, USUAL_WINDOW, default_tokenizer
from service.actions.runtime import Runtime
from service.lore.health import Finding, findings
from service.lore.strict import STRICT
from service.lore.usage import EntryUsage
from service.store import books
from service.store import usage as stored
from service.store.engine import reading


@dataclass(frozen=True, kw_only=True)
class Health:
    """What is worth a look in a book."""

    __pydantic_config__ = STRICT

    version: int
    """Of the book that was looked at."""
    findings: tuple[Finding, ...]


def entry_usage(
    rt: Runtime,
    book_id: str,
    *,
    never: bool = False,
    sort: stored.Sort = "position",
    limit: int = 50,
    cursor: str | None = None,
) -> Page[EntryUsage]:
    """How often each entry was used; `never` leaves those that were neither used nor fetched.

    What other processes counted in the last second may be missing. Raises `NotFound`, `Invalid`.
    """
    keys = after(cursor, sort, int, int)
    rt.usage.flush()
    with reading(rt.engine) as conn:
        books.read(conn, OWNER, book_id)
        found = stored.page(conn, book_id, never=never, sort=sort, after=keys, limit=checked_limit(limit) + 1)
    page = page_of(found, limit, sort, lambda row: (row[0].uses if sort == "-uses" else row[1], row[2]))
    return Page(items=tuple(row for row, _, _ in page.items), next_cursor=page.next_cursor)


def health(rt: Runtime, book_id: str) -> Health:
    """The findings about a book. Raises `NotFound`."""
    rt.usage.flush()
    with reading(rt.engine) as conn:
        (opened,) = rt.opened.open(conn, OWNER, rt.encoder.space, [book_id])
        used = stored.of_book(conn, book_id)
    found = findings(opened.text, used, _everyday(), default_tokenizer(rt), rt.encoder.max_tokens or USUAL_WINDOW)
    return Health(version=opened.text.book.version, findings=found)


@cache
def _everyday() -> tuple[str, ...]:
    return tuple(sentence for sentences in background.sentences().values() for sentence in sentences)
