"""The page that describes the JSON interface, written from its own description."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from pnsight.web.site import Site


@dataclass(frozen=True)
class FieldView:
    """A field of a request: its name, what it is, and what is taken if it is left out."""

    name: str
    description: str
    default: str


@dataclass(frozen=True)
class Operation:
    """One way to ask."""

    method: str
    path: str
    description: str
    fields: list[FieldView]


@dataclass(frozen=True)
class ApiPage:
    """The page."""

    site: Site
    app: FastAPI

    async def page(self, request: Request) -> Response:
        """All ways to ask."""
        state, _ = self.site.read(request)
        example = self.site.explorer.schema.example()
        return self.site.render.page(
            "api.html",
            state,
            "/about",
            origin=str(request.base_url).rstrip("/"),
            example_address=quote(example),
            example_body=json.dumps({"queries": [example, ""], "threshold": 0.4}, ensure_ascii=False),
            operations=operations(self.app.openapi()),
        )


def operations(description: dict[str, Any]) -> list[Operation]:
    """All ways to ask that an OpenAPI description has."""
    return [
        Operation(method.upper(), path, found.get("description", ""), _fields(description, found))
        for path, methods in description["paths"].items()
        for method, found in methods.items()
    ]


def _fields(description: dict[str, Any], operation: dict[str, Any]) -> list[FieldView]:
    """Fields of the address, or of the body."""
    given = {each["name"]: {**each["schema"], **each} for each in operation.get("parameters", [])}
    if "requestBody" in operation:
        reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        given = description["components"]["schemas"][reference.rsplit("/", 1)[1]]["properties"]
    return [
        FieldView(name, each.get("description", ""), json.dumps(each.get("default"), ensure_ascii=False))
        for name, each in given.items()
    ]
