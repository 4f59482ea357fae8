"""The list of commands."""

from __future__ import annotations

import click

from service.cli import asking, books, entries, living, mcp, reviewing, serving, transfer, upkeep
from service.version import program_version


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(program_version(), prog_name="worldbook")
def main() -> None:
    """Books of lore in; what a model should read now, out.

    Commands work on the configured database, or with --url (or WORLDBOOK_URL) on a running service. A book is named by
    its id or its name, an entry by its handle.
    """


for command in (
    serving.serve,
    serving.demo,
    transfer.import_,
    transfer.export,
    books.books,
    entries.entries,
    reviewing.usage,
    reviewing.health,
    living.writes,
    living.undo,
    books.attach,
    books.detach,
    asking.retrieve,
    asking.preview,
    asking.fetch,
    mcp.mcp,
    upkeep.backup,
    upkeep.restore,
    upkeep.migrate,
    upkeep.calibrate,
    upkeep.rotate_scopes,
    upkeep.doctor,
):
    main.add_command(command)
