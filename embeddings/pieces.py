"""The tokenizer of the default model through sentencepiece, which holds its 250,000 pieces in little memory.

The library `tokenizers` keeps a hash map for each node of its tree of pieces; sentencepiece, with which the model was
trained, keeps the tree in two arrays, splits text several times faster, and lets other threads run while it loads. The
tokens are the same, but where two ways to split a word have the same score to the last bit of float32, and where
normalising makes the name of a special token, as of `＜s＞`: to sentencepiece it is letters, as it should be.

Normalisation stays with `tokenizers`, since it decides what the model reads; sentencepiece gets text that is ready.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from sentencepiece import SentencePieceProcessor
from tokenizers import Regex, normalizers

FILE = "pieces.model"
NORMALIZER = normalizers.Sequence(
    [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]  # as in tokenizer.json
)
_BLANK = "▁"
_FIRST, _LAST = "<s>", "</s>"
_SPECIAL = re.compile(r"(<s>|<pad>|</s>|<unk>|\s*<mask>)")
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3


class Pieces:
    """The tokens of texts, asked as the tokenizers of transformers are. Raises ValueError for a damaged file."""

    def __init__(self, file: Path) -> None:
        proto = file.read_bytes()
        if not proto:  # of which sentencepiece makes a model without pieces
            raise ValueError(f"{file} is empty")
        try:
            self._model = SentencePieceProcessor(model_proto=proto)
        except RuntimeError as problem:
            raise ValueError(f"{file}: {problem}") from problem
        self.pad_token_id = self._model.pad_id()
        self._ends = self._model.piece_to_id([_FIRST, _LAST])

    def __call__(
        self, texts: Sequence[str], *, add_special_tokens: bool = True, **_: object
    ) -> dict[str, list[list[int]]]:
        return {"input_ids": self.ids(texts, special=add_special_tokens)}

    def ids(self, texts: Sequence[str], *, special: bool = True, limit: int | None = None) -> list[list[int]]:
        """The tokens of each text; with `limit` no more than that many, special ones included."""
        return [self._ids(text, special=special, limit=limit) for text in texts]

    def _ids(self, text: str, *, special: bool, limit: int | None) -> list[int]:
        ends = self._ends if special else []
        own = [found for part in _SPECIAL.split(text) if part for found in self._part(part)]
        kept = own if limit is None else own[: limit - len(ends)]
        return [*ends[:1], *kept, *ends[1:]]

    def _part(self, part: str) -> list[int]:
        if _SPECIAL.fullmatch(part):
            return [self._model.piece_to_id(part.strip())]
        ready = NORMALIZER.normalize_str(part).replace(" ", _BLANK)
        if ready and not ready.startswith(_BLANK):
            ready = _BLANK + ready
        return list(self._model.encode(ready))


def model_file(pieces: Sequence[tuple[str, float]]) -> bytes:
    """A sentencepiece model of (piece, score) that normalises nothing; the kinds of special pieces go by their names.

    It is a ModelProto of protocol buffers: pieces in field 1, the trainer's settings in 2, the normaliser's in 3.
    """
    ids = {piece: i for i, (piece, _) in enumerate(pieces)}
    unigram = _number(3, 1)
    special = b"".join(
        _number(field, ids[piece]) for field, piece in ((40, "<unk>"), (41, _FIRST), (42, _LAST), (43, "<pad>"))
    )
    nothing = _bytes(1, b"identity") + _number(3, 0) + _number(4, 0) + _number(5, 0)
    return b"".join([*_entries(pieces), _bytes(2, unigram + special), _bytes(3, nothing)])


def _entries(pieces: Sequence[tuple[str, float]]) -> Iterator[bytes]:
    for piece, score in pieces:
        kind = _UNKNOWN if piece == "<unk>" else _CONTROL if _SPECIAL.fullmatch(piece) else _NORMAL
        yield _bytes(1, _bytes(1, piece.encode()) + _varint(2 << 3 | 5) + struct.pack("<f", score) + _number(3, kind))


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
