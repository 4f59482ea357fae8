"""A BERT network in bfloat16 whose rows never depend on the batch: for processors that multiply in bfloat16.

A query must have the same bits alone and in a crowd (see `sentence_transformer`), and a product of matrices picks its
kernel, and with it the order of its sums, by the number of rows. Measured with oneDNN 3.12 on x86-64, with AMX and with
AVX-512 alone: products over 384 features gave each row the same bits at every number of rows, wider ones did not with
AMX; at a fixed number of rows no row depended on its place or its neighbours (tests/embeddings/test_exact_bert.py). So
narrow layers multiply the rows of all texts at once, and wide ones those of one text at a time.

Beside that it does what `transformers` does in fewer calls: one product for query, key and value, GELU within the
product, and weights that lie as the kernel reads them, which otherwise are laid out anew at each call.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional

_FEATURES_AT_ONCE = 384

_Norm = tuple[torch.Tensor, torch.Tensor, float]


class ExactBert(nn.Module):
    """`network` is a BERT whose modules have the names that transformers gives them; its tables are shared.

    Raises AttributeError or RuntimeError where the network, or this torch, has another shape.
    """

    def __init__(self, network: nn.Module, heads: int) -> None:
        super().__init__()
        self.embeddings = network.embeddings
        self._layers = [_Layer(layer, heads) for layer in network.encoder.layer]

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, *, exact: bool = True) -> torch.Tensor:
        """Ids and mask of shape (texts, tokens) to float32 of shape (texts, tokens, features).

        Without `exact` wide layers too multiply the rows of all texts at once.
        """
        tables = self.embeddings
        x = tables.word_embeddings(ids) + tables.token_type_embeddings.weight[0]
        x = tables.LayerNorm(x + tables.position_embeddings.weight[: ids.shape[1]]).bfloat16()
        # always a mask: without one attention takes another path, and a full text would differ beside a short one
        seen = mask[:, None, None, :].bool()
        for layer in self._layers:
            x = layer(x, seen, exact)
        whole: torch.Tensor = x.float()
        return whole


class _Layer:
    def __init__(self, layer: Any, heads: int) -> None:
        attention, self._heads = layer.attention, heads
        self._project = _Product(attention.self.query, attention.self.key, attention.self.value)
        self._gather = _Product(attention.output.dense)
        self._widen = _Product(layer.intermediate.dense, then="gelu")
        self._narrow = _Product(layer.output.dense)
        self._norms = _norm(attention.output.LayerNorm), _norm(layer.output.LayerNorm)

    def __call__(self, x: torch.Tensor, seen: torch.Tensor, exact: bool) -> torch.Tensor:
        texts, tokens, features = x.shape
        projected = self._project(x, exact).view(texts, tokens, 3, self._heads, features // self._heads)
        query, key, value = projected.permute(2, 0, 3, 1, 4)
        heads = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        x = _normed(x + self._gather(heads.transpose(1, 2).reshape(x.shape), exact), self._norms[0])
        return _normed(x + self._narrow(self._widen(x, exact), exact), self._norms[1])


class _Product:
    """Linear layers of the same input, side by side, and what is done to each number after them."""

    def __init__(self, *layers: Any, then: str = "none") -> None:
        weight = torch.cat([layer.weight.detach() for layer in layers]).bfloat16()
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight)
        self._bias = torch.cat([layer.bias.detach() for layer in layers]).bfloat16()
        self._then = then
        self._at_once = weight.shape[1] <= _FEATURES_AT_ONCE

    def __call__(self, x: torch.Tensor, exact: bool) -> torch.Tensor:
        if self._at_once or not exact or len(x) == 1:
            return self._multiplied(x)
        return torch.cat([self._multiplied(text) for text in x.split(1)])

    def _multiplied(self, x: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(x, self._weight, self._bias, self._then, [], "none")
        return product


def _norm(layer: Any) -> _Norm:
    return layer.weight.detach().bfloat16(), layer.bias.detach().bfloat16(), float(layer.eps)


def _normed(x: torch.Tensor, norm: _Norm) -> torch.Tensor:
    weight, bias, epsilon = norm
    return functional.layer_norm(x, weight.shape, weight, bias, epsilon)
