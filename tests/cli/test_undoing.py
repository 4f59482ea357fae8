"""What models wrote, listed and undone by its author."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from service.actions import model_writing
from service.actions.drafting import Draft
from service.actions.model_writing import Origin
from service.actions.runtime import running
from service.cli import client
from tests.cli.conftest import Worldbook


@pytest.fixture(autouse=True)
def one_service(own_settings: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All commands of a test share one application."""
    with client.hosted() as host:
        monkeypatch.setattr(client, "hosted", lambda **_: nullcontext(host))
        yield


@pytest.fixture
def gate(worldbook: Worldbook) -> str:
    """The handle of an entry of a living book that a model edited twice, in replies r1 and r2."""
    worldbook("books", "create", "Coast")
    handle = worldbook("entries", "add", "Coast", "--title", "The Gate", "--content", "Open.").out.strip()
    worldbook("books", "edit", "Coast", "--living")
    book = handle.partition("-")[0]
    with running(client.configured()) as runtime:
        for reply, title, content in (("r1", "The Gate", "Shut."), ("r2", "The Ruin", "Broken.")):
            origin = Origin(conversation="c-81", turn=7, response_id=reply)
            model_writing.write(runtime, origin, [book], Draft(title=title, content=content, handle=handle))
    return handle


def content(worldbook: Worldbook, handle: str) -> str:
    text: str = worldbook("entries", "show", handle, "--json").json["content"]
    return text


def test_the_log(worldbook: Worldbook, gate: str) -> None:
    """W21: The log of a book or an entry says what was done, by which conversation, and what became of it."""
    assert "living: models may write" in worldbook("books", "show", "Coast").out
    for named in ("Coast", gate):
        said = worldbook("writes", named).out
        assert "edited The Gate, now The Ruin" in said
        assert "c-81" in said
    assert len(worldbook("writes", "Coast", "--response", "r1", "--json").json) == 1
    assert worldbook("writes", "Coast", "--conversation", "nobody").out == "No model wrote there.\n"


def test_undo_step_by_step(worldbook: Worldbook, gate: str) -> None:
    """W21: Undo takes back the newest write of an entry, then the one before, and then says that none is left."""
    assert worldbook("undo", gate).out == "undone: edited The Gate, now The Ruin\n"
    assert content(worldbook, gate) == "Shut."
    assert worldbook("undo", gate).out == "undone: edited The Gate\n"
    assert content(worldbook, gate) == "Open."
    assert "no write" in worldbook("undo", gate, code=1).err


def test_undo_by_id(worldbook: Worldbook, gate: str) -> None:
    """W21: A write named by its id is refused while a later one stands, which the error names."""
    newest, oldest = (one["id"] for one in worldbook("writes", gate, "--json").json)
    assert newest in worldbook("undo", gate, oldest, code=1).err
    worldbook("undo", gate, newest)
    worldbook("undo", gate, oldest)
    assert content(worldbook, gate) == "Open."


def test_a_book_that_lives_no_more(worldbook: Worldbook, gate: str) -> None:
    """The author switches a living book off and keeps its other settings."""
    worldbook("books", "edit", "Coast", "--not-living")
    assert worldbook("books", "show", "Coast", "--json").json["settings"]["living"] is False
    assert "nothing to change" in worldbook("books", "edit", "Coast", code=2).err.casefold()
