"""Lanes: where requests are computed, each with workers of its own, a queue of limited length and a time limit.

A worker is a process: a thread cannot be ended, and while it computes it keeps others waiting. Work that takes too
long, or that nobody waits for any more, ends with its worker, and another worker takes its place. The threads here only
wait for workers. Python's own pools wait for theirs when the program ends, which would make Ctrl-C wait for a ranking;
these are given up instead.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from pnsight.errors import LimitError
from pnsight.web.explorer import Explorer

T = TypeVar("T")

_PARTING = 2.0
"""Seconds that a worker has to end before it is given up: it may just be starting."""

RETRY_AFTER = "5"
"""Seconds after which whoever was refused because too many asked may come again."""


class Busy(Exception):
    """Too many requests are waiting, or a result is not there yet: come again."""


class Stopped(Exception):
    """Work was ended because nobody waits for it any more, or because the server stops."""


class WorkerLost(Exception):
    """A worker ended before it answered."""


class Worker(Protocol):
    """Does one job after the other, each about the same model."""

    def do(self, job: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """What the job returns or raises; `WorkerLost` if the worker is killed meanwhile."""

    def kill(self) -> None:
        """End the work, at once and whatever it is."""

    def close(self) -> None:
        """End the worker, and leave nothing of it behind."""


@dataclass(eq=False)
class Task:
    """A job on its way: what is to be done, what came of it, by whom it is done, and why it was ended if it was."""

    job: Callable[..., Any]
    arguments: tuple[Any, ...]
    future: Future[Any] = field(default_factory=Future)
    worker: Worker | None = None
    ended: Exception | None = None


class Lane(ABC):
    """Where jobs are done; each is a function of the explorer and of its arguments."""

    @abstractmethod
    def submit(self, job: Callable[..., Any], *arguments: Any) -> Task:
        """Have a job done, or refuse it with `Busy`, or with `Stopped` if the lane is closed."""

    @abstractmethod
    def stop(self, task: Task, why: Exception | None = None) -> None:
        """End a job that is not done yet."""

    @abstractmethod
    def close(self) -> None:
        """End all work."""

    @abstractmethod
    def start(self) -> None:
        """Get ready before the first job comes."""

    async def run(self, job: Callable[..., T], *arguments: Any, seconds: float) -> T:
        """What the job returns or raises; it ends with whoever waits for it, and nobody waits longer than this."""
        task = self.submit(job, *arguments)
        try:
            found: T = await arrival(task.future, seconds)
            return found
        finally:
            self.stop(task)


class InPlace(Lane):
    """No workers: a job is done where it is submitted, and is not ended before it is done."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer

    def submit(self, job: Callable[..., Any], *arguments: Any) -> Task:
        """Do it."""
        task = Task(job, arguments)
        try:
            task.future.set_result(job(self._explorer, *arguments))
        except Exception as error:  # whoever waits is told
            task.future.set_exception(error)
        return task

    def start(self) -> None:
        """Nothing: it is ready."""

    def stop(self, task: Task, why: Exception | None = None) -> None:
        """Nothing: it is done."""

    def close(self) -> None:
        """Nothing: there is no work."""


class Workers(Lane):
    """Workers that take jobs from one queue; they are started when the first job comes."""

    def __init__(self, start: Callable[[], Worker], number: int, most_waiting: int, seconds: float) -> None:
        self._start, self._number, self._most_waiting, self._seconds = start, number, most_waiting, seconds
        self._waiting: deque[Task] = deque()
        self._running: set[Task] = set()
        self._threads: list[threading.Thread] = []
        self._changed = threading.Condition()
        self._closed = False

    def submit(self, job: Callable[..., Any], *arguments: Any) -> Task:
        """Put a job into the queue, or refuse it if that is full."""
        task = Task(job, arguments)
        with self._changed:
            if self._closed:
                raise Stopped
            if len(self._waiting) >= self._most_waiting:
                raise Busy("too many requests are waiting; try again in a few seconds.")
            self._waiting.append(task)
            self._changed.notify()
        self.start()
        return task

    def start(self) -> None:
        """Start the workers, if they have not been."""
        with self._changed:
            while len(self._threads) < self._number:
                thread = threading.Thread(target=self._work, daemon=True)
                self._threads.append(thread)
                thread.start()

    def stop(self, task: Task, why: Exception | None = None) -> None:
        """Take a job out of the queue, or kill the worker that does it."""
        reason = why or Stopped()
        with self._changed:
            if task in self._waiting:
                self._waiting.remove(task)
                task.future.set_exception(reason)
            elif task.worker is not None and task.ended is None:
                task.ended = reason
                task.worker.kill()

    def close(self) -> None:
        """End all work, and the workers."""
        with self._changed:
            self._closed = True
            under_way = [*self._waiting, *self._running]
            self._changed.notify_all()
        for task in under_way:
            self.stop(task)
        for thread in self._threads:
            thread.join(_PARTING)

    def _work(self) -> None:
        """One worker after the other, and what they do."""
        while not self._closed:
            worker = self._started()
            while (task := self._next(worker)) is not None and self._do(task, worker):
                pass
            worker.close()

    def _started(self) -> Worker:
        try:
            return self._start()
        except Exception as error:
            return _Unstarted(error)

    def _next(self, worker: Worker) -> Task | None:
        """The next job, now this worker's; none when the lane is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return None
            task = self._waiting.popleft()
            task.worker = worker
            self._running.add(task)
            return task

    def _do(self, task: Task, worker: Worker) -> bool:
        """Do a job; whether the worker can do another."""
        timer = threading.Timer(self._seconds, self.stop, (task, self._too_long()))
        timer.daemon = True
        timer.start()
        result, error = None, None
        try:
            result = worker.do(task.job, task.arguments)
        except Exception as raised:
            error = raised
        timer.cancel()
        with self._changed:
            task.worker = None
            self._running.discard(task)
        if error is None:
            task.future.set_result(result)
        else:
            task.future.set_exception(task.ended or error)
        return task.ended is None and not isinstance(error, WorkerLost) and not isinstance(worker, _Unstarted)

    def _too_long(self) -> LimitError:
        return LimitError(
            f"this took longer than {self._seconds:g} seconds, the most that a request may take, and was ended; ask "
            "about fewer at once, or use the command line."
        )


@dataclass(frozen=True)
class _Unstarted:
    """A worker that could not be started: every job fails for that reason."""

    error: Exception

    def do(self, job: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        raise self.error

    def kill(self) -> None:
        pass

    def close(self) -> None:
        pass


async def arrival(future: Future[T], seconds: float) -> T:
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
