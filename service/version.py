"""The version of the installed program."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    """Of the installed package; `0` in a source tree that was never installed."""
    try:
        return version("worldbook")
    except PackageNotFoundError:
        return "0"
