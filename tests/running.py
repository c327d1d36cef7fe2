"""A real server in a thread, for as long as it is needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pnsight
from pnsight.web.access import Access
from pnsight.web.app import app_of
from pnsight.web.context import Site
from pnsight.web.limits import IN_PLACE, Limits
from pnsight.web.server import _Server, listen, settings


@contextmanager
def running(model: pnsight.Model, access: Access | None = None, limits: Limits = IN_PLACE) -> Iterator[str]:
    """Serve a model, and give its address."""
    started = threading.Event()
    listening = listen("127.0.0.1", 0)
    site = Site.of(model, limits=limits)
    server = _Server(settings(app_of(site, access or Access()), limits), started.set)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    assert started.wait(60)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(60)
    listening.close()
    site.close()
