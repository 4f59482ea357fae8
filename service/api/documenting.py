"""What OpenAPI says about a route beyond its types: examples, problems, patches; and /docs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.staticfiles import StaticFiles

from service.api.bodies import StrictRoute
from service.api.problem_types import TYPES
from service.api.problems import MEDIA_TYPE, Problem, example_of
from service.validation import adapter

EVERYWHERE = ("host-not-allowed", "internal", "overloaded")
"""Problems that any route may answer."""
_REFERENCE = "#/components/schemas/{model}"


def routes_of(tag: str) -> APIRouter:
    """A router whose routes read their bodies strictly and are named as their functions are."""
    return APIRouter(route_class=StrictRoute, tags=[tag], generate_unique_id_function=lambda route: route.name)


def answering(status: int, example: Any, *problems: str, media_type: str = "application/json") -> dict[int | str, Any]:
    """The `responses` of a route: its answer with an example, and its problems; no example when there is no body."""
    answer: dict[str, Any] = {"description": "Done."}
    if example is not None:
        answer["content"] = {media_type: {"example": example}}
    return {status: answer, **_documented(*problems, *EVERYWHERE)}


def patch_body(kind: type, fields: Iterable[str], example: Any) -> dict[str, Any]:
    """The request body of a merge patch: some fields of `kind`, none of them required."""
    described = adapter(kind).json_schema(ref_template=_REFERENCE, mode="validation")["properties"]
    schema = {
        "type": "object",
        "description": "Merge patch (RFC 7396): what is absent stays, null is the default, a list is replaced whole, "
        "and so is each member of `extensions`, in which null is data; null instead of a member removes it.",
        "properties": {
            name: {key: value for key, value in described[name].items() if key != "default"} for name in fields
        },
    }
    content = {"schema": schema, "example": example}
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": content, "application/merge-patch+json": content},
        }
    }


def _documented(*names: str) -> dict[int | str, dict[str, Any]]:
    responses: dict[int | str, dict[str, Any]] = {}
    for row in (TYPES[name] for name in names):
        response = responses.setdefault(row.status, {"description": "", "content": {MEDIA_TYPE: {"examples": {}}}})
        response["description"] = " · ".join(filter(None, [response["description"], f"`{row.name}`: {row.when}"]))
        content = response["content"][MEDIA_TYPE]
        content["schema"] = {"$ref": _REFERENCE.format(model="Problem")}
        content["examples"][row.name] = {"summary": row.title, "value": example_of(row)}
    return responses


def describe(app: FastAPI) -> None:
    """Let /openapi.json also define `Problem`, which the routes refer to and none of them returns."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = generate()
            problem = adapter(Problem).json_schema(ref_template=_REFERENCE, mode="serialization")
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            schemas.update(problem.pop("$defs", {}))
            schemas["Problem"] = problem
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]


router = APIRouter(include_in_schema=False)


@router.get("/")
def root() -> RedirectResponse:
    """Whoever opens the address that `worldbook serve` prints wants the docs."""
    return RedirectResponse("/docs")


@router.get("/docs")
def docs() -> HTMLResponse:
    """The contract as a page that can be tried out; its script comes with a package, so it works without internet."""
    return get_swagger_ui_html(
        openapi_url="/openapi.json",
        title="Worldbook API",
        swagger_js_url="/docs/static/swagger-ui-bundle.js",
        swagger_css_url="/docs/static/swagger-ui.css",
        swagger_favicon_url="/docs/static/favicon.png",
        swagger_ui_parameters={"defaultModelsExpandDepth": 0, "displayRequestDuration": True},
    )


def docs_files() -> StaticFiles:
    """The files of Swagger UI as `fastapi-offline` ships them."""
    return StaticFiles(packages=[("fastapi_offline", "static")])
