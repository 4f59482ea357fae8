"""Care of an installation, on the database itself, never on a running service: its backup, schema, scopes, health."""

from __future__ import annotations

from pathlib import Path

import click

from service.cli.client import configured
from service.cli.failures import Failure, plainly
from service.cli.output import say


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
def rotate_scopes() -> None:
    """Sign scopes with a new key.

    Every scope answered before is refused from now on; the next retrieval of each conversation answers a new one.
    """
    from service.actions.runtime import timestamp, utc_now
    from service.actions.scoping import revoke_all
    from service.store import engine

    with plainly():
        database = engine.make_engine(configured())
        try:
            engine.check_schema(database)
            revoke_all(database, timestamp(utc_now()))
        finally:
            database.dispose()
    say("All scopes are revoked.")


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
