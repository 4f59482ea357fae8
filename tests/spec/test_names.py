"""What stands literally in a message: whose messages are read, every script, and spans into the posted text."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from service.lore.text import fold
from tests.spec.asking import Json, ask, entry, framed, new_book, titles, trace

CASES = Path(__file__).parents[1] / "cases"
ROWS = [
    json.loads(line)
    for name in ("matching.jsonl", "matching_more.jsonl")
    for line in (CASES / name).read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def world(client: TestClient) -> str:
    """A book too large to go whole, so that what is named shows: one entry for each name."""
    filler = [entry(f"Filler {n}", "Nothing of note happened. " * 60) for n in range(10)]
    named = [entry("The Salt Gate", aliases=["Porta de Sal", "塩の門"]), *map(entry, ("Oru", "Ilse", "Mira", "Tide"))]
    return new_book(client, *named, *filler)


def user(content: str) -> tuple[str, str]:
    return "user", content


def model(content: str) -> tuple[str, str]:
    return "assistant", content


@pytest.mark.parametrize(
    ("messages", "named"),
    [
        ([user("Oru?")], ["Oru"]),
        ([user("Oru?"), user("Ilse?")], ["Ilse"]),
        ([user("Oru?"), model("Ilse shrugs."), user("Hm.")], ["Ilse"]),
        ([model("Tide."), model("Oru."), model("Ilse."), user("Mira!")], ["Mira", "Ilse", "Oru"]),
        ([model("Oru."), user("Ilse."), model("Mira.")], ["Mira", "Ilse", "Oru"]),
        ([("system", "Oru"), ("developer", "Oru"), ("tool", "Oru"), user("Ilse?")], ["Ilse"]),
        ([user("Hm.")], []),
    ],
    ids=["user", "last user", "reply", "two replies", "reply last", "other roles", "nothing"],
)
def test_messages_that_are_read_for_names(
    client: TestClient, world: str, messages: list[tuple[str, str]], named: list[str]
) -> None:
    """W6: a name in the user's last message or in the last two replies brings its entry in, the newest first."""
    assert titles(ask(client, *messages, books=[world], places=0), "named") == named


@pytest.mark.parametrize("name", ["the salt gate", "PORTA DE SAL", "Porta  de\nSal", "塩の門", "「塩の門」へ"])
def test_a_title_or_an_alias(client: TestClient, world: str, name: str) -> None:
    """W6: a title or an alias, in any case and width, is enough, whatever the rank by meaning."""
    answer = ask(client, f"Let us go: {name}!", books=[world], places=0)
    assert titles(answer, "named") == ["The Salt Gate"]
    assert framed(answer, "volatile").startswith(f"# Named in the conversation\n## The Salt Gate [{world}-1]\n")


def test_order_within_a_message(client: TestClient, world: str) -> None:
    """W6: within a message the entry named first comes first, however often another is named."""
    answer = ask(client, "Tide, Oru, Oru, Oru, Ilse.", books=[world], places=0)
    assert titles(answer, "named") == ["Tide", "Oru", "Ilse"]


def test_every_place_of_a_name_is_told(client: TestClient, world: str) -> None:
    """B3: the reason names alias, message, span and text; hits list the first place of each alias in each message."""
    answer = ask(client, model("Ask 塩の門."), "🔥 Porta de Sal, the Salt Gate!", books=[world], places=0)
    found = trace(answer, "The Salt Gate")
    assert found["reason"] == {
        "kind": "named", "alias": "Porta de Sal", "message": 1, "span": [2, 14], "text": "Porta de Sal",
    }  # fmt: skip
    assert [(hit["message"], hit["text"]) for hit in found["hits"]] == [
        (1, "Porta de Sal"),
        (1, "the Salt Gate"),
        (0, "塩の門"),
    ]


@pytest.mark.parametrize("name", ["Oru", "Ilse", "The Salt Gate"])
def test_speakers_name_nothing(client: TestClient, world: str, name: str) -> None:
    """M33: the name of a speaker names no entry; only what is said does."""
    messages = [{"role": "user", "name": name, "content": "hi"}, {"role": "assistant", "name": name, "content": "ho"}]
    answer = client.post("/v1/retrieve", json={"messages": messages, "books": [world], "places": 0})
    assert titles(answer.json(), "named") == []


def usable(alias: str) -> bool:
    """Whether the service takes the alias; an empty one is refused, as `test_an_empty_alias` shows."""
    return alias != ""


@pytest.fixture(scope="module")
def table(client: TestClient) -> str:
    """A book with an entry for each row of the tables of literal matching."""
    return new_book(
        client, *(entry(f"Row {row['id']}", aliases=[row["alias"]]) for row in ROWS if usable(row["alias"]))
    )


@pytest.mark.parametrize("row", [row for row in ROWS if usable(row["alias"])], ids=lambda row: row["id"])
def test_a_row_of_the_table(client: TestClient, table: str, row: Json) -> None:
    """B3: in every script a name is found or not as cases/matching.jsonl says, and its span slices the posted text."""
    answer = ask(client, row["text"], books=[table], budget_tokens=0, trace="full")
    hits = trace(answer, f"Row {row['id']}")["hits"]
    assert bool(hits) == row["expect"]
    for hit in hits:
        start, end = hit["span"]
        assert hit["text"] == row["text"][start:end]
        assert fold(hit["text"]).text == fold(row["alias"]).text.strip()


def test_an_empty_alias(client: TestClient) -> None:
    """M29: an alias of no character at all is refused with a pointer to it."""
    answer = client.post("/v1/books", json={"name": "M29", "entries": [entry("A", aliases=["ok", ""])]})
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == ["#/entries/0/aliases/1"]


def nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


SMALLEST = [
    # what went wrong elsewhere, alias, text, what the span slices out; None: no hit
    ("M01", "魔都", "我們到了魔都。", "魔都"),
    ("M02", "アリス", "アリスは森へ行った", "アリス"),
    ("M04", "hulk", "a madhulkman", None),
    ("M04", "hulk", "the hulk!", "hulk"),
    ("M05", "Alice", "Aliceは森へ", "Alice"),
    ("M05", "Alice", "我叫Alice。", "Alice"),
    ("M05", "Alice", "Aliceville", None),
    ("M06", "Клод", "Привет, Клод!", "Клод"),
    ("M06", "Клод", "Клодом", None),
    ("M08", "bệnh", nfd("bệnh"), nfd("bệnh")),
    ("M08", nfd("bệnh"), "bệnh", "bệnh"),
    ("M09", "Ame", nfd("Amélie"), None),
    ("M10", "테스트", nfd("테스트"), nfd("테스트")),
    ("M12", "istanbul", "İstanbul'da", "İstanbul"),
    ("M12", "da", "İİİ'da", "da"),
    ("M13", "ışık", "IŞIK", "IŞIK"),
    ("M13", "isi", "ısı", None),
    ("M14", "Alice", "Ａｌｉｃｅ", "Ａｌｉｃｅ"),
    ("M14", "アリス", "ｱﾘｽ", "ｱﾘｽ"),
    ("M16", "Elara", "Ela\u200bra", "Ela\u200bra"),
    ("M16", "Elara", "Ela\u00adra", "Ela\u00adra"),
    ("M17", "👩‍🚀", "👩‍🚀 lands", "👩‍🚀"),
    ("M17", "کتاب\u200cها", "این کتاب\u200cها", "کتاب\u200cها"),
    ("M18", "❤️", "I ❤ you", "❤"),
    ("M18", "⚽", "⚽️!", "⚽️"),
    ("M20", "Elara's Oath", "Elara’s Oath", "Elara’s Oath"),
    ("M21", "Elara", "Elara’s sword", "Elara"),
    ("M22", "Γένεση", "ΓΕΝΕΣΗ", "ΓΕΝΕΣΗ"),
    ("M22", "Товита", "Тови́та", "Тови́та"),
    ("M22", "أستير", "استير", "استير"),
    ("M24", "كتاب", "والكتاب", "كتاب"),
    ("M24", "كتاب", "كتابة", None),
    ("M25", "เรือ", "ขึ้นเรือไปเกาะ", "เรือ"),
    ("M25", "ขาว", "ข่าว", None),
    ("M26", "ទន្លេ", "ទៅទន្លេសាប", "ទន្លេ"),
    ("M26", "ເຮືອ", "ຂຶ້ນເຮືອໄປ", "ເຮືອ"),
    ("M26", "မြို့", "ဒီမြို့ကြီး", "မြို့"),
    ("M28", "Straße", "STRASSE", "STRASSE"),
    ("M29", "\u200b", "a\u200bb", None),
    ("M30", "red fire", "a red fireplace", None),
    ("M30", "red fire", "red\nfire!", "red\nfire"),
    ("M32", "C.A.T", "the CAT sat", None),
    ("M32", "C.A.T", "C.A.T unit", "C.A.T"),
    ("M34", "/a+/", "aaa", None),
    ("M34", "/a+/", "use /a+/ here", "/a+/"),
    ("M38", "a name longer than the text", "a name", None),
]


@pytest.fixture(scope="module")
def smallest(client: TestClient) -> str:
    """A book with an entry for each row of faults.md."""
    return new_book(client, *(entry(f"Fault {n}", aliases=[row[1]]) for n, row in enumerate(SMALLEST)))


@pytest.mark.parametrize("number", range(len(SMALLEST)), ids=[f"{row[0]}-{n}" for n, row in enumerate(SMALLEST)])
def test_a_fault_of_others(client: TestClient, smallest: str, number: int) -> None:
    """M01, M02, M04, M05, M06, M08, M09, M10, M12, M13, M14, M16, M17, M18, M20, M21, M22, M24, M25, M26, M28, M29,
    M30, M32: the smallest input of each fault is found or not, and the span slices the name out of the posted text.
    """
    _, _, text, slice_ = SMALLEST[number]
    answer = ask(client, text, books=[smallest], budget_tokens=0, trace="full")
    hits = trace(answer, f"Fault {number}")["hits"]
    assert [hit["text"] for hit in hits] == ([] if slice_ is None else [slice_])
    assert [text[slice(*hit["span"])] for hit in hits] == [hit["text"] for hit in hits]


def test_marks_in_lore_are_kept(client: TestClient) -> None:
    """M17: what folding ignores stands in the injected lore as it was written."""
    lore = "کتاب\u200cها 👩‍🚀 Ela\u00adra Ａｌｉｃｅ be\u0323\u0302nh"
    assert f"\n{lore}\n" in framed(ask(client, "Hm.", books=[new_book(client, entry("M17", lore))]), "stable")


def test_thousands_of_names(client: TestClient) -> None:
    """W6: among ten thousand names, in a message of 200,000 characters, exactly those that stand there are named."""
    words = ("of", "in", "at", "by", "on", "to", "up", "off", "out")
    named = [entry(f"name {n}", "x", aliases=[f"n{n} {word}" for word in words]) for n in range(500)]
    books = [new_book(client, *named) for _ in range(2)]
    message = "nothing at all " * 13_000 + "name 77, n88 in"
    answer = ask(client, message[-200_000:], books=books, places=0, budget_tokens=2000, index="none")
    assert titles(answer, "named") == ["name 77"] * 2 + ["name 88"] * 2
