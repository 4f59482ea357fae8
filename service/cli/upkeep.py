"""Care of an installation: backup, migrate, calibrate, doctor. They never work on a running service."""

from __future__ import annotations

from pathlib import Path

import click

from service.cli.client import configured
from service.cli.failures import Failure, plainly
from service.cli.output import console, say


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def backup(file: Path) -> None:
    """Copy the embedded database to a file.

    The copy is consistent, also while the service runs.
    """
    from service.actions.backup import backup as write

    with plainly():
        write(configured(), file)
    say(f"Wrote {file}. To go back to it: stop the service and put it in place of the database.")


@click.command()
def migrate() -> None:
    """Bring the database to this version of the program.

    The embedded one is also brought there by every start; PostgreSQL only by this command.
    """
    from service.store import engine

    with plainly():
        database = engine.make_engine(configured())
        try:
            engine.migrate(database)
        finally:
            database.dispose()
    say("The database is up to date.")


@click.command()
def calibrate() -> None:
    """Measure the model that the settings name.

    Takes what tells languages apart off its vectors, and finds how near unrelated texts lie, so that small talk matches
    nothing. Wanted once for every model but the default one, which comes with its figures.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from service.actions import calibrating

    columns = (TextColumn("texts"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    terminal = console(stderr=True)
    with plainly(), Progress(*columns, console=terminal, transient=True, disable=not terminal.is_terminal) as progress:
        task = progress.add_task("texts", total=None)

        def tell(done: int, whole: int) -> None:
            progress.update(task, completed=done, total=whole)

        found = calibrating.calibrate(configured(), tell)
    if found.file is None:
        say(f"{found.model} comes with its figures; nothing was measured.")
        return
    floor = found.constants.floor
    say(f"Wrote {found.file}.")
    if floor is not None:
        levels = ", ".join(f"{floor(entries):.2f} among {entries}" for entries in (10, 100, 1000))
        say(f"Unrelated entries score below {levels}; what scores less is not claimed.")
    say("A service started from now on uses it, and embeds its entries anew.")


@click.command()
def doctor() -> None:
    """Check model, database, index and tokenizers.

    Exits with 1 when something does not work.
    """
    from service.cli.checks import CHECKS

    settings = configured()
    failed = 0
    for check in CHECKS:
        finding = check.look(settings)
        mark = click.style("ok  ", fg="green") if finding.works else click.style("FAIL", fg="red", bold=True)
        click.echo(f"{mark} ", nl=False)
        say(f"{check.name}: {finding.detail}")
        if finding.remedy:
            say(f"     {finding.remedy}")
        failed += not finding.works
    if failed:
        raise Failure(f"{failed} of {len(CHECKS)} checks failed")
