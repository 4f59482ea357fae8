"""Scopes as signed tokens."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.lore.errors import ScopeExpired, Unauthenticated
from service.lore.request import Names
from service.lore.scope import MAX_TOKEN, Scope, SigningKey, read, sign

KEY = SigningKey(b"\1\2\3\4", bytes(range(32)))
OTHER = SigningKey(b"\4\3\2\1", bytes(range(32)))
FORGED = SigningKey(KEY.id, bytes(32))
SCOPE = Scope("local", ("character:ilse",), ("bakiru",), "c-81", 22, "r-22b", 1_000)

names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
called = st.none() | names
scopes = st.builds(
    Scope,
    owner=names,
    hosts=st.lists(names, max_size=8).map(tuple),
    books=st.lists(names, max_size=8).map(tuple),
    conversation=st.none() | names,
    turn=st.none() | st.integers(0, 2**53),
    response_id=st.none() | names,
    expires=st.integers(1, 2**40),
    names=st.none() | st.builds(Names, user=called, char=called, bot=called),
)


@given(scopes)
def test_a_token_is_read_as_it_was_signed(scope: Scope) -> None:
    """M3: whatever a scope says comes back from its token until its last second, and from then on it has expired."""
    token = sign(scope, KEY)
    assert token is not None
    assert len(token) <= MAX_TOKEN
    assert read(token, KEY, scope.expires - 0.001) == scope
    with pytest.raises(ScopeExpired):
        read(token, KEY, scope.expires)


@given(scopes, st.data())
def test_no_changed_token_is_read(scope: Scope, data: st.DataObject) -> None:
    """M3: a token of which one character was changed, left out or put in is refused."""
    token = sign(scope, KEY) or ""
    place = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.sampled_from("Az09-_=+/ é"))
    for changed in (token[:place] + letter + token[place + 1 :], token[:place] + token[place + 1 :], token + letter):
        if changed != token:
            with pytest.raises(Unauthenticated):
                read(changed, KEY, 0)


@pytest.mark.parametrize(("key", "error"), [(OTHER, ScopeExpired), (FORGED, Unauthenticated)])
def test_another_key(key: SigningKey, error: type[Unauthenticated]) -> None:
    """M3: a token of an earlier key was good once; one that a stranger signed under our key's id never was."""
    token = sign(SCOPE, key)
    assert token is not None
    with pytest.raises(error) as caught:
        read(token, KEY, 0)
    assert caught.type is error
    assert "etrieve again" in caught.value.remedy


@pytest.mark.parametrize("token", ["", "wbs_", "wbk_abcd", "wbs_====", "wbs_" + "A" * 26, "wbs_" + "A" * 5000])
def test_what_is_no_token(token: str) -> None:
    """M3: what is no token at all is refused without being unpacked."""
    with pytest.raises(Unauthenticated):
        read(token, KEY, 0)


def test_too_long_to_be_signed() -> None:
    """M3: hosts that do not fit into 4,000 characters give no token; as many as a request has, of usual length, do."""
    usual = tuple(f"character:{number:032x}" for number in range(32))
    assert sign(replace(SCOPE, hosts=usual), KEY) is not None
    long = tuple("".join(chr(0x4E00 + (n * 977 + p * 7919) % 20_000) for p in range(200)) for n in range(32))
    assert sign(replace(SCOPE, hosts=long), KEY) is None


def test_names_that_have_no_room() -> None:
    """M3: names for macros that do not fit beside the rest are left out, and short ones are kept."""
    half = tuple("".join(chr(0x4E00 + (n * 977 + p * 7919) % 20_000) for p in range(200)) for n in range(7))
    for names, kept in (
        (Names(user=half[4], char=half[5], bot=half[6]), None),
        (Names(user="Mira"), Names(user="Mira")),
    ):
        scope = replace(SCOPE, hosts=half[:4], names=names)
        assert read(sign(scope, KEY) or "", KEY, 0) == replace(scope, names=kept)
