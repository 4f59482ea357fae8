"""What one conversation lets its model reach, as a token that is signed, expires and can be revoked.

A scope names the attachments of a retrieval, never entries and never the books found through hosts: it is resolved
anew at every call, so that disabling, deleting and detaching act at once.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import zlib
from dataclasses import dataclass, fields, replace

import orjson

from service.lore.errors import ScopeExpired, Unauthenticated
from service.lore.request import Names

PREFIX = "wbs_"
MAX_TOKEN = 4000
"""Characters of a token."""
KEY_ID_BYTES = 4
SECRET_BYTES = 32
_MAC_BYTES = 16
_NAMED = tuple(item.name for item in fields(Names))
_REMEDY = "Retrieve again: every retrieval answers a fresh scope."


@dataclass(frozen=True)
class SigningKey:
    """What scopes are signed with; a new one revokes every scope signed before."""

    id: bytes
    """4 bytes that stand in every token."""
    secret: bytes


@dataclass(frozen=True)
class Scope:
    """What may be reached, and for which turn of which conversation."""

    owner: str
    hosts: tuple[str, ...] = ()
    """`kind:key` of each host of the retrieval."""
    books: tuple[str, ...] = ()
    """Ids of books that the retrieval named without a host."""
    conversation: str | None = None
    turn: int | None = None
    response_id: str | None = None
    """The reply about to be written, which writes hang on."""
    expires: int = 0
    """Seconds since 1970, UTC; from then on the scope is refused."""
    names: Names | None = None
    """Who is who, for the macros of what tools show."""


_TOLD = tuple(item.name for item in fields(Scope) if item.name != "names")


def sign(scope: Scope, key: SigningKey) -> str | None:
    """The token of a scope: key id, 16 bytes of HMAC-SHA256 (RFC 2104) and the deflated fields, in base64url.

    None when the names of the hosts are so long together that the token would pass 4,000 characters. Names for macros
    that have no room beside the rest are left out: a model that reads `{{user}}` is better off than one without tools.
    """
    plain = replace(scope, names=None)
    return _token(scope, key) or (_token(plain, key) if scope.names else None)


def _token(scope: Scope, key: SigningKey) -> str | None:
    told = [getattr(scope, name) for name in _TOLD]
    if scope.names is not None:
        told += [getattr(scope.names, name) for name in _NAMED]
    packed = zlib.compress(orjson.dumps(told), 9)
    token = PREFIX + _encoded(key.id + _mac(key, packed) + packed)
    return token if len(token) <= MAX_TOKEN else None


def read(token: str, key: SigningKey, now: float) -> Scope:
    """The scope that a token of `sign` stands for.

    Raises `ScopeExpired` when its time is over or it was signed with an earlier key, `Unauthenticated` when it is no
    token of this service or not as it was signed. Nothing of it is unpacked before its signature is checked.
    """
    raw = _decoded(token)
    key_id, mac, packed = raw[:KEY_ID_BYTES], raw[KEY_ID_BYTES:][:_MAC_BYTES], raw[KEY_ID_BYTES + _MAC_BYTES :]
    if not packed:
        raise _no_scope()
    if key_id != key.id:
        raise ScopeExpired("the scope was signed with a key that is no longer in use", remedy=_REMEDY)
    if not hmac.compare_digest(mac, _mac(key, packed)):
        raise _no_scope()
    owner, hosts, books, conversation, turn, response_id, expires, *named = orjson.loads(zlib.decompress(packed))
    if now >= expires:
        raise ScopeExpired("the scope has expired", remedy=_REMEDY)
    names = Names(**dict(zip(_NAMED, named, strict=True))) if named else None
    return Scope(owner, tuple(hosts), tuple(books), conversation, turn, response_id, expires, names)


def _mac(key: SigningKey, packed: bytes) -> bytes:
    return hmac.digest(key.secret, packed, hashlib.sha256)[:_MAC_BYTES]


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decoded(token: str) -> bytes:
    text = token.removeprefix(PREFIX)
    if text == token or len(token) > MAX_TOKEN:
        raise _no_scope()
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _no_scope() from None
    if _encoded(raw) != text:  # the last letter has bits to spare: only one spelling of a token counts
        raise _no_scope()
    return raw


def _no_scope() -> Unauthenticated:
    return Unauthenticated("this is no scope of this service", remedy=f"Send scope.token as it came. {_REMEDY}")
