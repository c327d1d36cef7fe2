"""Connections: no more than a number at once, and none that is held open without asking anything.

Connections cost whoever opens them nothing, and the system gives a process only so many. When there is no room for one
more, the one that has waited longest without a request goes; somebody who has something to ask asks it at once.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from pnsight.web.lanes import RETRY_AFTER
from pnsight.web.limits import Limits

_FULL = (
    "HTTP/1.1 503 Service Unavailable\r\n"
    f"retry-after: {RETRY_AFTER}\r\n"
    "content-type: text/plain; charset=utf-8\r\n"
    "content-length: 0\r\n"
    "connection: close\r\n\r\n"
).encode()


class Connection(H11Protocol):
    """A connection that ends if no request comes in time, or if another needs its place."""

    limits = Limits()

    _since = 0.0
    _deadline: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> bool:
        """Whether no request is being answered: none has come, or none that is complete, or all have been answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let it in, in place of another if there is no more room."""
        room = self._make_room()
        super().connection_made(transport)
        if room:
            self._wait_for_request()
        else:
            transport.write(_FULL)
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Go on reading; what is left of a request that is not complete has to come in time."""
        super().data_received(data)
        if not self.waiting:
            self._stop_waiting()
        elif self._deadline is None:
            self._wait_for_request()

    def on_response_complete(self) -> None:
        """Wait for another request."""
        self._since = self.loop.time()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._stop_waiting()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def _make_room(self) -> bool:
        """Whether there is room for one more, if need be in place of the one that has waited longest."""
        if len(self.connections) < self.limits.connections:
            return True
        others = [each for each in self.connections if isinstance(each, Connection) and each.waiting]
        if not others:
            return False
        longest = min(others, key=lambda each: each._since)
        self.connections.discard(longest)  # now, and not when the transport has noticed: others may come before that
        longest.transport.abort()
        return True

    def _wait_for_request(self) -> None:
        self._since = self.loop.time()
        self._deadline = self.loop.call_later(self.limits.header_seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def connections_within(limits: Limits) -> type[Connection]:
    """The protocol of a server with these limits."""
    return type("LimitedConnection", (Connection,), {"limits": limits})
