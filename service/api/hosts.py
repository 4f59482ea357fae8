"""Hosts, what is attached to them, and what a retrieval would read through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from annotated_types import MaxLen
from fastapi import Body, Query

from service.actions import attaching, hosting, resolving
from service.actions.attaching import Attachment
from service.actions.hosting import Host, HostBody
from service.actions.paging import Page
from service.actions.resolving import Attached
from service.api.deps import BookId, Cursor, Key, Kind, Limit, Rt
from service.api.documenting import answering, routes_of
from service.api.examples import hosts as examples
from service.lore.at_most import AtMost
from service.lore.book import HostKind
from service.lore.strict import STRICT

router = routes_of("Hosts")

_HOST = "/v1/hosts/{kind}/{key:segment}"
_POSTED = ("malformed-body", "too-large", "unsupported-media-type", "invalid-request")


@dataclass(frozen=True, kw_only=True)
class Label:
    """How a book is attached."""

    __pydantic_config__ = STRICT

    label: Annotated[str, MaxLen(200)] | None = None
    """Speaks instead of the host's name when entries are labelled in a group."""


Attachments = Annotated[
    tuple[Attachment, ...], AtMost(64), Body(examples=[examples.ATTACHMENTS], description="All of them, in order.")
]


@router.get("/v1/hosts", responses=answering(200, examples.HOSTS, "invalid-request"))
def list_hosts(
    runtime: Rt,
    kind: Annotated[HostKind | None, Query(description="Only hosts of this kind.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Host]:
    """The hosts that were declared or have a book, page by page."""
    return hosting.list_hosts(runtime, kind=kind, limit=limit, cursor=cursor)


@router.put(_HOST, responses=answering(200, examples.HOST, *_POSTED))
def declare_host(
    runtime: Rt, kind: Kind, key: Key, host: Annotated[HostBody, Body(examples=[examples.HOST_IN])]
) -> Host:
    """Tell a host's name and cast, or change them. The key is your own id of it, so you keep no table of ids."""
    return hosting.declare_host(runtime, kind, key, host)


@router.get(_HOST, responses=answering(200, examples.HOST, "not-found", "invalid-request"))
def read_host(runtime: Rt, kind: Kind, key: Key) -> Host:
    """A host with its name and cast."""
    return hosting.read_host(runtime, kind, key)


@router.delete(_HOST, status_code=204, responses=answering(204, None, "not-found", "invalid-request"))
def delete_host(runtime: Rt, kind: Kind, key: Key) -> None:
    """Forget a host, its cast and its attachments, and what lorebooks remember of a conversation. The books stay."""
    hosting.delete_host(runtime, kind, key)


@router.get(f"{_HOST}/attachments", responses=answering(200, examples.ATTACHMENTS, "invalid-request"))
def read_attachments(runtime: Rt, kind: Kind, key: Key) -> tuple[Attachment, ...]:
    """The books attached to the host itself, in order."""
    return attaching.read_attachments(runtime, kind, key)


@router.put(
    f"{_HOST}/attachments",
    responses=answering(200, examples.ATTACHMENTS, *_POSTED, "not-found", "limit-exceeded", "conflict"),
)
def replace_attachments(runtime: Rt, kind: Kind, key: Key, attachments: Attachments) -> tuple[Attachment, ...]:
    """Attach exactly these books, in this order. A host that nobody declared exists from then on."""
    return attaching.replace_attachments(runtime, kind, key, attachments)


@router.put(
    f"{_HOST}/attachments/{{book}}",
    responses=answering(200, examples.ATTACHMENTS, *_POSTED, "not-found", "limit-exceeded", "conflict"),
)
def attach_book(
    runtime: Rt,
    kind: Kind,
    key: Key,
    book_id: BookId,
    how: Annotated[Label, Body(examples=[examples.LABEL])] = Label(),
) -> tuple[Attachment, ...]:
    """Attach one book behind the others, or change its label where it is; the body may be left out."""
    return attaching.attach(runtime, kind, key, Attachment(book=book_id, label=how.label))


@router.delete(
    f"{_HOST}/attachments/{{book}}",
    responses=answering(200, examples.ATTACHMENTS, "not-found", "invalid-request"),
)
def detach_book(runtime: Rt, kind: Kind, key: Key, book_id: BookId) -> tuple[Attachment, ...]:
    """Detach one book; answers what remains."""
    return attaching.detach(runtime, kind, key, book_id)


@router.get(f"{_HOST}/books", responses=answering(200, examples.ATTACHED, "invalid-request"))
def resolve_books(runtime: Rt, kind: Kind, key: Key) -> tuple[Attached, ...]:
    """What a retrieval would read through this host: its own books, then those of its cast, each once."""
    return resolving.resolve(runtime, [f"{kind}:{key}"], [], None)
