"""Books on hosts: who brings which book, in which order, once, and under which label."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import Json, ask, attach, canon, declare, entry, fetch, framed, in_full, new_book, ok, titles

Books = dict[str, str]


@pytest.fixture(scope="module")
def books(client: TestClient) -> Books:
    """A story and a novel with books of their own, two characters in their casts, and books of other hosts."""
    names = ("story", "novel", "ilse", "oru", "shared", "server", "persona", "conversation", "direct")
    made = {name: new_book(client, canon(name)) for name in names}
    attach(client, "story:w11", made["story"])
    attach(client, "novel:w11", made["novel"], made["shared"])
    attach(client, "character:ilse", made["ilse"], made["shared"])
    attach(client, "character:oru", made["oru"], made["shared"])
    attach(client, "server:w11", made["server"])
    attach(client, "persona:w11", made["persona"])
    attach(client, "conversation:w11", made["conversation"])
    declare(client, "character:ilse", "Ilse")
    declare(client, "character:oru", "Warden Oru")
    declare(client, "story:w11", "Salt Coast", ["character:ilse", "character:oru"])
    declare(client, "novel:w11", "The Long Tide", ["character:oru"])
    return made


@pytest.mark.parametrize(
    ("asked", "order"),
    [
        ({"hosts": ["character:ilse"]}, "ilse shared"),
        ({"hosts": ["character:oru", "character:ilse"]}, "oru shared ilse"),
        ({"hosts": ["story:w11"]}, "story ilse shared oru"),
        ({"hosts": ["novel:w11"]}, "novel shared oru"),
        ({"hosts": ["story:w11", "novel:w11"]}, "story ilse shared oru novel"),
        ({"hosts": ["novel:w11", "story:w11"]}, "novel shared oru story ilse"),
        ({"hosts": ["character:oru", "story:w11"]}, "story ilse shared oru"),
        ({"hosts": ["server:w11", "persona:w11"]}, "server persona"),
        ({"hosts": ["persona:w11", "server:w11", "story:w11"]}, "story ilse shared oru persona server"),
        ({"conversation": "w11"}, "conversation"),
        ({"conversation": "w11", "books": ["direct"], "hosts": ["server:w11"]}, "server direct conversation"),
        ({"books": ["shared", "direct"], "hosts": ["character:ilse"]}, "ilse shared direct"),
        ({"hosts": ["character:nobody"]}, ""),
    ],
)
def test_the_order_of_attachment(client: TestClient, books: Books, asked: Json, order: str) -> None:
    """W11: a story's own books, then its cast's in order, other hosts, books, the conversation; each once."""
    body = {**asked, "books": [books[name] for name in asked.get("books", [])]}
    assert in_full(ask(client, "Hm.", **body)) == order.split()


def test_every_chat_with_a_character_inherits(client: TestClient, books: Books) -> None:
    """W11: what is attached to a character is read in every conversation with it, and in no other."""
    for conversation in ("chat-1", "chat-2"):
        assert in_full(ask(client, "Hm.", hosts=["character:ilse"], conversation=conversation)) == ["ilse", "shared"]
    assert in_full(ask(client, "Hm.", conversation="chat-3")) == []


def test_a_book_attached_twice_goes_in_once(client: TestClient, books: Books) -> None:
    """W11: a book that comes by four ways is injected once, and `via` names them all."""
    answer = ask(client, "Hm.", hosts=["story:w11", "character:ilse", "character:ilse"], books=[books["shared"]] * 2)
    assert framed(answer, "stable").count("## shared [") == 1
    [told] = [book for book in answer["books"] if book["id"] == books["shared"]]
    assert told["via"] == ["character:ilse", "character:oru", "request"]


@pytest.mark.parametrize(
    ("hosts", "labels"),
    [
        (["character:ilse"], {"ilse": None, "shared": None}),
        (["character:ilse", "character:oru"], {"ilse": "Ilse", "shared": "Ilse, Warden Oru", "oru": "Warden Oru"}),
        (["story:w11"], {"story": None, "ilse": "Ilse", "shared": "Ilse, Warden Oru", "oru": "Warden Oru"}),
        (["novel:w11"], {"novel": None, "shared": None, "oru": None}),
        (
            ["novel:w11", "character:ilse"],
            {"novel": None, "shared": None, "oru": "Warden Oru", "ilse": "Ilse"},
        ),
        (["character:ilse", "character:oru", "server:w11"], {"server": None}),
    ],
    ids=[
        "one character",
        "two",
        "story with two",
        "novel with one",
        "the novel brings it too",
        "a server has no label",
    ],
)
def test_labels_in_a_group(client: TestClient, books: Books, hosts: list[str], labels: dict[str, str | None]) -> None:
    """W11: with two or more characters entries are labelled with all that bring their book, none if the story does."""
    answer = ask(client, "Hm.", hosts=hosts)
    told = {found["title"]: found["label"] for found in answer["sections"]["canon"]["entries"]}
    assert {title: told[title] for title in labels} == labels
    for title, label in labels.items():
        mark = f" ({label})" if label else ""
        assert f"## {title} [{books[title]}-1]{mark}\nAll about {title}.\n" in framed(answer, "stable")


def test_labels_reach_fetch_and_named(client: TestClient) -> None:
    """W11: the label stands at named and fetched entries too, and a label of the attachment speaks for the host."""
    long = "Nobody knows. " * 60
    first = new_book(client, entry("House", long), entry("Roof", long))
    second = new_book(client, entry("Boat", long), entry("Oar", long))
    attach(client, "character:w11-a", first)
    ok(client.put(f"/v1/hosts/character/w11-b/attachments/{second}", json={"label": "the pilot"}))
    hosts = ["character:w11-a", "character:w11-b"]
    answer = ask(client, "House! Boat!", hosts=hosts, budget_tokens=500, places=0)
    assert titles(answer, "named") == ["House", "Boat"]
    assert f"## House [{first}-1] (w11-a)\n" in framed(answer, "volatile")
    assert f"## Boat [{second}-1] (the pilot)\n" in framed(answer, "volatile")
    got = fetch(client, "boat", "house", hosts=hosts)["entries"]
    assert [each["label"] for each in got] == ["the pilot", "w11-a"]


def test_both_of_two_books_are_searched(client: TestClient) -> None:
    """W11: entries of every attached book are named, each under its own book."""
    long = "Nobody knows. " * 60
    pair = [new_book(client, entry(title, long), entry(f"{title} 2", long)) for title in ("North", "South")]
    answer = ask(client, "South or North?", books=pair, budget_tokens=500, places=0)
    assert [(found["title"], found["book"]) for found in answer["sections"]["named"]["entries"]] == [
        ("South", pair[1]),
        ("North", pair[0]),
    ]


def test_detaching_acts_at_once(client: TestClient) -> None:
    """W11: a book that is detached is read no more, and stays a book."""
    book = new_book(client, canon("Law"))
    attach(client, "character:w11-c", book)
    assert in_full(ask(client, "Hm.", hosts=["character:w11-c"])) == ["Law"]
    ok(client.delete(f"/v1/hosts/character/w11-c/attachments/{book}"))
    assert in_full(ask(client, "Hm.", hosts=["character:w11-c"])) == []
    assert in_full(ask(client, "Hm.", books=[book])) == ["Law"]
