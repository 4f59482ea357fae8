"""Strategies for SillyTavern files as they occur: any subset of the fields, odd types, fields of other programs."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

unhurried = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
words = st.text("abcЖ漢é' -,/", min_size=1, max_size=8)
numbers = st.integers(-1000, 1000) | st.floats(allow_nan=False, allow_infinity=False, width=32)
scalars = st.none() | st.booleans() | numbers | texts
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
switches = st.booleans() | st.sampled_from([0, 1, "true", "false", None])
keys = st.lists(words | scalars, max_size=4) | words | st.none()

entries: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"key": keys},
    optional={
        "uid": st.integers(0, 50) | st.text("0123456789", max_size=3),
        "keysecondary": keys,
        "comment": texts | st.integers().filter(lambda number: abs(number) < 2**53) | st.none(),
        "content": words | texts | numbers | st.none(),
        "constant": switches,
        "disable": switches,
        "enabled": switches,
        "keys": keys,
        "name": texts,
        "displayIndex": st.integers(0, 9) | st.none() | st.sampled_from(["3", "x"]),
        "order": st.integers().filter(lambda number: abs(number) < 2**53) | st.just("50"),
        "role": st.sampled_from([None, 0, 1, 2]),
        "sticky": st.sampled_from([None, 0, 3]),
        "characterFilter": st.none() | st.just({"isExclude": True, "names": ["a"], "tags": []}),
        "extensions": st.dictionaries(texts, anything, max_size=2),
        "x_foo": anything,
    },
)

files: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"entries": st.dictionaries(st.integers(0, 30).map(str) | words, entries, max_size=5)},
    optional={
        "name": texts,
        "description": texts,
        "originalData": anything,
        "extensions": anything,
        "scan_depth": st.integers(0, 9),
        "x_hub": anything,
    },
)
