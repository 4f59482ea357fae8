"""The default model on torch and sentencepiece alone, without transformers and sentence-transformers.

Importing those two takes longer than all else at start, and memory for good, for a network of a page. This is that
page: a BERT with mean pooling, the same operations in the same order, so that its vectors have the same bits as those
of sentence-transformers. Only folders that `embeddings.bundled` wrote are read so; every other goes through
`sentence_transformer.load_model`. The names of modules are those of the weights in the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import nn
from torch.nn import functional

from embeddings.embedder import EmbedderError
from embeddings.pieces import FILE, Pieces


def load(folder: Path, *, device: str | None, tokenizer: Pieces | None = None) -> Bert:
    """The model of a folder that `bundled` wrote, in float32; `tokenizer` where it is loaded. Raises EmbedderError."""
    try:
        tokenizer = tokenizer or Pieces(folder / FILE)
        return Bert(folder, device=torch.device(device) if device else _fastest(), tokenizer=tokenizer)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as problem:
        raise EmbedderError(f"cannot load the model {str(folder)!r}: {problem}") from problem


class Bert(nn.Sequential):
    """What `SentenceTransformerEmbedder` asks of a model: the network, pooling, tokens, prompts and limits."""

    def __init__(self, folder: Path, *, device: torch.device, tokenizer: Pieces) -> None:
        config = json.loads((folder / "config.json").read_bytes())
        with torch.device("meta"):
            network = _Network(config)
        network.load_state_dict(_weights(folder / "model.safetensors"), assign=True)
        super().__init__(_Tokens(network.to(device)), _MeanPooling())
        self.eval()
        self.device = device
        self.max_seq_length = int(config["max_position_embeddings"])
        self.prompts: Mapping[str, str] = json.loads((folder / "config_sentence_transformers.json").read_bytes())[
            "prompts"
        ]
        self.tokenizer = tokenizer
        self._dimension = int(config["hidden_size"])

    def get_embedding_dimension(self) -> int:
        """The length of a vector."""
        return self._dimension

    def preprocess(
        self, texts: Sequence[str], *, prompt: str | None, processing_kwargs: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, torch.Tensor]:
        """Token ids and their mask, padded to the longest text, or to the next multiple of `pad_to_multiple_of`."""
        ids = self.tokenizer.ids([(prompt or "") + text for text in texts], limit=self.max_seq_length)
        multiple = processing_kwargs["text"].get("pad_to_multiple_of") or 1
        shape = len(ids), min(-(-max(map(len, ids)) // multiple) * multiple, self.max_seq_length)
        padded, mask = torch.full(shape, self.tokenizer.pad_token_id), torch.zeros(shape, dtype=torch.int64)
        for row, own in enumerate(ids):
            padded[row, : len(own)] = torch.tensor(own)
            mask[row, : len(own)] = 1
        return {"input_ids": padded, "attention_mask": mask}


class _Tokens(nn.Module):
    """The vectors of all tokens."""

    def __init__(self, network: _Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        states = self.network(input_ids=features["input_ids"], attention_mask=features["attention_mask"])
        return features | {"token_embeddings": states["last_hidden_state"]}


class _MeanPooling(nn.Module):
    """The mean of the tokens of each text, of unit length. Sums are in float32 whatever the network computes in."""

    pooling_mode = "mean"

    def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        tokens = features["token_embeddings"]
        mask = features["attention_mask"].unsqueeze(-1).to(tokens.dtype)
        total = (tokens * mask).sum(dim=1, dtype=torch.float32)
        mean = total / mask.sum(dim=1, dtype=torch.float32).clamp(min=1e-9)
        return features | {"sentence_embedding": functional.normalize(mean.to(tokens.dtype), dim=-1)}


class _Network(nn.Module):
    """Token ids and mask, both of shape (texts, tokens), to vectors of shape (texts, tokens, hidden).

    Called, and asked for its tables and settings, as the networks of transformers are.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        self.config = SimpleNamespace(**config)
        self.embeddings = _Embeddings(config)
        layers = nn.ModuleList(_Layer(config) for _ in range(config["num_hidden_layers"]))
        self.encoder = nn.ModuleDict({"layer": layers})

    def get_input_embeddings(self) -> nn.Module:
        """The table of tokens."""
        return self.embeddings.word_embeddings

    def set_input_embeddings(self, table: nn.Module) -> None:
        """Read tokens from another table."""
        self.embeddings.word_embeddings = table

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> dict[str, torch.Tensor]:
        x: torch.Tensor = self.embeddings(input_ids)
        texts, tokens = input_ids.shape
        # full rows go without a mask, which is another and faster path through attention
        full = bool(attention_mask.all())
        allowed = None if full else attention_mask.bool()[:, None, None, :].expand(texts, 1, tokens, tokens)
        for layer in self.encoder["layer"]:
            x = layer(x, allowed)
        return {"last_hidden_state": x}


class _Embeddings(nn.Module):
    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        hidden = config["hidden_size"]
        self.word_embeddings: nn.Module = _table(config["vocab_size"], hidden)
        self.position_embeddings = _table(config["max_position_embeddings"], hidden)
        self.token_type_embeddings = _table(config["type_vocab_size"], hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=config["layer_norm_eps"])

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.word_embeddings(ids) + self.token_type_embeddings.weight[0]
        normed: torch.Tensor = self.LayerNorm(x + self.position_embeddings.weight[: ids.shape[1]])
        return normed


class _Layer(nn.Module):
    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        hidden, inner, eps = config["hidden_size"], config["intermediate_size"], config["layer_norm_eps"]
        self._heads = config["num_attention_heads"]
        projections = nn.ModuleDict({name: nn.Linear(hidden, hidden) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": projections, "output": _Added(hidden, hidden, eps)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(hidden, inner)})
        self.output = _Added(inner, hidden, eps)

    def forward(self, x: torch.Tensor, allowed: torch.Tensor | None) -> torch.Tensor:
        projections: Any = self.attention["self"]
        query, key, value = (
            projections[name](x).unflatten(-1, (self._heads, -1)).transpose(1, 2) for name in ("query", "key", "value")
        )
        heads = functional.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
        x = self.attention["output"](heads.transpose(1, 2).flatten(2), x)
        inner: torch.Tensor = self.output(functional.gelu(self.intermediate["dense"](x)), x)
        return inner


class _Added(nn.Module):
    """A linear layer whose result is added to what was before, and normed."""

    def __init__(self, into: int, out: int, eps: float) -> None:
        super().__init__()
        self.dense = nn.Linear(into, out)
        self.LayerNorm = nn.LayerNorm(out, eps=eps)

    def forward(self, x: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        normed: torch.Tensor = self.LayerNorm(self.dense(x) + before)
        return normed


def _weights(file: Path) -> dict[str, torch.Tensor]:
    """Views of the mapped file: of the table only the rows that texts use come into memory.

    Tables and layers have a mapping each, so that the memory of the layers goes when another precision replaces them.
    """
    weights: dict[str, torch.Tensor] = {}
    for of_tables in (True, False):
        with safe_open(file, framework="pt") as mapped:
            names = [name for name in mapped.keys() if name.startswith("embeddings.") is of_tables]  # noqa: SIM118
            weights |= {name: mapped.get_tensor(name) for name in names}
    return weights


def _table(rows: int, hidden: int) -> nn.Embedding:
    # given a tensor it draws no random one, for which torch would import its compiler
    return nn.Embedding.from_pretrained(torch.empty(rows, hidden))


def _fastest() -> torch.device:
    return torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
