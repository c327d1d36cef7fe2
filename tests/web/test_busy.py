"""Where a result takes its time, pages come without it and say so, and programs are told to come again.

Long work does not hold up short work, and ends when nobody waits for it.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx
import pytest
from starlette.requests import Request

import web_models
from page_text import read
from pnsight.web.access import Access
from pnsight.web.app import app_of
from pnsight.web.context import Gone, Site
from pnsight.web.kept import Kept
from pnsight.web.lanes import InPlace, Workers
from pnsight.web.limits import IN_PLACE
from web_clients import Client
from web_workers import GO, Team, add

LIMITS = replace(IN_PLACE, advice_patience=0.0, ranking_patience=0.0)


class Slow:
    """A site whose long work is done by one worker that waits for a sign, with room for two more jobs."""

    def __init__(self, limits=LIMITS):
        whole = Site.of(web_models.clinic(), limits=limits)
        self.team = Team(whole.explorer)
        self.lane = Workers(self.team.start, number=1, most_waiting=2, seconds=3600)
        kept = {"rankings": Kept(self.lane, most=1), "advices": Kept(self.lane)}
        self.site = replace(whole, quick=InPlace(whole.explorer), heavy=self.lane, **kept)
        self.app = app_of(self.site, Access())
        self.client = Client(self.app)

    def go_on(self, jobs=1):
        """Let the worker do so many jobs."""
        for _ in range(jobs):
            self.team.member().signs.put(GO)

    async def begun(self):
        """Wait until the worker has a job."""
        await asyncio.to_thread(lambda: self.team.member().begun.get(timeout=60))


@pytest.fixture
def slow():
    found = Slow()
    yield found
    found.lane.close()


def test_the_page_comes_with_its_answer_before_the_advice(slow):
    page = read(slow.client.get("/").text)
    assert page.one("h2", id="answer-title").text
    assert page.one("section", id="advice").one("p", data_again="").text.startswith("Looking at every question")
    slow.go_on()
    assert read(slow.client.get("/advice").text).every("table")


def test_the_page_of_groups_looks_again_by_itself(slow):
    page = read(slow.client.get("/groups").text)
    assert page.one("meta", http_equiv="refresh").attributes["content"] == "3"
    assert "Looking at all groups" in page.one("section", id="table").text


def test_the_page_of_the_second_opinion_looks_again_by_itself(slow):
    page = read(slow.client.get("/opinion").text)
    assert page.one("meta", http_equiv="refresh").attributes["content"] == "3"
    assert "Fitting the model again" in page.text


def test_programs_are_told_to_come_again():
    slow = Slow(replace(IN_PLACE, answer_patience=0.0))
    response = slow.client.get("/api/rank")
    assert response.status_code == 503
    assert "still being computed" in response.json()["error"]
    assert response.headers["retry-after"] == "5"
    slow.lane.close()


async def _all(app, addresses, meanwhile):
    """The answers to requests that are sent at once, and to those that are sent while the first are under way."""
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=None) as client:
        under_way = [asyncio.create_task(client.get(address)) for address in addresses]
        between = await meanwhile(client, under_way)
        return await asyncio.gather(*under_way), between


def test_more_rankings_than_there_is_room_for_are_refused_and_hold_up_nothing_else(slow):
    """Sixty at once gave errors of the server's own, and a single answer took a minute."""

    async def meanwhile(client, under_way):
        await slow.begun()
        under_way += [asyncio.create_task(client.get(address)) for address in asked[1:]]
        waiting = set(under_way)
        while len(waiting) > 3:  # all others are refused
            _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        quick = [await client.get(path) for path in ("/", "/answer?with.sex=male", "/api/bounds?query=sex%3Dmale")]
        upload = await client.post("/people", data={"text": "sex\nmale\n"})
        slow.go_on(3)
        return quick, upload

    asked = [f"/api/rank?level=0.{number}" for number in range(10, 70)]
    found, (quick, upload) = asyncio.run(_all(slow.app, asked[:1], meanwhile))
    assert sorted(response.status_code for response in found) == [200] * 3 + [503] * 57
    for response in found:
        assert response.status_code == 200 or response.headers["retry-after"] == "5"
    assert [response.status_code for response in quick] == [200] * 3
    assert (upload.status_code, upload.headers["retry-after"]) == (503, "5")
    assert "too many requests are waiting" in read(upload.text).one("p", class_="problem").text.lower()


def test_work_for_somebody_who_has_left_ends(slow):
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}

    async def leaving():
        left = asyncio.Event()

        async def receive():
            await left.wait()
            return {"type": "http.disconnect"}

        asked = asyncio.create_task(slow.site.computed(Request(scope, receive), slow.lane, add, 1))
        await slow.begun()
        left.set()
        with pytest.raises(Gone):
            await asked

    asyncio.run(leaving())
    slow.team.member(1)
    assert slow.team.member(0).closed


def test_whoever_waits_when_the_server_stops_is_told(slow):
    async def meanwhile(client, under_way):
        await slow.begun()
        await asyncio.to_thread(slow.lane.close)

    (waiting,), _ = asyncio.run(_all(slow.app, ["/api/rank"], meanwhile))
    late = slow.client.get("/groups/table")
    for response in (waiting, late):
        assert response.status_code == 503
        assert "being stopped" in response.text
    assert slow.team.member().closed
