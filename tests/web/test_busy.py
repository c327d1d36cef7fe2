"""Where a result takes its time, pages come without it and say so, and programs are told to come again."""

from __future__ import annotations

import threading

import pytest

import web_models
from page_text import read
from pnsight.web import create_app
from web_clients import Client


@pytest.fixture
def gate():
    """What holds up long work until it is set."""
    found = threading.Event()
    yield found
    found.set()


@pytest.fixture
def slow(gate, monkeypatch):
    """A client of an application whose rankings and questions wait at the gate, for no longer than no time.

    Its model is taken for one of many profiles: with few, questions take a millisecond and are not waited for.
    """
    from pnsight.web import explorer

    def held_up(what):
        return lambda *arguments, **options: gate.wait(60) and what(*arguments, **options)

    for name in ("rank", "ask_beyond"):
        monkeypatch.setattr(explorer, name, held_up(getattr(explorer, name)))
    monkeypatch.setattr(explorer.Explorer, "many_profiles", True)
    for place in ("pages", "group_pages", "api"):
        monkeypatch.setattr(f"pnsight.web.{place}.PATIENCE", 0.0)
    return Client(create_app(web_models.clinic()))


def test_the_page_comes_with_its_answer_before_the_advice(slow, gate):
    page = read(slow.get("/").text)
    assert page.one("h2", id="answer-title").text
    assert page.one("section", id="advice").one("p", data_again="").text.startswith("Looking at every question")
    gate.set()
    assert read(slow.get("/advice").text).every("table")


def test_the_page_of_groups_looks_again_by_itself(slow, gate):
    page = read(slow.get("/groups").text)
    assert page.one("meta", http_equiv="refresh").attributes["content"] == "3"
    assert "Looking at all groups" in page.one("section", id="table").text


def test_programs_are_told_to_come_again(slow):
    response = slow.get("/api/rank")
    assert response.status_code == 503
    assert "still being computed" in response.json()["error"]
    assert response.headers["retry-after"] == "5"
