"""A worker: a process that holds a model and does jobs about it, until it is killed or its server is gone.

It gets the model and then jobs through a pipe, and answers through another. At the other end of both is the process
that started it, so what goes through them is trusted and pickled.
"""

from __future__ import annotations

import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from threadpoolctl import threadpool_limits

from pnsight.errors import PnsightError
from pnsight.models import Model
from pnsight.output.tables_verdict import TablesVerdict
from pnsight.web.capabilities import Ability
from pnsight.web.explorer import Explorer
from pnsight.web.lanes import WorkerLost

_LENGTH = struct.Struct(">Q")

_BEGIN = "import sys, pickle; sys.path[:] = pickle.load(sys.stdin.buffer); from pnsight.web.worker import main; main()"
"""What the process runs: it imports from where the server does."""


@dataclass(frozen=True)
class Assignment:
    """What a worker is to hold, and how willingly it yields the processor to others (as `nice`)."""

    model: Model
    verdict: TablesVerdict
    trial_verdict: TablesVerdict | None
    ability: Ability
    nice: int = 0


class Fault(Exception):
    """A fault of ours in a worker: the kind of error, and where it was raised, but not what it says."""

    @property
    def kind(self) -> str:
        """The class of the error."""
        return str(self.args[0])

    @property
    def where(self) -> str:
        """The calls that led to it."""
        return str(self.args[1])


# --- in the server ---------------------------------------------------------------------------------------


class WorkerProcess:
    """The server's end of a worker."""

    def __init__(self, assignment: bytes) -> None:
        """Start it, and wait until it is ready; `assignment` is a pickled `Assignment`."""
        # A session of its own: Ctrl-C is for the server, which ends its workers.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._jobs, self._answers = self._process.stdin, self._process.stdout
        try:
            self._jobs.write(pickle.dumps(sys.path))
            self._exchange(assignment)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def do(self, job: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """What the job returns or raises, called with the worker's explorer and the arguments."""
        return self._exchange(pickle.dumps((job, arguments)))

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def close(self) -> None:
        """End it, and wait until it has."""
        self._process.kill()
        self._process.wait()
        self._answers.close()
        with suppress(OSError):  # of what could not be sent to a process that had ended
            self._jobs.close()

    def _exchange(self, content: bytes) -> Any:
        try:
            _send(self._jobs, content)
            reply = _receive(self._answers)
        except OSError:
            reply = None
        if reply is None:
            raise WorkerLost(f"a worker ended with exit code {self._process.wait()}")
        result, error = pickle.loads(reply)
        if error is not None:
            raise error
        return result


# --- in the worker ---------------------------------------------------------------------------------------


def main() -> None:
    """Do jobs until there is nobody to do them for."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything prints must not get between the answers
    desk, asked = _Desk(), queue.SimpleQueue[bytes]()
    _send(answers, _answer(desk.begin, _receive(sys.stdin.buffer) or b""))
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    with threadpool_limits(1, user_api="blas"):  # workers compute side by side: none takes all cores for itself
        while True:
            _send(answers, _answer(desk.do, asked.get()))


class _Desk:
    """Where the worker works: what it holds, and what it does."""

    explorer: Explorer

    def begin(self, content: bytes) -> None:
        """Take what is to be held."""
        assignment: Assignment = pickle.loads(content)
        if hasattr(os, "nice"):
            os.nice(assignment.nice)
        self.explorer = Explorer(assignment.model, assignment.verdict, assignment.trial_verdict, assignment.ability)

    def do(self, content: bytes) -> Any:
        """Do a job."""
        job, arguments = pickle.loads(content)
        return job(self.explorer, *arguments)


def _listen(asked: queue.SimpleQueue[bytes]) -> None:
    """Take jobs; a server that is gone sends no more, and the worker ends even while it computes."""
    while (content := _receive(sys.stdin.buffer)) is not None:
        asked.put(content)
    os._exit(0)


def _answer(do: Callable[[bytes], Any], content: bytes) -> bytes:
    """What doing it returns, or why it does not, pickled."""
    try:
        return pickle.dumps((do(content), None))
    except PnsightError as error:
        return pickle.dumps((None, error))
    except BaseException as error:
        where = "".join(traceback.format_tb(error.__traceback__))
        return pickle.dumps((None, Fault(type(error).__name__, where)))


# --- both ------------------------------------------------------------------------------------------------


def _send(pipe: IO[bytes], content: bytes) -> None:
    pipe.write(_LENGTH.pack(len(content)))
    pipe.write(content)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    """The next message; None when the other end is gone."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content = pipe.read(length)
    return content if len(content) == length else None
