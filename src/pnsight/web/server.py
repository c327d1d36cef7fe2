"""Serving a model from one's own machine until it is stopped."""

from __future__ import annotations

import ipaddress
import os
import socket
import webbrowser
from collections.abc import Callable

import uvicorn
from threadpoolctl import threadpool_limits

from pnsight.decisions import refuse_threshold
from pnsight.errors import OutputError
from pnsight.models import Model
from pnsight.models.suppression import suppress
from pnsight.output.tables_verdict import TablesVerdict
from pnsight.web.app import create_app
from pnsight.web.middleware import MOST_ADDRESS

_KEEP_ALIVE = 30
_PARTING = 3
"""Seconds that an idle connection is kept, and that requests under way have to end when the server stops."""


def serve(
    model: Model,
    host: str = "127.0.0.1",
    port: int = 8000,
    min_cell: int | None = None,
    open_browser: bool = False,
    say: Callable[[str], None] = print,
    threshold: float | None = None,
    trial_alone: bool = False,
) -> None:
    """Serve the explorer of a fitted model until Ctrl-C.

    Parameters
    ----------
    model
        A fitted model.
    host, port
        Where to listen; port 0 takes a free one. By default only this machine can ask.
    min_cell
        Withhold counts of people from 1 to below this.
    open_browser
        Whether to open the explorer in a browser.
    say
        What to tell the person with.
    threshold
        What to begin with: the address that is told and opened asks for it. By default the usual one.
    trial_alone
        Whether all pages answer from the experiment alone, and are about its people.
    """
    if threshold is not None:
        refuse_threshold(threshold, model.quantity)
    verdict = TablesVerdict.of_model(model.from_trial_alone() if trial_alone else model)
    app = create_app(model if min_cell is None else suppress(model, min_cell), host, trial_alone, verdict)
    listening = listen(host, port)
    address = address_of(listening, host) + ("" if threshold is None else f"?threshold={threshold:.12g}")
    if not is_loopback(host):
        say(
            f"warning: everyone who can reach {host} can ask this model; there is no password and no encryption. "
            "Leave --host out to serve this machine only."
        )
    say(f"the explorer is at {address} (Ctrl-C stops it)")
    # Requests are answered side by side; a matrix product that takes all cores for itself would hold up the others.
    limits = threadpool_limits(1, user_api="blas")
    try:
        _Server(settings(app), (lambda: webbrowser.open(address)) if open_browser else None).run([listening])
    except KeyboardInterrupt:
        pass
    finally:
        limits.restore_original_limits()
        listening.close()
    say("stopped")


def settings(app: object) -> uvicorn.Config:
    """How the server behaves: it writes down nothing about requests."""
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_level="error",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_PARTING,
        h11_max_incomplete_event_size=4 * MOST_ADDRESS,
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there, or a message why none can."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError, OverflowError) as error:
        raise OutputError(f"cannot listen at {host!r}: {_reason(error)}; give a host of this machine.") from None
    try:
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port of a server that has just ended
        found.bind(place)
        found.listen(2048)
    except OSError as error:
        found.close()
        raise OutputError(
            f"cannot listen at {host} port {port}: {_reason(error)}; choose another with --port, or --port 0 for any "
            "that is free."
        ) from None
    return found


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def address_of(listening: socket.socket, host: str) -> str:
    """The address to open in a browser."""
    port = listening.getsockname()[1]
    name = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, host)
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Server(uvicorn.Server):
    """A server that tells when it has started."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], object] | None) -> None:
        super().__init__(config)
        self._when_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._when_started is not None:
            self._when_started()
