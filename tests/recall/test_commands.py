"""The commands of the benchmark, on a collection of ours and a model that is instant."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.recall import __main__ as command
from benchmarks.recall.goals import GOALS, Figure


@pytest.fixture(autouse=True)
def instant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The hashing embedder, and a cache of its own."""
    monkeypatch.setenv("WORLDBOOK_MODEL", "hashing")
    monkeypatch.setenv("WORLDBOOK_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("WORLDBOOK_DATA_DIR", str(tmp_path / "data"))


def collection(folder: Path) -> Path:
    """Three documents and two queries in BEIR's layout; a third query has no relevant document."""
    (folder / "qrels").mkdir(parents=True)
    documents = [
        {"_id": "d1", "title": "Salt Gate", "text": "A gate of grey salt in the harbour wall."},
        {"_id": "d2", "title": "Lighthouse", "text": "A tower whose lamp burns whale oil."},
        {"_id": "d3", "text": "The keeper of bees sells no honey to mourners."},
    ]
    queries = [
        {"_id": "q1", "text": "what does the lamp in the tower burn"},
        {"_id": "q2", "text": "who sells honey"},
        {"_id": "q3", "text": "nobody judged this"},
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\nq2\td3\t2\nq3\td1\t0\n")
    return folder


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["recall", *arguments])
    return command.main()


def test_any_collection_in_beirs_layout_can_be_measured(monkeypatch, tmp_path, capsys):
    """`run --beir FOLDER` prints and writes every measure of every system, the same in two runs."""
    folder = collection(tmp_path / "harbour")
    written = []
    for name in ("one.json", "two.json"):
        arguments = ("run", "--data", str(tmp_path), "--beir", str(folder), "--json", str(tmp_path / name))
        assert run(monkeypatch, *arguments) == 0
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    rows = json.loads(written[0])["runs"][0]
    assert {row["system"] for row in rows} >= {"bare vectors", "+ lexical leg"}
    assert all(row["asks"] == "2" and row["R@5"] == 1.0 for row in rows)
    assert "nDCG@10" in capsys.readouterr().out


def test_our_lore_set_can_be_measured_without_any_data(monkeypatch, tmp_path, capsys):
    """The lore set needs nothing but the repository."""
    assert run(monkeypatch, "run", "--data", str(tmp_path), "--only", "lore") == 0
    assert "literal only" in capsys.readouterr().out


def test_missing_data_is_told_in_one_line(monkeypatch, tmp_path, capsys):
    """A folder without the data set ends with status 2 and where to get it."""
    assert run(monkeypatch, "goals", "--data", str(tmp_path), "--only", "G1") == 2
    assert re.fullmatch(r".*xquad\.en\.json is missing: get XQuAD from github\.com/\S+\n", capsys.readouterr().err)


def test_an_unknown_row_names_those_that_are_known(monkeypatch, tmp_path):
    """`--only` with a name that is no row says which are."""
    with pytest.raises(SystemExit, match=r"G99.*G1, G2"):
        run(monkeypatch, "goals", "--data", str(tmp_path), "--only", "G99")


def test_every_goal_has_a_row():
    """G1 to G14 are there, each with figures whose ambition is not below its floor."""
    assert [goal.id for goal in GOALS] == [f"G{number}" for number in range(1, 15)]
    for goal in GOALS:
        for figure in goal.figures:
            assert figure.ambitious <= figure.floor if figure.less else figure.ambitious >= figure.floor


@pytest.mark.parametrize(
    ("value", "less", "met"),
    [
        (0.9399, False, "floor"),  # .940 as printed
        (0.9394, False, "no"),
        (0.96, False, "ambitious"),
        (0.9601, True, "floor"),
        (0.9606, True, "no"),
        (0.94, True, "ambitious"),
        (float("nan"), False, "no"),
        (float("nan"), True, "no"),
    ],
)
def test_a_goal_is_met_by_what_is_printed(value, less, met):
    """A figure is compared as it is printed, and what was not measured meets nothing."""
    floor, ambitious = (0.96, 0.94) if less else (0.94, 0.96)
    assert Figure("R@1", None, None, floor, ambitious, less=less).reached(value) == met


def test_help_needs_no_model():
    """`--help` answers without loading one."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.recall", "--help"], check=True, capture_output=True, text=True
    )
    assert "python -m benchmarks.recall goals" in done.stdout
