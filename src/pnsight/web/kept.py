"""Results of long jobs: each is computed once, whoever cannot wait may come again, and what nobody wants ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from pnsight.errors import PnsightError
from pnsight.web.lanes import Lane, Task, arrival

T = TypeVar("T")

ABANDONED = 20.0
"""Seconds after which nobody is thought to come again for a result: pages look again after two or three."""


@dataclass(eq=False)
class _Entry:
    """A job, how many wait for it, and when somebody last did."""

    task: Task
    waiting: int = 0
    wanted: float = 0.0

    @property
    def done(self) -> bool:
        return self.task.future.done()

    @property
    def useful(self) -> bool:
        """Whether it is under way, or has a result, or has been refused for a reason that will hold again."""
        return not self.done or isinstance(self.task.future.exception(), PnsightError | None)


class Kept:
    """Results by key; the oldest are forgotten beyond `most`, but none that somebody waits for."""

    def __init__(self, lane: Lane, most: int = 32, clock: Callable[[], float] = time.monotonic) -> None:
        self._lane, self._most, self._clock = lane, most, clock
        self._found: dict[Hashable, _Entry] = {}

    async def get(self, key: Hashable, seconds: float, job: Callable[..., T], *arguments: Any) -> T:
        """The result of the job, waiting for it no longer than this."""
        entry = self._found.get(key)
        if entry is None or not entry.useful:
            self._make_room()
            entry = self._found[key] = _Entry(self._lane.submit(job, *arguments))
        entry.waiting += 1
        try:
            found: T = await arrival(entry.task.future, seconds)
            return found
        finally:
            entry.waiting -= 1
            entry.wanted = self._clock()

    def _make_room(self) -> None:
        """Forget the oldest results, and end what nobody has come for again."""
        done = [key for key, entry in self._found.items() if entry.done]
        for key in done[: max(0, len(done) - self._most + 1)]:
            del self._found[key]
        for key, entry in list(self._found.items()):
            if not entry.done and not entry.waiting and self._clock() - entry.wanted > ABANDONED:
                del self._found[key]
                self._lane.stop(entry.task)
