"""What every request must pass and every answer carries: who may ask, how much, and what a browser may do with it."""

from __future__ import annotations

import ipaddress
import socket
import sys
import traceback
from collections.abc import Collection

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY = 6_000_000
MOST_ADDRESS = 16_000
"""Bytes that a request may send, and that its address may have after the question mark."""

API = "/api/"

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class TooLarge(Exception):
    """A request sent more than it may."""


def refusal(path: str, status: int, message: str) -> Response:
    """An error in the language of whoever asked: JSON for programs, text for people."""
    if path.startswith(API):
        return JSONResponse({"error": message}, status)
    return PlainTextResponse(f"{message}\n", status)


class Guard:
    """Wraps the application: checks the host, the length of the address and the size of the body; adds headers.

    A page elsewhere can make a browser ask this server under a name of its own (DNS rebinding), but the browser then
    says that name: only hosts that this server goes by are answered.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self.app, self.any_address, self.names = app, _is_any(host), _names(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        watch = _Watch(receive, send)
        refused = self._refused(scope)
        try:
            await (refused or self.app)(scope, watch.receive, watch.send)
        except Exception as error:
            if watch.begun:
                raise
            await _apology(scope["path"], error, watch)(scope, receive, watch.send_anyway)

    def _refused(self, scope: Scope) -> Response | None:
        headers = dict(scope["headers"])
        path = scope["path"]
        if not self._ours(headers.get(b"host", b"").decode("latin-1")):
            return refusal(path, 400, "this server does not go by the name in the address; use the one it printed.")
        if len(scope["query_string"]) > MOST_ADDRESS:
            return refusal(path, 414, f"the address is longer than {MOST_ADDRESS:,} characters; send less.")
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BODY:
            return refusal(path, 413, _too_large())
        return None

    def _ours(self, host: str) -> bool:
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        name = name.strip("[]").lower().removesuffix(".")
        return name in self.names or (self.any_address and _is_address(name))


class _Watch:
    """One request: counts what comes in, and adds headers to what goes out."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self.size, self.begun = 0, False

    @property
    def too_large(self) -> bool:
        return self.size > MOST_BODY

    async def receive(self) -> Message:
        message = await self._receive()
        self.size += len(message.get("body", b""))
        if self.too_large:
            raise TooLarge
        return message

    async def send(self, message: Message) -> None:
        if self.too_large:  # whatever the application makes of a body that was cut off, this is what is said
            raise TooLarge
        await self.send_anyway(message)

    async def send_anyway(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await self._send(message)


def _apology(path: str, error: Exception, watch: _Watch) -> Response:
    if watch.too_large:
        return refusal(path, 413, _too_large())
    # Where it went wrong, for a report of the fault, but not the message, which may quote what was asked.
    print(f"pnsight: {type(error).__name__} while answering {path}", file=sys.stderr)
    traceback.print_tb(error.__traceback__, file=sys.stderr)
    return refusal(path, 500, "something went wrong here that is not your fault; the terminal says where.")


def _too_large() -> str:
    return f"the request is larger than {MOST_BODY // 1_000_000} MB; send less."


def _is_any(host: str) -> bool:
    return host in ("0.0.0.0", "::")


def _names(host: str) -> Collection[str]:
    """Names that a server at this host goes by."""
    own = (socket.gethostname(), socket.getfqdn()) if _is_any(host) else (host.strip("[]"),)
    return {name.lower() for name in (*_LOOPBACK, *own)}


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
