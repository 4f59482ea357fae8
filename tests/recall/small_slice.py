"""A slice small enough for every run: one book of 38 entries in eleven languages, one of 80 names, and what is asked.

Of the 38 entries 30 are a paragraph of XQuAD each, 8 are four paragraphs of an article. The asks
of each kind need one step of the chain more than any other.
"""

from __future__ import annotations

import random
from pathlib import Path

from benchmarks.recall import lines
from benchmarks.recall.trials import CHATS, Ask, Corpus, Trial, make_corpus, numbered, questions, said, xquad
from embeddings.windows import sentences

PLAIN = 30
LONG = 8


def corpus(data: Path) -> Corpus:
    """Entry n is the first paragraph of article n; entry 30 + n the other four of article n."""
    chance = random.Random("slice")
    languages = [chance.choice(CHATS) for _ in range(PLAIN + LONG)]
    contents = [xquad(data, languages[place]).paragraphs[5 * place] for place in range(PLAIN)]
    for article in range(LONG):
        paragraphs = xquad(data, languages[PLAIN + article]).paragraphs
        contents.append("\n".join(paragraphs[5 * article + 1 : 5 * article + 5]))
    return numbered("slice", contents, languages)


def _other(chance: random.Random, language: str) -> str:
    return chance.choice([chat for chat in CHATS if chat != language])


def asks(data: Path, book: Corpus) -> dict[str, tuple[Ask, ...]]:
    """By kind."""
    chance = random.Random("asks")
    made: dict[str, list[Ask]] = {kind: [] for kind in ("cross", "deep", "reply", "small_talk")}

    def add(kind: str, place: int | None, language: str, *contents: str) -> None:
        gold = frozenset() if place is None else frozenset({place})
        made[kind].append(Ask(messages=said(*contents), gold=gold, language=language, kind=kind))

    for number, question in enumerate(questions(data, "en", "judging")):
        article, paragraph = divmod(question.paragraph, 5)
        if paragraph == 0 and article < PLAIN:
            language = _other(chance, book.languages[article])
            add("cross", article, language, questions(data, language, "judging")[number].text)
        elif paragraph == 4 and article < LONG:
            for language in ("en", "de", "zh"):
                add("deep", PLAIN + article, language, questions(data, language, "judging")[number].text)
    for place in range(0, PLAIN, 2):
        language = _other(chance, book.languages[place])
        parts = list(sentences(xquad(data, language).paragraphs[5 * place]))
        add("reply", place, language, "".join(parts[: max(1, len(parts) // 2)]), lines.follow_ups(language)[0])
    for language, spoken in lines.small_talk("judging").items():
        for line in spoken[:2]:
            add("small_talk", None, language, line)
    return {kind: tuple(found) for kind, found in made.items()}


def names(data: Path) -> Trial:
    """80 short English entries under invented names, and a message that says little but each name."""
    paragraphs = xquad(data, "en").paragraphs
    called = lines.names("judging")[:80]
    contents = [next(sentences(paragraphs[3 * place])).strip() for place in range(80)]
    book = make_corpus(
        "names", [(name, content, ()) for name, content in zip(called, contents, strict=True)], ["en"] * 80
    )
    templates = lines.name_questions("en")
    found = tuple(
        Ask(
            messages=said(templates[place % len(templates)].format(name=name)),
            gold=frozenset({place}),
            language="en",
            kind="name",
        )
        for place, name in enumerate(called)
    )
    return Trial(name="name", corpus=book, asks=found)


def trials(data: Path) -> dict[str, Trial]:
    """One trial a kind, all of the same book but that of names."""
    book = corpus(data)
    made = {kind: Trial(name=kind, corpus=book, asks=found) for kind, found in asks(data, book).items()}
    return {**made, "name": names(data)}
