"""Worker processes: they do what they are asked, are ended whatever they do, and end with their server."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

import web_models
import web_workers
from pnsight.errors import LimitError, QueryError
from pnsight.web.explorer import Explorer
from pnsight.web.lanes import WorkerLost, Workers
from pnsight.web.worker import Assignment, Fault, WorkerProcess


@pytest.fixture(scope="module")
def assignment() -> bytes:
    explorer = Explorer(web_models.plug_in())
    return pickle.dumps(Assignment(explorer.model, *explorer.check(), explorer.ability, nice=1))


@pytest.fixture(scope="module")
def worker(assignment):
    found = WorkerProcess(assignment)
    yield found
    found.close()


def test_a_worker_computes_with_the_model_in_a_process_of_its_own(worker):
    assert worker.do(web_workers.add, (1, 2)) == 3
    assert worker.do(web_workers.name_model, ()) == "plug-in"
    assert worker.do(web_workers.process, ()) == worker.pid != os.getpid()


def test_what_a_job_refuses_is_refused(worker):
    with pytest.raises(QueryError, match="not like this"):
        worker.do(web_workers.refuse, ("not like this",))
    assert worker.do(web_workers.add, (1,)) == 1


def test_a_fault_says_where_but_not_what(worker):
    with pytest.raises(Fault) as raised:
        worker.do(web_workers.fail, ("secret of a patient",))
    assert raised.value.kind == "ZeroDivisionError"
    assert "in fail" in raised.value.where
    assert "secret of" not in str(raised.value)
    with pytest.raises(Fault):
        worker.do(web_workers.unpicklable, ())
    assert worker.do(web_workers.add, (1,)) == 1


def test_what_a_job_prints_does_not_get_between_the_answers(worker):
    assert worker.do(web_workers.chat, ()) == "the answer"
    assert worker.do(web_workers.add, (1,)) == 1


def test_a_worker_that_ends_by_itself_is_told(assignment):
    worker = WorkerProcess(assignment)
    with pytest.raises(WorkerLost, match="exit code 3"):
        worker.do(web_workers.leave, ())
    with pytest.raises(WorkerLost):
        worker.do(web_workers.add, ())
    worker.close()


def test_a_worker_that_cannot_begin_says_why():
    with pytest.raises(Fault) as raised:
        WorkerProcess(b"no assignment")
    assert raised.value.kind == "UnpicklingError"


@pytest.mark.parametrize("job", [web_workers.go_on_for_ever, web_workers.get_stuck])
def test_whatever_a_worker_does_it_ends_when_its_time_is_over(assignment, job):
    """A regular expression that is stuck held up every thread of a server."""
    started = []

    def start():
        started.append(WorkerProcess(assignment))
        return started[-1]

    lane = Workers(start, number=1, most_waiting=9, seconds=0.2)
    with pytest.raises(LimitError):
        lane.submit(job).future.result(60)
    lane.close()
    for worker in started:
        worker.close()
        with pytest.raises(ProcessLookupError):
            os.kill(worker.pid, 0)


SERVER = """
import sys
from pnsight.web.worker import WorkerProcess
import web_workers
worker = WorkerProcess(sys.stdin.buffer.read())
print("begun", flush=True)
worker.do(web_workers.go_on_for_ever, ())
"""


def test_a_worker_ends_with_its_server_even_while_it_computes(assignment):
    """All that holds the pipe to standard error is the server and its worker: it ends with the last of them."""
    paths = os.pathsep.join(path for path in sys.path if path)
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    ) as server:
        try:
            server.stdin.write(assignment)
            server.stdin.close()
            assert server.stdout.readline() == b"begun\n"
        finally:
            server.kill()
        assert server.stderr.read() == b""


def test_a_worker_loads_no_web_libraries(worker):
    loaded = worker.do(web_workers.loaded, ("fastapi", "uvicorn", "starlette", "jax", "matplotlib"))
    assert loaded == []
