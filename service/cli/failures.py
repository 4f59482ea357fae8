"""What a command says when something goes wrong, on stderr. Exit code 2 is wrong usage, 1 is everything else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import httpx


class Failure(click.ClickException):
    """What is wrong, in one sentence, and what to do about it."""

    exit_code = 1

    def __init__(self, detail: str, *, remedy: str = "", errors: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(detail)
        self.remedy = remedy
        self.errors = errors

    def show(self, file: IO[Any] | None = None) -> None:
        click.secho("Error: ", fg="red", bold=True, nl=False, err=True)
        click.echo(self.message, err=True)
        for error in self.errors:
            place = error.get("pointer") or error.get("parameter") or ""
            remedy = f" ({error['remedy']})" if error.get("remedy") else ""
            click.echo(f"  {place}: {error['detail']}{remedy}", err=True)
        if self.remedy:
            click.echo(self.remedy, err=True)


class Problem(Failure):
    """An RFC 9457 problem that the service answered."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        detail = body.get("detail") or body.get("title") or f"the service answered {status}"
        instance = f" (request {body['instance']})" if status >= 500 and body.get("instance") else ""
        super().__init__(detail + instance, remedy=body.get("remedy") or "", errors=body.get("errors") or ())
        self.status = status
        self.body = body

    @classmethod
    def of(cls, response: httpx.Response) -> Problem:
        try:
            body = response.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            body = {"detail": f"{response.request.url} answered {response.status_code}; that is no Worldbook service"}
        return cls(response.status_code, body)


def body_of(response: httpx.Response) -> Any:
    """The JSON that the service answered. Raises `Failure` when something else answers there."""
    try:
        return response.json()
    except ValueError:
        raise another_kind(response) from None


def another_kind(response: httpx.Response) -> Failure:
    """What to say when an answer is none of the service's."""
    return Failure(
        f"{response.request.url} answered something else; that is no Worldbook service",
        remedy="Correct the address, --url or WORLDBOOK_URL.",
    )


@contextmanager
def naming(names: Mapping[str, str]) -> Iterator[None]:
    """Faults at a place that has a name here, an option or a line of a form, are told by that name.

    `names` has them by the field of a body or the parameter of a path.
    """
    try:
        yield
    except Problem as problem:
        problem.errors = [{**error, **_named(error, names)} for error in problem.errors]
        raise


def _named(error: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, str]:
    parts = (error.get("pointer") or error.get("parameter") or "").split("/")
    found = next((names[part] for part in parts if part in names), None)
    return {} if found is None else {"pointer": found}


@contextmanager
def plainly() -> Iterator[None]:
    """Errors of the domain as a `Failure`: a database that is locked, or newer than the program."""
    from service.lore.errors import Invalid, WorldbookError

    try:
        yield
    except WorldbookError as error:
        errors = [asdict(fault) for fault in error.errors] if isinstance(error, Invalid) else []
        raise Failure(error.detail, remedy=error.remedy, errors=errors) from None
