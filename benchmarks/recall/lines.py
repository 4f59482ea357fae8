"""Lines that we wrote for the benchmark: small talk, follow-ups, invented names, questions about a name."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.recall.trials import Part

FOLDER = Path(__file__).parent / "lines"


@cache
def _read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def small_talk(part: Part) -> Mapping[str, list[str]]:
    """Messages that are about nothing in any book, by language."""
    lines: Mapping[str, list[str]] = _read("small_talk")[part]
    return lines


def everyday() -> Mapping[str, list[str]]:
    """Real questions that no book of lore answers, by language."""
    lines: Mapping[str, list[str]] = _read("everyday")
    return lines


def follow_ups(language: str) -> list[str]:
    """Messages without a topic of their own: "and why?"."""
    lines: list[str] = _read("follow_ups")[language]
    return lines


def names(part: Part) -> list[str]:
    """120 invented Latin names."""
    lines: list[str] = _read("names")
    return lines[0 if part == "choosing" else 1 :: 2]


def name_questions(language: str) -> list[str]:
    """Short messages that ask about `{name}`."""
    lines: list[str] = _read("name_questions")[language]
    return lines


def misspelt(name: str) -> str:
    """The name with one letter dropped, doubled, swapped with the next or changed, always the same way."""
    chance = random.Random(f"misspelt {name}")
    ways = [
        name[:at] + middle + name[at + width :]
        for at in range(1, len(name) - 1)
        for width, middle in (
            (1, ""),
            (1, name[at] * 2),
            (2, name[at + 1] + name[at]),
            (1, chance.choice("abcdefghijklmnopqrstuvwxyz")),
        )
    ]
    return chance.choice([way for way in ways if way != name])
