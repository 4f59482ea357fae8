"""What an author should look at in a book (SPEC W16). Findings are nudges: nothing is refused for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from rapidfuzz import fuzz

from service.lore.book import WORLD, Entry
from service.lore.open_book import BookText
from service.lore.strict import STRICT
from service.lore.text import fold
from service.lore.tokens import Tokenizer

FindingKind = Literal["never_used", "long_entry", "near_duplicates", "common_word", "shared_alias"]

ENOUGH_TURNS = 20
"""An entry that did not appear is no finding before some entry of its book was used so often."""
MAX_HANDLES = 50
ALIKE = 90.0
"""Ratio of the contents of near duplicates, in percent of equal letters (Indel similarity)."""
_NAMED = "Give them aliases that people say, or a gist that the index shows; or delete them."
_WOKEN = "Give them keys that people say, or look at what else their trigger wants; or delete them."
_GRAM = 8
_SKETCH = 16
"""Texts are compared when they share one of their so many pieces of eight letters with the smallest hashes: the
bottom-k sketch of Broder (On the resemblance and containment of documents, 1997)."""
_MULTIPLIERS = np.array([pow(0x9E3779B97F4A7C15, power, 2**64) for power in range(1, _GRAM + 1)], np.uint64)
_MANY = 10
"""Of more texts that share a piece each is compared with the first only."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something about one or several entries."""

    __pydantic_config__ = STRICT

    kind: FindingKind
    handles: tuple[str, ...]
    """At most fifty."""
    measure: float
    """`never_used`: entries; `long_entry`: tokens; `near_duplicates`: percent of equal letters; `common_word`: everyday
    sentences that the name stands in; `shared_alias`: entries."""
    detail: str
    remedy: str


def findings(
    text: BookText,
    used: Mapping[int, tuple[int, int]],
    everyday: Sequence[str],
    tokenizer: Tokenizer,
    most_tokens: int,
) -> tuple[Finding, ...]:
    """All findings about the enabled entries of a book; of a lorebook those that need neither names nor vectors.

    `used` has uses and fetches by entry id, `everyday` are sentences of any language that no lore is in, `most_tokens`
    is what the embedding model reads at once.
    """
    enabled = [entry for entry, on in zip(text.entries, text.enabled, strict=True) if on]
    if text.book.dialect != WORLD:
        return (*_never_used(enabled, used, _WOKEN), *_near_duplicates(enabled))
    return (
        *_never_used(enabled, used, _NAMED),
        *_long(text, tokenizer, most_tokens),
        *_near_duplicates(enabled),
        *_common_words(text, everyday),
        *_shared(text),
    )


def _never_used(enabled: Collection[Entry], used: Mapping[int, tuple[int, int]], remedy: str) -> Iterator[Finding]:
    turns = max((uses for uses, _ in used.values()), default=0)
    never = [entry.handle for entry in enabled if entry.tier == "relevant" and not any(used.get(entry.id, ()))]
    if turns >= ENOUGH_TURNS and never:
        yield Finding(
            kind="never_used",
            handles=tuple(never[:MAX_HANDLES]),
            measure=len(never),
            detail=f"{len(never)} relevant entries never appeared, while another was used in {turns:,} turns",
            remedy=remedy,
        )


def _long(text: BookText, tokenizer: Tokenizer, most_tokens: int) -> Iterator[Finding]:
    full = text.sheet(tokenizer, None).full
    for entry, on, tokens in zip(text.entries, text.enabled, full.tolist(), strict=True):
        if on and tokens > most_tokens:
            yield Finding(
                kind="long_entry",
                handles=(entry.handle,),
                measure=tokens,
                detail=f"{entry.title} has about {tokens:,} tokens, and the model reads {most_tokens:,} at once",
                remedy="Split it into entries of one idea each.",
            )


def _near_duplicates(enabled: Sequence[Entry]) -> Iterator[Finding]:
    folded = [fold(entry.content).text.strip() for entry in enabled]
    groups = {place: [place] for place in range(len(folded))}
    ratios: dict[int, float] = {}
    for one, other in sorted(_sharing(folded)):
        ratio = fuzz.ratio(folded[one], folded[other], score_cutoff=ALIKE)
        if ratio and groups[one] is not groups[other]:
            merged = [*groups[one], *groups[other]]
            ratios[min(merged)] = min(ratio, *(ratios.pop(min(groups[each]), ratio) for each in (one, other)))
            groups.update(dict.fromkeys(merged, merged))
    for first, ratio in sorted(ratios.items()):
        alike = [enabled[place] for place in sorted(groups[first])]
        yield Finding(
            kind="near_duplicates",
            handles=tuple(entry.handle for entry in alike[:MAX_HANDLES]),
            measure=round(ratio, 1),
            detail=f"{len(alike)} entries say nearly the same, such as {alike[0].title} and {alike[1].title}",
            remedy="Keep one of them, with the names and keys of all.",
        )


def _sharing(texts: Sequence[str]) -> set[tuple[int, int]]:
    """Pairs of texts that share a piece of their sketches."""
    holders: defaultdict[int, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        for piece in _sketch(text):
            holders[piece].append(place)
    pairs: set[tuple[int, int]] = set()
    for places in holders.values():
        pairs.update(combinations(places, 2) if len(places) <= _MANY else ((places[0], other) for other in places[1:]))
    return pairs


def _sketch(text: str) -> list[int]:
    letters = np.frombuffer(text.ljust(_GRAM).encode("utf-32-le"), np.uint32).astype(np.uint64)
    grams = np.lib.stride_tricks.sliding_window_view(letters, _GRAM)
    hashes = (grams * _MULTIPLIERS).sum(axis=1, dtype=np.uint64)
    hashes ^= hashes >> np.uint64(29)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)  # so that small hashes are no small letters
    found: list[int] = np.unique(hashes)[:_SKETCH].tolist()
    return found


def _common_words(text: BookText, everyday: Sequence[str]) -> Iterator[Finding]:
    sentences: defaultdict[tuple[int, str], int] = defaultdict(int)
    for sentence in everyday:
        for key in {(hit.owner, hit.alias) for hit in text.matcher.find(fold(sentence))}:
            sentences[key] += 1
    for (ordinal, name), count in sorted(sentences.items()):
        yield Finding(
            kind="common_word",
            handles=(text.entries[ordinal].handle,),
            measure=count,
            detail=f"'{name}' is an everyday word of some language, so the entry is named without being meant",
            remedy="Choose a name that only this entry has.",
        )


def _shared(text: BookText) -> Iterator[Finding]:
    for name, ordinals in text.named.items():
        if len(ordinals) > 1:
            yield Finding(
                kind="shared_alias",
                handles=tuple(text.entries[ordinal].handle for ordinal in ordinals[:MAX_HANDLES]),
                measure=len(ordinals),
                detail=f"'{name}' names {len(ordinals)} entries",
                remedy="Leave the name to the entry that it means first.",
            )
