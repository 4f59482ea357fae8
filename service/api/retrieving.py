"""What models and apps ask at every turn: retrieve, preview, fetch, search."""

from __future__ import annotations

from typing import Annotated

from fastapi import Body
from starlette.requests import Request
from starlette.responses import Response

from service.actions import retrieving
from service.api.answers import as_json
from service.api.deps import bearer_of, request_id_of, runtime_of, with_scope
from service.api.documenting import answering, routes_of
from service.api.examples import retrieving as examples
from service.lore.answer import RetrieveAnswer
from service.lore.lookups import FetchAnswer, SearchAnswer
from service.lore.request import FetchRequest, RetrieveRequest, SearchRequest

router = routes_of("Retrieval")

Conversation = Annotated[RetrieveRequest, Body(examples=[examples.RETRIEVE])]
_POSTED = ("malformed-body", "not-found", "too-large", "unsupported-media-type", "invalid-request")
_SCOPED = (*_POSTED, "unauthenticated", "scope-expired")


@router.post("/v1/retrieve", response_model=RetrieveAnswer, responses=answering(200, examples.RETRIEVED, *_POSTED))
def retrieve(request: Request, asked: Conversation) -> Response:
    """Two texts ready to inject, `prompt.stable` and `prompt.volatile`, and for every entry what became of it and why.

    A missing or slow embedder is no error: the answer then rests on names alone and says so in `degraded`.
    """
    return as_json(retrieving.retrieve(runtime_of(request), asked, request_id_of(request)))


@router.post("/v1/preview", response_model=RetrieveAnswer, responses=answering(200, examples.PREVIEWED, *_POSTED))
def preview(request: Request, asked: Conversation) -> Response:
    """Exactly what a retrieve would answer, without recording anything; `trace` is full and texts come by section."""
    return as_json(retrieving.preview(runtime_of(request), asked))


@router.post("/v1/fetch", response_model=FetchAnswer, responses=answering(200, examples.FETCHED, *_SCOPED))
def fetch(request: Request, asked: Annotated[FetchRequest, Body(examples=[examples.FETCH])]) -> Response:
    """Entries in full by handle, title or alias, several at once; names nobody has come back with the nearest titles.

    A title that two entries share returns both. Disabled entries, and entries of books that are not attached, are
    missing like any unknown name. Send the `scope` of a retrieval, as a field or as bearer, or hosts and books.
    """
    return as_json(retrieving.fetch(runtime_of(request), with_scope(asked, bearer_of(request))))


@router.post("/v1/search", response_model=SearchAnswer, responses=answering(200, examples.FOUND, *_SCOPED))
def search(request: Request, asked: Annotated[SearchRequest, Body(examples=[examples.SEARCH])]) -> Response:
    """One line per entry that answers the question, without its text: read that with fetch.

    Send the `scope` of a retrieval, as a field or as bearer, or hosts and books.
    """
    return as_json(retrieving.search(runtime_of(request), with_scope(asked, bearer_of(request))))
