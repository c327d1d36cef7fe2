"""Lanes beside the event loop: what they return and raise, refuse and end, and what is computed once."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pnsight.errors import LimitError, QueryError
from pnsight.web.kept import ABANDONED, Kept
from pnsight.web.lanes import Busy, InPlace, Stopped, Workers
from web_workers import GO, Team, add, refuse


@pytest.fixture
def team():
    return Team()


@pytest.fixture
def lane(team):
    found = Workers(team.start, number=1, most_waiting=2, seconds=3600)
    yield found
    found.close()


# --- doing jobs -------------------------------------------------------------------------------------------


def test_in_place_a_job_is_done_by_whoever_submits_it():
    lane = InPlace("explorer")
    assert asyncio.run(lane.run(lambda explorer, more: (explorer, more), 1, seconds=0)) == ("explorer", 1)
    thread = asyncio.run(lane.run(lambda _: threading.current_thread(), seconds=0))
    assert thread is threading.current_thread()
    with pytest.raises(QueryError, match="no"):
        asyncio.run(lane.run(refuse, "no", seconds=0))


def test_a_worker_returns_or_raises_what_the_job_does(lane, team):
    first, second = lane.submit(add, 1, 2), lane.submit(refuse, "no")
    team.member().signs.put(GO)
    assert first.future.result(60) == 3
    team.member().signs.put(GO)
    with pytest.raises(QueryError, match="no"):
        second.future.result(60)
    assert len(team.members) == 1


def test_jobs_run_side_by_side_up_to_the_number_of_workers(team):
    lane = Workers(team.start, number=2, most_waiting=9, seconds=3600)
    tasks = [lane.submit(add, number) for number in range(3)]
    for number in range(2):
        team.member(number).begun.get(timeout=60)
    assert not any(task.future.done() for task in tasks)
    for number in range(2):
        team.member(number).signs.put(GO)
        team.member(number).signs.put(GO)
    assert [task.future.result(60) for task in tasks] == [0, 1, 2]
    lane.close()


def test_a_full_queue_refuses_more(lane, team):
    tasks = [lane.submit(add, 0)]
    team.member().begun.get(timeout=60)
    tasks += [lane.submit(add, number) for number in (1, 2)]
    with pytest.raises(Busy, match="too many"):
        lane.submit(add, 3)
    for _ in tasks:
        team.member().signs.put(GO)
    assert [task.future.result(60) for task in tasks] == [0, 1, 2]


# --- ending jobs ------------------------------------------------------------------------------------------


def test_work_that_takes_too_long_ends_with_its_worker_and_another_takes_its_place(team):
    lane = Workers(team.start, number=1, most_waiting=9, seconds=0.01)
    with pytest.raises(LimitError, match=r"longer than 0\.01 seconds"):
        lane.submit(add, 1).future.result(60)
    team.member(1)
    assert team.member(0).closed
    lane.close()


def test_work_that_nobody_waits_for_ends(lane, team):
    async def impatient():
        with pytest.raises(Busy, match="still being computed"):
            await lane.run(add, 1, seconds=0.0)

    task = lane.submit(add, 0)
    team.member().begun.get(timeout=60)
    asyncio.run(impatient())  # it has not begun and is taken out of the queue
    lane.stop(task)
    with pytest.raises(Stopped):
        task.future.result(60)
    after = lane.submit(add, 2)
    team.member(1).signs.put(GO)
    assert after.future.result(60) == 2
    assert team.member(0).closed


def test_whoever_gives_up_waiting_ends_the_work(lane, team):
    async def giving_up():
        waiting = asyncio.create_task(lane.run(add, 1, seconds=60))
        await asyncio.to_thread(lambda: team.member().begun.get(timeout=60))
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(giving_up())
    team.member(1)
    assert team.member(0).closed


def test_a_worker_that_is_lost_is_replaced(lane, team):
    task = lane.submit(add, 1)
    team.member().kill()
    with pytest.raises(Exception, match="killed"):
        task.future.result(60)
    again = lane.submit(add, 1)
    team.member(1).signs.put(GO)
    assert again.future.result(60) == 1


def test_a_worker_that_cannot_be_started_is_tried_again_for_the_next_job(team):
    faults = [OSError("no more processes")]

    def start():
        if faults:
            raise faults.pop()
        return team.start()

    lane = Workers(start, number=1, most_waiting=9, seconds=3600)
    with pytest.raises(OSError, match="no more processes"):
        lane.submit(add, 1).future.result(60)
    task = lane.submit(add, 1)
    team.member().signs.put(GO)
    assert task.future.result(60) == 1
    lane.close()


def test_a_closed_lane_ends_all_work_and_takes_no_more(lane, team):
    tasks = [lane.submit(add, 1)]
    team.member().begun.get(timeout=60)
    tasks.append(lane.submit(add, 2))
    lane.close()
    for task in tasks:
        with pytest.raises(Stopped):
            task.future.result(60)
    with pytest.raises(Stopped):
        lane.submit(add, 3)


# --- computing once ---------------------------------------------------------------------------------------


def test_whoever_cannot_wait_is_told_to_come_again_and_finds_the_result_then(lane, team):
    kept = Kept(lane)
    with pytest.raises(Busy, match="still being computed"):
        asyncio.run(kept.get("key", 0.0, add, 21))
    team.member().signs.put(GO)
    assert asyncio.run(kept.get("key", 60, add, 21)) == 21
    assert asyncio.run(kept.get("key", 60, add, 99)) == 21
    assert team.member().begun.qsize() == 1


def test_a_job_that_failed_is_tried_again_but_one_that_was_refused_is_not():
    outcomes = [ZeroDivisionError(), QueryError("no"), None]

    def job(_):
        if error := outcomes.pop(0):
            raise error

    kept = Kept(InPlace(None))
    with pytest.raises(ZeroDivisionError):
        asyncio.run(kept.get("key", 60, job))
    for _ in range(2):
        with pytest.raises(QueryError, match="no"):
            asyncio.run(kept.get("key", 60, job))
    assert len(outcomes) == 1


def test_the_oldest_results_are_forgotten():
    kept, calls = Kept(InPlace(None), most=2), []
    for key in ("a", "b", "c", "c", "b", "a"):
        asyncio.run(kept.get(key, 60, lambda _, key: calls.append(key), key))
    assert calls == ["a", "b", "c", "a"]


def test_no_result_is_forgotten_while_somebody_waits_for_it(team):
    """Of more than 32 rankings at once the first were given up, and those who waited got an error."""
    lane = Workers(team.start, number=1, most_waiting=99, seconds=3600)
    kept = Kept(lane, most=2)

    async def all_at_once():
        asked = [asyncio.create_task(kept.get(number, 60, add, number)) for number in range(40)]
        await asyncio.to_thread(lambda: team.member().begun.get(timeout=60))
        for _ in asked:
            team.member().signs.put(GO)
        return await asyncio.gather(*asked)

    assert asyncio.run(all_at_once()) == list(range(40))
    lane.close()


def test_what_nobody_comes_for_again_is_ended_when_another_needs_the_place(lane, team):
    now = [0.0]
    kept = Kept(lane, clock=lambda: now[0])
    for key in ("abandoned", "waiting in vain"):
        with pytest.raises(Busy):
            asyncio.run(kept.get(key, 0.0, add, 1))
    team.member().begun.get(timeout=60)
    now[0] = ABANDONED - 1
    with pytest.raises(Busy):
        asyncio.run(kept.get("abandoned", 0.0, add, 1))  # asked for again
    now[0] = ABANDONED + 1
    with pytest.raises(Busy):
        asyncio.run(kept.get("new", 0.0, add, 1))
    assert not team.member().closed  # the first goes on
    now[0] = 2 * ABANDONED
    with pytest.raises(Busy):
        asyncio.run(kept.get("newer", 0.0, add, 1))
    team.member(1).signs.put(GO)
    assert asyncio.run(kept.get("new", 60, add, 1)) == 1
    assert team.member().closed
    assert team.member(1).begun.qsize() >= 1
