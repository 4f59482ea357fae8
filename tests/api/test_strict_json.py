"""Bodies are read as strictly as a service needs it, whatever the route."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from fastapi.testclient import TestClient
from hypothesis import example, given
from hypothesis import strategies as st

from service.lore.errors import Invalid, UnreadableFile
from service.validation import MAX_DEPTH, check_storable, parse_json

JSON = {"Content-Type": "application/json"}
BOM = b"\xef\xbb\xbf"
ENTRY = b'{"title": "Oru", "content": "The warden."%s}'
DEEP = b'{"name": "a", "extensions": {"x": %s%s}}' % (b"[" * 100_000, b"]" * 100_000)

BAD = [
    # what is wrong, body, status, type, where
    ("I18 nested 100,000 deep", b"[" * 100_000, 422, "invalid-request", ["#"]),
    ("I18 nested deep and closed", DEEP, 422, "invalid-request", None),
    ("I18 an integer of 5,000 digits", b'{"name": "a", "version": ' + b"9" * 5000 + b"}", 422, "invalid-request", None),
    ("I17 NaN", b'{"name": "a", "settings": {"floor": NaN}}', 422, "invalid-request", ["#/settings/floor"]),
    ("I17 Infinity", b'{"name": "a", "settings": {"floor": -Infinity}}', 422, "invalid-request", ["#/settings/floor"]),
    ("I17 1e999", b'{"name": "a", "settings": {"floor": 1e999}}', 422, "invalid-request", ["#/settings/floor"]),
    ("I17 beyond 2^63", b'{"name": "a", "version": 9223372036854775808}', 422, "invalid-request", ["#/version"]),
    (
        "I17 beyond 2^53",
        b'{"name": "a", "extensions": {"n": 9007199254740992}}',
        422,
        "invalid-request",
        ["#/extensions/n"],
    ),
    (
        "I17 beyond 2^64",
        b'{"name": "a", "extensions": {"n": 18446744073709551616}}',
        422,
        "invalid-request",
        ["#/extensions/n"],
    ),
    ("I16 lone surrogate", b'{"name": "\\ud83d"}', 422, "invalid-request", ["#/name"]),
    (
        "I16 lone surrogate in a key",
        b'{"name": "a", "extensions": {"\\ud83d": 1}}',
        422,
        "invalid-request",
        ["#/extensions"],
    ),
    ("NUL", b'{"name": "a\\u0000b"}', 422, "invalid-request", ["#/name"]),
    ("no JSON", b"name=Salt", 400, "malformed-body", None),
    ("half a JSON", b'{"name": "Salt', 400, "malformed-body", None),
    ("two values", b'{"name": "Salt"} {}', 400, "malformed-body", None),
    ("Latin-1", '{"name": "Côte"}'.encode("latin-1"), 400, "malformed-body", None),
    ("UTF-16", '{"name": "Salt"}'.encode("utf-16"), 400, "malformed-body", None),
    ("nothing", b"", 422, "invalid-request", ["#"]),
    ("null", b"null", 422, "invalid-request", ["#"]),
    ("a list", b"[]", 422, "invalid-request", ["#"]),
    ("a misspelt field", b'{"name": "a", "descripton": ""}', 422, "invalid-request", ["#/descripton"]),
    ("several faults at once", b'{"nam": "a", "enabled": 7}', 422, "invalid-request", ["#/enabled", "#/nam", "#/name"]),
    ("a wrong entry", b'{"name": "a", "entries": [{"title": "t"}]}', 422, "invalid-request", ["#/entries/0/content"]),
]


@pytest.mark.parametrize(("body", "status", "name", "where"), [pytest.param(*row[1:], id=row[0]) for row in BAD])
def test_bad_bodies_are_refused(
    client: TestClient, body: bytes, status: int, name: str, where: list[str] | None
) -> None:
    """I16, I17, I18: a body that cannot be kept is refused with pointers to what is wrong, never as our fault."""
    answer = client.post("/v1/books", content=body, headers=JSON)
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (status, f"/problems/{name}"), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["remedy"]
    if where is not None:
        assert sorted({error["pointer"] for error in problem["errors"]}) == where


NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,20})([.][0-9]{1,20})?([eE][+-]?[0-9]{1,5})?", fullmatch=True)
DEPTHS = st.integers(1, MAX_DEPTH + 10).map(lambda depth: "[" * depth + "0" + "]" * depth)
PIECES = st.sampled_from(["\\u0000", "\\\\", "u0000", "é", "\\ud83d", "\\ude00"])
TEXTS = st.lists(PIECES).map(lambda pieces: f'"{"".join(pieces)}"')


@given(NUMBERS | DEPTHS | TEXTS)
@example("9007199254740992")
@example("-9007199254740992")
@example("18446744073709551616.0")
@example("1e0301")
@example("999999999999999.9e99")
def test_nothing_that_cannot_be_kept_is_overlooked(written: str) -> None:
    """I16, I17, I18: what looks harmless is not examined value by value, and would have passed."""
    data = b'{"a": %s}' % written.encode()
    try:
        check_storable(orjson.loads(data))
    except (Invalid, orjson.JSONDecodeError):
        with pytest.raises((Invalid, UnreadableFile)):
            parse_json(data)
    else:
        assert parse_json(data) == orjson.loads(data)


@pytest.mark.parametrize("written", ["18446744073709551616", "-99999999999999999999999", "1" * 300])
def test_no_integer_becomes_a_float(written: str) -> None:
    """I17: an integer that is too large is refused, not rounded; the same digits in a text or a fraction are kept."""
    with pytest.raises(Invalid) as caught:
        parse_json(b'{"n": %s}' % written.encode())
    assert [(each.pointer, each.detail) for each in caught.value.errors] == [("#/n", "integer beyond 2^53-1")]
    for kept in (f'"{written}"', f"0.{written.removeprefix('-')}"):
        parse_json(b'{"n": %s}' % kept.encode())


def test_a_byte_order_mark_is_accepted(client: TestClient) -> None:
    """I14: a body that begins with a byte-order mark is read like any other."""
    answer = client.post("/v1/books", content=BOM + '{"name": "Küste"}'.encode(), headers=JSON)
    assert (answer.status_code, answer.json()["name"]) == (201, "Küste")


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        ({"descripton": ""}, "did you mean description?"),
        ({"entries": [{"title": "t", "content": "c", "alias": []}]}, "did you mean aliases?"),
        ({"settings": {"place": 3}}, "did you mean places?"),
    ],
)
def test_a_misspelt_field_is_guessed(client: TestClient, wrong: dict[str, Any], remedy: str) -> None:
    """An unknown field is an error that names the field that was meant, at any depth."""
    problem = client.post("/v1/books", json={"name": "a", **wrong}).json()
    assert [error["remedy"] for error in problem["errors"]] == [remedy]


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        ({"budget_tokens": 200_001}, "send at most 200000"),
        ({"budget_tokens": -1}, "send at least 0"),
        ({"budget_tokens": 1.5}, "send a whole number"),
        ({"places": "many"}, "send a whole number"),
        ({"turn": "9007199254740992"}, "send at most 9007199254740991"),
        ({"turn": "99999999999999999999"}, "send at most 9007199254740991"),
        ({"greeting": "9223372036854775808"}, "send at most 9007199254740991"),
        ({"floor": "low"}, "send a number"),
        ({"tools": "perhaps"}, "send true or false"),
        ({"conversation": 7}, "send a string"),
        ({"conversation": "c" * 201}, "shorten it to 200 characters"),
        ({"conversation": ""}, "send 1 or more characters"),
        ({"conversation": "a\nb"}, "send it without control characters"),
        ({"response_id": ""}, "send 1 or more characters"),
        ({"response_id": "a\x85b"}, "send it without control characters"),
        ({"exclude": "bakiru-1"}, "send a list"),
        ({"names": []}, "send an object"),
        ({"messages": [{"role": "user"}]}, "add it"),
    ],
)
def test_a_wrong_value_has_a_remedy(client: TestClient, wrong: dict[str, Any], remedy: str) -> None:
    """What is out of range or of another type is an error that says what to send."""
    asked = {"hosts": ["character:ilse"], "messages": [{"role": "user", "content": "Hm."}]}
    answer = client.post("/v1/retrieve", json=asked | wrong)
    assert answer.status_code == 422, answer.text
    assert {error["remedy"] for error in answer.json()["errors"]} == {remedy}


@pytest.mark.parametrize("message", [b'"\\ud83d"', b'"a\\u0000b"'])
def test_messages_are_checked_as_well(client: TestClient, message: bytes) -> None:
    """I16: a lone surrogate or NUL in a message of a retrieval is refused with a pointer to the message."""
    body = b'{"conversation": "c", "messages": [{"role": "user", "content": %s}]}' % message
    for route in ("/v1/retrieve", "/v1/preview"):
        answer = client.post(route, content=body, headers=JSON)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == "#/messages/0/content"


@pytest.mark.parametrize(("budget", "status"), [(0, 200), (None, 200), (-1, 422), (200_001, 422), ("many", 422)])
def test_a_budget_has_one_meaning(client: TestClient, budget: object, status: int) -> None:
    """T14: a budget of 0 is a budget of 0, null is the setting, and a negative one is an error."""
    body = {"conversation": "c", "messages": [{"role": "user", "content": "hi"}], "budget_tokens": budget}
    answer = client.post("/v1/retrieve", json=body)
    assert answer.status_code == status
    if status == 200:
        assert answer.json()["budget"]["limit"] == (2000 if budget is None else budget)
    else:
        assert answer.json()["errors"][0]["pointer"] == "#/budget_tokens"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "text/json"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "nonsense"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
)
def test_other_types_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    """A body that does not say that it is JSON in UTF-8 is refused, and the remedy names what is read."""
    answer = client.post("/v1/books", content=b'{"name": "a"}', headers=headers)
    assert answer.status_code == 415
    assert answer.json()["type"] == "/problems/unsupported-media-type"
    assert "application/json" in answer.json()["remedy"] or "plain bytes" in answer.json()["remedy"]


@pytest.mark.parametrize(
    "media_type", ["application/json", "application/merge-patch+json", 'Application/JSON; charset="UTF-8"']
)
def test_json_types_are_accepted(client: TestClient, new_book: Any, media_type: str) -> None:
    """JSON may be called JSON or merge patch, in any case, with the charset that it has anyway."""
    book = new_book()
    answer = client.patch(
        f"/v1/books/{book['id']}", content=json.dumps({"description": "new"}), headers={"Content-Type": media_type}
    )
    assert (answer.status_code, answer.json()["description"]) == (200, "new")


@pytest.mark.parametrize(
    ("path", "parameter", "remedy"),
    [
        ("/v1/books?limt=5", "limt", "did you mean limit?"),
        ("/v1/books?limit=0", "limit", "send at least 1"),
        ("/v1/books?limit=201", "limit", "send at most 200"),
        ("/v1/books?limit=many", "limit", "send a whole number"),
        ("/v1/books?sort=size", "sort", "one of 'name' or '-updated_at'"),
        ("/v1/books?q=a%00b", "q", "remove %00"),
        ("/v1/books?cursor=nonsense", "cursor", "send next_cursor of the page before, or none"),
        ("/v1?verbose=1", "verbose", "known: none"),
        ("/v1/books/bakiru/entries/one", "entry", "send a whole number"),
        ("/v1/books/bakiru/entries/99999999999999999999", "entry", "send at most 2147483647"),
        (
            "/v1/hosts/robot/r2",
            "kind",
            "one of 'character', 'story', 'novel', 'server', 'persona' or 'conversation'",
        ),
        ("/v1/hosts/character/a%00b", "key", "remove %00"),
    ],
)
def test_bad_parameters_are_refused(client: TestClient, path: str, parameter: str, remedy: str) -> None:
    """A parameter of the path or query that is unknown or wrong is an error that names it."""
    answer = client.get(path)
    assert answer.status_code == 422, answer.text
    [error] = answer.json()["errors"]
    assert (error["parameter"], error["pointer"]) == (parameter, None)
    assert error["detail"]
    assert error["remedy"] == remedy


@pytest.mark.parametrize("faults", [{"entries": [{}] * 5000}, {f"descripton{number}": 1 for number in range(50_000)}])
def test_endless_faults_are_not_all_told(client: TestClient, faults: dict[str, Any]) -> None:
    """A body with thousands of faults is answered with the first hundred, without a guess for each of the others."""
    answer = client.post("/v1/books", json={"name": "a", **faults})
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 100


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/v1/retrieve", {"messages": [{}] * 100_000}, "#/messages"),
        ("/v1/retrieve", {"messages": [], "exclude": [1] * 100_000}, "#/exclude"),
        ("/v1/fetch", {"names": [{}] * 100_000}, "#/names"),
        ("/v1/books", {"name": "a", "entries": [{}] * 100_001}, "#/entries"),
        ("/v1/books/bakiru/entries", [{}] * 100_000, "#"),
        ("/v1/books/bakiru/order", {"ids": ["x"] * 100_000, "to": "top"}, "#/ids"),
        ("/v1/hosts/character/ilse/attachments", [{}] * 100_000, "#"),
    ],
)
def test_a_list_that_is_too_long_is_not_looked_into(client: TestClient, path: str, body: object, pointer: str) -> None:
    """I18: more items than a list may have are one fault: telling each of a million took seconds and a gigabyte."""
    answer = client.request("PUT" if path.endswith("attachments") else "POST", path, json=body)
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert "at most" in error["detail"]


def test_of_wrong_strings_in_an_entry_the_first_is_told(client: TestClient) -> None:
    """I18: the faults of ten thousand entries with 64 wrong aliases each would take as long as those of a million."""
    answer = client.post(
        "/v1/books", json={"name": "a", "entries": [{"title": "t", "content": "c", "aliases": [""] * 64}]}
    )
    assert [error["pointer"] for error in answer.json()["errors"]] == ["#/entries/0/aliases/0"]
