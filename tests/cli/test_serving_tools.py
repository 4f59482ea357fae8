"""`worldbook mcp` and `worldbook rotate-scopes` when something is wrong; what they do is shown in tests/spec."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Worldbook


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        ((), 2, "give --host, --book, --conversation or --scope"),
        (("--scope", "wbs_x", "--host", "character:ilse"), 2, "leave out --host"),
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


def test_nothing_to_rotate(worldbook: Worldbook) -> None:
    """A database that is not there yet is told as such, with the command that makes it."""
    assert "worldbook migrate" in worldbook("rotate-scopes", code=1).err
