"""What an open book keeps beside its words."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.lore.book import Entry
from service.lore.dialects import CHAT
from service.lore.request import SillyTavern
from service.lore.tokens import Tokenizer
from tests.lore.activation.worlds import LETTERS, entry, lorebook
from tests.lore.worlds import open_book

THREADS = 8


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_many_threads_share_what_a_book_keeps() -> None:
    """C04: sheets under many labels, and lorebooks of many programs, are made by several threads at once."""
    text = open_book("bakiru", [Entry(title="Gate", content="It opens.")]).text
    chat = lorebook("chat", entry("a", keys=("tide",))).open.text

    def ask(thread: int) -> bool:
        sheets = [text.sheet(LETTERS, f"{thread} {n}") for n in range(20_000)]
        for n in range(300):
            program = SillyTavern(whole_words=thread % 2 == 0, case_sensitive=n % 2 == 0)
            assert len(chat.lorebook(CHAT, program, {}).rules) == 1
        return [sheet.label for sheet in sheets] == [f"{thread} {n}" for n in range(20_000)]

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(ask, range(THREADS)))


def test_a_stand_in_counts_as_itself() -> None:
    """T05, T06: costs by a tokenizer that stands in are not those of the same one where it is exact."""
    text = open_book("bakiru", [Entry(title="塩", content="潮" * 40)]).text
    exact = Tokenizer(name="pairs", encode=lambda said: [0] * (len(said) // 2))
    stand_in = Tokenizer(name=exact.name, encode=exact.encode, exact=False)
    for tokenizer in (exact, stand_in, exact):
        block = f"## 塩 [bakiru-1]\n{'潮' * 40}\n"
        assert text.sheet(tokenizer, None).full.tolist() == [tokenizer.count(block)]
    assert exact.count("潮" * 40) < stand_in.count("潮" * 40)
