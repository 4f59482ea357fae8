"""Our own lore set: role-play and story lore in eight languages and chats about it in twelve, written by us.

Two worlds, read as one book of entries of many languages. Every message has its part: `choosing` or `judging`. Kinds:
`paraphrase` asks without the entry's words; `name` and `misspelt` carry a name; `anaphora_reply` and `anaphora_user`
have their topic only in an earlier message; `small_talk` and `off_topic` have no gold.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.recall.trials import Ask, Corpus, Part, Trial, make_corpus
from service.lore.request import Message

FOLDER = Path(__file__).parent / "lore"
KINDS = ("paraphrase", "name", "misspelt", "anaphora_reply", "anaphora_user", "small_talk", "off_topic")
WITHOUT_GOLD = frozenset({"small_talk", "off_topic"})


def _rows(kind: str) -> list[dict[str, Any]]:
    return [row for path in sorted(FOLDER.glob(f"*/{kind}.json")) for row in json.loads(path.read_text("utf-8"))]


@cache
def corpus() -> Corpus:
    """Every entry of every world."""
    rows = _rows("entries")
    texts = [(row["title"], row["content"], tuple(row["aliases"])) for row in rows]
    return make_corpus("lore", texts, [row["language"] for row in rows])


@cache
def trial(part: Part) -> Trial:
    """The chats of one part, asked of the one book."""
    places = {row["id"]: place for place, row in enumerate(_rows("entries"))}
    asks = tuple(
        Ask(
            messages=tuple(Message(**message) for message in row["messages"]),
            gold=frozenset(places[gold] for gold in row["gold"]),
            language=row["language"],
            kind=row["kind"],
        )
        for row in _rows("messages")
        if row["part"] == part
    )
    return Trial(name=f"lore {part}", corpus=corpus(), asks=asks)


def is_cross(ask: Ask, languages: Sequence[str]) -> bool:
    """Whether all the gold is in other languages than the chat."""
    return all(languages[place] != ask.language for place in ask.gold)


@cache
def english() -> tuple[str, ...]:
    """The words of the English messages and entries, one text after the other: prose for whoever measures speed."""
    said = [
        message.content
        for part in ("choosing", "judging")
        for ask in trial(part).asks
        if ask.language == "en"
        for message in ask.messages
    ]
    found = corpus()
    told = [entry.content for entry, language in zip(found.entries, found.languages, strict=True) if language == "en"]
    return tuple(" ".join([*said, *told]).split())
