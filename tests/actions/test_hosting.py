"""Hosts, attachments, and what a request reads through them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.actions import attaching, editing_books, hosting, resolving
from service.actions.attaching import Attachment
from service.actions.hosting import HostBody
from service.actions.resolving import Attached
from service.actions.runtime import Runtime
from service.lore.book import Book
from service.lore.errors import Invalid, NotFound


@pytest.fixture
def ids(rt: Runtime) -> dict[str, str]:
    """Five books by their names."""
    return {name: editing_books.create_book(rt, Book(name=name)).id for name in "ABCDE"}


def on(rt: Runtime, host: str, *books: str) -> None:
    kind, key = host.split(":")
    for book in books:
        attaching.attach(rt, kind, key, Attachment(book=book))


def attached(rt: Runtime, kind: str, key: str) -> list[tuple[str, str | None]]:
    return [(one.book, one.label) for one in attaching.read_attachments(rt, kind, key)]


def test_a_host_is_declared_changed_and_deleted(rt: Runtime, ids: dict[str, str]) -> None:
    """A declared host keeps its books when it is declared anew, and takes them along when it is deleted."""
    body = HostBody(name=" Salt\nCoast", cast=("character:ilse", "character:oru", "character:ilse"))
    host = hosting.declare_host(rt, "story", "s/1", body)
    assert (host.kind, host.key, host.name) == ("story", "s/1", "Salt Coast")
    assert host.cast == ("character:ilse", "character:oru")
    assert hosting.read_host(rt, "story", "s/1") == host
    attaching.attach(rt, "story", "s/1", Attachment(book=ids["A"]))
    again = hosting.declare_host(rt, "story", "s/1", HostBody(name="New"))
    assert (again.name, again.cast, again.created_at) == ("New", (), host.created_at)
    assert attached(rt, "story", "s/1") == [(ids["A"], None)]
    hosting.delete_host(rt, "story", "s/1")
    assert attached(rt, "story", "s/1") == []
    for attempt in (hosting.read_host, hosting.delete_host):
        with pytest.raises(NotFound, match="story:s/1"):
            attempt(rt, "story", "s/1")
    assert editing_books.read_book(rt, ids["A"]).id == ids["A"]


def test_attaching_makes_the_host(rt: Runtime, ids: dict[str, str]) -> None:
    """A host that nobody declared has no books, and exists once something is attached."""
    assert attaching.read_attachments(rt, "character", "ilse") == ()
    attaching.attach(rt, "character", "ilse", Attachment(book=ids["A"]))
    assert hosting.read_host(rt, "character", "ilse").name == ""


def test_attachments_keep_their_order(rt: Runtime, ids: dict[str, str]) -> None:
    """Books are attached behind the others, once; a second time changes only the label."""
    a, b, c = ids["A"], ids["B"], ids["C"]
    on(rt, "character:ilse", a, b)
    assert attaching.attach(rt, "character", "ilse", Attachment(book=a, label=" My\nlabel"))[0].label == "My label"
    assert attached(rt, "character", "ilse") == [(a, "My label"), (b, None)]
    attaching.replace_attachments(rt, "character", "ilse", [Attachment(book=c), Attachment(book=a)])
    assert attached(rt, "character", "ilse") == [(c, None), (a, None)]
    attaching.detach(rt, "character", "ilse", c)
    assert attached(rt, "character", "ilse") == [(a, None)]
    with pytest.raises(NotFound, match=c):
        attaching.detach(rt, "character", "ilse", c)


def test_wrong_attachments_change_nothing(rt: Runtime, ids: dict[str, str]) -> None:
    """A list with an unknown book or one book twice is refused whole."""
    on(rt, "character:ilse", ids["A"])
    with pytest.raises(NotFound, match="absent, other"):
        attaching.replace_attachments(
            rt, "character", "ilse", [Attachment(book=x) for x in ("absent", ids["B"], "other")]
        )
    with pytest.raises(NotFound, match="absent"):
        attaching.attach(rt, "character", "new", Attachment(book="absent"))
    with pytest.raises(Invalid, match="twice"):
        attaching.replace_attachments(rt, "character", "ilse", [Attachment(book=ids["B"])] * 2)
    assert attached(rt, "character", "ilse") == [(ids["A"], None)]
    with pytest.raises(NotFound):
        hosting.read_host(rt, "character", "new")


def test_deleting_a_book_detaches_it(rt: Runtime, ids: dict[str, str]) -> None:
    """A deleted book is on no host."""
    on(rt, "character:ilse", ids["A"], ids["B"])
    editing_books.delete_book(rt, ids["A"])
    assert attached(rt, "character", "ilse") == [(ids["B"], None)]


def test_pages_of_hosts(rt: Runtime) -> None:
    """Hosts are listed by kind and key, page by page, or of one kind."""
    for kind, key in (("story", "b"), ("character", "z"), ("story", "a")):
        hosting.declare_host(rt, kind, key, HostBody(cast=("persona:p",)))
    first = hosting.list_hosts(rt, limit=2)
    rest = hosting.list_hosts(rt, limit=2, cursor=first.next_cursor)
    assert [(one.kind, one.key) for one in first.items + rest.items] == [
        ("character", "z"), ("story", "a"), ("story", "b"),
    ]  # fmt: skip
    assert {one.cast for one in first.items} == {("persona:p",)}
    assert rest.next_cursor is None
    assert [one.key for one in hosting.list_hosts(rt, kind="story").items] == ["a", "b"]
    with pytest.raises(Invalid):
        hosting.list_hosts(rt, cursor="?")


@pytest.mark.parametrize("text", ["character:ilse", "story:a:b/c", "conversation: spaced ", "persona:塩"])
def test_hosts_that_parse(text: str) -> None:
    """A host is its kind, a colon, and any key of the app's."""
    assert str(hosting.parse_host(text)) == text


