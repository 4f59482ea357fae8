"""Fetch by handle, title or alias."""

from __future__ import annotations

import pytest

from service.lore.book import Entry
from service.lore.fetching import fetch
from service.lore.lookups import FetchAnswer
from service.lore.open_book import AttachedBook
from service.lore.tokens import Tokenizer
from tests.lore.activation.worlds import LETTERS
from tests.lore.worlds import TOKENIZER, open_book

BOOKS = [
    AttachedBook(
        open=open_book(
            "bakiru",
            [
                Entry(
                    title="The Salt Gate",
                    content="It opens. Then it shuts. Nobody knows why.",
                    aliases=("Porta de Sal",),
                ),
                Entry(title="Warden Oru", content="Keeper."),
                Entry(title="Hidden", content="secret", enabled=False),
                Entry(title="bakiru-2", content="A title like a handle."),
            ],
        )
    ),
    AttachedBook(open=open_book("todane", [Entry(title="Warden Oru", content="Another.")]), label="Ilse"),
]


def fetched(*names: str, max_tokens: int = 4000) -> FetchAnswer:
    return fetch(BOOKS, names, max_tokens, TOKENIZER)


@pytest.mark.parametrize(
    ("name", "handles"),
    [
        ("bakiru-1", ["bakiru-1"]),
        ("BAKIRU-1", ["bakiru-1"]),
        ("[bakiru-1]", ["bakiru-1"]),
        ("the salt GATE", ["bakiru-1"]),
        (" Ｐｏｒｔａ  de Sal ", ["bakiru-1"]),
        ("Warden Oru", ["bakiru-2", "todane-1"]),
        ("bakiru-2", ["bakiru-2"]),
        ("bakiru-99", []),
        ("bakiru-", []),
        ("bakiru-" + "9" * 5000, []),
        ("Hidden", []),
        ("bakiru-3", []),
        ("", []),
    ],
)
def test_names_find_entries(name: str, handles: list[str]) -> None:
    """W9: by handle, title or alias in any case and width; a shared title gives both; a handle wins over a title."""
    answer = fetched(name)
    assert [entry.handle for entry in answer.entries] == handles
    assert [missing.name for missing in answer.missing] == ([] if handles else [name])


def test_unknown_names_return_the_nearest_titles() -> None:
    """W9: a misspelt name is told with the titles most alike."""
    (missing,) = fetched("Salt Gaet").missing
    assert missing.nearest[0].handle == "bakiru-1"
    assert not any(near.title == "Hidden" for near in missing.nearest)


def test_one_entry_comes_once() -> None:
    """W9: an entry asked by two names comes once and lists both."""
    (entry,) = fetched("bakiru-1", "porta de sal").entries
    assert entry.asked == ("bakiru-1", "porta de sal")


def test_bodies_are_cut_at_a_sentence() -> None:
    """M4: the cap cuts at a sentence, and every entry that was cut says so."""
    answer = fetched("bakiru-1", "bakiru-2", max_tokens=8)
    assert [(entry.content, entry.cut) for entry in answer.entries] == [("It opens. Then it shuts.", True), ("", True)]
    assert answer.tokens == sum(entry.tokens for entry in answer.entries) <= 8
    assert [entry.cut for entry in fetched("bakiru-1").entries] == [False]


@pytest.mark.parametrize(
    ("content", "most", "given"),
    [
        ("Trait(a) Trait(b) Trait(c) Trait(d)", 20, "Trait(a) Trait(b)"),
        ("  Trait(a) Trait(b)", 12, "  Trait(a)"),
        ("潮" * 40, 20, "潮" * 20),
        ("e\u0301" * 40, 21, "e\u0301" * 10),
        ("It opens. Trait(a) Trait(b)", 20, "It opens."),
    ],
)
def test_a_sentence_too_long_is_divided(content: str, most: int, given: str) -> None:
    """M4: where no sentence fits, the cap cuts at a blank, else between graphemes; only of what comes first."""
    book = AttachedBook(open=open_book("bakiru", [Entry(title="A", content=content), Entry(title="B", content="x y.")]))
    first, second = fetch([book], ["A", "B"], most, LETTERS).entries
    assert (first.content, first.cut, first.tokens) == (given, True, len(given))
    assert (second.content, second.cut) == ("", True) if most - len(given) < 4 else ("x y.", False)


def test_many_sentences_are_cut_quickly() -> None:
    """The cap is found without counting every beginning of a content."""
    counted: list[int] = []
    tokenizer = Tokenizer(name="letters", encode=lambda text: counted.append(len(text)) or [0] * len(text))
    book = AttachedBook(open=open_book("bakiru", [Entry(title="A", content="a\n" * 50_000)]))
    [entry] = fetch([book], ["A"], 5000, tokenizer).entries
    assert (entry.content, len(counted) < 50) == ("a\n" * 2499 + "a", True)
