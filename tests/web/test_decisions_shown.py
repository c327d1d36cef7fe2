"""Decisions on the pages: cautious unless plain ones are asked for, beside their rows, and guessing about nobody."""

from __future__ import annotations

import csv
import io

import pytest

import pnsight
import web_models
from page_text import read

GUESSED = "extrapolated: nobody like this was seen"


def near(model: pnsight.Model) -> float:
    """A threshold that the upper bound of women stays below, but not its interval."""
    return float(model.bounds("sex=female").upper[0]) + 1e-4


@pytest.mark.parametrize(
    ("how", "words"), [("", "Uncertain"), ("&cautious=yes", "Uncertain"), ("&cautious=no", "Do not treat")]
)
def test_decisions_are_cautious_unless_plain_ones_are_asked_for(client, model, how, words):
    page = read(client.get(f"/?with.sex=female&threshold={near(model)}{how}").text)
    assert page.one("h2", id="answer-title").text == words
    assert ("checked" in page.one("input", name="cautious", value="no").attributes) == (how == "&cautious=no")


def test_groups_and_tables_of_people_are_decided_on_with_caution_too(client, model):
    asked = {"text": "sex\nfemale\n", "threshold": str(near(model))}
    for how, words in ({}, "uncertain"), ({"cautious": "no"}, "do not treat"):
        page = read(client.post("/people", data=asked | how).text)
        assert page.one("td", class_="decided").text == words
        (row,) = csv.DictReader(io.StringIO(client.post("/people.csv", data=asked | how).text))
        assert row["decision_cautious"] == "uncertain"
        assert row["decision"] == ("not" if how else "uncertain")


def test_a_model_without_intervals_decides_by_the_bounds(ask):
    page = read(ask("without intervals").get("/?threshold=0").text)
    assert page.one("h2", id="answer-title").text == "Treat"
    assert not page.every("input", name="cautious")


def test_programs_get_both_decisions(client, model):
    (row,) = client.post("/api/decide", json={"queries": ["sex=female"], "threshold": near(model)}).json()["decisions"]
    assert (row["decision"], row["decision_cautious"]) == ("not", "uncertain")


def test_nothing_is_decided_on_a_guess(ask):
    page = read(ask("guessing").get("/?with.sex=male&threshold=0").text)
    assert page.one("h2", id="answer-title").text == "No decision"
    assert page.one("p", class_="reason").text.startswith("Extrapolated: nobody like this was seen")
    assert page.one("svg", class_="bar").every("rect", class_="none")
    assert read(ask("guessing").get("/?with.sex=female&threshold=0").text).one("h2", id="answer-title").text == "Treat"


def test_what_an_answer_rests_on_stands_beside_it(ask, client):
    page = read(ask("guessing").get("/answer?with.sex=female").text)
    assert [cell.text for cell in page.every("td", class_="basis")] == ["own rows", "learned from others"]
    said = web_models.clinic().bounds("").basis is not None
    assert ("Rests on" in read(client.get("/answer").text).text) == said


def test_tables_of_groups_and_of_people_say_what_each_answer_rests_on(ask):
    groups = read(ask("guessing").get("/groups?threshold=0").text).one("table", class_="groups").one("tbody")
    for row in groups.every("tr"):
        guessed = row.one("td", class_="basis").text == GUESSED
        assert guessed == ("no decision" in row.text)
    people = read(ask("guessing").post("/people", data={"text": "sex\nfemale\nmale\n", "threshold": "0"}).text)
    women, men = people.one("tbody").every("tr")
    assert women.one("td", class_="decided").text.startswith("treat harms at most ")
    assert "own rows" in women.text
    assert men.one("td", class_="decided").text == "no decisionExtrapolated: nobody like this was seen."
    tally = people.one("p", class_="tally").text
    assert tally == "treat 1 no decision 1"


def test_programs_decide_on_a_guess_only_if_they_ask_for_it(ask):
    asked = {"queries": ["sex=male"], "threshold": 0}
    plain, guessed = (
        ask("guessing").post("/api/decide", json={**asked, **more}).json()["decisions"][0]
        for more in ({}, {"extrapolate": True})
    )
    assert (plain["decision"], plain["basis"], plain["status"]) == ("", "extrapolated", "ok")
    assert guessed["decision"] == "treat"


def test_few_rows_are_said_beside_every_decision_about_them(ask):
    """Forty rows in each table: most groups have fewer than thirty, on which nothing is decided with caution."""
    people = read(ask("plug-in").post("/people", data={"text": "sex\nfemale\n", "threshold": "0"}).text)
    assert people.one("td", class_="decided").text == "uncertainFew rows."
    assert (
        "people like this were"
        in read(ask("plug-in").get("/answer?with.sex=female").text).one("p", class_="caveat").text
    )


def test_whom_answers_are_about_is_on_every_page_with_answers(client, ask):
    for path in ("/", "/groups"):
        page = read(client.get(path).text)
        assert page.one("p", class_="population").text == "Averaged over the people of the observational table."
        page = read(ask("experiment alone").get(path).text)
        assert page.one("p", class_="population").text == "Averaged over the people of the experimental table."
    people = read(client.post("/people", data={"text": "sex\nmale\n"}).text)
    assert "Averaged over the people of the observational table." in people.one("ul", class_="notes").text
    assert client.get("/api/bounds").json()["population"] == "observational"
    assert client.get("/api/bounds?population=pooled").json()["population"] == "pooled"
