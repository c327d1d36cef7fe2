"""What every request must pass and every answer carries: who may ask, how much, for how long, and how it is shown."""

from __future__ import annotations

import asyncio
import traceback

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pnsight._foreign_text import printable_cell
from pnsight.web.access import Access, refusal, stopping
from pnsight.web.context import Gone
from pnsight.web.lanes import RETRY_AFTER
from pnsight.web.limits import Limits
from pnsight.web.repeats import Repeats
from pnsight.web.worker import Fault

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

_JSON = b"application/json"


class Refused(Exception):
    """A request sent more than it may, or too slowly."""


class Guard:
    """Wraps the application: checks who asks, the size of what is sent and the time it takes; adds headers."""

    def __init__(self, app: ASGIApp, access: Access, limits: Limits) -> None:
        self.app, self.access, self.limits = app, access, limits
        self.held = 0
        """Bytes that requests under way have sent."""
        self._faults = Repeats()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        watch = _Watch(self, scope, receive, send)
        try:
            async with asyncio.timeout(self.limits.request_seconds):
                await (self._refused(scope) or self.app)(scope, watch.receive, watch.send)
        except Gone:
            pass
        except asyncio.CancelledError:  # the server stops, and has waited for this one long enough
            if not watch.begun:
                await stopping(scope["path"])(scope, receive, watch.send_anyway)
        except Exception as error:
            if watch.begun:
                raise
            await (watch.refused or self._apology(scope["path"], error))(scope, receive, watch.send_anyway)
        finally:
            self.held -= watch.size

    def _refused(self, scope: Scope) -> Response | None:
        headers = dict(scope["headers"])
        path, limits = scope["path"], self.limits
        if len(scope["query_string"]) > limits.address_characters:
            most = f"{limits.address_characters:,} characters"
            return refusal(path, 414, f"the address is longer than {most}; send less.")
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self.most_bytes(scope):
            return too_large(path, self.most_bytes(scope))
        return self.access.check(scope)

    def _apology(self, path: str, error: Exception) -> Response:
        if isinstance(error, TimeoutError):
            ended = "this took too long and was ended; ask about less."
            return refusal(path, 503, ended, {"retry-after": RETRY_AFTER})
        kind = error.kind if isinstance(error, Fault) else type(error).__name__
        where = error.where if isinstance(error, Fault) else "".join(traceback.format_tb(error.__traceback__))
        # Where it went wrong, for a report of the fault, but not the message, which may quote what was asked.
        shown = printable_cell(path[:200])
        self._faults.write((kind, where), f"pnsight: {kind} while answering {shown}\n{where}")
        return refusal(path, 500, "something went wrong here that is not your fault; the terminal says where.")

    def most_bytes(self, scope: Scope) -> int:
        """Bytes that a request may send: JSON is read at one go, while others wait, and has a limit of its own."""
        kind = dict(scope["headers"]).get(b"content-type", b"")
        return self.limits.json_bytes if kind.startswith(_JSON) else self.limits.body_bytes


class _Watch:
    """One request: counts what comes in, knows why it was refused if it was, and adds headers to what goes out."""

    def __init__(self, guard: Guard, scope: Scope, receive: Receive, send: Send) -> None:
        self._guard, self._path, self._receive, self._send = guard, scope["path"], receive, send
        self._most, self._due = guard.most_bytes(scope), asyncio.get_running_loop().time() + guard.limits.body_seconds
        self.size, self.begun, self._complete = 0, False, False
        self.refused: Response | None = None

    async def receive(self) -> Message:
        try:
            async with asyncio.timeout_at(None if self._complete else self._due):
                message = await self._receive()
        except TimeoutError:
            return self._refuse(_too_slow(self._path, self._guard.limits.body_seconds))
        size = len(message.get("body", b""))
        self.size += size
        self._guard.held += size
        self._complete = not message.get("more_body", False)
        if self.size > self._most:
            return self._refuse(too_large(self._path, self._most))
        if self._guard.held > self._guard.limits.bodies_bytes:
            return self._refuse(_too_much_at_once(self._path))
        return message

    def _refuse(self, answer: Response) -> Message:
        self.refused = answer
        raise Refused

    async def send(self, message: Message) -> None:
        if self.refused is not None:  # whatever the application makes of a body that was cut off, this is what is said
            raise Refused
        await self.send_anyway(message)

    async def send_anyway(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
            if self.refused is not None:  # what is still to come of the request is not read
                headers["connection"] = "close"
        await self._send(message)


def too_large(path: str, most: int) -> Response:
    """What is said of a request that sends too much."""
    return refusal(path, 413, f"the request is larger than {most / 1_000_000:g} MB; send less.")


def _too_slow(path: str, seconds: float) -> Response:
    return refusal(path, 408, f"the request did not arrive within {seconds:g} seconds; send it again.")


def _too_much_at_once(path: str) -> Response:
    message = "too much is being sent at once; try again in a few seconds."
    return refusal(path, 503, message, {"retry-after": RETRY_AFTER})
