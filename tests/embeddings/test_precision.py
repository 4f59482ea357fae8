"""Views of a model: what it takes to have one in bfloat16 for queries, and what happens without."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from embeddings import bert, precision
from embeddings.sentence_transformer import SentenceTransformerEmbedder

TEXTS = ["salt", "salt coast", "", "who keeps the lighthouse of the salt coast"]


def embedder(folder: Path) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(folder, loaded=bert.load(folder, device="cpu"))


def has_bfloat16(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(precision, "_processor", lambda: {"amx_bf16"})


@pytest.mark.parametrize(
    "setting",
    [{"model_type": "roberta"}, {"hidden_act": "relu"}, {"is_decoder": True}],
    ids=lambda each: next(iter(each)),
)
def test_another_network_than_bert(folder: Path, setting: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A network that computes something else has no view in bfloat16 for queries, whatever its modules are called."""
    has_bfloat16(monkeypatch)
    loaded = bert.load(folder, device="cpu")
    vars(loaded[0].network.config).update(setting)
    assert precision.bfloat16_bert(loaded) is None


def test_another_processor(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So has none on a processor that does not multiply in bfloat16."""
    monkeypatch.setattr(precision, "_processor", lambda: {"avx2", "avx512f", "bf16"})
    assert precision.bfloat16_bert(bert.load(folder, device="cpu")) is None


def test_a_torch_without_the_products(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where torch has the private operators no more, queries go in float32 as on other processors."""
    with monkeypatch.context() as patch:
        patch.setattr(precision, "_processor", set)
        expected = embedder(folder).embed_queries(TEXTS)
    has_bfloat16(monkeypatch)
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace())
    assert precision.bfloat16_bert(bert.load(folder, device="cpu")) is None
    assert np.array_equal(embedder(folder).embed_queries(TEXTS), expected)


@pytest.mark.parametrize("problem", [AttributeError, KeyError, RuntimeError, TypeError])
def test_a_view_that_does_not_work(folder: Path, problem: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that asks its network for what the view does not have is loaded all the same, and goes in float32."""

    def fail(*_: object, **__: object) -> None:
        raise problem("pooler_output")

    with monkeypatch.context() as patch:
        patch.setattr(precision, "_processor", set)
        expected = embedder(folder).embed_queries(TEXTS)
    has_bfloat16(monkeypatch)
    monkeypatch.setattr(precision._ExactNetwork, "forward", fail)
    assert np.array_equal(embedder(folder).embed_queries(TEXTS), expected)


def test_a_model_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model made of something else than a transformer has no views; it is used as it is."""
    has_bfloat16(monkeypatch)
    model: Any = nn.Sequential(nn.Sequential(nn.EmbeddingBag(4, 4)))
    assert precision.bfloat16_bert(model) is None
    assert precision.row_exact(model) is model
    assert precision.bfloat16(model) is model


def test_layers_in_bfloat16_over_a_table_in_float32(folder: Path) -> None:
    """Passages of another network go in bfloat16 where the processor has it, over the table shared with queries."""
    loaded = bert.load(folder, device="cpu")
    view = precision.bfloat16(loaded)
    table = loaded[0].network.get_input_embeddings().weight
    assert table.dtype == torch.float32
    shared = view[0].network.get_input_embeddings().table.weight
    assert shared.data_ptr() == table.data_ptr()
    others = [tensor for tensor in view[0].network.parameters() if tensor is not shared]
    assert {tensor.dtype for tensor in others} == {torch.bfloat16}
    assert {tensor.dtype for tensor in loaded[0].network.parameters()} == {torch.float32}
