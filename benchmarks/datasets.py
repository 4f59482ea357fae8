"""Public data sets, read from a folder that the user names. They are not part of this repository.

XQuAD (Artetxe et al. 2020, CC BY-SA 4.0): github.com/google-deepmind/xquad, files xquad.LANG.json in FOLDER/xquad.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


class MissingDataError(Exception):
    """The folder does not hold the data set; the message says where to get it."""


@dataclass(frozen=True)
class Question:
    """A question and the paragraph that answers it."""

    text: str
    paragraph: int


@dataclass(frozen=True)
class Xquad:
    """240 paragraphs and 1,190 questions in one language, parallel over the languages."""

    paragraphs: tuple[str, ...]
    questions: tuple[Question, ...]


def xquad(folder: Path, language: str) -> Xquad:
    """Read one language. Raises `MissingDataError`."""
    path = folder / "xquad" / f"xquad.{language}.json"
    if not path.is_file():
        raise MissingDataError(f"{path} is missing: get XQuAD from github.com/google-deepmind/xquad")
    paragraphs = [
        paragraph for article in json.loads(path.read_text("utf-8"))["data"] for paragraph in article["paragraphs"]
    ]
    return Xquad(
        paragraphs=tuple(paragraph["context"] for paragraph in paragraphs),
        questions=tuple(
            Question(asked["question"], number)
            for number, paragraph in enumerate(paragraphs)
            for asked in paragraph["qas"]
        ),
    )
