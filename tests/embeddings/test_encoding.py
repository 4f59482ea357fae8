"""One thread runs the model; everybody else waits for it, and nothing that the model does ends the thread."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from fitting import fit

from embeddings import encoding
from embeddings.calibration import Calibration
from embeddings.embedder import Embedder, EmbedderError, EmbedderTimeout, EmbeddingSpace, TextError, Vectors
from embeddings.encoding import Encoder, TextVectors
from embeddings.hashing import HashingEmbedder
from embeddings.sentence_transformer import SentenceTransformerEmbedder
from embeddings.windows import cut


class Panic(BaseException):
    """What a panic in Rust looks like from Python: no Exception."""


class Watched(HashingEmbedder):
    """A real embedder that notes its calls, waits at a gate, and fails when it is told to."""

    def __init__(self) -> None:
        super().__init__(64)
        self.calls: list[tuple[str, list[str]]] = []
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.failure: Callable[[str], BaseException | None] = lambda text: None

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._watch("queries", texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._watch("passages", texts)

    def _watch(self, kind: str, texts: Sequence[str]) -> Vectors:
        self.calls.append((kind, list(texts)))
        self.threads.add(threading.get_ident())
        self.entered.set()
        assert self.gate.wait(30)
        for text in texts:
            if (failure := self.failure(text)) is not None:
                raise failure
        return self._embed(texts)


@contextmanager
def running(load: Callable[[], Embedder], **options: int) -> Iterator[Encoder]:
    encoder = Encoder(load, **options)
    encoder.start()
    try:
        yield encoder
    finally:
        encoder.close()


def wait_until(encoder: Encoder, reached: Callable[[], bool]) -> None:
    """Wait until callers have changed the queue so far."""
    with encoder._changed:
        assert encoder._changed.wait_for(reached, 30)


@contextmanager
def busy(model: Watched) -> Iterator[tuple[Encoder, ThreadPoolExecutor]]:
    """An encoder whose model has the query "first" in hand until its gate is set, and threads to ask it from."""
    with running(lambda: model) as encoder, ThreadPoolExecutor(8) as pool:
        model.gate.clear()
        first = pool.submit(encoder.embed_queries, ["first"])
        assert model.entered.wait(30)
        yield encoder, pool
        assert first.result(30).shape == (1, 64)


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "_FIRST_PAUSE", 0.0)


def test_queries_come_back_in_order() -> None:
    """Each text gets its own vector, in the order asked, equal texts the same one."""
    model = Watched()
    with running(lambda: model) as encoder:
        found = encoder.embed_queries(["salt", "coast", "salt"], timeout=30)
    assert np.array_equal(found, HashingEmbedder(64).embed_queries(["salt", "coast", "salt"]))
    assert model.calls == [("queries", ["salt", "coast"])]


def test_recent_queries_are_not_embedded_again() -> None:
    """A query asked before comes from the cache until so many others were asked since."""
    model = Watched()
    with running(lambda: model, cached_queries=2) as encoder:
        for text in ("one", "two", "one", "three", "one", "two"):
            encoder.embed_queries([text], timeout=30)
    assert [texts for _, texts in model.calls] == [["one"], ["two"], ["three"], ["two"]]


def test_many_threads_at_once() -> None:
    """C01, D7: 32 threads that ask at once all get their vectors, from one thread that runs the model."""
    model = Watched()
    words = [f"word {n}" for n in range(40)]
    expected = HashingEmbedder(64).embed_queries(words)
    with running(lambda: model) as encoder, ThreadPoolExecutor(32) as pool:

        def ask(n: int) -> bool:
            numbers = [(n * 7 + i) % 40 for i in range(5)]
            found = encoder.embed_queries([words[i] for i in numbers], timeout=30)
            texts = encoder.embed_texts([words[i] for i in numbers])
            return np.array_equal(found, expected[numbers]) and all(isinstance(text, TextVectors) for text in texts)

        assert all(pool.map(ask, range(64)))
    assert len(model.threads) == 1


def test_waiting_queries_share_a_call() -> None:
    """Queries that wait while the model is busy go in one call, and equal ones in flight are embedded once."""
    model = Watched()
    with busy(model) as (encoder, pool):
        asked = [pool.submit(encoder.embed_queries, [text]) for text in ("a", "b", "first", "a", "c")]
        wait_until(encoder, lambda: sum(query.waiting for query in encoder._queries.values()) == 6)
        model.gate.set()
        assert all(future.result(30).shape == (1, 64) for future in asked)
    assert [sorted(texts) for _, texts in model.calls] == [["first"], ["a", "b", "c"]]


class OneLength(Watched):
    """An embedder that likes its queries of one length."""

    def next_batch(self, queries: Sequence[str]) -> Sequence[int]:
        return [index for index, text in enumerate(queries) if len(text) == len(queries[0])]


def test_a_call_takes_what_the_embedder_likes_together() -> None:
    """Queries that wait go with the first of them that the embedder likes beside it, in the order they came."""
    model = OneLength()
    with busy(model) as (encoder, pool):
        asked = []
        for number, text in enumerate(("one", "long", "two", "a", "king", "b")):
            asked.append(pool.submit(encoder.embed_queries, [text]))
            wait_until(encoder, lambda number=number: len(encoder._queries) == number + 2)
        model.gate.set()
        assert all(future.result(30).shape == (1, 64) for future in asked)
    assert [texts for _, texts in model.calls] == [["first"], ["one", "two"], ["long", "king"], ["a", "b"]]


class OneByOne(Watched):
    """An embedder that likes to be asked for one query at a time."""

    def next_batch(self, queries: Sequence[str]) -> Sequence[int]:
        return [0]


def test_who_asks_much_takes_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """The query of one caller goes before the later ones of another who came just before, not before the first four."""
    monkeypatch.setattr(encoding, "_TURN", 1000.0)
    model = OneByOne()
    with busy(model) as (encoder, pool):
        many = pool.submit(encoder.embed_queries, [f"many {n}" for n in range(200)])
        wait_until(encoder, lambda: len(encoder._queries) == 201)
        one = pool.submit(encoder.embed_queries, ["one", "many 199"])
        wait_until(encoder, lambda: len(encoder._queries) == 202)
        model.gate.set()
        assert all(len(future.result(30)) for future in (many, one))
    order = [text for _, [text] in model.calls]
    assert len(order) == 202
    assert order[:5] == ["first", *(f"many {n}" for n in range(4))]
    assert sorted(order[5:7]) == ["many 199", "one"]
    assert order[7] == "many 4"
    assert order[-1] == "many 198"


def test_a_query_goes_between_two_batches_of_passages() -> None:
    """A query never waits for a whole import: it is answered after the batch in hand."""
    model = Watched()
    with running(lambda: model) as encoder, ThreadPoolExecutor(2) as pool:
        model.gate.clear()
        passages = pool.submit(encoder.embed_texts, [f"Passage number {n}." for n in range(200)])
        assert model.entered.wait(30)
        query = pool.submit(encoder.embed_queries, ["who?"])
        wait_until(encoder, lambda: bool(encoder._queries))
        model.gate.set()
        assert query.result(30).shape == (1, 64)
        assert len(passages.result(30)) == 200
    kinds = [kind for kind, _ in model.calls]
    assert kinds[1] == "queries"
    assert len(kinds) > 10
    assert max(len(texts) for _, texts in model.calls) <= 16


def test_texts_come_back_as_pieces_and_windows() -> None:
    """A text gets a row for each piece and each window that it is cut into; equal passages are embedded once."""
    model = Watched()
    long = "The old lighthouse stands alone on its rock. " * 150
    with running(lambda: model) as encoder:
        short_one, long_one, again = encoder.embed_texts(["Kira.", long, "Kira."])
        most = encoder.max_tokens
    assert isinstance(short_one, TextVectors)
    assert isinstance(long_one, TextVectors)
    assert isinstance(again, TextVectors)
    assert most == 504
    made = cut(long, model.count_tokens, piece_tokens=most)
    assert np.array_equal(long_one.pieces, HashingEmbedder(64).embed_passages(made.pieces))
    assert np.array_equal(long_one.windows, HashingEmbedder(64).embed_passages(made.windows))
    assert long_one.pieces.shape[0] > 1
    assert np.array_equal(short_one.pieces, again.pieces)
    embedded = [text for _, texts in model.calls for text in texts]
    assert len(embedded) == len(set(embedded))


def test_one_bad_text_does_not_spoil_the_others() -> None:
    """V13: a blank text, or one whose vector is nonsense, gives a TextError in its place; no other text suffers."""
    model = Watched()
    model.failure = lambda text: TextError("not finite") if "poison" in text else None
    with running(lambda: model) as encoder:
        answers = encoder.embed_texts(["good", "poison", "  \n", "fine"])
        assert [type(answer) for answer in answers] == [TextVectors, TextError, TextError, TextVectors]
        with pytest.raises(TextError):
            encoder.embed_queries(["poison"], timeout=30)
        assert encoder.embed_queries(["good"], timeout=30).shape == (1, 64)
        assert encoder.state.status == "ready"


@pytest.mark.parametrize(
    "failure", [EmbedderError("it is down"), RuntimeError("out of memory"), Panic("PanicException")]
)
@pytest.mark.usefixtures("no_pause")
def test_a_failing_model_never_ends_the_thread(failure: BaseException) -> None:
    """T03, C10: whatever the model raises, even no Exception, reaches callers as EmbedderError, and it goes on."""
    model = Watched()
    with running(lambda: model) as encoder:
        model.failure = lambda text: failure
        with pytest.raises(EmbedderError, match=str(failure)):
            encoder.embed_queries(["a"], timeout=30)
        assert encoder.state.status == "failed"
        with pytest.raises(EmbedderError, match=str(failure)):
            encoder.embed_texts(["a"])
        model.failure = lambda text: None
        assert encoder.embed_queries(["a"], timeout=30).shape == (1, 64)
        assert encoder.state.status == "ready"


def test_a_failure_is_not_tried_again_at_once() -> None:
    """While a failure is fresh, calls fail at once with its reason instead of waiting for a dead server again."""
    model = Watched()
    model.failure = lambda text: EmbedderError("it is down")
    with running(lambda: model) as encoder:
        for _ in range(3):
            with pytest.raises(EmbedderError, match="it is down"):
                encoder.embed_queries(["a"], timeout=30)
            with pytest.raises(EmbedderError, match="it is down"):
                encoder.embed_texts(["a"])
    assert len(model.calls) == 1


@pytest.mark.usefixtures("no_pause")
def test_a_failed_load_is_tried_again() -> None:
    """B6: while the model cannot be loaded calls say why; a later call loads it."""
    attempts = []

    def load() -> Embedder:
        attempts.append(1)
        if len(attempts) < 3:
            raise EmbedderError("no such folder")
        return HashingEmbedder()

    with running(load) as encoder:

        def problem() -> str | None:
            try:
                encoder.embed_queries(["a"], timeout=30)
            except EmbedderError as error:
                return str(error)
            return None

        assert set(iter(problem, None)) == {"no such folder"}
        assert encoder.space is not None
    assert len(attempts) == 3


def test_a_caller_waits_no_longer_than_its_limit() -> None:
    """B6: while the model is loading a call ends with EmbedderTimeout at its limit, and the work it left is dropped."""
    allowed = threading.Event()

    def load() -> Embedder:
        assert allowed.wait(30)
        return model

    model = Watched()
    with running(load) as encoder:
        assert encoder.state.status == "loading"
        with pytest.raises(EmbedderTimeout):
            encoder.embed_queries(["dropped"], timeout=0.01)
        with pytest.raises(EmbedderTimeout):
            encoder.embed_texts(["dropped"], timeout=0.01)
        allowed.set()
        assert encoder.embed_queries(["kept"], timeout=30).shape == (1, 64)
    assert model.calls == [("queries", ["kept"])]


def test_closing_frees_whoever_waits() -> None:
    """After close every waiting call and every later one gets an EmbedderError; nothing hangs."""
    model = Watched()
    encoder = Encoder(lambda: model)
    encoder.start()
    with ThreadPoolExecutor(3) as pool:
        model.gate.clear()
        first = pool.submit(encoder.embed_queries, ["in hand"])
        assert model.entered.wait(30)
        waiting = pool.submit(encoder.embed_texts, ["waiting"])
        wait_until(encoder, lambda: bool(encoder._jobs))
        closing = pool.submit(encoder.close)
        wait_until(encoder, lambda: bool(encoder._closed))
        model.gate.set()
        closing.result(30)
        assert first.result(30).shape == (1, 64)
        with pytest.raises(EmbedderError, match="closed"):
            waiting.result(30)
    with pytest.raises(EmbedderError, match="closed"):
        encoder.embed_queries(["later"])
    encoder.close()


def test_no_text_needs_no_model() -> None:
    """An empty list is answered with no rows."""
    with running(HashingEmbedder) as encoder:
        assert encoder.embed_texts([]) == []
        assert encoder.embed_queries([], timeout=30).shape == (0, 256)


def test_long_queries_are_capped() -> None:
    """C06: however long a query is, the model gets at most 20,000 characters of it."""
    model = Watched()
    with running(lambda: model) as encoder:
        encoder.embed_queries(["x" * 1_000_000], timeout=60)
    assert [len(text) for _, texts in model.calls for text in texts] == [20_000]


def test_vectors_are_calibrated() -> None:
    """Queries and passages have the model's means and language directions off, and the space's stamp says so."""
    languages = {"en": ["The river is deep.", "The cat sleeps."], "de": ["Der Fluss ist tief.", "Die Katze schläft."]}

    def calibrate(embedder: Embedder) -> Calibration:
        return fit(embedder, languages)

    model = HashingEmbedder()
    expected = fit(model, languages)
    encoder = Encoder(lambda: model, calibrate=calibrate)
    encoder.start()
    query = encoder.embed_queries(["the deep river"], timeout=30)
    (text,) = encoder.embed_texts(["The river"])
    space: EmbeddingSpace | None = encoder.space
    encoder.close()
    assert np.array_equal(query, expected.queries(model.embed_queries(["the deep river"])))
    assert isinstance(text, TextVectors)
    assert np.allclose(text.pieces, expected.passages(model.embed_passages(["The river"])), atol=1e-6)
    assert space is not None
    assert expected.version in space.recipe
    assert space.id != model.space.id


@pytest.mark.model
def test_many_threads_at_the_real_model(default_model: SentenceTransformerEmbedder) -> None:
    """C01, D7: 32 threads at the default model at once get no error, and the same bits as one after the other."""
    questions = [f"Who keeps the lighthouse number {n}?" for n in range(12)]
    with running(lambda: default_model) as encoder, ThreadPoolExecutor(32) as pool:

        def ask(n: int) -> Vectors:
            texts = encoder.embed_texts([f"The keeper of lighthouse {n % 3} is Ilse."])
            assert isinstance(texts[0], TextVectors)
            return encoder.embed_queries([questions[n % 12]], timeout=120)

        together = list(pool.map(ask, range(32)))
    with running(lambda: default_model) as encoder:
        alone = [encoder.embed_queries([question], timeout=120) for question in questions]
    assert all(np.array_equal(row, alone[n % 12]) for n, row in enumerate(together))


@pytest.mark.model
def test_a_fact_at_the_end_of_a_long_text_is_found(default_model: SentenceTransformerEmbedder) -> None:
    """E01: the last sentence of a text of 3,000 tokens, which the model alone would cut away, is found by meaning."""
    filler = "The market of Oden opens at dawn and sells fish, rope, salt and lamp oil until the bells ring at noon. "
    long = filler * 130 + "The drowned king left his crown in the well behind the mill."
    texts = [long, filler * 130]
    assert default_model.count_tokens([long])[0] > 3000
    with running(lambda: default_model) as encoder:
        query = encoder.embed_queries(["Where is the crown of the drowned king?"], timeout=120)[0]
        answers = encoder.embed_texts(texts)
    best = [float((answer.windows @ query).max()) for answer in answers if isinstance(answer, TextVectors)]
    assert best[0] > best[1] + 0.2
