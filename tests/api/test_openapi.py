"""The contract describes every route, with examples that are true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from service.actions.attaching import Attachment
from service.actions.copying import Copy
from service.actions.editing_entries import Ordered
from service.actions.exporting import ExportReport
from service.actions.full_backup import RestoreReport
from service.actions.hosting import Host, HostBody
from service.actions.importing import ImportReport
from service.actions.paging import Page
from service.actions.requests import LoggedRequest, WholeRequest
from service.actions.resolving import Attached
from service.actions.reviewing import Health
from service.actions.undoing import Discarded
from service.api import about, entries, examples, hosts, living, tools
from service.api.answers import as_json
from service.lore.answer import RetrieveAnswer
from service.lore.book import Book, Entry
from service.lore.living import Write
from service.lore.lookups import FetchAnswer, SearchAnswer
from service.lore.request import FetchRequest, RetrieveRequest, SearchRequest
from service.lore.usage import EntryUsage
from service.tools.calling import CallAnswer, ToolCall
from service.validation import adapter, dump, validate

EXAMPLES: dict[str, Any] = {
    "ENTRY_IN": Entry,
    "ENTRY": Entry,
    "LORE_IN": Entry,
    "BOOK_IN": Book,
    "BOOK": Book,
    "BOOKS": Page[Book],
    "ENTRIES_IN": tuple[Entry, ...],
    "ADDED": entries.Added,
    "BATCH": entries.Batch,
    "ORDER": entries.Order,
    "ORDERED": Ordered,
    "ENTRIES": Page[entries.ListedEntry],
    "WRITE": Write,
    "WRITES": Page[Write],
    "UNDONE": Write,
    "DISCARD": living.Discard,
    "DISCARDED": Discarded,
    "USAGE": Page[EntryUsage],
    "HEALTH": Health,
    "HOST_IN": HostBody,
    "HOST": Host,
    "HOSTS": Page[Host],
    "LABEL": hosts.Label,
    "ATTACHMENTS": tuple[Attachment, ...],
    "ATTACHED": tuple[Attached, ...],
    "REQUESTS": Page[LoggedRequest],
    "REQUEST": WholeRequest,
    "RETRIEVE": RetrieveRequest,
    "RETRIEVED": RetrieveAnswer,
    "PREVIEWED": RetrieveAnswer,
    "FETCH": FetchRequest,
    "FETCHED": FetchAnswer,
    "SEARCH": SearchRequest,
    "FOUND": SearchAnswer,
    "TOOLS": tools.Tools,
    "CALL": ToolCall,
    "CALLED": CallAnswer,
    "IMPORTED": ImportReport,
    "DRY_RUN": ImportReport,
    "IMPORTED_INTO": ImportReport,
    "EXPORTED": ExportReport,
    "LIMITS": about.Limits,
    "CAPABILITIES": about.Capabilities,
    "READY": about.Readiness,
    "RESTORED": RestoreReport,
    "COPY": Copy,
}
ANSWERS = {name for name in EXAMPLES if not name.endswith("_IN")} - {
    "BATCH",
    "ORDER",
    "DISCARD",
    "RETRIEVE",
    "FETCH",
    "SEARCH",
    "CALL",
    "LABEL",
    "COPY",
}
FOUND: dict[str, Any] = {
    name: example
    for module in iter_modules(examples.__path__, f"{examples.__name__}.")
    for name, example in vars(import_module(module.name)).items()
    if name.isupper() and not name.startswith("_")
}
"""Every example there is, by name."""
BY_HAND = {"MESSAGES", "BOOK_PATCH", "ENTRY_PATCH"}
"""Examples that are tested as part of another, or below."""


@pytest.fixture(scope="module")
def contract(client: TestClient) -> dict[str, Any]:
    """/openapi.json"""
    answer = client.get("/openapi.json")
    assert answer.status_code == 200
    schema: dict[str, Any] = answer.json()
    return schema


def operations(contract: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every route of the contract with its name."""
    for path, methods in contract["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_example_has_a_type() -> None:
    """No example of the contract goes untested."""
    assert set(FOUND) == set(EXAMPLES) | BY_HAND


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_examples_are_true(name: str) -> None:
    """Each example is read by the type that it stands for, and an answer has all the fields of its type."""
    example = FOUND[name]
    value = validate(EXAMPLES[name], example)
    if name in ANSWERS and not isinstance(value, tuple):
        assert dump(value) == example


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_answers_are_written_whole(name: str) -> None:
    """What is written of a value is what its type describes, to the byte."""
    value = validate(EXAMPLES[name], FOUND[name])
    assert as_json(value).body == adapter(EXAMPLES[name]).dump_json(value)


def test_patches_are_true() -> None:
    """The examples of patches change fields that can be changed."""
    assert set(FOUND["BOOK_PATCH"]) <= {"name", "description", "enabled", "settings", "extensions"}
    assert set(FOUND["ENTRY_PATCH"]) <= set(entries.CHANGEABLE)
    validate(Book, {**FOUND["BOOK"], **FOUND["BOOK_PATCH"]})
    validate(Entry, {**FOUND["ENTRY"], **FOUND["ENTRY_PATCH"]})


def test_every_route_is_described(contract: dict[str, Any]) -> None:
    """Every route says what it does, and has a name of its own."""
    found = list(operations(contract))
    assert len(found) > 25
    for name, operation in found:
        assert len(operation.get("description", "")) > 20, name
        assert operation["tags"], name
    ids = [operation["operationId"] for _, operation in found]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[a-z_]+", id_) for id_ in ids)


def test_every_route_has_an_example(contract: dict[str, Any]) -> None:
    """Every JSON answer and every JSON body has an example."""
    for name, operation in operations(contract):
        for status, answer in operation["responses"].items():
            content = answer.get("content", {}).get("application/json")
            if content is not None and status.startswith("2"):
                assert "example" in content, (name, status)
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None:
            assert body.keys() & {"example", "examples"} or "examples" in body["schema"], name


def test_every_problem_is_documented(contract: dict[str, Any]) -> None:
    """Every route documents its problems, as problems, and none of the framework's own."""
    for name, operation in operations(contract):
        problems = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
        assert {"421", "500", "503"} <= set(problems), name
        for status, answer in problems.items():
            assert list(answer["content"]) == ["application/problem+json"], (name, status)
            content = answer["content"]["application/problem+json"]
            assert content["schema"] == {"$ref": "#/components/schemas/Problem"}
            for example in content["examples"].values():
                assert example["value"]["status"] == int(status)
        if "requestBody" in operation:
            assert {"413", "415", "422"} <= set(problems), name
        if "{book}" in name:
            assert "404" in problems, name
        parameters = operation.get("parameters", [])
        if any(parameter["name"] == "If-Match" for parameter in parameters):
            assert "412" in problems, name
        if parameters:
            assert "422" in problems or "/problems/" in name, name
        assert all(parameter.get("description") for parameter in parameters), name


def test_every_reference_is_defined(contract: dict[str, Any]) -> None:
    """The contract defines all that it refers to, and says nothing twice for reading and writing."""

    def references(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            for each in value.values():
                yield from references(each)
        elif isinstance(value, list):
            for each in value:
                yield from references(each)

    schemas = contract["components"]["schemas"]
    defined = {f"#/components/schemas/{name}" for name in schemas}
    assert set(references(contract)) <= defined
    assert not [name for name in schemas if name.endswith(("-Input", "-Output")) or "HTTPValidation" in name]


def test_the_contract_has_every_route_of_the_application(client: TestClient, contract: dict[str, Any]) -> None:
    """No route is kept out of the contract but the pages of the documentation."""
    routes = {
        (method, route.path_format)
        for route in client.app.routes
        if isinstance(route, APIRoute)
        for method in route.methods
    }
    documented = {tuple(name.split(" ", 1)) for name, _ in operations(contract)}
    assert routes - documented == {("GET", "/"), ("GET", "/docs")}


def test_a_list_may_leave_contents_out(client: TestClient, contract: dict[str, Any]) -> None:
    """An entry of a list without contents is what the contract says it is; what is written needs a content."""
    schemas = contract["components"]["schemas"]
    assert "minLength" not in schemas["ListedEntry"]["properties"]["content"]
    assert schemas["Entry"]["properties"]["content"]["minLength"] == 1
    book = client.post("/v1/books", json={"name": "Listed", "entries": [{"title": "t", "content": "c"}]}).json()["id"]
    validate(Page[entries.ListedEntry], client.get(f"/v1/books/{book}/entries").json())


def test_an_import_that_wrote_nothing_has_a_schema(contract: dict[str, Any]) -> None:
    """The report of a dry run is of the same type as that of an import."""
    answer = contract["paths"]["/v1/books/import"]["post"]["responses"]["200"]
    assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ImportReport"}


def test_fields_are_described(contract: dict[str, Any]) -> None:
    """The docstrings under the fields of the domain reach the contract."""
    entry = contract["components"]["schemas"]["Entry"]
    assert "literally" in entry["properties"]["aliases"]["description"]
    assert entry["required"] == ["title", "content"]
    assert entry["additionalProperties"] is False


def test_the_pages_work_without_internet(client: TestClient) -> None:
    """/docs and all that it loads come from the service itself."""
    page = client.get("/docs")
    assert page.status_code == 200
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(loaded) == 3
    for path in loaded:
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert len(answer.content) > 1000
    assert "://" not in page.text
    assert "/openapi.json" in page.text
