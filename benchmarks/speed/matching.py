"""Finding aliases: fold, scan and spans beside the bare scan, beside a loop over the keys, and how it grows."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import ahocorasick_rs
import numpy as np

from benchmarks.speed.lore import names, words
from benchmarks.speed.size import Figures, Size
from benchmarks.speed.timing import alternate, median
from service.lore.matching import Matcher
from service.lore.text import fold

CHARACTERS = 20_000
_NODE_SCRIPT = Path(__file__).with_name("matching.mjs")
_LOOP_ALIASES = 10_000
"""For the loops over keys; at most."""


def measure_match(size: Size) -> Figures:
    """Milliseconds on 20 kB by the number of aliases; the loops over keys on at most 10,000 of them."""
    random = np.random.default_rng(11)
    called = names(random, max(size.aliases))
    text = _text(random, called)
    figures = _beside_the_bare_scan(text, called, size)
    few, many = size.aliases[-3:][0], size.aliases[-1]
    figures["growth"] = figures[f"match_{many}_ms"] / figures[f"match_{few}_ms"]
    figures["growth_of_the_bare_scan"] = figures[f"bare_{many}_ms"] / figures[f"bare_{few}_ms"]
    looped = max(count for count in size.aliases if count <= _LOOP_ALIASES)
    ours = figures[f"match_{looped}_ms"]
    figures["times_the_bare_scan"] = ours / figures[f"bare_{looped}_ms"]
    figures[f"loop_with_re_{looped}_ms"] = loop_with_re(text, called[:looped])
    figures["times_faster_than_re"] = figures[f"loop_with_re_{looped}_ms"] / ours
    if (node := shutil.which("node")) is None:
        print("node is not installed: no loop as SillyTavern has it")
    else:
        figures[f"loop_in_node_{looped}_ms"] = loop_in_node(node, text, called[:looped], size.slow_rounds)
        figures["times_faster_than_node"] = figures[f"loop_in_node_{looped}_ms"] / ours
    return figures


def _text(random: np.random.Generator, called: Sequence[str]) -> str:
    """20 kB of words, one name in a hundred, of the thousand that every count has."""
    vocabulary = words(random, 4000)
    parts = [vocabulary[word] for word in random.integers(0, len(vocabulary), 3600)]
    for place in range(40, len(parts), 100):
        parts[place] = called[random.integers(min(1000, len(called)))]
    return " ".join(parts)[:CHARACTERS]


def _beside_the_bare_scan(text: str, called: Sequence[str], size: Size) -> Figures:
    folded = fold(text).text
    candidates: dict[str, Callable[[], object]] = {}
    for count in size.aliases:
        matcher = Matcher.build(list(enumerate(called[:count])))
        bare = ahocorasick_rs.AhoCorasick([fold(name).text for name in called[:count]])
        candidates[f"match_{count}_ms"] = partial(_find, matcher, text)
        candidates[f"bare_{count}_ms"] = partial(bare.find_matches_as_indexes, folded, overlapping=True)
    seconds = alternate(candidates, rounds=2 * size.rounds)
    return {name: 1000 * median(found) for name, found in seconds.items()}


def _find(matcher: Matcher, text: str) -> object:
    return matcher.find(fold(text))


def loop_with_re(text: str, keys: Sequence[str]) -> float:
    """Milliseconds of one pass over the keys with the semantics of SillyTavern, each compiled, as they change."""
    lowered = text.lower()

    def loop() -> int:
        re.purge()
        found = 0
        for key in (key.lower() for key in keys):
            if " " in key:
                found += key in lowered
            else:
                found += re.search(rf"(?:^|\W)({re.escape(key)})(?:$|\W)", lowered, re.ASCII) is not None
        return found

    return 1000 * median(alternate({"loop": loop}, rounds=1)["loop"])


def loop_in_node(node: str, text: str, keys: Sequence[str], rounds: int) -> float:
    """Milliseconds of one pass over the keys as SillyTavern makes it, in node."""
    given = json.dumps({"text": text, "keys": list(keys), "rounds": rounds})
    done = subprocess.run([node, str(_NODE_SCRIPT)], input=given, capture_output=True, text=True, check=True)
    return median(json.loads(done.stdout)["milliseconds"])
