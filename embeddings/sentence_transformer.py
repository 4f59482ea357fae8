"""Any sentence-transformers model, from a hub name or a local folder.

Queries. The same query must give the same bits alone and in a crowd, or the same request ranks differently from run
to run. In plain float32 batches it does not. Measured with the default model on x86-64 with AVX-512: of 48 queries
padded to a common length 40 % of the rows agreed with batches of one, of 44 queries in batches of exactly equal
length 11 %; the others were off by one unit in the last place. So queries of one batch are padded to a multiple of 16
tokens that each query decides alone, and go through a network whose rows are bit-identical whatever is beside them:
`ExactBert` in bfloat16 for a BERT on x86-64 that multiplies so, else `precision.row_exact` in float32. Loading proves
it on a sample, and where the proof fails (another processor, a GPU) queries go one by one.

Passages. They are stored, so nothing depends on their last bits: they go through the same network where it is in
bfloat16, else in bfloat16 where the processor computes in it, and in float32 batches elsewhere.
`python -m benchmarks.speed embed` compares both with plain float32 encoding.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings import catalog
from embeddings.batching import MOST, PADDING, batches, query_batches, rows_agree
from embeddings.embedder import EmbedderError, EmbeddingSpace, Vectors, checked

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from embeddings.bert import Bert

log = logging.getLogger(__name__)

_CHARACTERS_PER_TOKEN = 16
_SAMPLE = "Who lit the lamp of the old lighthouse, 灯台守, смотритель маяка? "


class SentenceTransformerEmbedder:
    """`name_or_path` is a folder, which is never looked up on the network, or a name on the Hugging Face hub.

    `model` and `revision` are what the space is stamped with; by default the name, and a hash of the weights (of a
    folder) or the commit (of a hub model). Prompts: the model's own, else those of its catalogue row, else none.
    `loaded` is the model itself where the caller has it. Raises EmbedderError when the model cannot be loaded.
    """

    def __init__(
        self,
        name_or_path: str | Path,
        *,
        device: str | None = None,
        model: str | None = None,
        revision: str | None = None,
        loaded: SentenceTransformer | Bert | None = None,
    ) -> None:
        folder, name = Path(name_or_path), str(name_or_path)
        local = folder.is_dir()
        loaded = loaded or load_model(name, local=local, device=device)

        self._tokenizer = loaded.tokenizer
        self._limit = int(loaded.max_seq_length or 512)
        self._query_prompt, self._passage_prompt = _prompts(loaded, model or name)
        self._space = EmbeddingSpace(
            model=model or (folder.resolve().name if local else name),
            revision=revision or (weights_hash(folder) if local else _commit(loaded)),
            dimension=_dimension(loaded, name),
            query_prompt=self._query_prompt,
            passage_prompt=self._passage_prompt,
            pooling=_pooling(loaded),
            normalised=True,
            recipe="",
        )
        self._exact, self._fast = self._views(loaded, name)
        # while it waits, a query is looked at before every batch
        self._query_length = lru_cache(maxsize=256)(self._counted_query)
        self._query_batch = MOST
        if not rows_agree(self.embed_queries):
            log.warning("query vectors of %s depend on their batch here: queries go one by one", name)
            self._query_batch = 1

    @property
    def space(self) -> EmbeddingSpace:
        return self._space

    @property
    def max_tokens(self) -> int:
        prompts = self._tokenizer([self._query_prompt, self._passage_prompt])["input_ids"]
        return self._limit - max(len(ids) for ids in prompts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._count(texts, special=False)

    def next_batch(self, queries: Sequence[str]) -> Sequence[int]:
        """The first and those of its length."""
        return self._query_batches([self._cap(text) for text in queries])[0]

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dimension). The vector of a text does not depend, to the last bit, on the other texts."""
        texts = [self._cap(text) for text in texts]
        return self._embed(self._exact, texts, self._query_batches(texts), self._query_prompt, padding=PADDING)

    def _query_batches(self, texts: Sequence[str]) -> list[list[int]]:
        lengths = [self._query_length(text) for text in texts]
        return query_batches(lengths, limit=self._limit, most=self._query_batch)

    def _counted_query(self, text: str) -> int:
        return self._count([self._query_prompt + text], special=True)[0]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (texts, dimension)."""
        texts = [self._cap(text) for text in texts]
        by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        return self._embed(self._fast, texts, batches(by_length), self._passage_prompt)

    def _cap(self, text: str) -> str:
        # tokenizers keep what they were given, so without a cap memory grows with the longest text
        return text[: self._limit * _CHARACTERS_PER_TOKEN]

    def _count(self, texts: Sequence[str], *, special: bool) -> list[int]:
        if not texts:
            return []
        encoded = self._tokenizer(
            list(texts), add_special_tokens=special, return_attention_mask=False, truncation=False, verbose=False
        )
        return [len(ids) for ids in encoded["input_ids"]]

    def _embed(
        self,
        model: SentenceTransformer,
        texts: Sequence[str],
        batches: Iterable[list[int]],
        prompt: str,
        padding: int | None = None,
    ) -> Vectors:
        import torch

        vectors = np.zeros((len(texts), self._space.dimension), dtype=np.float32)
        for batch in batches:
            with torch.inference_mode():
                features: dict[str, Any] = model.preprocess(
                    [texts[i] for i in batch],
                    prompt=prompt or None,
                    processing_kwargs={"text": {"pad_to_multiple_of": padding}},
                )
                on_device = {k: v.to(model.device) if isinstance(v, torch.Tensor) else v for k, v in features.items()}
                vectors[batch] = model(on_device)["sentence_embedding"].float().cpu().numpy()
        return checked(vectors, count=len(texts), dimension=self._space.dimension)

    def _views(self, loaded: SentenceTransformer, name: str) -> tuple[SentenceTransformer, SentenceTransformer]:
        """What embeds queries, and what embeds passages."""
        from embeddings import precision

        both = precision.bfloat16_bert(loaded)
        if both is not None and all(self._agrees(view, loaded, 0.9999) for view in both):
            return both
        fast = precision.bfloat16(loaded) if precision.native_bfloat16(loaded.device) else loaded
        if fast is not loaded and not self._agrees(fast, loaded, 0.999):
            log.warning("%s is not accurate in bfloat16: passages go in float32", name)
            fast = loaded
        return precision.row_exact(loaded), fast

    def _agrees(self, fast: SentenceTransformer, loaded: SentenceTransformer, least: float) -> bool:
        """Whether two texts get nearly the vectors of float32, by their cosines."""
        texts = [_SAMPLE, _SAMPLE[:20]]
        try:
            found = self._embed(fast, texts, [[0, 1]], self._passage_prompt)
        except (EmbedderError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
            return False  # whatever this model asks of its network, the view does not have it
        full = self._embed(loaded, texts, [[0, 1]], self._passage_prompt)
        return bool((np.einsum("ij,ij->i", found, full) > least).all())


def load_model(name: str, *, local: bool, device: str | None) -> SentenceTransformer:
    """The model itself, in float32. Raises EmbedderError."""
    try:
        import torch
        import transformers
        from sentence_transformers import SentenceTransformer
    except ImportError as problem:
        raise EmbedderError(f"a local model needs sentence-transformers and torch: {problem}") from problem
    # progress bars, and a report about weights that no embedding uses, are of no use to an operator
    hub_logging: Any = transformers.utils.logging
    hub_logging.disable_progress_bar()
    hub_logging.set_verbosity_error()
    try:
        return SentenceTransformer(
            name, device=device, local_files_only=local, model_kwargs={"dtype": torch.float32}
        ).eval()
    except Exception as problem:  # the libraries raise anything from OSError to SafetensorError
        raise EmbedderError(
            f"cannot load the model {name!r}: {problem}. Name a sentence-transformers folder or a model of the hub"
        ) from problem


def _prompts(loaded: SentenceTransformer, name: str) -> tuple[str, str]:
    own = loaded.prompts or {}
    query, passage = own.get("query") or "", own.get("document") or own.get("passage") or ""
    if (query or passage) or (row := catalog.find(name)) is None:
        return query, passage
    return row.query_prompt, row.passage_prompt


def _dimension(loaded: SentenceTransformer, name: str) -> int:
    dimension = loaded.get_embedding_dimension()
    if dimension is None:
        raise EmbedderError(f"the model {name!r} does not tell the dimension of its vectors")
    return int(dimension)


def _pooling(loaded: SentenceTransformer) -> str:
    modes = (getattr(module, "pooling_mode", None) for module in loaded)
    return next((str(mode) for mode in modes if mode), "model")


def _commit(loaded: SentenceTransformer) -> str:
    config = getattr(loaded[0], "config", None)
    return str(getattr(config, "_commit_hash", None) or "")


def weights_hash(folder: Path) -> str:
    """16 hex digits of every weights file of the folder, in the order of their paths."""
    digest = hashlib.sha256()
    files = (path for path in folder.rglob("*") if path.suffix in {".safetensors", ".bin"})
    for path in sorted(files):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
