"""Tool definitions that every vendor accepts."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.spec.asking import Json, ok
from tests.spec.vendor_rules import VENDORS, faults


def definitions(client: TestClient, flavor: str, **more: Any) -> list[Json]:
    tools: list[Json] = ok(client.get("/v1/tools", params={"flavor": flavor, **more}))["tools"]
    return tools


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("flavor", list(VENDORS))
def test_schemas_keep_every_vendors_rules(client: TestClient, flavor: str, write: bool) -> None:
    """M1, X01, X02, X03: the definitions of each flavor keep the rules of its vendor, with and without writing."""
    tools = definitions(client, flavor, write=write)
    assert faults(VENDORS[flavor], tools) == []
    names = [function["name"] for function in VENDORS[flavor].functions(tools)]
    assert names == ["lore_fetch", "lore_search", "lore_list", *(["lore_write"] if write else [])]


def test_flavors_differ_in_shape_alone(client: TestClient) -> None:
    """M1: each flavor defines the same tools with the same words and parameters, the same bytes at every call."""
    told = {
        flavor: [
            (
                function["name"],
                function["description"],
                {name: inner["description"] for name, inner in function[vendor.schema]["properties"].items()},
            )
            for function in vendor.functions(definitions(client, flavor, write=True))
        ]
        for flavor, vendor in VENDORS.items()
    }
    assert all(each == told["openai"] for each in told.values())
    url = "/v1/tools?flavor=anthropic&write=true"
    assert client.get(url).content == client.get(url).content


def test_optional_parameters(client: TestClient) -> None:
    """M1: what may be left out is nullable and required, not required, or marked nullable, as the vendor has it."""
    cursors = {
        flavor: next(
            (function[vendor.schema]["properties"]["cursor"], function[vendor.schema].get("required", []))
            for function in vendor.functions(definitions(client, flavor))
            if function["name"] == "lore_search"
        )
        for flavor, vendor in VENDORS.items()
    }
    kinds = {
        flavor: (cursor["type"], cursor.get("nullable"), "cursor" in required)
        for flavor, (cursor, required) in cursors.items()
    }
    assert kinds == {
        "openai": (["string", "null"], None, True),
        "openai-responses": (["string", "null"], None, True),
        "anthropic": ("string", None, False),
        "gemini": ("string", True, False),
    }


def test_descriptions_say_when_and_how(client: TestClient) -> None:
    """M1, X08: the description says when to call, what comes back, and what to do with a cursor or a handle."""
    told = {tool["function"]["name"]: tool["function"]["description"] for tool in definitions(client, "openai")}
    for name in ("lore_search", "lore_list"):
        assert "lore_fetch" in told[name]
        assert "cursor" in told[name]
        assert "one line per entry" in told[name]
    assert all("Call it when" in each or "Use it " in each for each in told.values())


@pytest.mark.parametrize(
    ("flavor", "change", "fault"),
    [
        ("openai", {"additionalProperties": True}, "open"),
        ("openai", {"required": []}, "optional"),
        ("openai", {"format": "uri"}, "format"),
        ("anthropic", {"anyOf": []}, "anyOf"),
        ("anthropic", {"$ref": "#/$defs/x"}, "$ref"),
        ("gemini", {"additionalProperties": False}, "additionalProperties"),
        ("gemini", {"required": []}, "empty required"),
        ("gemini", {"properties": {"a b": {"type": ["string", "null"], "description": "x"}}}, "not a name"),
    ],
)
def test_the_checker_sees_what_vendors_refuse(client: TestClient, flavor: str, change: Json, fault: str) -> None:
    """The checker itself can fail: each rule catches a schema that breaks it."""
    tools = copy.deepcopy(definitions(client, flavor))
    vendor = VENDORS[flavor]
    vendor.functions(tools)[0][vendor.schema].update(change)
    assert any(fault in found for found in faults(vendor, tools))


def test_an_unknown_flavor(client: TestClient) -> None:
    """M1: a flavor that does not exist is refused with those that do."""
    answer = client.get("/v1/tools", params={"flavor": "gemni"})
    assert answer.status_code == 422
    assert "openai-responses" in answer.text
