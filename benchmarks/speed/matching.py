"""Finding aliases: fold, scan and spans beside the bare scan, beside a loop over the keys, and how it grows.

What a scan costs depends on how far the words of the text lead into the automaton. Of the prose of our lore set few
words begin like an invented name, as in a chat about a fantasy world; that is the text of the goals. In the other one
every word is made of the syllables that the names are made of, as if each word of English began a title: the more
names, the more states a scan walks through, most of them not in the nearest cache. Its growth is told beside.
"""

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

from benchmarks.recall import lore
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
    text, alike = (_with_names(random, parts, called) for parts in (lore.english(), _words_like_names(random)))
    figures = _beside_the_bare_scan(text, called, size)
    few, many = size.aliases[-3:][0], size.aliases[-1]
    figures["growth"] = figures[f"match_{many}_ms"] / figures[f"match_{few}_ms"]
    figures["growth_of_the_bare_scan"] = figures[f"bare_{many}_ms"] / figures[f"bare_{few}_ms"]
    worst = _beside_the_bare_scan(alike, called, size)
    for count in size.aliases:
        figures[f"match_{count}_words_like_names_ms"] = worst[f"match_{count}_ms"]
    figures["growth_with_words_like_names"] = worst[f"match_{many}_ms"] / worst[f"match_{few}_ms"]
    figures["growth_of_the_bare_scan_with_words_like_names"] = worst[f"bare_{many}_ms"] / worst[f"bare_{few}_ms"]
    looped = max(count for count in size.aliases if count <= _LOOP_ALIASES)
    figures["times_the_bare_scan"] = figures[f"match_{looped}_ms"] / figures[f"bare_{looped}_ms"]
    return figures | _beside_loops(text, called[:looped], size)


def _beside_loops(text: str, keys: Sequence[str], size: Size) -> Figures:
    """Ours alone, as the loops run, none of which has its caches emptied by others between two rounds."""
    matcher = Matcher.build(list(enumerate(keys)))
    ours = 1000 * median(alternate({"ours": partial(_find, matcher, text)}, rounds=2 * size.rounds)["ours"])
    slow = loop_with_re(text, keys)
    count = len(keys)
    figures = {f"match_{count}_alone_ms": ours, f"loop_with_re_{count}_ms": slow, "times_faster_than_re": slow / ours}
    if (node := shutil.which("node")) is None:
        print("node is not installed: no loop as SillyTavern has it")
    else:
        figures[f"loop_in_node_{count}_ms"] = loop_in_node(node, text, keys, size.slow_rounds)
        figures["times_faster_than_node"] = figures[f"loop_in_node_{count}_ms"] / ours
    return figures


def _words_like_names(random: np.random.Generator) -> list[str]:
    """Words of the syllables of names."""
    vocabulary = words(random, 4000)
    return [vocabulary[word] for word in random.integers(0, len(vocabulary), 3600)]


def _with_names(random: np.random.Generator, parts: Sequence[str], called: Sequence[str]) -> str:
    """20 kB, one name in a hundred words, of the thousand that every count has."""
    named = list(parts)
    for place in range(40, len(named), 100):
        named[place] = called[random.integers(min(1000, len(called)))]
    text = " ".join(named)
    assert len(text) >= CHARACTERS
    return text[:CHARACTERS]


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
