"""The command line: an HTTP client of the service, on a running one or on one that lives as long as the command.

Commands only translate. Everything heavy is imported when a command needs it, so that `worldbook --help` is instant.
"""

from __future__ import annotations

from service.cli.commands import main

__all__ = ["main"]
