"""One question to the attached books: one line per entry, never a body."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from service.lore import rendering
from service.lore.lookups import SearchItem
from service.lore.naming import find_named
from service.lore.open_book import AttachedBook, starts_of, world_books
from service.lore.ranking import Meaning, rank
from service.lore.reasons import Matched, Named
from service.lore.request import Message
from service.lore.tokens import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Found:
    """A page of search results."""

    items: tuple[SearchItem, ...]
    more: bool


def search(
    books: Sequence[AttachedBook],
    query: str,
    meaning: Meaning | None,
    tokenizer: Tokenizer,
    *,
    offset: int,
    limit: int,
) -> Found:
    """Entries that the question names, then the nearest by meaning, canon and whole books too.

    No floor holds here: who searches wants the nearest there is; the strength of each says how near that is.
    """
    books = world_books(books)
    starts = starts_of(books)
    named = find_named(books, starts, [Message(role="user", content=query)])
    reasons: dict[int, Named | Matched] = {place: _of_query(hits[0]) for place, hits in named.items()}
    searched = [number for number, book in enumerate(books) if book.open.index.groups]
    if meaning is not None and searched:
        wanted = offset + limit + 1
        ranking = rank(
            books,
            starts,
            searched,
            meaning,
            skip=set(named),
            places=wanted,
            book_places=dict.fromkeys(searched, wanted),
            floor=-1.0,
            strong_first=False,  # or an entry of the next page would come to stand on this one
        )
        for match in ranking.matches:
            reasons[match.place] = Matched(
                rank=match.rank, score=round(match.score, 3), strength=match.strength, message=None
            )
    places = list(reasons)
    page = places[offset : offset + limit]
    return Found(
        items=tuple(_item(books, starts, place, reasons[place], tokenizer) for place in page),
        more=len(places) > offset + limit,
    )


def _of_query(named: Named) -> Named:
    return Named(alias=named.alias, message=None, span=named.span, text=named.text)


def _item(
    books: Sequence[AttachedBook],
    starts: Sequence[int],
    place: int,
    reason: Named | Matched,
    tokenizer: Tokenizer,
) -> SearchItem:
    number = bisect_right(starts, place) - 1
    book = books[number]
    ordinal = place - starts[number]
    entry = book.shown(ordinal)
    return SearchItem(
        handle=entry.handle,
        title=entry.title,
        gist=rendering.gist_of(entry),
        book=book.open.text.book.id,
        label=book.label,
        tokens=book.cost(ordinal, tokenizer),
        reason=reason,
    )