@pytest.mark.parametrize(
    "text", ["ilse", "", ":", "character:", "villain:ilse", "character:a\nb", "story:" + "x" * 201]
)
def test_hosts_that_do_not_parse(text: str) -> None:
    """Whatever has no known kind or no proper key is refused where it stands."""
    with pytest.raises(Invalid) as caught:
        hosting.parse_host(text, "#/hosts/1")
    assert [fault.pointer for fault in caught.value.errors] == ["#/hosts/1"]


@pytest.mark.parametrize(
    ("attempt", "places"),
    [
        (lambda rt: hosting.read_host(rt, "villain", "\n"), [(None, "kind"), (None, "key")]),
        (lambda rt: hosting.declare_host(rt, "story", "s", HostBody(cast=("persona:p", "x"))), [("#/cast/1", None)]),
        (lambda rt: resolving.resolve(rt, ["persona:p", "x"], [], None), [("#/hosts/1", None)]),
    ],
)
def test_wrong_hosts_are_named(
    rt: Runtime, attempt: Callable[[Runtime], object], places: list[tuple[str | None, str | None]]
) -> None:
    """A wrong host is refused by the name of the field or parameter that holds it."""
    with pytest.raises(Invalid) as caught:
        attempt(rt)
    assert [(fault.pointer, fault.parameter) for fault in caught.value.errors] == places


def test_the_order_of_a_request(rt: Runtime, ids: dict[str, str]) -> None:
    """W11: A story's own books, those of its cast, other hosts, books named, the conversation; the first place wins."""
    on(rt, "conversation:c", ids["E"], ids["A"])
    on(rt, "persona:p", ids["C"])
    on(rt, "character:ilse", ids["B"], ids["C"])
    on(rt, "story:s", ids["A"])
    hosting.declare_host(rt, "story", "s", HostBody(cast=("character:ilse",)))
    assert resolving.resolve(rt, ["persona:p", "story:s"], [ids["D"], ids["B"], ids["D"]], "c") == (
        Attached(book_id=ids["A"], label=None, via=("story:s", "conversation:c")),
        Attached(book_id=ids["B"], label=None, via=("character:ilse", "request")),
        Attached(book_id=ids["C"], label=None, via=("character:ilse", "persona:p")),
        Attached(book_id=ids["D"], label=None, via=("request",)),
        Attached(book_id=ids["E"], label=None, via=("conversation:c",)),
    )


def test_labels_of_a_group(rt: Runtime, ids: dict[str, str]) -> None:
    """W11: In a group a book carries the names of all characters that bring it, none when the story brings it too."""
    hosting.declare_host(rt, "character", "ilse", HostBody(name="Ilse"))
    on(rt, "character:ilse", ids["A"], ids["B"], ids["C"])
    on(rt, "character:oru", ids["B"], ids["C"])
    attaching.attach(rt, "character", "oru", Attachment(book=ids["D"], label="The warden"))
    on(rt, "persona:p", ids["A"], ids["E"])
    on(rt, "story:s", ids["C"])

    def labels(*hosts: str) -> dict[str, str | None]:
        names = {id_: name for name, id_ in ids.items()}
        return {names[one.book_id]: one.label for one in resolving.resolve(rt, hosts, [], None)}

    assert labels("character:ilse", "persona:p") == {"A": None, "B": None, "C": None, "E": None}
    assert labels("character:ilse", "character:oru", "persona:p", "story:s") == {
        "C": None, "A": "Ilse", "B": "Ilse, oru", "D": "The warden", "E": None,
    }  # fmt: skip
    assert labels("character:oru", "character:unknown") == {"B": "oru", "C": "oru", "D": "The warden"}


def test_casts_of_casts_and_circles(rt: Runtime, ids: dict[str, str]) -> None:
    """A cast may hold stories and go in circles; each host is read once, behind the one that brought it."""
    hosting.declare_host(rt, "novel", "n", HostBody(cast=("story:s", "character:oru")))
    hosting.declare_host(rt, "story", "s", HostBody(cast=("character:ilse", "novel:n", "story:s")))
    on(rt, "character:oru", ids["A"])
    on(rt, "character:ilse", ids["B"])
    on(rt, "story:s", ids["C"])
    on(rt, "novel:n", ids["D"])
    found = resolving.resolve(rt, ["novel:n", "story:s"], [], None)
    assert [one.book_id for one in found] == [ids["D"], ids["C"], ids["B"], ids["A"]]


def test_the_conversation_as_a_host(rt: Runtime, ids: dict[str, str]) -> None:
    """A conversation that is also named as a host is read once, where it is named."""
    on(rt, "conversation:c", ids["A"])
    found = resolving.resolve(rt, ["conversation:c"], [ids["B"]], "c")
    assert [(one.book_id, one.via) for one in found] == [(ids["A"], ("conversation:c",)), (ids["B"], ("request",))]


def test_nothing_attached(rt: Runtime) -> None:
    """Hosts that nobody declared bring no books."""
    assert resolving.resolve(rt, ["character:ghost", "story:none"], [], "c") == ()


def test_unknown_books_of_a_request(rt: Runtime, ids: dict[str, str]) -> None:
    """Books of a request that do not exist are named, all of them."""
    with pytest.raises(NotFound, match="absent, other"):
        resolving.resolve(rt, [], ["absent", ids["A"], "other"], None)
