"""What goes wrong over MCP outside of tools."""

from __future__ import annotations

import logging

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from service.lore.errors import NotFound, ScopeExpired
from service.tools.mcp import _plainly


@pytest.mark.parametrize("error", [NotFound("no entry x", remedy="List them."), ScopeExpired("over", remedy="Again.")])
def test_our_own_errors_keep_their_words(error: Exception) -> None:
    """M2: what we know to be wrong is told with its remedy."""

    def act() -> None:
        raise error

    with pytest.raises(MCPError) as caught:
        _plainly(act)
    assert caught.value.code == INVALID_PARAMS
    assert caught.value.message.endswith((" List them.", " Again."))


def test_other_errors_say_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """M2: a fault of ours is logged, and of what it says, which may be lore, nothing goes out."""

    def act() -> None:
        raise ZeroDivisionError("the secret of the gate")

    with caplog.at_level(logging.CRITICAL), pytest.raises(MCPError) as caught:
        _plainly(act)
    assert caught.value.code == INTERNAL_ERROR
    assert "secret" not in caught.value.message
