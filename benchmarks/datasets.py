"""Public data sets, read from a folder that the user names. They are not part of this repository.

XQuAD (Artetxe et al. 2020, CC BY-SA 4.0): github.com/google-deepmind/xquad, files xquad.LANG.json in FOLDER/xquad.
XQuAD-R (Roy et al. 2020, CC BY-SA 4.0): github.com/google-research-datasets/lareqa, files LANG.json in FOLDER/xquad-r.
Tatoeba as prepared for LASER (Artetxe and Schwenk 2019, CC BY 2.0 FR): github.com/facebookresearch/LASER, files
LLL-eng.LLL and LLL-eng.eng in FOLDER/tatoeba.
BEIR-style (Thakur et al. 2021): any folder with corpus.jsonl, queries.jsonl and qrels/test.tsv.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class MissingDataError(Exception):
    """The folder does not hold the data set; the message says where to get it."""


@dataclass(frozen=True)
class Question:
    """A question and the paragraph that answers it."""

    text: str
    paragraph: int


@dataclass(frozen=True)
class Xquad:
    """240 paragraphs and 1,190 questions in one language, parallel over the languages; five paragraphs an article."""

    paragraphs: tuple[str, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Sentences:
    """The sentences of XQuAD-R in one language, and for each question the sentence that holds its answer."""

    sentences: tuple[str, ...]
    questions: tuple[str, ...]
    answers: tuple[int, ...]
    """Of each question: place in `sentences`. Questions are parallel over the languages."""


@dataclass(frozen=True)
class Beir:
    """A collection in the layout of BEIR."""

    documents: Mapping[str, tuple[str, str]]
    """Id to (title, text)."""
    queries: Mapping[str, str]
    """Only those that have a relevant document."""
    relevant: Mapping[str, frozenset[str]]
    """Query id to the ids of documents with a positive judgement."""


def xquad(folder: Path, language: str) -> Xquad:
    """Read one language. Raises `MissingDataError`."""
    return _xquad(folder / "xquad" / f"xquad.{language}.json", "XQuAD from github.com/google-deepmind/xquad")


def xquad_r(folder: Path, language: str) -> Xquad:
    """Paragraphs and questions of XQuAD-R, which has Greek as well. Raises `MissingDataError`."""
    return _xquad(folder / "xquad-r" / f"{language}.json", _LAREQA)


_LAREQA = "XQuAD-R from github.com/google-research-datasets/lareqa"


def _paragraphs(path: Path, source: str) -> list[dict[str, Any]]:
    if not path.is_file():
        raise MissingDataError(f"{path} is missing: get {source}")
    return [paragraph for article in json.loads(path.read_text("utf-8"))["data"] for paragraph in article["paragraphs"]]


def _xquad(path: Path, source: str) -> Xquad:
    paragraphs = _paragraphs(path, source)
    return Xquad(
        paragraphs=tuple(paragraph["context"] for paragraph in paragraphs),
        questions=tuple(
            Question(asked["question"], number)
            for number, paragraph in enumerate(paragraphs)
            for asked in paragraph["qas"]
        ),
    )


def xquad_sentences(folder: Path, language: str) -> Sentences:
    """The candidates and questions of the published retrieval task. Raises `MissingDataError`."""
    sentences: list[str] = []
    questions: list[str] = []
    answers: list[int] = []
    for paragraph in _paragraphs(folder / "xquad-r" / f"{language}.json", _LAREQA):
        for asked in paragraph["qas"]:
            at = asked["answers"][0]["answer_start"]
            holder = next(i for i, (_, end) in enumerate(paragraph["sentence_breaks"]) if at < end)
            questions.append(asked["question"])
            answers.append(len(sentences) + holder)
        sentences += paragraph["sentences"]
    return Sentences(tuple(sentences), tuple(questions), tuple(answers))


def tatoeba_languages(folder: Path) -> list[str]:
    """Three-letter codes of the languages that are paired with English. Raises `MissingDataError`."""
    codes = sorted(path.suffix[1:] for path in (folder / "tatoeba").glob("*-eng.*") if path.suffix != ".eng")
    if not codes:
        raise MissingDataError(f"{folder / 'tatoeba'} has no pairs: get them from github.com/facebookresearch/LASER")
    return codes


def tatoeba(folder: Path, code: str) -> list[tuple[str, str]]:
    """(sentence, its English translation), line by line."""
    stem = folder / "tatoeba" / f"{code}-eng"
    sides = [Path(f"{stem}.{side}").read_text("utf-8").splitlines() for side in (code, "eng")]
    return list(zip(*sides, strict=True))


def beir(folder: Path) -> Beir:
    """Read a folder in BEIR's layout. Raises `MissingDataError`."""
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        if not (folder / name).is_file():
            raise MissingDataError(f"{folder / name} is missing: BEIR's layout is corpus.jsonl, queries.jsonl, qrels/")
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if float(grade) > 0:
            relevant.setdefault(query, set()).add(document)
    asked = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
    return Beir(
        documents={row["_id"]: (row.get("title") or "", row["text"]) for row in _rows(folder / "corpus.jsonl")},
        queries={query: asked[query] for query in relevant},
        relevant={query: frozenset(documents) for query, documents in relevant.items()},
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
