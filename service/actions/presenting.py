"""What the service knows about a book and its entries beside what the author wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from service.actions.owning import OWNER as OWNER
from service.actions.runtime import Runtime
from service.lore.advice import of_entry
from service.lore.book import WORLD, Book, BookTokens, Entry, EntryCounts, VectorState, Warning, handle_of
from service.lore.open_book import BookText
from service.lore.rendering import entry_block
from service.lore.tokens import Tokenizer
from service.store import books, vectors
from service.store.engine import reading
from service.tokenizers import tokenizer_for

USUAL_WINDOW = 512


def default_tokenizer(rt: Runtime) -> Tokenizer:
    """The tokenizer that counts where no request names one."""
    return tokenizer_for(
        tokenizer=None, model=None, default=rt.settings.tokenizer, margin=rt.settings.unknown_model_margin
    )


def canon_tokens(rt: Runtime, book_id: str) -> int:
    """What the book puts into every prompt, counted with the default tokenizer."""
    return _costs(_text(rt, book_id), default_tokenizer(rt)).canon


def presented(rt: Runtime, book: Book) -> Book:
    """The book with its counts, costs and warnings, and its entries, if they are there, with theirs."""
    text, tokenizer = _text(rt, book.id), default_tokenizer(rt)
    costs = _costs(text, tokenizer)
    full = text.sheet(tokenizer, None).full
    counted = {(entry.id, entry.version): int(tokens) for entry, tokens in zip(text.entries, full, strict=True)}
    heavy = costs.canon > rt.settings.heavy_canon_tokens
    canon_warning = Warning(kind="heavy_canon", detail=f"canon: {costs.canon:,} tokens every turn")
    return replace(
        with_counts(rt, [book])[0],
        tokens=costs,
        warnings=(*((canon_warning,) if heavy else ()), *text.advice),
        entries=None if book.entries is None else presented_entries(rt, book.id, book.entries, counted),
    )


def _text(rt: Runtime, book_id: str) -> BookText:
    with reading(rt.engine) as conn:
        (opened,) = rt.opened.open(conn, OWNER, rt.encoder.space, [book_id])
    return opened.text


def _costs(text: BookText, tokenizer: Tokenizer) -> BookTokens:
    full = text.sheet(tokenizer, None).full
    return BookTokens(
        canon=int(full[text.enabled & text.canon].sum()),
        relevant=int(full[text.enabled & ~text.canon].sum()),
        tokenizer=tokenizer.name,
    )


def with_counts(rt: Runtime, listed: Sequence[Book]) -> list[Book]:
    """The books with how many entries they have and how many of those wait for their vectors."""
    ids = [book.id for book in listed]
    space = rt.encoder.space
    with reading(rt.engine) as conn:
        counts = books.counts(conn, ids)
        waiting = vectors.counts(conn, space.id if space else "", ids)
    return [
        replace(
            book,
            counts=replace(
                counts.get(book.id, EntryCounts()),
                pending_vectors=waiting[book.id].pending if book.id in waiting else 0,
                failed_vectors=waiting[book.id].failed if book.id in waiting else 0,
            ),
        )
        for book in listed
    ]


def presented_entries(
    rt: Runtime, book_id: str, entries: Sequence[Entry], counted: Mapping[tuple[int, int], int] | None = None
) -> tuple[Entry, ...]:
    """The entries with their handles, costs, warnings and whether they can be found by meaning yet.

    `counted` has the tokens, by id and version, of entries that need not be counted again.
    """
    known = counted or {}
    tokenizer = default_tokenizer(rt)
    space = rt.encoder.space
    with reading(rt.engine) as conn:
        states = vectors.states(conn, space.id if space else "", book_id, [entry.id for entry in entries])
        lore = any(entry.trigger is not None for entry in entries)
        dialect = books.read(conn, OWNER, book_id).dialect if lore else WORLD
    shown = []
    for entry in entries:
        named = replace(entry, handle=handle_of(book_id, entry.id))
        tokens = known.get((entry.id, entry.version))
        if tokens is None:
            tokens = tokenizer.count(entry_block(named, None))
        state: VectorState = states.get(entry.id, "pending")  # type: ignore[assignment]  # the store's three literals
        shown.append(
            replace(
                named,
                tokens=tokens,
                vectors=state,
                warnings=(*entry.warnings, *of_entry(named, dialect), *_length(entry, tokens, rt.encoder.max_tokens)),
            )
        )
    return tuple(shown)


def _length(entry: Entry, tokens: int, most: int | None) -> tuple[Warning, ...]:
    """`most` is None until the model is loaded; then the usual window of such models stands in."""
    most = most or USUAL_WINDOW
    if tokens <= most or entry.trigger is not None:  # which is never embedded
        return ()
    detail = f"about {tokens:,} tokens, and the model reads {most:,} at once: it is embedded in pieces"
    return (Warning(kind="long_entry", detail=detail),)
