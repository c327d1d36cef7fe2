"""No request that the interface's own description allows, or nearly allows, breaks the server."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.python import asgi
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import web_models
from pnsight.web import create_app

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
"""A request may be refused although its fields are what they should be: no such covariate, say."""

described = schemathesis.openapi.from_asgi("/api/openapi.json", create_app(web_models.plug_in(), asgi.HOST))


@pytest.fixture(scope="module")
def app():
    """An application about a response-type model; its description is that of any other model's."""
    return create_app(web_models.clinic(), asgi.HOST)


@described.parametrize()
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
def test_every_answer_is_one_that_is_described(case, app):
    case.call_and_validate(app=app, checks=CHECKS)
