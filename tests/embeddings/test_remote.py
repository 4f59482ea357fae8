"""An embeddings endpoint over HTTP, right and wrong answers alike."""

import json
import math
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from embeddings.embedder import EmbedderError, TextError
from embeddings.hashing import HashingEmbedder
from embeddings.passages import embed_each
from embeddings.remote import RemoteEmbedder

Answer = Callable[[dict[str, Any]], tuple[int, str]]


def right(request: dict[str, Any]) -> tuple[int, str]:
    """Every text by hashing, listed last first, as an endpoint may."""
    vectors = HashingEmbedder(8).embed_passages(request["input"])
    data = [{"object": "embedding", "index": i, "embedding": (3 * row).tolist()} for i, row in enumerate(vectors)]
    return 200, json.dumps({"object": "list", "data": data[::-1], "model": request["model"]})


class Endpoint:
    """A local server that answers as it is told and notes what it was asked."""

    def __init__(self) -> None:
        self.answer: Answer = right
        self.requests: list[tuple[str, str | None, dict[str, Any]]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append((self.path, self.headers["Authorization"], body))
                status, text = endpoint.answer(body)
                content = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_texts_go_with_the_prompts_of_the_model(endpoint: Endpoint) -> None:
    """E04: a known model gets its own prompts, a query another one than a passage, and the key as a bearer token."""
    embedder = RemoteEmbedder(f"{endpoint.url}/", "intfloat/multilingual-e5-base", key="k-1")
    embedder.embed_queries(["salt"])
    embedder.embed_passages(["salt"])
    assert [body["input"] for _, _, body in endpoint.requests[1:]] == [["query: salt"], ["passage: salt"]]
    assert {(path, key) for path, key, _ in endpoint.requests} == {("/v1/embeddings", "Bearer k-1")}
    assert embedder.space.query_prompt == "query: "
    assert embedder.space.dimension == 8


def test_vectors_come_in_the_order_of_the_texts(endpoint: Endpoint) -> None:
    """The answer's own numbers decide which vector is whose, over several calls, and rows come out at unit length."""
    texts = [f"text {n}" for n in range(150)]
    found = RemoteEmbedder(endpoint.url, "own-model").embed_passages(texts)
    assert np.allclose(found, HashingEmbedder(8).embed_passages(texts), atol=1e-6)
    assert [len(body["input"]) for _, _, body in endpoint.requests] == [1, 64, 64, 22]


def vectors(*rows: list[float]) -> Answer:
    return lambda request: (200, json.dumps({"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)]}))


@pytest.mark.parametrize(
    "answer",
    [
        vectors(),
        vectors([1.0] * 8),
        vectors([1.0] * 8, [1.0] * 8, [1.0] * 8),
        vectors([1.0] * 4, [1.0] * 4),
        vectors([1.0] * 8, [1.0] * 4),
        vectors([1.0] * 8, []),
        vectors([1.0] * 8, [math.nan] * 8),
        vectors([1.0] * 8, [0.0] * 8),
        lambda request: (200, json.dumps({"data": [{"index": 0, "embedding": [1.0] * 8}] * 2})),
        lambda request: (200, json.dumps({"data": ["a", "b"]})),
        lambda request: (200, json.dumps({"error": "no such model"})),
        lambda request: (200, "[]"),
        lambda request: (200, "<html>"),
        lambda request: (401, '{"error": "bad key"}'),
        lambda request: (500, "oops"),
    ],
    ids=[
        "none", "too few", "too many", "another dimension", "uneven", "empty vector", "NaN", "zero", "one index twice",
        "no objects", "an error in 200", "a list", "no JSON", "refused", "broken",
    ],
)  # fmt: skip
def test_nonsense_is_an_error(endpoint: Endpoint, answer: Answer) -> None:
    """C10, V13: fewer or more vectors than texts, another dimension, NaN or an error page is an EmbedderError."""
    embedder = RemoteEmbedder(endpoint.url, "own-model")
    endpoint.answer = answer
    with pytest.raises(EmbedderError):
        embedder.embed_queries(["a", "b"])
    endpoint.answer = right
    assert embedder.embed_queries(["a", "b"]).shape == (2, 8)


def test_only_a_vector_of_nonsense_blames_the_text(endpoint: Endpoint) -> None:
    """A NaN is the fault of its text, so that the others can be tried alone; a wrong count is the endpoint's."""
    embedder = RemoteEmbedder(endpoint.url, "own-model")
    endpoint.answer = vectors([math.nan] * 8)
    with pytest.raises(TextError):
        embedder.embed_queries(["a"])
    endpoint.answer = vectors()
    with pytest.raises(EmbedderError, match="0 vectors for 1 texts") as caught:
        embedder.embed_queries(["a"])
    assert not isinstance(caught.value, TextError)


def test_nobody_listens() -> None:
    """C10: an endpoint that cannot be reached is an EmbedderError that names it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(EmbedderError, match=url):
        RemoteEmbedder(url, "own-model")


@pytest.mark.parametrize(
    ("url", "model"), [("", "m"), ("http://127.0.0.1:9/v1", ""), ("no url", "m"), ("ftp://x", "m")]
)
def test_settings_that_cannot_work(url: str, model: str) -> None:
    """A missing or malformed URL or name is an EmbedderError when the embedder is made."""
    with pytest.raises(EmbedderError):
        RemoteEmbedder(url, model)


def test_strange_texts_can_be_sent(endpoint: Endpoint) -> None:
    """I16, C06: a lone surrogate and a text of a million characters reach the endpoint as something it can read."""
    embedder = RemoteEmbedder(endpoint.url, "own-model")
    assert embedder.embed_passages(["\ud83d", "x" * 1_000_000, ""]).shape == (3, 8)
    sent = endpoint.requests[-1][2]["input"]
    assert sent[0] == "?"
    assert len(sent[1]) == 512 * 16


def test_token_counts_err_on_the_safe_side(endpoint: Endpoint) -> None:
    """Without the model's tokenizer a count is at least one per three bytes and one a word; prompts leave room."""
    embedder = RemoteEmbedder(endpoint.url, "own-model")
    assert embedder.count_tokens(["a b c d", "漢字", "lighthouse", ""]) == [4, 2, 4, 0]
    assert embedder.max_tokens == 510


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_text_that_is_refused(endpoint: Endpoint, status: int) -> None:
    """C10: a text that the endpoint refuses has no vector, and the others of its batch have theirs."""
    embedder = RemoteEmbedder(endpoint.url, "own-model")
    endpoint.answer = lambda body: (status, "too long") if "long" in body["input"] else right(body)
    salt, refused, tide = embed_each(["salt", "long", "tide"], embedder.embed_passages)
    assert isinstance(refused, TextError)
    assert f"answered {status}: too long" in str(refused)
    assert np.allclose([salt, tide], HashingEmbedder(8).embed_passages(["salt", "tide"]), atol=1e-6)


@pytest.mark.parametrize("status", [400, 404, 413, 422, 429, 503])
def test_an_endpoint_that_refuses_everything(endpoint: Endpoint, status: int) -> None:
    """C10: a refusal that is not about the text, as of a wrong model name, fails no text."""
    embedder = RemoteEmbedder(endpoint.url, "own-model")
    endpoint.answer = lambda _: (status, "no such model")
    with pytest.raises(EmbedderError, match=f"answered {status}: no such model") as refused:
        embed_each(["salt", "tide"], embedder.embed_passages)
    assert not isinstance(refused.value, TextError)
    before = len(endpoint.requests)
    with pytest.raises(EmbedderError, match="no such model"):
        RemoteEmbedder(endpoint.url, "own-model")
    assert len(endpoint.requests) == before + 1
