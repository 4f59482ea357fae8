"""What the sample promises to those who try the service on it."""

import json
import unicodedata
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Any

import pytest
import regex

from service.sample import world

LANGUAGES = {
    "ja": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "zh": regex.compile(r"\p{Han}"),
    "ru": regex.compile(r"\p{Cyrillic}"),
    "pt": regex.compile(r"\b(não|uma|ao)\b"),
    "es": regex.compile(r"\b(el|los|una)\b"),
    "en": regex.compile(r"\bthe\b"),
}
LOOK_ALIKES = [
    ("Oru", "Орун", "Oruña"),
    ("Ilse", "Ilsa"),
    ("The Salt Gate", "The Salt Gatehouse"),
    ("灰港", "灰岗"),
]


def entries() -> list[dict[str, Any]]:
    return list(json.loads(world())["entries"].values())


def names(entry: dict[str, Any]) -> list[str]:
    return [entry["comment"], *entry["key"]]


def beside(name: str) -> list[dict[str, str]]:
    return json.loads(files("service.sample").joinpath(name).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def fold(text: str) -> str:
    """Fold case, width and Latin accents, as far as this file needs it."""
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", regex.sub(r"(?<=\p{Latin})\p{Mn}+", "", decomposed))


def pattern(name: str) -> str:
    """The folded name as a whole word, or anywhere in scripts written without spaces."""
    inner = regex.escape(fold(name))
    return inner if regex.search(r"[\p{Han}\p{Hiragana}\p{Katakana}]", name) else rf"(?<!\w){inner}(?!\w)"


@cache
def patterns() -> dict[str, Any]:
    return {entry["comment"]: regex.compile("|".join(map(pattern, names(entry)))) for entry in entries()}


def named(text: str) -> set[str]:
    """The titles of the entries that the text names."""
    folded = fold(text)
    return {title for title, any_name in patterns().items() if any_name.search(folded)}


def language(entry: dict[str, Any]) -> str:
    return next(code for code, sign in LANGUAGES.items() if sign.search(entry["content"].lower()))


def test_bytes_are_what_sillytavern_writes() -> None:
    """The file is UTF-8 without a byte order mark, indented by four spaces, nothing escaped, no last newline."""
    assert world() == json.dumps(json.loads(world()), ensure_ascii=False, indent=4).encode()


def test_uids_and_order_agree() -> None:
    """The keys of `entries`, the uids and the display order are the same running numbers."""
    book = json.loads(world())["entries"]
    assert [int(key) for key in book] == [entry["uid"] for entry in book.values()] == list(range(len(book)))
    assert [entry["displayIndex"] for entry in book.values()] == list(range(len(book)))


def test_languages() -> None:
    """The lore is written in six languages, about fifteen entries in each."""
    assert Counter(map(language, entries())) == {"en": 17, "pt": 16, "ja": 15, "zh": 15, "es": 15, "ru": 15}


def test_canon_and_disabled() -> None:
    """Three entries are canon, in three languages, and two others are disabled."""
    assert sorted(language(entry) for entry in entries() if entry["constant"]) == ["en", "ja", "pt"]
    assert [entry["constant"] for entry in entries() if entry["disable"]] == [False, False]


def test_no_word_mixes_alphabets() -> None:
    """No word holds letters of two alphabets, so that every alias can be typed."""
    mixed = r"\p{Latin}\p{Cyrillic}|\p{Cyrillic}\p{Latin}"
    texts = [text for entry in entries() for text in (*names(entry), entry["content"])]
    assert [text for text in texts if regex.search(mixed, text)] == []


def test_no_name_calls_another_entry() -> None:
    """No title or alias belongs to two entries or stands inside a name of another entry, look-alikes included."""
    assert [name for entry in entries() for name in names(entry) if named(name) != {entry["comment"]}] == []


@pytest.mark.parametrize("alike", LOOK_ALIKES, ids=" ".join)
def test_look_alikes(alike: tuple[str, ...]) -> None:
    """Names that look alike belong to different entries."""
    owners = [named(name) for name in alike]
    assert all(len(owner) == 1 for owner in owners)
    assert len(set.union(*owners)) == len(alike)


def test_long_entries() -> None:
    """Four entries, in four languages, run to several windows of an embedding model."""
    long = [entry for entry in entries() if len(entry["content"].encode()) > 3_400]
    assert sorted(map(language, long)) == ["en", "pt", "ru", "zh"]


def test_chat() -> None:
    """The chat has two replies and ends with the user, who names the Salt Gate alone, by an alias."""
    chat = beside("chat.json")
    assert [message["role"] for message in chat] == ["user", "assistant", "user", "assistant", "user"]
    assert named(chat[-1]["content"]) == {"The Salt Gate"}
    assert "The Salt Gate" not in chat[-1]["content"]


def test_questions() -> None:
    """Each question is answered by one enabled entry of another language and names no entry; ten languages ask."""
    enabled = {entry["comment"]: entry for entry in entries() if not entry["disable"]}
    questions = beside("questions.json")
    assert len(questions) == len({question["title"] for question in questions}) == 24
    assert len({question["language"] for question in questions}) == 10
    for question in questions:
        assert language(enabled[question["title"]]) != question["language"]
        assert named(question["question"]) == set()
