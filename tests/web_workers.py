"""Workers that wait for a sign, and jobs that real workers do in other processes."""

from __future__ import annotations

import os
import queue
import re
import sys
import threading
from collections.abc import Callable
from typing import Any

from pnsight.errors import QueryError
from pnsight.web.lanes import WorkerLost

GO, KILLED = "go", "killed"


class Held:
    """A worker in the thread of its lane that begins with a job when it is told to."""

    def __init__(self, explorer: Any = None) -> None:
        self.explorer = explorer
        self.begun: queue.SimpleQueue[Callable[..., Any]] = queue.SimpleQueue()
        self.signs: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.closed = False

    def do(self, job: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Wait for a sign, then do the job."""
        self.begun.put(job)
        if self.signs.get(timeout=60) == KILLED:
            raise WorkerLost("killed")
        return job(self.explorer, *arguments)

    def kill(self) -> None:
        """End the job."""
        self.signs.put(KILLED)

    def close(self) -> None:
        """Be gone."""
        self.closed = True


class Team:
    """Starts workers that wait for a sign, and knows them in the order in which they were started."""

    def __init__(self, explorer: Any = None) -> None:
        self.explorer = explorer
        self.members: list[Held] = []
        self.joined = threading.Semaphore(0)

    def start(self) -> Held:
        """One more worker."""
        self.members.append(Held(self.explorer))
        self.joined.release()
        return self.members[-1]

    def member(self, number: int = 0) -> Held:
        """The worker of that number, when there is one."""
        while len(self.members) <= number:
            assert self.joined.acquire(timeout=60)
        return self.members[number]


def add(explorer: Any, *numbers: int) -> int:
    """The sum."""
    return sum(numbers)


def fail(explorer: Any, secret: str) -> None:
    """Fail with a message that nobody is to read."""
    raise ZeroDivisionError(secret)


def refuse(explorer: Any, words: str) -> None:
    """Refuse what was asked."""
    raise QueryError(words)


def chat(explorer: Any) -> str:
    """Print where answers go."""
    print("not an answer", flush=True)
    os.write(1, b"nor this\n")
    return "the answer"


def name_model(explorer: Any) -> str:
    """The model that the worker holds."""
    return str(explorer.model.name)


def process(explorer: Any) -> int:
    """The number of the process."""
    return os.getpid()


def go_on_for_ever(explorer: Any) -> None:
    """Compute without an end."""
    while True:
        pass


def get_stuck(explorer: Any) -> None:
    """Compute for hours inside the interpreter, which lets no other thread run."""
    re.fullmatch(r"(\d+\.?\d*)+x", "1" * 400)


def leave(explorer: Any) -> None:
    """End the process."""
    os._exit(3)


def unpicklable(explorer: Any) -> Callable[[], None]:
    """Something that cannot be sent."""
    return lambda: None


def loaded(explorer: Any, *names: str) -> list[str]:
    """Which of these libraries the process has loaded."""
    return [name for name in names if name in sys.modules]
