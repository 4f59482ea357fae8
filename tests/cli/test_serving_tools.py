"""`worldbook mcp` and `worldbook rotate-scopes` when something is wrong; what they do is shown in tests/spec."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from service.cli.mcp import of_minute
from service.lore.scope import Scope
from tests.cli.conftest import Worldbook


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        ((), 2, "give --host, --book, --conversation or --scope"),
        (("--scope", "wbs_x", "--host", "character:ilse"), 2, "leave out --host"),
        (("--scope", "bad"), 1, "no scope of this service"),
        (("--host", "ilse"), 1, "kind"),
        (("--book", "Atlantis"), 1, "no book Atlantis"),
        (("--host", "character:ilse", "--turn", "-1"), 2, "--turn"),
    ],
)
def test_what_can_be_reached_is_checked_first(
    worldbook: Worldbook, options: tuple[str, ...], code: int, told: str
) -> None:
    """What the options do not say, or name wrongly, is told before anything is served, and nothing on stdout."""
    ran = worldbook("mcp", *options, code=code)
    assert told in ran.err
    assert ran.out == ""


def test_a_scope_in_the_environment(worldbook: Worldbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scope that the environment gives is told by the name of its variable."""
    monkeypatch.setenv("WORLDBOOK_SCOPE", "zzz")
    told = worldbook("mcp", "--host", "character:ilse", code=2).err
    assert "WORLDBOOK_SCOPE already says what can be reached; unset it or leave out --host" in " ".join(told.split())


def test_the_service_is_not_asked(worldbook: Worldbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address of a service in the environment is not used silently: the command works on the database itself."""
    monkeypatch.setenv("WORLDBOOK_URL", "http://127.0.0.1:9")
    assert "WORLDBOOK_URL is not used" in worldbook("mcp", "--scope", "bad", code=1).err


SCOPE = Scope("local", conversation="c-1")


@pytest.mark.parametrize(
    ("turn", "reply", "got"),
    [
        (None, None, (29_434_892, "mcp-2025-12-18T21:32")),
        (None, "r1", (29_434_892, "r1")),
        (7, None, (7, "mcp-2025-12-18T21:32")),
        (7, "r1", (7, "r1")),
    ],
)
def test_a_minute_is_a_turn(turn: int | None, reply: str | None, got: tuple[int, str]) -> None:
    """A session without a turn of its own writes in the turn of the minute, and so again after its limit."""
    scope = of_minute(SCOPE, turn, reply, datetime(2025, 12, 18, 21, 32, 59, tzinfo=UTC))
    assert (scope.turn, scope.response_id) == got
    later = of_minute(SCOPE, turn, reply, datetime(2025, 12, 18, 21, 33, tzinfo=UTC))
    assert later.turn == got[0] + (turn is None)


def test_nothing_to_rotate(worldbook: Worldbook) -> None:
    """A database that is not there yet is told as such, with the command that makes it."""
    assert "worldbook migrate" in worldbook("rotate-scopes", code=1).err


def test_a_book_is_named_as_everywhere_else(worldbook: Worldbook, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name in any case means the book that is written so, else the only one that differs in case."""
    first, second = (worldbook("books", "create", name).out.split()[0] for name in ("Harbour", "HARBOUR"))
    reached: list[tuple[str, ...]] = []
    monkeypatch.setattr("service.cli.mcp._serve", lambda _, current: reached.append(current().books))
    assert f"more than one book: {first}, {second}" in worldbook("mcp", "--book", "harbour", code=1).err.replace(
        f"{second}, {first}", f"{first}, {second}"
    )
    worldbook("mcp", "--book", "Harbour")
    worldbook("mcp", "--book", "HARBOUR")
    assert reached == [(first,), (second,)]
