"""Views of one loaded model: float32 with rows that never depend on the batch, bfloat16 for speed, and both in one.

They share the parameters they can share with the model that was loaded; see `sentence_transformer` for why.
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from embeddings.exact_bert import ExactBert

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from transformers import PreTrainedModel

_FEWEST_ROWS = 32
_X86_BFLOAT16 = frozenset({"amx_bf16", "avx512_bf16"})


class _BlockedLinear(nn.Linear):
    """A linear layer that multiplies the same number of rows at a time whatever the batch.

    A matrix product picks its kernel, and with it the order of its sums, by the number of rows. Measured on MKL: at a
    fixed number of rows the result of a row depends neither on its place nor on its neighbours. The block is one
    padded text, but at least 32 rows: fewer compute far below full speed, and one short query stays cheap.
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.reshape(-1, self.in_features)
        block = max(_FEWEST_ROWS, x.shape[-2]) if x.dim() > 2 else _FEWEST_ROWS
        if len(rows) == block:
            return functional.linear(x, self.weight, self.bias)
        count = len(rows)
        rows = functional.pad(rows, (0, 0, 0, -count % block))
        parts = [functional.linear(part, self.weight, self.bias) for part in torch.split(rows, block)]
        return torch.cat(parts)[:count].reshape(*x.shape[:-1], self.out_features)


class _CastEmbedding(nn.Module):
    """The shared float32 table, read in the precision of the layers behind it."""

    def __init__(self, table: nn.Module, dtype: torch.dtype) -> None:
        super().__init__()
        self.table = table
        self.dtype = dtype

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        rows: torch.Tensor = self.table(ids)
        return rows.to(self.dtype)


class _ExactNetwork(nn.Module):
    """An `ExactBert` that is called as a network of transformers is."""

    def __init__(self, bert: ExactBert, config: Any, *, exact: bool) -> None:
        super().__init__()
        self.config = config
        self._bert = bert
        self._exact = exact

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **_: object) -> dict[str, torch.Tensor]:
        return {"last_hidden_state": self._bert(input_ids, attention_mask, exact=self._exact)}


def row_exact(model: SentenceTransformer) -> SentenceTransformer:
    """The same model on the same parameters, with linear layers that work in blocks of rows."""
    network = _network(model)
    if network is None:
        return model
    shared = {id(tensor): tensor for tensor in (*network.parameters(), *network.buffers())}
    blocked = copy.deepcopy(network, shared)
    for module in blocked.modules():
        if type(module) is nn.Linear:
            module.__class__ = _BlockedLinear
    return _with_network(model, blocked)


def bfloat16(model: SentenceTransformer) -> SentenceTransformer:
    """The same model with its layers in bfloat16; the table of token embeddings is shared, pooling is in float32."""
    network = _network(model)
    if network is None:
        return model
    table = network.get_input_embeddings()
    # one by one, since the memory of a whole copy in float32 would not go back to the system
    own = {id(tensor) for tensor in table.parameters()}
    tensors = (tensor for tensor in (*network.parameters(), *network.buffers()) if id(tensor) not in own)
    memo = {id(tensor): _halved(tensor) for tensor in tensors if tensor.is_floating_point()}
    halved = copy.deepcopy(network, {id(table): nn.Identity(), **memo})
    halved.set_input_embeddings(_CastEmbedding(table, torch.bfloat16))
    return _with_network(model, halved)


def _halved(tensor: torch.Tensor) -> torch.Tensor:
    half = tensor.detach().to(torch.bfloat16)
    return nn.Parameter(half, requires_grad=False) if isinstance(tensor, nn.Parameter) else half


def bfloat16_bert(model: SentenceTransformer) -> tuple[SentenceTransformer, SentenceTransformer] | None:
    """The same model in bfloat16 twice, sharing weights: with rows that never depend on the batch, and quicker ones.

    None where the processor does not multiply in bfloat16, or the network is none that `embeddings.exact_bert` knows.
    """
    network = _network(model)
    if network is None or model.device.type != "cpu" or _processor().isdisjoint(_X86_BFLOAT16):
        return None
    config = network.config
    if (config.model_type, config.hidden_act, getattr(config, "is_decoder", False)) != ("bert", "gelu", False):
        return None
    try:
        with torch.inference_mode():
            bert = ExactBert(network, config.num_attention_heads)
    except (AttributeError, RuntimeError):  # another shape of network, or a torch without these products
        return None
    exact, quick = (_with_network(model, _ExactNetwork(bert, config, exact=exact)) for exact in (True, False))
    return exact, quick


def native_bfloat16(device: torch.device) -> bool:
    """Whether the processor multiplies in bfloat16; where it only emulates, bfloat16 is slower than float32."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return device.type == "cpu" and not _processor().isdisjoint({*_X86_BFLOAT16, "bf16"})  # ARM names it bf16


def _processor() -> set[str]:
    """What the processor can do, by the names that Linux gives; empty on other systems."""
    if sys.platform != "linux":
        return set()
    try:
        return set(Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split())
    except OSError:
        return set()


def _network(model: SentenceTransformer) -> PreTrainedModel | None:
    """The transformer inside the first module; None for a model made of something else."""
    return next((child for child in model[0].children() if hasattr(child, "set_input_embeddings")), None)


def _with_network(model: SentenceTransformer, network: nn.Module) -> SentenceTransformer:
    """`model` with another transformer inside; tokenizer and later modules are the same objects."""
    first, twin = copy.copy(model[0]), copy.copy(model)
    first._modules = {name: network if child is _network(model) else child for name, child in model[0]._modules.items()}
    twin._modules = {name: first if child is model[0] else child for name, child in model._modules.items()}
    return twin
