"""Turns a sentence-transformers folder into one that `embeddings.openvino` reads, and proves that it stays the same.

python -m embeddings.conversion SOURCE TARGET MODEL REVISION
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import nn

from embeddings import background
from embeddings.embedder import EmbedderError
from embeddings.openvino import ABOUT, GRAPH, TOKENIZER, OpenVinoEmbedder, runtime
from embeddings.sentence_transformer import SentenceTransformerEmbedder, load_model

MIN_COSINE = 0.999
"""Below this the vectors are not those of the model, and must not carry its stamp."""
_LONG = 8
"""Sentences of a language that make one long text."""


class _Whole(nn.Module):
    """From token ids to the vector, pooling and normalisation included."""

    def __init__(self, model: SentenceTransformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        vectors: torch.Tensor = self.model({"input_ids": input_ids, "attention_mask": attention_mask})[
            "sentence_embedding"
        ]
        return vectors


def convert(source: Path, target: Path, *, model: str, revision: str) -> float:
    """Fill `target`; answers the smallest cosine between vectors of the two. Raises EmbedderError."""
    reference = SentenceTransformerEmbedder(source, device="cpu", model=model, revision=revision)
    loaded = load_model(str(source), local=True, device="cpu")
    openvino = runtime()
    ids = torch.arange(5, 37).reshape(2, 16)
    mask = torch.ones_like(ids)
    mask[1, 9:] = 0  # tracing must see that rows differ in length
    with torch.inference_mode(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer warns of each value that it takes for constant
        graph = openvino.convert_model(_Whole(loaded), example_input={"input_ids": ids, "attention_mask": mask})
    # float16 weights: half the memory, and a cosine that differs in the eighth digit
    openvino.save_model(graph, target / GRAPH, compress_to_fp16=True)
    fast_tokenizer = getattr(loaded.tokenizer, "backend_tokenizer", None)
    if fast_tokenizer is None:
        raise EmbedderError("its tokenizer is none of the library `tokenizers`")
    fast_tokenizer.save(str(target / TOKENIZER))
    about = {
        "space": asdict(reference.space),
        "limit": int(loaded.max_seq_length or 512),
        "pad": int(loaded.tokenizer.pad_token_id or 0),
    }
    (target / ABOUT).write_text(json.dumps(about, indent=1), encoding="utf-8")
    cosine = _smallest_cosine(reference, OpenVinoEmbedder(target))
    if not cosine >= MIN_COSINE:
        raise EmbedderError(f"its vectors differ from those of torch: cosine {cosine:.4f}")
    return cosine


def _smallest_cosine(one: SentenceTransformerEmbedder, other: OpenVinoEmbedder) -> float:
    """Over a short and a long text in each language of the background, as query and as passage."""
    sentences = background.sentences().values()
    texts = [text for own in sentences for text in (own[0], " ".join(own[:_LONG]))]
    products = [
        np.einsum("ij,ij->i", one.embed_queries(texts), other.embed_queries(texts)),
        np.einsum("ij,ij->i", one.embed_passages(texts), other.embed_passages(texts)),
    ]
    return float(np.min(products))


def main(arguments: Sequence[str]) -> int:
    """Convert; the last line of standard error says why it failed."""
    if len(arguments) != 4:
        print("usage: python -m embeddings.conversion SOURCE TARGET MODEL REVISION", file=sys.stderr)
        return 2
    source, target, model, revision = arguments
    try:
        cosine = convert(Path(source), Path(target), model=model, revision=revision)
    except (EmbedderError, RuntimeError, ValueError, TypeError) as problem:
        print(" ".join(str(problem).split()), file=sys.stderr)
        return 1
    print(f"{target}: cosine to torch at least {cosine:.5f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
