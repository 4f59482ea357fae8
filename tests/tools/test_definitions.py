"""What the tools take, beside the shapes of the vendors, which tests/spec shows."""

from __future__ import annotations

from dataclasses import fields

from service.tools.definitions import SEND, TOOLS


def test_every_argument_has_a_sentence() -> None:
    """M1: whatever argument a model sends wrongly, there are words of our own for what to send."""
    assert {item.name for tool in TOOLS for item in fields(tool.arguments)} == set(SEND)
