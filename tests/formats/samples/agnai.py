"""Agnai memory books."""

from __future__ import annotations

from typing import Any

from tests.formats.samples.sample import Sample, lore, once

PLAIN = {
    "name": "Oru", "entry": "A salt port.", "keywords": ["oru", "the port"], "priority": 0, "weight": 0,
    "enabled": True,
}  # fmt: skip
ORU = lore("Oru", "A salt port.", "oru", "the port")


def memory(*entries: Any, **top: Any) -> dict[str, Any]:
    """A memory book."""
    return {"kind": "memory", "name": "Salt", "description": "The coast.", "entries": list(entries), **top}


SAMPLES = (
    Sample(
        shows="a memory book",
        format="agnai",
        file=memory(PLAIN, _id="x", userId="y"),
        name="Salt",
        description="The coast.",
        entries=(ORU,),
    ),
    Sample(
        shows="a book that does not state its kind",
        format="agnai",
        file={"entries": [PLAIN, {**PLAIN, "enabled": False}]},
        entries=(ORU, lore("Oru", "A salt port.", "oru", "the port", enabled=False)),
    ),
    Sample(
        shows="every setting",
        format="agnai",
        every_setting=True,
        file=memory(
            {
                **PLAIN,
                "id": 3,
                "comment": "memo",
                "secondaryKeys": ["sea"],
                "constant": True,
                "priority": "5",
                "weight": 9,
                "selective": True,
                "position": "after_char",
                "probability": 40,
                "useProbability": True,
                "selectiveLogic": 2,
                "excludeRecursion": True,
            },
            scanDepth=3,
            tokenBudget=500,
            recursiveScanning=True,
            extensions={"hub": 1},
        ),
        name="Salt",
        description="The coast.",
        entries=(lore("Oru", "A salt port.", "oru", "the port", "sea", tier="canon"),),
        no_home=once(
            "priority weight selective position probability selectiveLogic excludeRecursion scanDepth "
            "tokenBudget recursiveScanning extensions.hub"
        ),
    ),
    Sample(
        shows="wildcards stay as they are written, the memo is a title where there is no name",
        format="agnai",
        file=memory({"entry": "Salt.", "keywords": ["salt*", "s?a"], "comment": "Memo", "name": ""}, name=None),
        description="The coast.",
        entries=(lore("Memo", "Salt.", "salt*", "s?a"),),
        warnings=(("literal_pattern", 0), ("literal_pattern", 0)),
    ),
    Sample(
        shows="an empty book",
        format="agnai",
        file=memory(),
        name="Salt",
        description="The coast.",
    ),
    Sample(
        shows="what is no entry",
        format="agnai",
        file=memory(
            None, {"name": "Empty", "keywords": ["a"]}, {**PLAIN, "keywords": None}, {"entry": 7, "keywords": "a, b"}
        ),
        name="Salt",
        description="The coast.",
        entries=(lore("Oru", "A salt port."), lore("a", "7", "a", "b")),
        places=(2, 3),
        skipped=((0, "not_an_entry"), (1, "no_content")),
    ),
)
