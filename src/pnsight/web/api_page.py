"""The page that describes the JSON interface, written from its own description."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from pnsight.queries.query import example_query
from pnsight.web.context import Site


@dataclass(frozen=True)
class FieldView:
    """A field of a request: its name, what it is, and what is taken if it is left out."""

    name: str
    description: str
    default: str


@dataclass(frozen=True)
class Operation:
    """What can be asked at one address."""

    methods: str
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
        example = example_query(self.site.explorer.schema)
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
    """What can be asked, by an OpenAPI description; where JSON can be posted, its fields."""
    return [
        Operation(
            " or ".join(method.upper() for method in methods),
            path,
            (methods.get("post") or methods["get"])["description"],
            _fields(description, methods.get("post") or methods["get"]),
        )
        for path, methods in description["paths"].items()
    ]


def _fields(description: dict[str, Any], operation: dict[str, Any]) -> list[FieldView]:
    if "requestBody" not in operation:
        return []
    reference = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    given = description["components"]["schemas"][reference.rsplit("/", 1)[1]]["properties"]
    return [
        FieldView(name, each.get("description", ""), json.dumps(each.get("default"), ensure_ascii=False))
        for name, each in given.items()
    ]
