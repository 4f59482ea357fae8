"""XQuAD-R by its published protocol (Roy et al. 2020): the sentences of eleven languages in one pool.

13,014 candidates, 13,090 questions, eleven relevant sentences each: the one that holds the answer, in each language.
Every sentence is its own piece and window, so its score is the inner product of two vectors. The lexical leg is for
messages to a book and stays off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import xquad_sentences
from benchmarks.recall.lab import Lab
from benchmarks.recall.trials import CHATS

_QUESTIONS_A_BLOCK = 500


@dataclass(frozen=True, kw_only=True)
class PoolResult:
    """Mean average precision over all questions, by the model alone and with its directions off."""

    raw: float
    calibrated: float
    questions: int
    detail: Mapping[str, float]
    """Calibrated mAP by the language of the question."""


def measure(lab: Lab, data: Path) -> PoolResult:
    """Embed the pool and every question, and rank all sentences for each. Raises `MissingDataError`."""
    languages = {language: xquad_sentences(data, language) for language in CHATS}
    sentences = [text for each in languages.values() for text in each.sentences]
    starts = np.cumsum([0, *(len(each.sentences) for each in languages.values())])[:-1]
    relevant = np.array([each.answers for each in languages.values()]).T + starts
    passages = lab.store.passages(sentences)
    raw: list[float] = []
    calibrated: dict[str, float] = {}
    for language, each in languages.items():
        queries = lab.store.queries(each.questions)
        raw += average_precisions(queries, passages, relevant).tolist()
        off = average_precisions(lab.calibration.queries(queries), lab.calibration.passages(passages), relevant)
        calibrated[language] = float(off.mean())
    return PoolResult(
        raw=float(np.mean(raw)),
        calibrated=float(np.mean(list(calibrated.values()))),
        questions=len(raw),
        detail=calibrated,
    )


def average_precisions(
    queries: NDArray[np.float32], passages: NDArray[np.float32], relevant: NDArray[np.int64]
) -> NDArray[np.float64]:
    """AP of each query over all passages; `relevant` has the same number of columns for each."""
    blocks = []
    for first in range(0, len(queries), _QUESTIONS_A_BLOCK):
        scores = queries[first : first + _QUESTIONS_A_BLOCK] @ passages.T
        order = np.argsort(-scores, axis=1, kind="stable")
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(scores.shape[1])[None], axis=1)
        at = np.sort(np.take_along_axis(ranks, relevant[first : first + _QUESTIONS_A_BLOCK], axis=1), axis=1) + 1
        blocks.append((np.arange(1, at.shape[1] + 1) / at).mean(axis=1))
    return np.concatenate(blocks)
