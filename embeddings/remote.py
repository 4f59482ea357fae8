"""An OpenAI-compatible `/v1/embeddings` endpoint: Ollama, text-embeddings-inference, vLLM, OpenAI.

Request `{"model", "input": [text, ...]}`, answer `{"data": [{"index", "embedding"}, ...]}`, as in OpenAI's API
reference for embeddings. Whatever else comes back is an EmbedderError, never a vector; a TextError when the endpoint
refuses these texts but takes another, so that one text does not keep all others waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx

from embeddings import catalog
from embeddings.embedder import EmbedderError, EmbeddingSpace, TextError, Vectors, checked

_TEXTS_A_CALL = 64
_UNKNOWN_MAX_TOKENS = 512
_CHARACTERS_PER_TOKEN = 16
_PROBE = "dimension"
"""A text that every endpoint takes."""
_ABOUT_THE_REQUEST = {400, 413, 422}
"""Statuses that may be about the texts, and may be about the name of the model."""


class RemoteEmbedder:
    """`url` goes up to and including `/v1`; `key` is sent as bearer token when there is one; `timeout` is in seconds.

    Prompts: the arguments, else those of the model's catalogue row, else none. One text is embedded at once to learn
    the dimension. Raises EmbedderError when the endpoint cannot be reached, refuses, or answers nonsense.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        query_prompt: str | None = None,
        passage_prompt: str | None = None,
        timeout: float = 30.0,
    ) -> None:
        if not url or not model:
            raise EmbedderError("a remote embedder needs the URL of its endpoint, up to /v1, and a model name")
        row = catalog.find(model)
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model = model
        self._max_tokens = row.max_tokens if row else _UNKNOWN_MAX_TOKENS
        self._query_prompt = query_prompt if query_prompt is not None else row.query_prompt if row else ""
        self._passage_prompt = passage_prompt if passage_prompt is not None else row.passage_prompt if row else ""
        self._client = httpx.Client(timeout=timeout, headers={"Authorization": f"Bearer {key}"} if key else {})
        self._space = EmbeddingSpace(
            model=model,
            revision="",
            dimension=self._embed([_PROBE], dimension=None).shape[1],
            query_prompt=self._query_prompt,
            passage_prompt=self._passage_prompt,
            pooling="remote",
            normalised=True,
            recipe="",
        )

    @property
    def space(self) -> EmbeddingSpace:
        return self._space

    @property
    def max_tokens(self) -> int:
        prompts = self.count_tokens([self._query_prompt, self._passage_prompt])
        return max(1, self._max_tokens - max(prompts) - 2)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """An estimate that is rather too high: one token per three bytes of UTF-8, and at least one a word.

        Multilingual vocabularies need about one token per four bytes of English and one per three to six bytes of
        other scripts, so a text within the limit by this count is hardly ever cut by the model.
        """
        return [max(len(text.split()), -(-len(text.encode("utf-8", "replace")) // 3)) for text in texts]

    def next_batch(self, queries: Sequence[str]) -> Sequence[int]:
        """All of them, since a request costs more than the texts in it."""
        return range(len(queries))

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._query_prompt + text for text in texts], dimension=self._space.dimension)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._passage_prompt + text for text in texts], dimension=self._space.dimension)

    def _embed(self, texts: Sequence[str], *, dimension: int | None) -> Vectors:
        longest = self._max_tokens * _CHARACTERS_PER_TOKEN
        # a lone surrogate cannot be sent as JSON in UTF-8
        clean = [text[:longest].encode("utf-8", "replace").decode() for text in texts]
        rows: list[Any] = []
        for start in range(0, len(clean), _TEXTS_A_CALL):
            batch = clean[start : start + _TEXTS_A_CALL]
            rows += _rows(self._ask(batch), len(batch))
        return checked(rows, count=len(clean), dimension=dimension)

    def _ask(self, batch: list[str]) -> Any:
        try:
            answer = self._client.post(self._url, json={"model": self._model, "input": batch})
            answer.raise_for_status()
            return answer.json()
        except httpx.HTTPStatusError as problem:
            status, reason = problem.response.status_code, problem.response.text[:200]
            kind = TextError if status in _ABOUT_THE_REQUEST and self._takes_others(batch) else EmbedderError
            raise kind(f"{self._url} answered {status}: {reason}") from problem
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise EmbedderError(f"{self._url} cannot be asked: {type(problem).__name__} {problem}") from problem
        except ValueError as problem:
            raise EmbedderError(f"{self._url} answered something that is not JSON") from problem

    def _takes_others(self, refused: list[str]) -> bool:
        if refused == [_PROBE]:
            return False
        try:
            self._ask([_PROBE])
        except EmbedderError:
            return False
        return True


def _rows(answer: Any, count: int) -> list[Any]:
    """The vectors in the order of the texts: the answer may list them in any order and numbers them by `index`."""
    try:
        rows = {int(item.get("index", place)): item["embedding"] for place, item in enumerate(answer["data"])}
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        raise EmbedderError("the embeddings endpoint answered without a list of vectors") from problem
    if sorted(rows) != list(range(count)) or len(answer["data"]) != count:
        raise EmbedderError(f"the embeddings endpoint answered {len(answer['data'])} vectors for {count} texts")
    return [rows[place] for place in range(count)]
