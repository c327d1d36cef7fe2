"""Computing for requests: in a few threads beside the event loop with a bounded queue, and nobody waits for ever.

Python's own pools wait for their threads when the program ends, which would make Ctrl-C wait for a ranking; these
threads are given up instead.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Busy(Exception):
    """Too many requests are waiting, or a result is not there yet: come again."""


class Threads:
    """Threads that take jobs from one queue of limited length.

    With none, a job is done where it is submitted: one of a millisecond takes less time than handing it over.
    """

    def __init__(self, number: int, most_waiting: int = 1000) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._number, self._most_waiting = number, most_waiting
        for _ in range(number):
            threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            self._jobs.get()()

    def submit(self, job: Callable[..., T], *arguments: Any) -> Future[T]:
        """Put a job into the queue, or refuse it if that is full."""
        if self._jobs.qsize() >= self._most_waiting:
            raise Busy("too many requests are waiting; try again in a moment.")
        future: Future[T] = Future()
        if self._number:
            self._jobs.put(lambda: _settle(future, job, *arguments))
        else:
            _settle(future, job, *arguments)
        return future

    async def run(self, job: Callable[..., T], *arguments: Any, seconds: float = 60) -> T:
        """What the job returns or raises; a job that has not begun is dropped when nobody waits for it any more."""
        future = self.submit(job, *arguments)
        try:
            return await _arrival(future, seconds)
        finally:
            future.cancel()


class Kept:
    """Results of long jobs by key: each is computed once, and who cannot wait for it may come again.

    The oldest are forgotten beyond `most`.
    """

    def __init__(self, threads: Threads, most: int = 32) -> None:
        self._threads, self._most = threads, most
        self._found: dict[Hashable, Future[Any]] = {}

    async def get(self, key: Hashable, seconds: float, job: Callable[..., T], *arguments: Any) -> T:
        """The result of the job, waiting for it no longer than this."""
        future: Future[T] | None = self._found.get(key)
        if future is None or future.cancelled() or (future.done() and future.exception() is not None):
            future = self._found[key] = self._threads.submit(job, *arguments)
            for oldest in list(self._found)[: -self._most]:
                self._found.pop(oldest).cancel()
        return await _arrival(future, seconds)


def _settle(future: Future[T], job: Callable[..., T], *arguments: Any) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(job(*arguments))
    except BaseException as error:  # whoever waits is told
        future.set_exception(error)


async def _arrival(future: Future[T], seconds: float) -> T:
    """The result of a future that a thread settles, or has settled."""
    if future.done():
        return future.result()
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    future.add_done_callback(lambda _: None if loop.is_closed() else loop.call_soon_threadsafe(arrived.set))
    try:
        async with asyncio.timeout(seconds):
            await arrived.wait()
    except TimeoutError:
        raise Busy("this is still being computed; ask again in a few seconds.") from None
    return future.result()
