"""Asking the application without a network."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

import httpx
from fastapi import FastAPI

import web_models
from pnsight.web import create_app


class Client:
    """Asks an application one request after the other."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Ask for an address."""
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        """Send something to an address."""
        return self.request("POST", path, **options)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Any request."""

        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=None) as client:
                return await client.request(method, path, **options)

        return asyncio.run(send())


@cache
def client_of(name: str) -> Client:
    """A client of the application about one of the models."""
    return Client(create_app(web_models.EVERY[name]()))
