"""Applications to ask, each about another model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import pnsight
import web_models
from web_clients import Client, client_of


@pytest.fixture
def ask() -> Callable[[str], Client]:
    """A client of the application about the model of that name."""
    return client_of


@pytest.fixture
def client() -> Client:
    """A client of the application about a response-type model."""
    return client_of("response-types")


@pytest.fixture
def model() -> pnsight.Model:
    """The response-type model."""
    return web_models.clinic()
