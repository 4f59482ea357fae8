"""Counts above their limit, and the limits of server lorebooks (SPEC T11): of one book, of all books of a server, and
one book for a persona."""

from __future__ import annotations

from sqlalchemy import Connection

from service.actions.runtime import Runtime
from service.lore.book import Dialect
from service.lore.errors import Conflict, LimitExceeded
from service.store import hosts
from service.store.hosts import HostId

SCOPED: Dialect = "server"


def at_most(count: int, limit: int, what: str, *, before: str = "", remedy: str = "Send or keep fewer.") -> None:
    """Raises `LimitExceeded` for more than `limit`; its detail begins with `before`, and `what` follows the count."""
    if count > limit:
        detail = f"{before}{count:,} {what}; at most {limit:,} are allowed"
        raise LimitExceeded(detail, limit=limit, actual=count, remedy=remedy)


def most_entries(rt: Runtime, dialect: Dialect) -> int:
    """How many entries a book of this dialect may have."""
    return rt.settings.max_server_entries if dialect == SCOPED else rt.settings.max_entries


def check_servers(rt: Runtime, conn: Connection, book_id: str) -> None:
    """To be called when entries were added to a book, before the commit. Raises `LimitExceeded`."""
    for host in hosts.bearing(conn, book_id, "server"):
        check_host(rt, conn, host)


def check_host(rt: Runtime, conn: Connection, host: HostId) -> None:
    """To be called when a book was attached to the host, before the commit.

    Raises `LimitExceeded` for too many entries in the lorebooks of a server, `Conflict` for a second lorebook of a
    persona.
    """
    if host.kind not in ("server", "persona"):
        return
    sizes = hosts.sizes(conn, host, SCOPED)
    if host.kind == "persona" and len(sizes) > 1:
        first = next(iter(sizes))
        raise Conflict(
            f"{host} has the server lorebook {first} already, and may have one",
            remedy=f"Import into {first} with mode append or replace, or detach it first.",
        )
    at_most(
        sum(sizes.values()),
        rt.settings.max_server_entries,
        "entries",
        before=f"the lorebooks of {host} would have ",
        remedy="Nothing was changed. Remove some entries, or detach a book.",
    )
