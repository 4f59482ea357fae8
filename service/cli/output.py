"""What goes to the terminal: JSON for scripts, tables for people. Lore cannot move the cursor or change colours."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDTH_OF_A_PIPE = 160
# C0 and C1 control characters but tab and line feed: a file from elsewhere may hold terminal commands.
_CONTROLS = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}")


def visible(text: str) -> str:
    """Text without what a terminal would obey; a line end of Windows is a line end."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def say(text: str = "", *, aside: bool = False) -> None:
    """A line for people; `aside` goes to stderr, so that stdout holds only what was asked for."""
    click.echo(visible(text), err=aside)


def print_json(value: Any) -> None:
    """A value for scripts."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def console(*, stderr: bool = False) -> Console:
    """As wide as the terminal, and wide enough for tables in a pipe. Texts are printed as they are, never as markup."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WIDTH_OF_A_PIPE
    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "") -> Table:
    """A table; columns named with a leading `#` hold numbers."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, title=visible(title) or None, title_justify="left", title_style="bold")
    for column in columns:
        number = column.startswith("#")
        made.add_column(column.removeprefix("#"), justify="right" if number else "left", no_wrap=number)
    for row in rows:
        made.add_row(*("" if cell is None else visible(str(cell)) for cell in row))
    return made


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "") -> None:
    console().print(table(columns, rows, title=title))
