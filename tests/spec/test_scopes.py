"""What a scope lets tools reach, and when it is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import text

from service.cli import main
from service.lore.scope import MAX_TOKEN, SigningKey, sign
from service.lore.scope import Scope as LoreScope
from service.store.engine import writing
from tests.spec.asking import Json, ask, attach, embedded, entry, fetch, find, new_book, ok, switch
from tests.spec.conftest import Serving

ROUTES = [
    ("/v1/fetch", {"names": ["The Salt Gate"]}),
    ("/v1/search", {"query": "The Salt Gate"}),
    ("/v1/tools/call", {"name": "lore_fetch", "arguments": {"names": ["The Salt Gate"]}}),
]


def scope_of(client: TestClient, **fields: object) -> Json:
    """The scope of a retrieval with these fields."""
    scope: Json = ask(client, "Hello.", **fields)["scope"]
    return scope


def over_mcp(client: TestClient, token: str) -> Response:
    """What a ping over MCP is answered."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    return client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers)


def gate(client: TestClient) -> str:
    return embedded(client, new_book(client, entry("The Salt Gate", "It opens at low tide.")))


def test_every_retrieval_answers_a_scope(client: TestClient) -> None:
    """M3: a retrieval answers a scope with its end and its tools, and a preview, which records nothing, none."""
    book = gate(client)
    scope = scope_of(client, books=[book])
    assert scope["token"].startswith("wbs_")
    assert len(scope["token"]) <= MAX_TOKEN
    assert scope["tools"] == ["fetch", "list", "search"]
    left = datetime.fromisoformat(scope["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=55) < left <= timedelta(hours=1)
    assert ask(client, "Hello.", route="preview", books=[book])["scope"] is None


@pytest.mark.parametrize("as_bearer", [False, True])
@pytest.mark.parametrize(("route", "body"), ROUTES)
def test_a_scope_is_accepted(client: TestClient, route: str, body: Json, as_bearer: bool) -> None:
    """M3: fetch, search and calls take the scope as a field or as bearer, in place of hosts and books."""
    token = scope_of(client, books=[gate(client)])["token"]
    headers = {"Authorization": f"Bearer {token}"} if as_bearer else {}
    answer = ok(client.post(route, json=body if as_bearer else {**body, "scope": token}, headers=headers))
    assert "The Salt Gate" in str(answer)


def test_a_scope_of_another_conversation(client: TestClient) -> None:
    """M3: a scope reaches what its own conversation has attached, and nothing of another."""
    mine, theirs = gate(client), embedded(client, new_book(client, entry("The Secret", "Nobody may know.")))
    attach(client, "conversation:m3-mine", mine)
    attach(client, "conversation:m3-theirs", theirs)
    token = scope_of(client, conversation="m3-mine")["token"]
    assert find(client, "The Secret", scope=token) == ["The Salt Gate"]
    answer = fetch(client, "The Secret", f"{theirs}-1", scope=token)
    assert answer["entries"] == []
    assert "Secret" not in str([each["nearest"] for each in answer["missing"]])


def test_scope_keeps_order_and_labels(client: TestClient) -> None:
    """M3: through a scope, books come in the order and under the labels of the retrieval."""
    first, second = gate(client), gate(client)
    attach(client, "character:m3-ilse", second)
    attach(client, "character:m3-oru", first)
    token = scope_of(client, hosts=["character:m3-ilse", "character:m3-oru"])["token"]
    found = fetch(client, "The Salt Gate", scope=token)["entries"]
    assert [(each["book"], each["label"]) for each in found] == [(second, "m3-ilse"), (first, "m3-oru")]


def test_what_changes_counts_at_once(client: TestClient) -> None:
    """M3, W10: detaching, disabling and deleting act on scopes that were answered before."""
    detached, disabled, deleted = (gate(client) for _ in range(3))
    attach(client, "character:m3-change", detached)
    token = scope_of(client, hosts=["character:m3-change"], books=[disabled, deleted])["token"]
    assert len(fetch(client, "The Salt Gate", scope=token)["entries"]) == 3
    attach(client, "character:m3-change")
    switch(client, disabled, [1], enabled=False)
    ok(client.delete(f"/v1/books/{deleted}"), 204)
    assert fetch(client, "The Salt Gate", scope=token)["entries"] == []
    assert find(client, "The Salt Gate", scope=token) == []


@pytest.mark.parametrize("field", [{"hosts": ["character:m3"]}, {"books": ["bakiru"]}, {"conversation": "c"}])
def test_a_scope_cannot_be_widened(client: TestClient, field: Json) -> None:
    """M3: hosts, books or a conversation beside a scope are refused, in the body and with a bearer."""
    token = scope_of(client, books=[gate(client)])["token"]
    for body, headers in (({"scope": token}, {}), ({}, {"Authorization": f"Bearer {token}"})):
        answer = client.post("/v1/fetch", json={"names": ["x"], **body, **field}, headers=headers)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == f"#/{next(iter(field))}"


def tampered(token: str) -> list[str]:
    """The token with each letter in turn changed to its neighbour, and cut, grown and replaced."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    body = token.removeprefix("wbs_")
    changed = [
        f"wbs_{body[:place]}{letters[letters.index(letter) ^ 1]}{body[place + 1 :]}"
        for place, letter in enumerate(body)
    ]
    return [
        *changed,
        token[:-1],
        token + "A",
        token + "=",
        token.upper(),
        "wbs_",
        "wbs_?",
        "wbs_é",
        "wbs_" + "A" * 3000,
    ]


def test_a_tampered_scope(client: TestClient) -> None:
    """M3: a token of which any letter was changed is refused, also where base64 has bits to spare."""
    token = scope_of(client, books=[gate(client)])["token"]
    for wrong in tampered(token):
        answer = client.post("/v1/fetch", json={"names": ["The Salt Gate"], "scope": wrong})
        assert answer.status_code == 401, wrong
        assert answer.json()["type"] in {"/problems/unauthenticated", "/problems/scope-expired"}
        assert answer.json()["remedy"]


def test_a_scope_of_another_service(client: TestClient) -> None:
    """M3: a token that somebody signed with a key of their own is refused."""
    forged = sign(LoreScope("local", books=(gate(client),), expires=2**40), SigningKey(b"\0" * 4, b"\0" * 32))
    assert client.post("/v1/fetch", json={"names": ["x"], "scope": forged}).status_code == 401


@pytest.mark.parametrize(("route", "body"), ROUTES)
def test_an_expired_scope(serving: Serving, monkeypatch: pytest.MonkeyPatch, route: str, body: Json) -> None:
    """M3: a scope is refused from its end on, on every route that takes one, and a new retrieval answers a new one."""
    now = [datetime(2026, 11, 30, 12, tzinfo=UTC)]
    monkeypatch.setattr("service.actions.runtime.utc_now", lambda: now[0])
    with serving(scope_seconds=60) as client:
        book = gate(client)
        scope = scope_of(client, books=[book])
        assert scope["expires_at"] == "2026-11-30T12:01:00.000Z"
        now[0] += timedelta(seconds=59)
        ok(client.post(route, json={**body, "scope": scope["token"]}))
        now[0] += timedelta(seconds=1)
        answer = client.post(route, json={**body, "scope": scope["token"]})
        assert (answer.status_code, answer.json()["type"]) == (401, "/problems/scope-expired")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert over_mcp(client, scope["token"]).status_code == 401
        ok(client.post(route, json={**body, "scope": scope_of(client, books=[book])["token"]}))


def test_rotation_revokes(serving: Serving, monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """M3: `worldbook rotate-scopes` revokes every scope at once, of a service that runs; restarting revokes none."""
    monkeypatch.setenv("WORLDBOOK_DATA_DIR", f"{tmp_path}/data")
    with serving() as client:
        book = gate(client)
        token = scope_of(client, books=[book])["token"]
    with serving() as client:
        assert len(fetch(client, "The Salt Gate", scope=token)["entries"]) == 1
        ran = CliRunner().invoke(main, ["rotate-scopes"])
        assert (ran.exit_code, ran.output) == (0, "All scopes are revoked.\n")
        answer = client.post("/v1/fetch", json={"names": ["The Salt Gate"], "scope": token})
        assert (answer.status_code, answer.json()["type"]) == (401, "/problems/scope-expired")
        assert over_mcp(client, token).json()["type"] == "/problems/scope-expired"
        fresh = scope_of(client, books=[book])["token"]
        assert over_mcp(client, fresh).status_code == 200
        assert len(fetch(client, "The Salt Gate", scope=fresh)["entries"]) == 1


def test_many_long_hosts(client: TestClient) -> None:
    """M3: a retrieval whose hosts are too long to be signed answers without a scope rather than failing."""
    hosts = [f"character:{number}{'城塩'[number % 2] * 100}{number * 7919 % 1000}" for number in range(32)]
    assert scope_of(client, hosts=hosts)["token"]
    odd = [f"character:{''.join(chr(0x4E00 + (number * 977 + place * 7919) % 20000) for place in range(200))}"
           for number in range(32)]  # fmt: skip
    assert ask(client, "Hello.", hosts=odd)["scope"] is None


def test_write_needs_a_living_book_and_a_reply(client: TestClient) -> None:
    """M3: the scope has the write tool only with a living book, and with conversation, turn and response_id given."""
    living = new_book(client, entry("Day one", "We landed."), settings={"living": True})
    reply: Json = {"conversation": "m3-w", "turn": 3, "response_id": "r-3"}
    assert scope_of(client, books=[living], **reply)["tools"] == ["fetch", "list", "search", "write"]
    assert "write" not in scope_of(client, books=[gate(client)], **reply)["tools"]
    for left_out in reply:
        some = {name: value for name, value in reply.items() if name != left_out}
        assert "write" not in scope_of(client, books=[living], **some)["tools"]


def test_lorebooks_are_out_of_reach(client: TestClient) -> None:
    """M3: a book of another dialect is reached by no tool, though the scope has its host and itself."""
    book, lorebook = gate(client), new_book(client, entry("The Secret", "Only by chance."))
    attach(client, "character:m3-lorebook", book, lorebook)
    token = scope_of(client, hosts=["character:m3-lorebook"], books=[lorebook])["token"]
    assert len(fetch(client, "The Secret", scope=token)["entries"]) == 1
    with writing(client.app_state["runtime"].engine) as conn:
        conn.execute(text("UPDATE books SET dialect = 'chat', version = version + 1 WHERE id = :id"), {"id": lorebook})
        conn.commit()
    for reach in ({"scope": token}, {"hosts": ["character:m3-lorebook"]}):
        answer = fetch(client, "The Secret", f"{lorebook}-1", **reach)
        assert answer["entries"] == []
        assert "Secret" not in str([each["nearest"] for each in answer["missing"]])
        assert find(client, "The Secret", **reach) == ["The Salt Gate"]
    listed = ok(client.post("/v1/tools/call", json={"scope": token, "name": "lore_list"}))
    assert [item["title"] for item in listed["result"]["items"]] == ["The Salt Gate"]
