"""Other retrievers beside the product: what they are given, and how their answers are merged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.speed import __main__ as command
from benchmarks.speed import peers
from benchmarks.speed.lore import WINDOWS
from benchmarks.speed.retrievers import RETRIEVERS, Ask, Task, best
from benchmarks.speed.retrieving import NAMES, PLACES
from benchmarks.speed.size import TINY


def test_the_best_eight_entries() -> None:
    """An entry counts by its best document, and each entry once."""
    scored = [(entry, -abs(entry - 20) + part / 10) for part in range(3) for entry in range(40)]
    assert best(scored) == sorted(range(40), key=lambda entry: (abs(entry - 20), entry))[:PLACES]
    assert best([]) == []


@pytest.mark.parametrize("least", [True, False])
def test_a_peer_gets_what_the_product_has(least: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same work is every vector of an entry and every query of the request; the least one vector, one question.

    What a peer takes is told for a book, and how long it takes beside the product in the same process.
    """
    given: list[Task] = []
    answers: list[object] = []

    def exact(task: Task) -> Ask:
        given.append(task)
        vectors, each = task.all_vectors, task.documents_an_entry

        def ask() -> object:
            scores = (task.queries @ vectors.T).max(axis=0)
            answers.append(best((place // each, score) for place, score in enumerate(scores)))
            return answers[-1]

        return ask

    monkeypatch.setitem(RETRIEVERS, "exact", exact)
    figures = peers.beside("exact", TINY, least=least)
    assert set(figures) == {"ms", "times_worldbook", "worldbook_beside_it_ms", "mb_a_book"}
    assert figures["times_worldbook"] == pytest.approx(figures["ms"] / figures["worldbook_beside_it_ms"])
    assert all(len(answer) == PLACES for answer in answers)
    few, task = given
    each = 1 if least else 1 + WINDOWS
    assert [len(texts) for texts in few.texts] == [peers._FEW * each] * len(NAMES)
    assert [len(texts) for texts in task.texts] == [TINY.entries * each] * len(NAMES)
    assert [vectors.shape for vectors in task.vectors] == [(TINY.entries * each, 384)] * len(NAMES)
    assert len(task.questions) == len(task.queries)
    assert (len(task.questions) == 1) is least
    assert len(task.named) == 8


def test_documents_of_an_entry_stand_together() -> None:
    """The first document of an entry is its text, the others are its windows; vectors are those of the product."""
    common = peers._Common.made(3)
    whole, single = common.task(least=False), common.task(least=True)
    for texts, firsts, held, piece in zip(whole.texts, single.texts, whole.vectors, single.vectors, strict=True):
        assert texts[:: 1 + WINDOWS] == firsts
        assert np.array_equal(held[:: 1 + WINDOWS], piece)
        for start in range(0, len(texts), 1 + WINDOWS):
            assert texts[start].endswith(" ".join(texts[start + 1 : start + 1 + WINDOWS]))
    assert single.questions == [common.request.messages[-1].content]
    assert set(single.named) <= set(single.questions[0].split())
    copied = whole.copied()
    assert copied.texts == whole.texts
    assert copied.texts[0][0] is not whole.texts[0][0]
    assert not np.shares_memory(copied.vectors[0], whole.vectors[0])


@pytest.mark.slow
def test_peers_that_are_not_there_are_left_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The measure runs to its end with those that are installed, and names the others."""
    assert command.main(["peers", "--tiny", "--into", str(tmp_path)]) == 0
    told = capfd.readouterr().out
    written = (tmp_path / "peers.json").read_text()
    for name in RETRIEVERS:
        assert (f"{name}: not installed" in told) != (f"{name}_same_work_times_worldbook" in written)
