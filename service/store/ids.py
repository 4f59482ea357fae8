"""Book ids: pronounceable words, short in tokens, never given out twice."""

from __future__ import annotations

import secrets

from sqlalchemy import Connection

from service.store.dialects import insert_new
from service.store.tables import issued_ids

_CONSONANTS = "bdfgklmnprstv"
_VOWELS = "aeiou"
_SYLLABLES = 3
_TRIES = 10


def issue(conn: Connection) -> str:
    """A new id: six letters, two more after each ten clashes in a row, which only a dense store sees."""
    tries = 0
    while True:
        word = _word(_SYLLABLES + tries // _TRIES)
        if insert_new(conn, issued_ids, [{"book_id": word}]):
            return word
        tries += 1


def _word(syllables: int) -> str:
    return "".join(secrets.choice(_CONSONANTS) + secrets.choice(_VOWELS) for _ in range(syllables))
