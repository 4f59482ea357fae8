"""A name typed in haste still leads to its entry."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import Json, fetch, new_book
from tests.spec.misspelling import SCRIPTS, WAYS, misspelt, titles


@pytest.mark.parametrize("seed", [1, 2])
def test_the_right_entry_comes_first(client: TestClient, seed: int) -> None:
    """W9: among 1,000 titles in eight scripts, of 200 misspelt names 95 % have their entry found or suggested first."""
    rng = Random(seed)
    names = titles(1000, rng)
    assert len(SCRIPTS) >= 4
    book = new_book(client, *({"title": title, "content": "x"} for title in names[:500]))
    client.post(f"/v1/books/{book}/entries", json=[{"title": title, "content": "x"} for title in names[500:]])
    cases = list(misspelt(names, 200, rng))
    assert len(cases) == 200
    right: Counter[str] = Counter()
    for start in range(0, 200, 20):
        part = cases[start : start + 20]
        answer = fetch(client, *(typed for _, _, typed in part), books=[book])
        first: dict[str, str] = {asked: got["title"] for got in answer["entries"] for asked in got["asked"]}
        missing: list[Json] = answer["missing"]
        first |= {each["name"]: each["nearest"][0]["title"] for each in missing}
        right.update(way for title, way, typed in part if first[typed] == title)
    total = Counter(way for _, way, _ in cases)
    assert set(total) == set(WAYS)
    assert right.total() >= 190, right
    assert {way: right[way] for way in ("case", "width", "normal_form")} == {
        way: total[way] for way in ("case", "width", "normal_form")
    }


@pytest.mark.parametrize(
    ("typed", "title"), [("Oru", "Warden Oru"), ("Salt Gaet", "The Salt Gate"), ("gate of salt", "The Salt Gate")]
)
def test_a_part_of_a_name(client: TestClient, typed: str, title: str) -> None:
    """W9: a part of a title, or its words otherwise, suggests it before short titles that share a few letters."""
    book = new_book(
        client, *({"title": each, "content": "x"} for each in ("Era", "Our", "Gaol", "Warden Oru", "The Salt Gate"))
    )
    [missing] = fetch(client, typed, books=[book])["missing"]
    assert title in [near["title"] for near in missing["nearest"]]
