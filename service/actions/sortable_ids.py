"""Ids that sort by time, for requests and writes."""

from __future__ import annotations

import secrets

_BASE_32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def sortable_id(prefix: str, milliseconds: int) -> str:
    """`prefix` and a ULID: 48 bits of milliseconds since 1970, 80 random bits, in Crockford's base 32.

    Source: github.com/ulid/spec.
    """
    number = milliseconds << 80 | secrets.randbits(80)
    return prefix + "".join(_BASE_32[number >> shift & 31] for shift in range(125, -1, -5))
