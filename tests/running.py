"""A real server in a thread, for as long as it is needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pnsight
from pnsight.web.app import create_app
from pnsight.web.server import _Server, listen, settings


@contextmanager
def running(model: pnsight.Model) -> Iterator[str]:
    """Serve a model, and give its address."""
    started = threading.Event()
    listening = listen("127.0.0.1", 0)
    server = _Server(settings(create_app(model)), started.set)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    assert started.wait(60)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(60)
    listening.close()
