"""Raw vectors of texts, computed once per space and kept in the user's cache folder.

Raw: as the model gives them, before anything is taken off, so that every variation of the chain costs only numpy. Any
number of processes may read and write the file at once.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from embeddings import passages
from embeddings.embedder import Embedder, EmbedderError, Vectors
from embeddings.passages import TextVectors
from embeddings.windows import Cut, cut

Role = Literal["query", "passage"]

_TEXTS_A_CALL = 64
"""Embedded between two commits."""
_HASHES_A_QUERY = 500
SPARE_TOKENS = 8
"""What the encoder of the product leaves free in a piece, so that pieces are cut as it cuts them."""


class VectorStore:
    """An embedder whose answers are remembered. `asked` counts the texts that the model had to embed."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.embedder = embedder
        self.asked = 0
        self._db = sqlite3.connect(folder / f"benchmark-vectors-{embedder.space.id}.db", timeout=60)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID")

    @property
    def dimension(self) -> int:
        return self.embedder.space.dimension

    @property
    def piece_tokens(self) -> int:
        """Tokens of one piece, as in the product."""
        return max(1, self.embedder.max_tokens - SPARE_TOKENS)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Raw vectors, shape (texts, dimension)."""
        return self._rows("query", texts, self.embedder.embed_queries)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Raw vectors, shape (texts, dimension)."""
        return self._rows("passage", texts, self.embedder.embed_passages)

    def cut(self, text: str, *, window_tokens: int | None = None) -> Cut:
        """Pieces and windows of a text as the product cuts it; `window_tokens` stands in for its constant."""
        count = self.embedder.count_tokens
        if window_tokens is None:
            return cut(text, count, piece_tokens=self.piece_tokens)
        return cut(text, count, piece_tokens=self.piece_tokens, window_tokens=window_tokens)

    def texts(self, texts: Sequence[str], *, window_tokens: int | None = None) -> list[TextVectors]:
        """Raw vectors of the pieces and windows of each text."""
        cuts = [self.cut(text, window_tokens=window_tokens) for text in texts]
        self.passages([passage for made in cuts for passage in (*made.pieces, *made.windows)])
        return [TextVectors(pieces=self.passages(made.pieces), windows=self.passages(made.windows)) for made in cuts]

    def _rows(self, role: Role, texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]) -> Vectors:
        keys = {text: hashlib.sha256(f"{role}\0{text}".encode("utf-8", "replace")).digest() for text in texts}
        known = self._known(list(keys.values()))
        missing = sorted((text for text, key in keys.items() if key not in known), key=len)
        for start in range(0, len(missing), _TEXTS_A_CALL):
            batch = missing[start : start + _TEXTS_A_CALL]
            rows = _embedded(batch, embed)
            self.asked += len(batch)
            with self._db:
                self._db.executemany(
                    "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
                    [(keys[text], row.astype("<f4").tobytes()) for text, row in zip(batch, rows, strict=True)],
                )
            known.update((keys[text], row) for text, row in zip(batch, rows, strict=True))
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([known[keys[text]] for text in texts])

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        found: dict[bytes, Vectors] = {}
        for start in range(0, len(keys), _HASHES_A_QUERY):
            part = keys[start : start + _HASHES_A_QUERY]
            marks = ",".join("?" * len(part))
            rows = self._db.execute(f"SELECT key, row FROM vectors WHERE key IN ({marks})", part)
            found.update((key, np.frombuffer(row, "<f4")) for key, row in rows)
        return found


def _embedded(batch: Sequence[str], embed: Callable[[Sequence[str]], Vectors]) -> list[Vectors]:
    """The rows of a batch; no text of a benchmark may be without one."""
    rows = []
    for text, row in zip(batch, passages.embed_each(batch, embed), strict=True):
        if isinstance(row, EmbedderError):
            raise EmbedderError(f"no vector for {text[:60]!r}: {row}") from row
        rows.append(row)
    return rows
