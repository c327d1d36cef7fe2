"""Threads beside the event loop: what they return and raise, what is refused, and what is computed once."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pnsight.web.executor import Busy, Kept, Threads


@pytest.mark.parametrize("number", [0, 1])
def test_a_job_returns_or_raises_what_it_does(number):
    threads = Threads(number)
    assert asyncio.run(threads.run(divmod, 7, 2)) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(threads.run(divmod, 7, 0))


def test_jobs_run_side_by_side_up_to_the_number_of_threads():
    meeting = threading.Barrier(2)

    async def both():
        return await asyncio.gather(*(threads.run(meeting.wait, 60) for _ in range(2)))

    threads = Threads(2)
    assert sorted(asyncio.run(both())) == [0, 1]


def test_without_threads_a_job_is_done_by_whoever_submits_it():
    assert asyncio.run(Threads(0).run(threading.current_thread)) is threading.current_thread()
    assert asyncio.run(Threads(1).run(threading.current_thread)) is not threading.current_thread()


def test_a_full_queue_refuses_more():
    threads, gate = Threads(1, most_waiting=1), threading.Event()
    begun = threading.Event()
    first = threads.submit(lambda: (begun.set(), gate.wait(60)))
    begun.wait(60)
    second = threads.submit(int)
    with pytest.raises(Busy, match="too many"):
        threads.submit(int)
    gate.set()
    assert second.result(60) == 0
    assert first.result(60)[1]


def test_whoever_cannot_wait_is_told_to_come_again_and_finds_the_result_then():
    gate, calls = threading.Event(), []

    def job(number):
        calls.append(number)
        gate.wait(60)
        return 2 * number

    kept = Kept(Threads(1))
    with pytest.raises(Busy, match="still being computed"):
        asyncio.run(kept.get("key", 0.0, job, 21))
    gate.set()
    assert asyncio.run(kept.get("key", 60, job, 21)) == 42
    assert asyncio.run(kept.get("key", 60, job, 21)) == 42
    assert calls == [21]


def test_a_job_that_failed_is_tried_again():
    kept, outcomes = Kept(Threads(1)), [ZeroDivisionError(), None]

    def job():
        if error := outcomes.pop(0):
            raise error
        return "done"

    with pytest.raises(ZeroDivisionError):
        asyncio.run(kept.get("key", 60, job))
    assert asyncio.run(kept.get("key", 60, job)) == "done"


def test_the_oldest_results_are_forgotten():
    kept, calls = Kept(Threads(1), most=2), []
    for key in ("a", "b", "c", "c", "b", "a"):
        asyncio.run(kept.get(key, 60, calls.append, key))
    assert calls == ["a", "b", "c", "a"]


def test_a_job_that_nobody_waits_for_is_not_begun():
    threads, gate, calls = Threads(1), threading.Event(), []
    threads.submit(gate.wait, 60)
    with pytest.raises(Busy):
        asyncio.run(threads.run(calls.append, 1, seconds=0.0))
    gate.set()
    assert threads.submit(calls.append, 2).result(60) is None
    assert calls == [2]
