"""Faults that retrievers of others had with scores, floors, fusion and languages."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.recall import lines, lore
from benchmarks.recall.lab import Lab, average
from benchmarks.recall.measures import Recall, claims
from benchmarks.recall.systems import BARE, CHAIN, SERVED
from benchmarks.recall.trials import Ask, Corpus, Trial, make_corpus, numbered, said
from embeddings import background
from embeddings.index import VectorIndex
from service.lore.book import Book, Entry
from service.lore.lexical import Lexicon, query_grams, standing_out
from service.lore.open_book import AttachedBook, BookText, OpenBook
from service.lore.queries import Query
from service.lore.ranking import Meaning, rank

PAGE = Path(__file__).parents[2] / "docs" / "recall.md"
LANGUAGES = ("en", "pt", "zh", "ja", "ar")
HELLOS = ("hello", "hey there!", "oi, tudo bem?", "привет", "おはよう", "haha ok", "thank you so much", "谢谢你")


def asking(corpus: Corpus, *lines: str, gold: int | None = None) -> Trial:
    found = frozenset() if gold is None else frozenset({gold})
    asks = tuple(Ask(messages=said(line), gold=found, language="en") for line in lines)
    return Trial(name="asking", corpus=corpus, asks=asks)


def some_lore() -> Corpus:
    """20 entries of our lore set, in eight languages."""
    whole = lore.corpus()
    texts = [(entry.title, entry.content, entry.aliases) for entry in whole.entries[::8]]
    return make_corpus("some lore", texts, whole.languages[::8])


@pytest.mark.model
def test_greetings_claim_nothing(default_lab: Lab):
    """V16: greetings in many languages match none of 20 entries by meaning, although raw E5 scores are above .7."""
    trial = asking(some_lore(), *HELLOS)
    assert average(claims, default_lab.run(SERVED, trial)) == 0
    raw = default_lab.run(replace(BARE, floor=True), trial)
    assert average(claims, raw) == 1
    assert min(max(result.scores) for result in raw) > 0.7


@pytest.mark.model
def test_nothing_below_the_floor_is_claimed(default_lab: Lab):
    """V17: whatever the floor, no match scores below it, and a floor of .75 leaves these queries without any."""
    trial = asking(some_lore(), *HELLOS, *lines.everyday()["en"], "who keeps bees in the confessionals of a church?")
    claimed = []
    for base in (0.0, 0.2, 0.3, 0.75):
        calibration = replace(default_lab.calibration, floor=lambda groups, base=base: base)
        scores = [
            score
            for result in default_lab.with_calibration(calibration).run(replace(CHAIN, floor=True), trial)
            for score in result.scores
        ]
        assert all(score >= base for score in scores)
        claimed.append(len(scores))
    assert claimed == sorted(claimed, reverse=True)
    assert claimed[0] > claimed[1] > claimed[3] == 0


def test_the_page_defines_the_score_once():
    """V17: docs/recall.md says what the score is, on which scale, and where weak ends, in one place."""
    defined = re.findall(r"^\*\*The score\*\*.*$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(defined) == 1
    assert "0.30" in defined[0]


def test_spelling_in_another_script_adds_nothing():
    """V21: a query in a script that no entry has gains nothing, for any entry, so that meaning alone decides."""
    lexicon = Lexicon.build(["The lamp of the lighthouse", "A gate of grey salt", "灯台の灯り"])
    assert not lexicon.coverage(query_grams("смотритель маяка")).any()


@pytest.mark.parametrize("entries", [[], [""], ["", "salt gate"], ["salt"] * 3])
@pytest.mark.parametrize("query", ["", "…", "salt", "маяк"])
def test_an_empty_list_is_no_division_by_zero(entries, query):
    """V21: no entries, empty entries and queries without a letter give finite gains of the right shape."""
    gains = standing_out(Lexicon.build(entries).coverage(query_grams(query)))
    assert gains.shape == (len(entries),)
    assert np.isfinite(gains).all()


@pytest.mark.parametrize(("weight", "first"), [(0.0, 0), (0.25, 0), (4.0, 1)])
def test_weights_change_the_order(weight, first):
    """V21: an entry near in meaning comes before one near in spelling, or behind it, as the weight says."""
    titles = ("Lamp", "Zhumgar", *(f"Other {number}" for number in range(6)))
    entries = tuple(Entry(id=number, title=title, content="x") for number, title in enumerate(titles))
    axes = np.eye(8, dtype=np.float32)
    index = VectorIndex.build(8, {number: (row[None], row[None]) for number, row in enumerate(axes)})
    text = BookText.build(Book(id="book", name="weights"), entries)
    book = AttachedBook(open=OpenBook(text=text, index=index))
    query = Query(text="Zhumgar?", message=0, voice="last")
    vectors = np.array([[0.28, 0.02, 0, 0, 0, 0, 0, 0]], np.float32)  # both weak: strong ones come first
    meaning = Meaning(queries=(query,), vectors=vectors, spelling=weight)
    found = rank([book], [0], [0], meaning, places=2, book_places={0: 2})
    assert [match.place for match in found.matches] == [first, 1 - first]


@pytest.mark.model
@pytest.mark.parametrize("chat", LANGUAGES)
def test_every_pair_of_languages_finds_its_sentence(default_lab: Lab, chat, record_property):
    """E06: R@5 of each pair of en, pt, zh, ja and ar is reported, and none is near zero.

    The sentences are those that the directions were measured on: this guards a language against collapse, and the
    benchmark tells how good it is.
    """
    sentences = {language: lines[:24] for language, lines in background.sentences().items()}
    for book in LANGUAGES:
        if book == chat:
            continue
        corpus = numbered(f"background {book}", sentences[book], [book] * len(sentences[book]))
        asks = tuple(
            Ask(messages=said(line), gold=frozenset({place}), language=chat)
            for place, line in enumerate(sentences[chat])
        )
        results = default_lab.run(CHAIN, Trial(name=f"{chat} → {book}", corpus=corpus, asks=asks))
        recall = average(Recall(5), results)
        record_property(f"R@5 {chat} → {book}", round(recall, 3))
        assert recall >= 0.9, f"{chat} → {book}"


@pytest.mark.model
def test_named_hits_do_not_depend_on_the_chain(default_lab: Lab, hashing: Lab):
    """What is named comes first, and is the same with any model, any floor and any step of the chain off."""
    corpus = some_lore()
    trial = asking(corpus, *(f"*nods* ok, {entry.title}. so what?" for entry in corpus.entries))
    off = replace(SERVED, directions=False, windows=False, spelling=0.0, reading="last", floor=False)
    for lab in (default_lab, hashing):
        for system in (SERVED, off, replace(SERVED, meaning=False)):
            for place, result in enumerate(lab.run(system, trial)):
                assert result.places[0] == place
                assert [number for number, score in enumerate(result.scores) if np.isnan(score)] == [0]
