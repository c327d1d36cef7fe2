"""Serving a model from one's own machine until it is stopped."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import urlencode

import uvicorn
from threadpoolctl import threadpool_limits

from pnsight.decisions import refuse_threshold
from pnsight.errors import OutputError
from pnsight.models import Model
from pnsight.models.suppression import suppress
from pnsight.output.tables_verdict import TablesVerdict
from pnsight.web.access import TOKEN, Access, is_loopback, new_token
from pnsight.web.app import app_of
from pnsight.web.connections import connections_within
from pnsight.web.context import Site
from pnsight.web.limits import USUAL, Limits
from pnsight.web.repeats import sparing_log

if sys.platform != "win32":
    import resource

_ACCEPTED_AT_ONCE = 16
"""Connections that are taken in before one of them is looked at: so many may exceed the limit."""

_QUEUE = 2048
"""Connections that the system keeps until they are taken in."""

_OTHER_FILES = 160
"""Files that a server may have open beside its connections: its workers' pipes, uploads, and connections taken in."""

MIN_TOKEN = 16
"""Characters of a token that somebody thought of."""


def serve(
    model: Model,
    host: str = "127.0.0.1",
    port: int = 8000,
    min_cell: int | None = None,
    open_browser: bool = False,
    say: Callable[[str], None] = print,
    threshold: float | None = None,
    trial_alone: bool = False,
    token: bool | str = False,
    names: Sequence[str] = (),
    proxy: str | None = None,
    limits: Limits = USUAL,
) -> None:
    """Serve the explorer of a fitted model until Ctrl-C.

    Parameters
    ----------
    model
        A fitted model.
    host, port
        Where to listen; port 0 takes a free one. By default only this machine can ask.
    min_cell
        Withhold counts of people from 1 to below this: the model is fitted again to what is left, unless it withholds
        as many already.
    open_browser
        Whether to open the explorer in a browser.
    say
        What to tell the person with.
    threshold
        What to begin with: the address that is told and opened asks for it. By default the usual one.
    trial_alone
        Whether all pages answer from the experiment alone, and are about its people.
    token
        Whether every request needs a token, which is then a part of the address that is told; or the token itself, of
        at least 16 characters.
    names
        Other names that the server goes by, such as that of a proxy in front of it.
    proxy
        Address or network of the proxy whose word on who asks, and whether encrypted, is taken. By default nobody's.
    limits
        How much may be asked, for how long, and by how many at once.
    """
    if threshold is not None:
        refuse_threshold(threshold, model.quantity)
    access = Access(host, tuple(names), _token(token), required=token is not False)
    _refuse_bad_proxy(proxy)
    limits = _within_means(_for_class_of(model, limits, say))
    shown = model if min_cell is None else suppress(model, min_cell)
    verdict = TablesVerdict.of_model(shown.from_trial_alone() if trial_alone else shown)
    site = Site.of(shown, trial_alone, verdict, limits)
    site.explorer.check()
    listening = listen(host, port)
    address = _tell(say, access, address_of(listening, host), threshold, token)
    # Requests are answered side by side; a matrix product that takes all cores for itself would hold up the others.
    threads = threadpool_limits(1, user_api="blas")
    site.quick.start()
    try:
        with sparing_log():
            config = settings(app_of(site, access), limits, proxy)
            opened = (lambda: webbrowser.open(address)) if open_browser else None
            _Server(config, opened, site.heavy.close).run([listening])
    except KeyboardInterrupt:
        pass
    finally:
        threads.restore_original_limits()
        listening.close()
        site.close()
    say("stopped")


def _token(token: bool | str) -> str:
    """The token: a new one unless somebody thought of one, which must not be easy to guess."""
    if isinstance(token, bool):
        return new_token()
    if len(token) < MIN_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise OutputError(
            f"the token has {len(token)} characters; give at least {MIN_TOKEN} letters, digits and signs without "
            "spaces, or none to have one made."
        )
    return token


def _refuse_bad_proxy(proxy: str | None) -> None:
    try:
        ipaddress.ip_network("127.0.0.1" if proxy is None else proxy, strict=False)
    except ValueError:
        raise OutputError(
            f"--proxy (proxy=) is {proxy!r}; give the address from which the proxy asks, such as 127.0.0.1."
        ) from None


def _for_class_of(model: Model, limits: Limits, say: Callable[[str], None]) -> Limits:
    """The limits, without workers if these could not know the model's class."""
    if type(model).__module__ != "__main__" or not (limits.quick_workers or limits.heavy_workers):
        return limits
    say(
        f"warning: {type(model).__name__} is defined in this program itself, so other processes cannot compute with "
        "it, and work that takes too long is not ended; put the class into a module of its own."
    )
    return replace(limits, quick_workers=0, heavy_workers=0)


def _within_means(limits: Limits) -> Limits:
    """The limits, with no more connections than the system allows files to be open."""
    if sys.platform == "win32":
        return limits
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        return limits
    return replace(limits, connections=min(limits.connections, max(_ACCEPTED_AT_ONCE, files - _OTHER_FILES)))


def _tell(say: Callable[[str], None], access: Access, place: str, threshold: float | None, token: bool | str) -> str:
    """Say where the explorer is and who can ask; the address to open in a browser."""
    begin = {} if threshold is None else {"threshold": f"{threshold:.12g}"}
    plain, with_token = _address(place, begin), _address(place, {**begin, TOKEN: access.token})
    if not is_loopback(access.host):
        shield = "there is no encryption" if access.required else "there is no password and no encryption"
        say(
            f"warning: everyone who can reach {access.host} {'and has the token ' if access.required else ''}can ask "
            f"this model; {shield}. Leave --host out to serve this machine only."
        )
    if isinstance(token, str):
        say(f"the explorer is at {plain} and asks for your token (Ctrl-C stops it)")
    else:
        say(f"the explorer is at {with_token if access.required else plain} (Ctrl-C stops it)")
    if not access.required:
        say(f"a browser that is asked for a token gets one at {with_token}")
    return with_token if access.required else plain


def _address(place: str, query: dict[str, str]) -> str:
    return f"{place}?{urlencode(query)}" if query else place


def settings(app: object, limits: Limits = USUAL, proxy: str | None = None) -> uvicorn.Config:
    """How the server behaves: it writes down nothing about requests, and little about what fails."""
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http=connections_within(limits),
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="off",
        backlog=_ACCEPTED_AT_ONCE,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=limits.parting_seconds,
        h11_max_incomplete_event_size=4 * limits.address_characters,
        proxy_headers=proxy is not None,
        forwarded_allow_ips=proxy,
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
        found.listen(_QUEUE)
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


class _Server(uvicorn.Server):
    """A server that tells when it has started, and when it is about to stop."""

    def __init__(
        self,
        config: uvicorn.Config,
        started: Callable[[], object] | None,
        stopping: Callable[[], object] | None = None,
    ) -> None:
        super().__init__(config)
        self._when_started, self._when_stopping = started, stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_QUEUE)  # connections may wait in the system although few at a time are taken in
        if self.started and self._when_started is not None:
            self._when_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._when_stopping is not None:  # nobody is kept waiting for a ranking
            self._when_stopping()
        await super().shutdown(sockets)
