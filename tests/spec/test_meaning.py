"""What is near in meaning: which messages ask, which entries answer, in one language or across languages."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import (
    Json,
    ask,
    embedded,
    entry,
    fetch,
    find,
    in_full,
    index_lines,
    new_book,
    ok,
    titles,
    trace,
    traces,
)
from tests.spec.conftest import Serving
from tests.spec.embedders import LONG, Scripted, no_numbers

FILL = " Nothing else of it was ever written down." * 20
BLACKSMITH = "Gordon the blacksmith sleeps beside his furnace in the southern quarter."
LIGHT = "The lighthouse burns whale oil from dusk until the herring boats return."
TREATY = "Seven cities signed the treaty that forbids iron ploughs on holy ground."


@pytest.fixture(scope="module")
def world(client: TestClient) -> str:
    """Entries without aliases under titles that nobody says, each about something else."""
    told = {"A17": BLACKSMITH, "B20": LIGHT, "C35": TREATY}
    others = [entry(f"X{n}", f"Merchant number {n} counts copper coins by candlelight.{FILL}") for n in range(9)]
    return embedded(client, new_book(client, *(entry(title, text + FILL) for title, text in told.items()), *others))


def near(client: TestClient, book: str, *messages: Any, **fields: Any) -> Json:
    """A retrieval with room for a few of the entries."""
    return ask(client, *messages, books=[book], **{"budget_tokens": 1200, "trace": "full", **fields})


@pytest.mark.parametrize(("text", "title"), [(BLACKSMITH, "A17"), (LIGHT, "B20"), (TREATY, "C35")])
def test_the_nearest_entry_is_taken(client: TestClient, world: str, text: str, title: str) -> None:
    """W7, V10: an entry without aliases, whose title nobody says, is taken because it is nearest to the message."""
    answer = near(client, world, f"Tell me: {text.lower()}", places=1)
    assert titles(answer, "matched") == [title]
    assert trace(answer, title)["reason"]["rank"] == 1
    assert answer["books"][0]["went"] == "matched"


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([BLACKSMITH], 0),
        ([("assistant", "Hm."), BLACKSMITH], 1),
        ([("assistant", BLACKSMITH), "Why?"], 0),
        ([BLACKSMITH, ("assistant", "Hm."), "Why?"], 0),
        ([BLACKSMITH, ("assistant", "Hm."), "So?", ("assistant", "Hm!"), "Why?"], 0),
        ([("assistant", BLACKSMITH)], 0),
    ],
    ids=["last", "last of two", "reply", "previous user", "older", "no user"],
)
def test_the_recent_conversation_asks(client: TestClient, world: str, messages: list[Any], message: int) -> None:
    """W7: each recent message asks on its own, so a topic of the reply or of an older message is heard too."""
    answer = near(client, world, *messages, places=5, budget_tokens=2000)
    assert "A17" in titles(answer, "matched")
    assert trace(answer, "A17")["reason"]["message"] == message


def test_other_roles_do_not_ask(client: TestClient, world: str) -> None:
    """W7: system, developer and tool messages are not compared."""
    messages = [(role, BLACKSMITH) for role in ("system", "developer", "tool")]
    answer = near(client, world, *messages, ("user", LIGHT), places=12)
    assert {found["reason"]["message"] for found in answer["sections"]["matched"]["entries"]} == {3}
    assert in_full(near(client, world, *messages, places=3)) == []


def test_a_long_opening_does_not_drown_the_question(client: TestClient, world: str) -> None:
    """E02: after a greeting of 2,000 tokens the question asks alone, and what it asks for comes first."""
    greeting = "The merchant counts his copper coins by candlelight, again and again. " * 150
    answer = near(client, world, ("assistant", greeting), "Where does the blacksmith sleep, beside his furnace?")
    assert titles(answer, "matched")[0] == "A17"
    assert trace(answer, "A17")["reason"]["message"] == 1
    named = new_book(client, entry("Gordon", FILL), *(entry(f"Merchant {n}", FILL) for n in range(9)))
    assert titles(near(client, named, ("assistant", greeting), "who is Gordon?"), "named") == ["Gordon"]


def test_places_bound_what_comes_by_meaning(client: TestClient, world: str) -> None:
    """W7: the request, else the book, says how many entries may come by meaning."""
    for places in (0, 1, 3):
        assert len(titles(near(client, world, BLACKSMITH, places=places), "matched")) == places
    ok(client.patch(f"/v1/books/{world}", json={"settings": {"places": 2}}))
    assert len(titles(near(client, world, BLACKSMITH), "matched")) == 2
    assert len(titles(near(client, world, BLACKSMITH, places=1), "matched")) == 1
    ok(client.patch(f"/v1/books/{world}", json={"settings": {"places": None}}))


def test_a_floor_bounds_how_near(client: TestClient, world: str) -> None:
    """W7: below the floor of the request, or of the book, nothing is claimed, and the trace tells score and floor."""
    scores = {found["title"]: found["reason"]["score"] for found in traces(near(client, world, BLACKSMITH, places=1))}
    assert len(scores) == 12
    floor = (scores["A17"] + max(score for title, score in scores.items() if title != "A17")) / 2
    answer = near(client, world, BLACKSMITH, floor=floor)
    assert titles(answer, "matched") == ["A17"]
    unmatched = {"kind": "unmatched", "score": scores["X3"], "floor": round(floor, 3)}
    assert trace(answer, "X3")["reason"] == unmatched
    ok(client.patch(f"/v1/books/{world}", json={"settings": {"floor": floor}}))
    assert titles(near(client, world, BLACKSMITH), "matched") == ["A17"]
    ok(client.patch(f"/v1/books/{world}", json={"settings": {"floor": None}}))


def test_what_found_all_places_taken(client: TestClient, world: str) -> None:
    """B1, W7: an entry that is near enough but found no place is told as such, and counted as such."""
    scores = {found["title"]: found["reason"]["score"] for found in traces(near(client, world, BLACKSMITH, places=1))}
    nearest = sorted(scores, key=lambda title: scores[title], reverse=True)
    floor = (scores[nearest[5]] + scores[nearest[6]]) / 2
    answer = near(client, world, BLACKSMITH, floor=floor, places=2)
    for title in nearest[2:]:
        kind = "no_room" if title in nearest[:6] else "unmatched"
        assert trace(answer, title)["reason"] == {"kind": kind, "score": scores[title], "floor": round(floor, 3)}
    counted = {each["reason"]: each["count"] for each in answer["counts"]}
    assert counted == {"matched": 2, "no_room": 4, "unmatched": 6}
    assert near(client, world, BLACKSMITH, floor=floor, places=2, trace="used")["counts"] == answer["counts"]


@pytest.mark.parametrize("entries", [0, 1, 3])
def test_more_asked_for_than_there_is(client: TestClient, entries: int) -> None:
    """V01: ten results of nothing, one or three entries are none, one and three, never a sentinel."""
    book = embedded(client, new_book(client, *(entry(f"E{n}", f"{n} tides.{FILL}") for n in range(entries))))
    assert len(find(client, "tides", books=[book], limit=10)) == entries
    answer = near(client, book, "tides", places=10, budget_tokens=entries * 130)
    assert len(titles(answer, "matched") + index_lines(answer)) == entries
    assert in_full(near(client, book, "tides", places=0, budget_tokens=entries * 130)) == []


def test_an_edit_is_found_without_a_further_step(client: TestClient) -> None:
    """V04, V12: an entry that was edited ten times is found by what it says now, once, and not by what it said."""
    others = [entry(f"X{n}", f"Merchant {n} counts copper coins.{FILL}") for n in range(9)]
    book = embedded(client, new_book(client, entry("Q", BLACKSMITH + FILL), *others))
    for n in range(9):
        ok(client.patch(f"/v1/books/{book}/entries/1", json={"content": f"Draft {n} of something else.{FILL}"}))
        embedded(client, book)
    ok(client.patch(f"/v1/books/{book}/entries/1", json={"content": LIGHT + FILL}))
    embedded(client, book)
    answer = near(client, book, LIGHT, places=3)
    assert titles(answer, "matched")[0] == "Q"
    assert in_full(answer).count("Q") == 1
    assert find(client, LIGHT, books=[book]).count("Q") == 1
    strong = trace(answer, "Q")["reason"]["score"]
    assert trace(near(client, book, BLACKSMITH, places=12), "Q")["reason"]["score"] < strong / 2


def test_one_text_in_two_entries(client: TestClient) -> None:
    """V20: entries with the same text, in one book or in two, are both found and keep title, handle and book."""
    twins = [entry("First", BLACKSMITH + FILL)] * 2 + [entry(f"Else {n}", LIGHT + FILL) for n in range(6)]
    books = [embedded(client, new_book(client, *twins)) for _ in range(2)]
    answer = ask(client, BLACKSMITH, books=books, places=4, budget_tokens=1300)
    matched = answer["sections"]["matched"]["entries"]
    assert [found["handle"] for found in matched] == [f"{book}-{n}" for book in books for n in (1, 2)]
    ok(client.delete(f"/v1/books/{books[0]}/entries/1"), 204)
    left = ask(client, BLACKSMITH, books=books, places=3, budget_tokens=1300)["sections"]["matched"]["entries"]
    assert [found["handle"] for found in left] == [f"{books[0]}-2", f"{books[1]}-1", f"{books[1]}-2"]


def test_a_book_is_searched_before_it_is_cut(client: TestClient) -> None:
    """V14: three entries of the attached book are found though a thousand of another book are nearer."""
    crowd = [entry(f"N{n}", f"{BLACKSMITH} Number {n}.") for n in range(500)]
    for _ in range(2):
        embedded(client, new_book(client, *crowd))
    book = embedded(client, new_book(client, *(entry(f"Far {n}", f"{LIGHT} {n}.{FILL}") for n in range(3))))
    assert sorted(find(client, BLACKSMITH, books=[book], limit=10)) == ["Far 0", "Far 1", "Far 2"]
    answer = ask(client, BLACKSMITH, books=[book], places=8, budget_tokens=390)
    assert len(titles(answer, "matched") + index_lines(answer)) == 3


@pytest.mark.parametrize("content", ["🔥🔥🔥", "…", "。。。", "\u200b.", "- - -"])
def test_lore_without_words(client: TestClient, content: str) -> None:
    """V13: an entry of nothing but signs is embedded like any other, and keeps no other from being found."""
    book = embedded(client, new_book(client, entry("Signs", content), entry("Q", BLACKSMITH + FILL)))
    assert read_states(client, book) == ["ready", "ready"]
    assert find(client, BLACKSMITH, books=[book])[0] == "Q"
    assert fetch(client, "Signs", books=[book])["entries"][0]["content"] == content


def read_states(client: TestClient, book: str) -> list[str]:
    page = ok(client.get(f"/v1/books/{book}/entries"))
    return [each["vectors"] for each in page["items"]]


def test_a_query_without_a_number(serving: Serving) -> None:
    """V13: when the model answers NaN for a message, names still answer, and the answer says why meaning does not."""
    scripted = Scripted()
    scripted.answers = no_numbers
    with serving(load=lambda: scripted) as client:
        book = embedded(client, new_book(client, entry("Gordon", BLACKSMITH + FILL), entry("B20", LIGHT + FILL)))
        answer = near(client, book, "Where is Gordon?", budget_tokens=250)
    assert in_full(answer) == ["Gordon"]
    assert [why["kind"] for why in answer["degraded"]] == ["embedder_unavailable"]
    assert "not finite" in answer["degraded"][0]["detail"]


def test_entries_without_vectors_stay_visible(serving: Serving) -> None:
    """V09: while one of two entries waits for its vectors it is found by its words, and the answer counts it."""
    scripted = Scripted()
    question = "Where does Gordon sleep? Is there Whale oil?"
    with serving(load=lambda: scripted) as client:
        book = embedded(client, new_book(client, entry("A17", BLACKSMITH + FILL), entry("C35", TREATY + FILL)))
        find(client, question, books=[book])  # known from now on, so that it need not wait for the entry held up
        scripted.holds = lambda text: "Whale" in text
        ok(client.post(f"/v1/books/{book}/entries", json=entry("Whale oil", LIGHT + FILL)), 201)
        assert scripted.held.wait(LONG)
        answer = near(client, book, question, budget_tokens=520, places=1)
        assert (titles(answer, "named"), titles(answer, "matched")) == (["Whale oil"], ["A17"])
        assert [(why["kind"], why["book"], why["count"]) for why in answer["degraded"]] == [
            ("vectors_pending", book, 1)
        ]
        assert answer["books"][0]["pending_vectors"] == 1
        assert find(client, question, books=[book]) == ["Whale oil", "A17", "C35"]
        scripted.release.set()
        embedded(client, book)
        assert near(client, book, question, budget_tokens=520)["degraded"] == []


LORE = {
    "en": ("E1", "The warden of the sea wall is chosen by drawing a black pebble from a jar."),
    "ja": ("E2", "塩肺は、塩田で長年働いた者がかかる病で、白い咳が出て横になって眠れなくなる。"),
    "ar": ("E3", "تُبنى السفن في الحوض الشمالي من خشب السنديان الأسود، وتُطلى بالقار قبل الشتاء."),
    "pt": ("E4", "O vinho de algas é servido apenas nos casamentos, misturado com mel e cinzas."),
    "ru": ("E5", "Почтовые вороны летают только ночью, потому что днём их ослепляет блеск соли."),
    "zh": ("E6", "钟楼沉入了湖底，渔夫们说，起雾的夜里还能听见水下的钟声。"),
    "de": ("E7", "Wer eine Brücke überquert, zahlt den Zoll mit einer Geschichte statt mit Münzen."),
    "hi": ("E8", "पहाड़ी गाँव में दवा के लिए नीले काई को सुखाकर चाय बनाई जाती है।"),
}
ASKED = [
    ("fr", "Mon oncle crache blanc et dort assis depuis qu'il travaille aux marais salants : qu'a-t-il ?", "E2"),
    ("en", "What do they drink when two people get married?", "E4"),
    ("es", "¿Con qué madera construyen los barcos en el astillero del norte?", "E3"),
    ("pt", "Como é escolhido o guardião da muralha?", "E1"),
    ("ja", "橋を渡るときは何を払えばいいの？", "E7"),
    ("ar", "لماذا تطير الغربان التي تحمل الرسائل ليلاً؟", "E5"),
    ("de", "Wo ist der Glockenturm geblieben, den die Fischer unter Wasser läuten hören?", "E6"),
    ("zh", "山村里的人用什么泡茶治病？", "E8"),
]


@pytest.fixture(scope="module")
def library(multilingual: TestClient) -> str:
    """Eight entries in eight languages, under titles that say nothing."""
    return embedded(multilingual, new_book(multilingual, *(entry(*pair) for pair in LORE.values())))


@pytest.mark.model
@pytest.mark.parametrize(("language", "question", "title"), ASKED, ids=[row[0] for row in ASKED])
def test_lore_answers_in_another_language(
    multilingual: TestClient, library: str, language: str, question: str, title: str
) -> None:
    """W7: lore in one language answers a chat in another: the entry meant is the nearest of a mixed book."""
    answer = ask(multilingual, question, books=[library], budget_tokens=220, trace="full")
    assert answer["degraded"] == []
    assert titles(answer, "named") == []
    assert titles(answer, "matched")[0] == title


@pytest.mark.model
@pytest.mark.parametrize("small_talk", ["hello!", "ok, danke", "haha そうだね", "Bom dia, tudo bem?"])
def test_small_talk_matches_nothing(multilingual: TestClient, library: str, small_talk: str) -> None:
    """W7: a message that is about nothing claims no entry by meaning."""
    answer = ask(multilingual, small_talk, books=[library], budget_tokens=220)
    assert (titles(answer, "matched"), answer["degraded"]) == ([], [])
