"""Measures a model: what its languages have in common, and how near unrelated texts lie.

`worldbook calibrate` does it for any model. `python -m embeddings.calibrating CACHE_DIR` measures the default model
again and writes its constants into `embeddings/background`; CACHE_DIR is where the model is or will be unpacked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

import numpy as np

from embeddings import background, catalog, noise
from embeddings.calibration import Calibration, Floor
from embeddings.embedder import Embedder, EmbedderError, EmbeddingSpace, Vectors

DIRECTIONS = 20
Tell = Callable[[int, int], None]
"""Called with the number of texts embedded so far and of all."""


def silent(done: int, whole: int) -> None:
    """For those who do not want to know."""


def calibrate(embedder: Embedder, texts: Mapping[str, Sequence[str]], tell: Tell = silent) -> Calibration:
    """The constants of a model, from the same sentences in several languages.

    The floor is the one of the model's row in the catalogue, which was chosen on more than these sentences, else that
    of `noise`. It takes five thousand short texts. Raises EmbedderError, and ValueError when there are
    fewer than two languages.
    """
    row = catalog.find(embedder.space.model)
    chosen = Floor(*row.floor) if row and row.floor else None
    made = [] if chosen else noise.entries(texts)
    watched = _Watched(embedder, tell, 2 * sum(map(len, texts.values())) + noise.passages(embedder, made))
    queries = [watched.embed_queries(list(lines)) for lines in texts.values()]
    passages = [watched.embed_passages(list(lines)) for lines in texts.values()]
    measured = statistics(queries, passages)
    return replace(measured, floor=chosen or noise.floor(watched, measured, queries, made))


def statistics(queries: Sequence[Vectors], passages: Sequence[Vectors]) -> Calibration:
    """Means and directions, from the vectors of the same sentences as queries and as passages, an array a language.

    The directions are the top right singular vectors of the means of languages, queries and passages stacked, each
    side centred. Raises ValueError when there are fewer than two languages.
    """
    if len(queries) < 2:
        raise ValueError("directions of languages need sentences in at least two of them")
    means, sides = [], []
    for side in (queries, passages):
        mean = np.concatenate(side).mean(axis=0, dtype=np.float64)
        means.append(mean.astype(np.float32))
        sides.append(np.array([rows.mean(axis=0, dtype=np.float64) - mean for rows in side]))
    _, strengths, directions = np.linalg.svd(np.concatenate(sides), full_matrices=False)
    count = min(DIRECTIONS, int((strengths > 1e-6 * strengths[0]).sum()))
    return Calibration(mu_query=means[0], mu_passage=means[1], directions=directions[:count].astype(np.float32))


@dataclass
class _Watched:
    """An embedder that tells how many texts it has embedded."""

    inner: Embedder
    tell: Tell
    whole: int
    done: int = 0

    @property
    def space(self) -> EmbeddingSpace:
        return self.inner.space

    @property
    def max_tokens(self) -> int:
        return self.inner.max_tokens

    def next_batch(self, queries: Sequence[str]) -> Sequence[int]:
        return self.inner.next_batch(queries)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._told(self.inner.embed_queries(texts))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._told(self.inner.embed_passages(texts))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.inner.count_tokens(texts)

    def _told(self, rows: Vectors) -> Vectors:
        self.done += len(rows)
        self.tell(self.done, self.whole)
        return rows


def main(arguments: Sequence[str]) -> int:
    """Measure the default model and write its constants into the package."""
    from embeddings import bundled

    if len(arguments) != 1:
        print("usage: python -m embeddings.calibrating CACHE_DIR", file=sys.stderr)
        return 2
    try:
        embedder = bundled.load(Path(arguments[0]))
    except EmbedderError as problem:
        print(problem, file=sys.stderr)
        return 1
    texts = background.sentences()
    path = Path(str(files(background))) / f"{embedder.space.model}.npz"
    calibrate(embedder, texts).save(path, embedder.space)
    print(f"{path}: {len(texts)} languages, {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
