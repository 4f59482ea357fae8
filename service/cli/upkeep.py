"""Care of an installation: backup, schema, figures of the model, scopes, health. Backups as lines go by the service."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO

import click
from click.core import ParameterSource

from service.cli.client import Client, configured, connected
from service.cli.failures import Failure, body_of, plainly
from service.cli.options import on_service
from service.cli.output import console, say


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--ndjson", is_flag=True, help="Instead as lines of JSON, which `worldbook restore` takes.")
@click.option("--url", envvar="WORLDBOOK_URL", metavar="ADDRESS", help="With --ndjson: the service to back up.")
def backup(file: Path, ndjson: bool, url: str | None) -> None:
    """Copy the embedded database to a file.

    The copy is consistent, also while the service runs. With --ndjson the file is for any database, PostgreSQL too, and
    can be restored beside what is there.
    """
    from service.actions.backup import backup as write

    if ndjson:
        _download(file, url)
        return
    if url is not None:
        if click.get_current_context().get_parameter_source("url") is not ParameterSource.ENVIRONMENT:
            raise click.UsageError("--url is for --ndjson; without it, the database of this machine is copied.")
        say(f"WORLDBOOK_URL is set, but not {url}, the database of this machine is copied; see --ndjson.", aside=True)
    with plainly():
        write(configured(), file)
    say(f"Wrote {file}. To go back to it: stop the service and put it in place of the database.")


def _download(file: Path, url: str | None) -> None:
    if file.exists():
        raise Failure(f"{file} is there already", remedy="Name a new file.")
    with ExitStack() as ending:
        client = ending.enter_context(connected(url, model=False))
        try:
            with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}-", delete=False) as whole:
                ending.callback(Path(whole.name).unlink, missing_ok=True)
                client.download("/v1/backup", whole)
            Path(whole.name).replace(file)
        except OSError as error:
            raise Failure(f"cannot write {file}: {error.strerror}", remedy="Check the folder and its disk.") from None
    say(f"Wrote {file}. `worldbook restore {file}` brings it back, here or elsewhere.")


@click.command()
@click.argument("file", type=click.File("rb"))
@on_service()
def restore(client: Client, file: BinaryIO) -> None:
    """Bring back what `backup --ndjson` wrote.

    Books and hosts keep their ids. What is there already with the same content stays; if an id belongs to something
    else, nothing is restored.
    """
    headers = {"Content-Type": "application/x-ndjson"}
    report = body_of(client.send("POST", "/v1/restore", content=file, headers=headers, timeout=None))
    for table in ("books", "entries", "hosts", "attachments"):
        say(f"{report['restored'][table]} {table} restored, {report['present'][table]} there already")


@click.command()
def migrate() -> None:
    """Bring the database to this version of the program.

    The embedded one is also brought there by every start; PostgreSQL only by this command.
    """
    from service.store import engine

    with plainly(), engine.opened(configured()) as database:
        engine.migrate(database)
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
def rotate_scopes() -> None:
    """Sign scopes with a new key.

    Every scope answered before is refused from now on; the next retrieval of each conversation answers a new one.
    """
    from service.actions.runtime import timestamp, utc_now
    from service.actions.scoping import revoke_all
    from service.store import engine

    with plainly(), engine.opened(configured()) as database:
        engine.check_schema(database)
        revoke_all(database, timestamp(utc_now()))
    say("All scopes are revoked.")


@click.command()
def doctor() -> None:
    """Check model, database, index and tokenizers.

    All of this machine: a service at WORLDBOOK_URL is not asked. Exits with 1 when something does not work.
    """
    from sqlalchemy import make_url

    from service.cli.checks import CHECKS

    settings = configured()
    if url := os.environ.get("WORLDBOOK_URL"):
        say(f"WORLDBOOK_URL is set, but the service at {url} is not asked: this checks {make_url(settings.url)} here.")
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
