"""Slack, assumptions that say how much, and tipping points on the pages and in the JSON interface."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

import pnsight
from cases import INCOHERENT, WOMEN
from page_text import read
from pnsight.web import create_app
from web_clients import Client

TIPS = (
    "The decision to treat holds as long as the shares who respond with and without treatment differ from the trial's"
)


@pytest.fixture(scope="module")
def model() -> pnsight.PlugIn:
    return pnsight.PlugIn().fit(WOMEN.study())


@pytest.fixture(scope="module")
def client(model) -> Client:
    return Client(create_app(model))


def page(client, **asked):
    return read(client.get(f"/?{urlencode(asked)}").text)


def test_a_decision_is_shown_with_its_tipping_point(client):
    found = page(client, threshold=0.25, cautious="no")
    assert found.one("p", class_="tip").text == f"{TIPS} by 0.0145 at most; beyond that it is uncertain."
    assert not page(client, threshold=0.25, cautious="no", slack=0.01).every("p", class_="tip")
    assert not page(client, threshold=0.25).every("p", class_="tip")  # uncertain, with caution


def test_a_page_answers_with_slack_and_says_so_and_its_address_keeps_it(client, model):
    found = page(client, slack="treated=0.05,control=-0.02", misread_outcome=0.01, assume="harm<=0.3")
    expected = model.bounds("", slack="treated=0.05,control=-0.02", misread_outcome=0.01, assume="harm<=0.3")
    assert f"{expected.lower[0]:.3f}" in found.one("table", class_="numbers").text
    for said in ("Slack: treated=0.05,control=-0.02.", "Outcomes that may be misread: 0.01", "Assumed, harm<=0.3"):
        assert said in found.one("p", class_="asked").text
    assert found.one("input", id="slack").attributes["value"] == "treated=0.05,control=-0.02"
    assert found.one("input", id="assume-graded").attributes["value"] == "harm<=0.3"
    (address,) = (each.attributes["data-address"] for each in found.every("div") if "data-address" in each.attributes)
    assert "slack=treated%3D0.05%2Ccontrol%3D-0.02" in address


def test_a_slack_that_means_nothing_is_told(client):
    assert "expected a share such as 0.05" in page(client, slack="much").text


def test_the_interface_gives_the_numbers_of_the_library(client, model):
    found = client.post("/api/tip", json={"queries": [""], "threshold": 0.25, "along": "treated=1"}).json()
    expected = pnsight.tip(model, "", 0.25, along="treated=1")
    assert found["along"] == "treated=1"
    assert found["tips"][0]["tip"] == expected.tip[0] == pytest.approx(0.029)
    assert found["tips"][0]["words"] == str(expected.sentence())
    same = client.get("/api/tip?threshold=0.25&along=treated%3D1").json()
    assert same["tips"] == found["tips"]


def test_bounds_take_slack_and_assumptions_that_say_how_much(client, model):
    sent = {"slack": 0.05, "assume": ["harm<=0.3"], "misread_outcome": 0.01}
    (found,) = client.post("/api/bounds", json=sent).json()["answers"]
    expected = model.bounds("", **sent)
    assert (found["lower"], found["upper"]) == (expected.lower[0], expected.upper[0])
    (found,) = client.get("/api/bounds?slack=%2B0.05&assume=harm%3C%3D0.3").json()["answers"]
    assert found["lower"] == model.bounds("", slack="+0.05", assume="harm<=0.3").lower[0]


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        ({"assume": ["harm<=5"]}, 422, "did you mean 0.05"),
        ({"assume": ["harmless"]}, 422, "no assumption is called"),
        ({"slack": "a lot"}, 400, "expected a share such as 0.05"),
        ({"misread_outcome": 2}, 422, "misread_outcome"),
        ({"slack": 0.1, "assume": ["exogenous"]}, 400, "together with slack"),
    ],
)
def test_mistakes_are_told(client, sent, status, message):
    found = client.post("/api/bounds", json=sent)
    assert found.status_code == status, found.text
    assert message in found.json()["error"]


def test_a_report_says_when_contradictory_tables_fit_together():
    larger = INCOHERENT.study().with_counts(20 * INCOHERENT.study().counts)
    summary = pnsight.output.report.summarise(pnsight.PlugIn().fit(larger), threshold=0.2)
    (headline, *_) = summary.everyone
    assert headline.tip is not None
    assert headline.tip.sentence == ("No decision; the shares of both tables fit together from a slack of 0.35 on.")
    assert headline.tip.slacks


def test_the_figure_of_bounds_against_slack_stands_behind_its_link(client, model):
    asked = page(client, threshold=0.25, cautious="no")
    link = next(each for each in asked.every("a") if each.text == "Bounds against slack")
    shown = read(client.get(link.attributes["href"]).text)
    assert f"{TIPS} by 0.0145 at most; beyond that it is uncertain." in shown.text
    for kind, quantity in (("gain", "pns"), ("harm", "harm")):
        answer, drawn = model.bounds("", quantity=quantity), shown.one("svg", class_=kind)
        assert f"at slack 0 {answer.lower[0]:.3f} to {answer.upper[0]:.3f}" in drawn.attributes["aria-label"]
    assert shown.one("svg", class_="gain").every("line", class_="tipping")


@pytest.mark.parametrize(
    ("name", "address", "why"),
    [
        ("mask-mlp", "/slack", "slack"),
        ("response-types", "/slack?slack=0.05", "slack is set already"),
        ("response-types", "/slack?slack=9", "slack"),
    ],
)
def test_where_there_is_no_figure_the_page_says_why(ask, name, address, why):
    assert why in read(ask(name).get(address).text).one("p", class_="problem").text.lower()
