"""Goals G1 to G14 as rows: what is measured, what others and the first study saw, and what must be reached.

Each goal is judged on data that chose no parameter (`trials`), beside the bare model: one vector an entry as the model
gives it, the last message alone. Where a goal is a loss or a false match, less is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.recall import claimed, recalled
from benchmarks.recall.bench import Bench
from benchmarks.recall.measures import R1, R5, Measured


@dataclass(frozen=True)
class Figure:
    """One number of a goal: as the first study saw it with the model alone and with the chain, and the two targets."""

    name: str
    raw: float | None
    seen: float | None
    floor: float
    ambitious: float
    less: bool = False
    """Whether less is better."""

    def reached(self, value: float) -> str:
        """`no`, `floor` or `ambitious`; compared as printed, to a tenth of a percentage point."""
        value = round(value, 3)

        def holds(target: float) -> bool:
            return value <= target if self.less else value >= target

        return "ambitious" if holds(self.ambitious) else "floor" if holds(self.floor) else "no"


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A row."""

    id: str
    what: str
    figures: tuple[Figure, ...]
    measure: Callable[[Bench], Measured]


GOALS = (
    Goal(
        id="G1",
        what="same-language question → entry",
        figures=(Figure("R@1", 0.899, 0.953, 0.94, 0.96), Figure("R@5", 0.988, 0.994, 0.99, 0.995)),
        measure=lambda bench: recalled.questions(bench, same=True),
    ),
    Goal(
        id="G2",
        what="cross-language question → entry",
        figures=(Figure("R@1", 0.709, 0.784, 0.77, 0.80), Figure("R@5", 0.913, 0.940, 0.93, 0.95)),
        measure=lambda bench: recalled.questions(bench, same=False),
    ),
    Goal(
        id="G3",
        what="worst language pair",
        figures=(Figure("R@5", 0.80, 0.85, 0.84, 0.90),),
        measure=recalled.worst_pair,
    ),
    Goal(
        id="G4",
        what="mixed-language book, entry in another language",
        figures=(Figure("R@1", 0.354, 0.660, 0.64, 0.72), Figure("R@5", 0.661, 0.918, 0.90, 0.94)),
        measure=lambda bench: recalled.mixed_book_questions(bench, (R1, R5), own=False),
    ),
    Goal(
        id="G5",
        what="mixed-language book, entry in the chat's language",
        figures=(Figure("R@5", 0.998, 0.998, 0.995, 0.998),),
        measure=lambda bench: recalled.mixed_book_questions(bench, (R5,), own=True),
    ),
    Goal(
        id="G6",
        what="fact past token 500 of an entry of 800-1,000",
        figures=(Figure("R@5", 0.690, 0.966, 0.95, 0.98),),
        measure=recalled.long_entries,
    ),
    Goal(
        id="G7",
        what="question after two long replies",
        figures=(Figure("among 8", 0.21, 0.90, 0.88, 0.94),),
        measure=recalled.after_replies,
    ),
    Goal(
        id="G8",
        what="topic only in an earlier message",
        figures=(
            Figure("in the reply", 0.04, 1.00, 0.95, 0.98),
            Figure("in the reply, diluted", 0.04, 0.96, 0.95, 0.98),
            Figure("in the user's message", 0.04, 0.83, 0.80, 0.88),
        ),
        measure=recalled.earlier_topic,
    ),
    Goal(
        id="G9",
        what="small talk claims an entry",
        figures=(
            Figure("share", None, 0.043, 0.05, 0.02, less=True),
            Figure("mixed book", None, 0.060, 0.06, 0.02, less=True),
        ),
        measure=claimed.small_talk,
    ),
    Goal(
        id="G10",
        what="true matches under the floor",
        figures=(
            Figure("all pairs", 0.55, 0.029, 0.03, 0.015, less=True),
            Figure("same language", None, 0.002, 0.005, 0.0, less=True),
        ),
        measure=claimed.lost,
    ),
    Goal(
        id="G11",
        what="invented name in a short message, by meaning and spelling alone",
        figures=(Figure("R@5 exact", 0.747, 0.951, 0.95, 0.99), Figure("R@5 misspelt", 0.597, 0.857, 0.85, 0.93)),
        measure=recalled.invented_names,
    ),
    Goal(
        id="G12",
        what="loss of R@5 by storage in int8",
        figures=(Figure("loss", None, 0.0, 0.001, 0.0, less=True),),
        measure=recalled.storage,
    ),
    Goal(
        id="G13",
        what="pairs that lose more than .5 pt R@5 by the lexical leg",
        figures=(Figure("pairs", None, 0.0, 0.0, 0.0, less=True),),
        measure=recalled.lexical_leg,
    ),
    Goal(
        id="G14",
        what="XQuAD-R, published protocol",
        figures=(Figure("mAP", 0.299, 0.511, 0.50, 0.66),),
        measure=recalled.published,
    ),
)
