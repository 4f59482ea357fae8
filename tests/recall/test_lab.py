"""The lab runs the product's chain on remembered vectors, step by step."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.recall import lore
from benchmarks.recall.budget import budget_recall
from benchmarks.recall.lab import Lab, average, read
from benchmarks.recall.measures import AveragePrecision, Recall
from benchmarks.recall.pool import average_precisions
from benchmarks.recall.systems import BARE, CHAIN, LITERAL, SERVED, STEPS
from benchmarks.recall.trials import Ask, Trial, make_corpus, said
from benchmarks.recall.vectors import VectorStore
from embeddings.encoding import Encoder
from embeddings.hashing import HashingEmbedder
from embeddings.index import VectorIndex
from service.lore.book import Book
from service.lore.open_book import AttachedBook, BookText, OpenBook
from service.lore.ranking import Meaning
from service.lore.recipe import embedding_text
from service.lore.request import RetrieveRequest
from service.lore.retrieval import Defaults, prepare, retrieve
from service.tokenizers import tokenizer_for

TEXTS = [
    ("Lighthouse", "A tower on the northern rock whose lamp burns whale oil. " * 8, ("the Old Lamp",)),
    ("Salt Gate", "A gate of grey salt in the harbour wall, opened twice a year for the herring fleet.", ()),
    ("Ilse", "The keeper of bees, deaf since her eleventh year, who sells honey to nobody in mourning.", ()),
]
CORPUS = make_corpus("harbour", TEXTS, ["en"] * 3)


def trial(*contents: str, gold: int = 0) -> Trial:
    ask = Ask(messages=said(*contents), gold=frozenset({gold}), language="en")
    return Trial(name="t", corpus=CORPUS, asks=(ask,))


def test_a_text_is_embedded_once_and_kept_for_the_next_run(tmp_path):
    """A second run asks the model for nothing, and its vectors have the same bits."""
    first = VectorStore(HashingEmbedder(), tmp_path)
    rows = first.passages(["salt", "lamp", "salt"])
    assert first.asked == 2
    again = VectorStore(HashingEmbedder(), tmp_path)
    assert np.array_equal(again.passages(["salt", "lamp", "salt"]), rows)
    assert again.asked == 0


def test_queries_and_passages_are_kept_apart(tmp_path):
    """A text that was embedded as a passage is embedded again as a query."""
    store = VectorStore(HashingEmbedder(), tmp_path)
    store.passages(["salt"])
    store.queries(["salt"])
    assert store.asked == 2


def test_another_space_shares_nothing(tmp_path):
    """Vectors of two spaces are kept in two files."""
    VectorStore(HashingEmbedder(), tmp_path).passages(["salt"])
    other = VectorStore(HashingEmbedder(dimension=64), tmp_path)
    assert other.passages(["salt"]).shape == (1, 64)


def test_the_lab_finds_what_a_retrieval_finds(hashing: Lab):
    """The places and scores of the lab are those of a retrieval over vectors that the encoder of the service made."""
    messages = said("What burns in the lamp?", "Whale oil.", "And who opens the gate of salt?")
    defaults = Defaults(budget_tokens=150, places=3)
    request = RetrieveRequest(messages=messages, index="none", budget_tokens=150)
    tokenizer = tokenizer_for(tokenizer="cl100k_base", model=None, default="", margin=1.0)
    encoder = Encoder(HashingEmbedder)
    encoder.start()
    try:
        vectors = encoder.embed_texts([embedding_text(entry) for entry in CORPUS.entries])
        groups = {number: (each.pieces, each.windows) for number, each in enumerate(vectors)}
        text = BookText.build(Book(id="book", name="harbour"), CORPUS.entries)
        book = AttachedBook(open=OpenBook(text=text, index=VectorIndex.build(256, groups)))
        prepared = prepare([book], request, tokenizer, defaults)
        rows = encoder.embed_queries([query.text for query in prepared.queries])
    finally:
        encoder.close()
    answer = retrieve(prepared, Meaning(queries=prepared.queries, vectors=rows))
    matched = {trace.id - 1: trace.reason.score for trace in answer.sections.matched.entries}
    ask = Ask(messages=messages, gold=frozenset({1}), language="en")
    system = replace(CHAIN, storage="float32")
    found = hashing.run(system, Trial(name="t", corpus=CORPUS, asks=(ask,)), 3)[0]
    scores = dict(zip(found.places, found.scores, strict=True))
    assert len(matched) >= 2
    assert matched == {place: pytest.approx(scores[place], abs=6e-4) for place in matched}


@pytest.mark.parametrize("system", [*STEPS, SERVED, LITERAL], ids=lambda system: system.name)
def test_every_system_finds_the_entry_whose_words_are_said(hashing: Lab, system):
    """Every row of the table of systems finds an entry that the message names and describes."""
    found = hashing.run(system, trial("Where is the Salt Gate, a gate of grey salt in the harbour wall?", gold=1))
    assert found[0].places[0] == 1


def test_literal_matching_finds_names_alone(hashing: Lab):
    """The literal system finds an alias, and nothing for a paraphrase."""
    assert hashing.run(LITERAL, trial("light the Old Lamp!"))[0].places == (0,)
    assert hashing.run(LITERAL, trial("who keeps bees?"))[0].places == ()


def test_systems_do_not_share_what_differs(hashing: Lab):
    """What a system finds does not depend on those that ran before it on the same lab."""
    asked = trial("who keeps bees?", gold=2)
    systems = (LITERAL, *STEPS, SERVED)
    fresh = [
        Lab(store=hashing.store, calibration=hashing.calibration).run(system, asked)[0].places for system in systems
    ]
    assert [hashing.run(system, asked)[0].places for system in systems] == fresh


@pytest.mark.parametrize(
    ("reading", "voices"),
    [("places", ["last", "previous", "older"]), ("last", ["last"]), ("equal", ["last"] * 3), ("joined", ["last"])],
)
def test_each_reading_makes_its_own_queries(reading, voices):
    """Messages are read in turn, the last alone, all alike, or as one text."""
    messages = said("the lamp", "whale oil", "why?")
    messages = (*messages[:1], *messages[1:])
    assert [query.voice for query in read(messages, reading)] == voices


def test_without_windows_an_entry_is_one_vector(hashing: Lab):
    """The bare system has a row an entry, the chain more."""
    bare = hashing.open(CORPUS, BARE).open.index
    chain = hashing.open(CORPUS, CHAIN).open.index
    assert bare.nbytes < chain.nbytes
    assert len(hashing.entries(CORPUS, windows=False)[0].windows) == 0
    assert len(hashing.entries(CORPUS, windows=True)[0].windows) > 1


def test_whole_books_count_as_found_when_the_budget_holds_them(hashing: Lab):
    """Within a budget for the whole book all gold is in full; within none nothing is, nor indexed."""
    found = budget_recall(hashing, SERVED, trial("who keeps bees?", gold=2), budgets=(0, 4000))
    assert [(row.in_full, row.indexed) for row in found] == [(0.0, 0.0), (1.0, 1.0)]
    assert found[1].used <= 4000


def test_a_small_budget_indexes_what_it_cannot_hold(hashing: Lab):
    """An entry that is not in full has a line in the index, and counts as indexed alone."""
    off = replace(LITERAL, name="nothing", named=False)
    found = budget_recall(hashing, off, trial("who keeps bees?", gold=2), budgets=(150,))
    assert (found[0].in_full, found[0].indexed) == (0.0, 1.0)


def test_the_pool_ranks_as_average_precision_does():
    """The fast mean over a pool agrees with the measure worked out one by one."""
    random = np.random.default_rng(5)
    queries = random.normal(size=(7, 8)).astype(np.float32)
    passages = random.normal(size=(40, 8)).astype(np.float32)
    relevant = np.array([random.choice(40, 3, replace=False) for _ in range(7)])
    one_by_one = [
        AveragePrecision()(np.argsort(-scores, kind="stable").tolist(), set(gold.tolist()))
        for scores, gold in zip(queries @ passages.T, relevant, strict=True)
    ]
    assert average_precisions(queries, passages, relevant) == pytest.approx(one_by_one)


@pytest.mark.parametrize("part", ["choosing", "judging"])
def test_literal_matching_alone_finds_less_than_half_of_the_lore_set(hashing: Lab, part):
    """Names that stand in the messages find less than half of the gold of our lore set."""
    results = [result for result in hashing.run(LITERAL, lore.trial(part)) if result.ask.gold]
    assert 0.05 < average(Recall(8), results) < 0.5
