"""Fits the statistics of a model to a few sentences."""

from collections.abc import Mapping, Sequence

from embeddings.calibrating import statistics
from embeddings.calibration import Calibration
from embeddings.embedder import Embedder


def fit(embedder: Embedder, texts: Mapping[str, Sequence[str]]) -> Calibration:
    """The means and directions of a model, without a floor."""
    queries = [embedder.embed_queries(list(lines)) for lines in texts.values()]
    passages = [embedder.embed_passages(list(lines)) for lines in texts.values()]
    return statistics(queries, passages)
