"""A local model through OpenVINO, without torch in the process: queries in a fraction of the time, on Intel best.

The model is converted once, in a process of its own (`embeddings.conversion`), and kept in the cache folder. Converting
proves that the vectors are those of the model, so they carry its stamp, and a book need not be embedded again after a
change of backend. Needs the extra `worldbook[openvino]`.

Measured with OpenVINO 2026.4 and the default model on x86-64 with AMX: rows of one padded length had the same bits in
a batch as alone, in float32 and in bfloat16 (which OpenVINO chooses where the processor has it). Loading proves it on a
sample, and where the proof fails queries go one by one.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.batching import MOST, batches, padded, query_batches, rows_agree
from embeddings.derived import derived_folder
from embeddings.embedder import EmbedderError, EmbeddingSpace, Vectors, checked

log = logging.getLogger(__name__)

GRAPH, TOKENIZER, ABOUT = "model.xml", "tokenizer.json", "about.json"
_CHARACTERS_PER_TOKEN = 16


def load(source: Callable[[], Path], cache_dir: Path, *, model: str, revision: str) -> OpenVinoEmbedder:
    """The sentence-transformers folder that `source` gives, converted if need be. Raises EmbedderError."""
    try:
        version = metadata.version("openvino")
    except metadata.PackageNotFoundError as problem:
        raise EmbedderError("backend=openvino needs the extra: pip install 'worldbook[openvino]'") from problem
    name = f"{model}-{revision}-openvino-{version}"
    try:
        folder = derived_folder(cache_dir, name, lambda target: _convert(source(), target, model, revision))
    except OSError as problem:
        raise EmbedderError(f"cannot keep the converted model in {cache_dir}: {problem}") from problem
    return OpenVinoEmbedder(folder)


def runtime() -> Any:
    """The package `openvino`, imported without its telemetry, which otherwise reports every import to its maker."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None: as if it were not installed
    import openvino

    return openvino


class OpenVinoEmbedder:
    """A folder that `embeddings.conversion` wrote."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        about = json.loads((folder / ABOUT).read_text("utf-8"))
        self._space = EmbeddingSpace(**about["space"])
        self._limit = int(about["limit"])
        self._pad = int(about["pad"])
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_padding()
        openvino = runtime()
        compiled = openvino.Core().compile_model(folder / GRAPH, "CPU", {"PERFORMANCE_HINT": "LATENCY"})
        self._request = compiled.create_infer_request()
        self._query_batch = MOST
        if not rows_agree(self.embed_queries):
            log.warning("query vectors of %s depend on their batch here: queries go one by one", folder.name)
            self._query_batch = 1

    @property
    def space(self) -> EmbeddingSpace:
        return self._space

    @property
    def max_tokens(self) -> int:
        return self._limit - max(len(ids) for ids in self._ids(["", ""], special=True, prompts=self._prompts))

    @property
    def _prompts(self) -> tuple[str, str]:
        return self._space.query_prompt, self._space.passage_prompt

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self._ids(texts, special=False, prompts=("",) * len(texts))]

    def next_batch(self, queries: Sequence[str]) -> Sequence[int]:
        """The first and those of its length."""
        return self._query_batches(self._truncated(queries, self._space.query_prompt))[0]

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dimension). The vector of a text does not depend, to the last bit, on the other texts."""
        ids = self._truncated(texts, self._space.query_prompt)
        return self._embed(ids, self._query_batches(ids))

    def _query_batches(self, ids: Sequence[Sequence[int]]) -> list[list[int]]:
        return query_batches([len(own) for own in ids], limit=self._limit, most=self._query_batch)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dimension)."""
        ids = self._truncated(texts, self._space.passage_prompt)
        return self._embed(ids, batches(sorted(range(len(ids)), key=lambda i: len(ids[i]))))

    def _ids(self, texts: Sequence[str], *, special: bool, prompts: Sequence[str]) -> list[list[int]]:
        self._tokenizer.no_truncation()
        asked = [prompt + text for prompt, text in zip(prompts, texts, strict=True)]
        return [found.ids for found in self._tokenizer.encode_batch(asked, add_special_tokens=special)]

    def _truncated(self, texts: Sequence[str], prompt: str) -> list[list[int]]:
        self._tokenizer.enable_truncation(self._limit)
        # tokenizers keep what they were given, so without a cap memory grows with the longest text
        asked = [prompt + text[: self._limit * _CHARACTERS_PER_TOKEN] for text in texts]
        return [found.ids for found in self._tokenizer.encode_batch(asked)]

    def _embed(self, ids: Sequence[Sequence[int]], batches: Iterable[Sequence[int]]) -> Vectors:
        vectors = np.zeros((len(ids), self._space.dimension), dtype=np.float32)
        for batch in batches:
            shape = len(batch), padded(max(len(ids[i]) for i in batch), self._limit)
            tokens, mask = np.full(shape, self._pad, np.int64), np.zeros(shape, np.int64)
            for row, i in enumerate(batch):
                tokens[row, : len(ids[i])] = ids[i]
                mask[row, : len(ids[i])] = 1
            vectors[batch] = self._request.infer({"input_ids": tokens, "attention_mask": mask})[0]
        return checked(vectors, count=len(ids), dimension=self._space.dimension)


def _convert(source: Path, target: Path, model: str, revision: str) -> None:
    # in another process, so that torch and its memory are gone afterwards
    command = [sys.executable, "-m", "embeddings.conversion", str(source), str(target), model, revision]
    log.info("converting %s for OpenVINO, once", model)
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own module
    if done.returncode:
        told = done.stderr.strip().splitlines() or ["no reason given"]
        raise EmbedderError(f"cannot convert {model} for OpenVINO: {told[-1]}. Use backend=torch")
