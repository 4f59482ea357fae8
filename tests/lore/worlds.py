"""Random books in many scripts, and the shortest way to a retrieval over them, for the properties of this folder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from embeddings.index import VectorIndex
from service.lore.answer import Retrieved
from service.lore.book import Book, Entry, handle_of
from service.lore.open_book import AttachedBook, BookText, OpenBook
from service.lore.ranking import Meaning
from service.lore.request import Message, RetrieveRequest
from service.lore.retrieval import Defaults, prepare, retrieve
from service.tokenizers import tokenizer_for

TOKENIZER = tokenizer_for(tokenizer="cl100k_base", model=None, default="", margin=1.0)
DEFAULTS = Defaults(budget_tokens=2000, places=8)
DIMENSION = 16
SYLLABLES = (
    "ka", "ri", "mo", "tesh", "lun", "ор", "ва", "зим", "γα", "λη", "海", "門", "盐", "潮", "アリ", "しお", "소금",
    "바다",
    "नम", "कथा", "เกลือ", "ทะเล", "ملح", "بحر", "מלח", "é", "ß", "🌊", "\n", "  ", "<b>", "# ", "- ", "`", "{{user}}",
)  # fmt: skip
WORDS = st.lists(st.sampled_from(SYLLABLES), min_size=1, max_size=6).map("".join)
BODIES = st.lists(WORDS, min_size=1, max_size=40).map(" ".join).filter(lambda body: bool(body.strip()))


def title_of(words: str, number: int) -> str:
    """A title on one line, unlike any other of its book."""
    return f"{' '.join(words.split())} {number}".strip()


def vector(text: str) -> np.ndarray:
    """A unit vector that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
    row = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return row / np.linalg.norm(row)


def open_book(book_id: str, entries: Sequence[Entry], *, name: str = "A book", enabled: bool = True) -> OpenBook:
    """The entries as an open book, ids from 1, with one vector each."""
    numbered = tuple(
        Entry(
            id=number, handle=handle_of(book_id, number), title=entry.title, content=entry.content,
            aliases=entry.aliases, gist=entry.gist, tier=entry.tier, enabled=entry.enabled,
        )
        for number, entry in enumerate(entries, start=1)
    )  # fmt: skip
    text = BookText.build(Book(id=book_id, version=1, name=name, enabled=enabled), numbered)
    groups = {
        ordinal: (vector(entry.content)[None], vector(entry.content)[None])
        for ordinal, entry in enumerate(numbered)
        if entry.enabled and enabled
    }
    return OpenBook(text=text, index=VectorIndex.build(DIMENSION, groups))


@st.composite
def entries(draw: st.DrawFn, most: int = 300) -> list[Entry]:
    """Up to `most` entries, of which a few are canon and a few disabled."""
    count = draw(st.integers(0, most))
    bodies = draw(st.lists(BODIES, min_size=min(count, 12), max_size=12))
    words = draw(st.lists(WORDS, min_size=8, max_size=8))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    return [
        Entry(
            title=title_of(words[int(random.integers(8))], number),
            content=bodies[int(random.integers(len(bodies)))] * int(random.integers(1, 4)),
            aliases=tuple(
                f"{words[int(random.integers(8))].strip() or 'x'}{number}" for _ in range(random.integers(0, 3))
            ),
            tier="canon" if random.random() < 0.1 else "relevant",
            enabled=bool(random.random() > 0.1),
        )
        for number in range(count)
    ]


@st.composite
def shelves(draw: st.DrawFn) -> list[AttachedBook]:
    """One to four attached books, with labels or without, 300 entries in all at most."""
    count = draw(st.integers(1, 4))
    books = [
        open_book(
            book_id, draw(entries(most=300 // count)), name=f"Book {book_id}", enabled=draw(st.integers(0, 9)) > 0
        )
        for book_id in ("bakiru", "todane", "gomedi", "lusano")[:count]
    ]
    labels = draw(st.lists(st.sampled_from([None, "Ilse", "オル"]), min_size=count, max_size=count))
    return [AttachedBook(open=book, label=label) for book, label in zip(books, labels, strict=True)]


def run(books: Sequence[AttachedBook], request: RetrieveRequest) -> Retrieved:
    """Retrieve with vectors that depend on the messages alone."""
    prepared = prepare(books, request, TOKENIZER, DEFAULTS)
    vectors = [vector(query.text) for query in prepared.queries]
    meaning = Meaning(queries=prepared.queries, vectors=np.array(vectors, np.float32)) if vectors else None
    return retrieve(prepared, meaning)


def asking(*contents: str, **fields: object) -> RetrieveRequest:
    """A request of user messages."""
    messages = tuple(Message(role="user", content=content) for content in contents)
    return RetrieveRequest(messages=messages, **fields)  # type: ignore[arg-type]  # each test names valid fields
