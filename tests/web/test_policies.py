"""Usual care against rules, on its page and as JSON: what the library says."""

from __future__ import annotations

import pytest

from page_text import read
from pnsight.decisions import POLICIES, decide, policies, select, threshold_curve
from pnsight.decisions.planning import size


def test_the_page_shows_what_the_library_says(client, model):
    page = read(client.get("/policies").text)
    found = policies(model)
    rows = page.one("table", class_="policies").one("tbody").every("tr")
    shown = [float(row.one("td", data_label="Respond").one("b").text) for row in rows]
    assert shown == [float(f"{found.of(name)['value']:.3f}") for name in POLICIES]
    assert "The best rule by covariates has" in page.text


def test_the_page_says_whether_to_leave_it_to_them(client, model):
    page = read(client.get("/policies?with.sex=male").text)
    found = decide(model, "sex=male", leave=True, cautious=True)
    assert str(found.reason())[1:] in page.one("p", class_="choice").text


def test_the_page_is_about_the_people_chosen(client, model):
    page = read(client.get("/policies?with.sex=male").text)
    found = policies(model, "sex=male")
    rows = page.one("table", class_="policies").one("tbody").every("tr")
    assert rows[0].one("td", data_label="Respond").one("b").text == f"{found.of('usual-care')['value']:.3f}"


@pytest.mark.parametrize("name", ["plug-in", "mask-mlp", "experiment alone", "contradicted"])
def test_a_model_that_cannot_compare_says_why(ask, name):
    page = ask(name).get("/policies")
    assert page.status_code == 200
    shown = read(page.text)
    assert bool(shown.every("table", class_="policies")) != bool(shown.every("p", class_="problem"))


def test_the_interface_compares_policies(client, model):
    sent = {"queries": ["", {"sex": "male"}], "level": 0.8}
    answer = client.post("/api/policies", json=sent).json()
    found = policies(model, ["", "sex=male"], 0.8)
    assert [one["value"] for one in answer["policies"]] == pytest.approx(found.value.tolist())
    assert answer["level"] == 0.8
    again = client.get("/api/policies?query=sex%3Dmale&level=0.8").json()["policies"]
    for one, other in zip(again, answer["policies"][5:], strict=True):
        assert one == {
            name: value if name in ("query", "policy") else pytest.approx(value) for name, value in other.items()
        }
    assert "error" in client.get("/api/policies?level=7").json()


def test_the_interface_may_leave_it_to_people(client):
    answer = client.post("/api/decide", json={"queries": ["", "sex=male"], "leave": True}).json()
    assert {"usual", "if_treated", "if_untreated"} <= set(answer["decisions"][0])
    assert answer["quantity"] == "effect"
    refused = client.post("/api/decide", json={"queries": [""], "leave": True, "quantity": "pns"})
    assert "pns is asked for too" in refused.json()["error"]


def test_other_thresholds_are_on_the_page_and_in_the_interface(client, model):
    page = read(client.get("/policies?with.sex=male&cautious=no").text)
    rows = page.one("table", class_="thresholds").one("tbody").every("tr")
    assert rows[0].one("td", data_label="Treat").text == "100.0%"
    sent = {"query": "sex=male", "thresholds": [0.1, 0.3]}
    answer = client.post("/api/thresholds", json=sent).json()
    found = threshold_curve(model, "sex=male", [0.1, 0.3])
    assert [one["treat"] for one in answer["thresholds"]] == pytest.approx(found.plain["treat"].tolist())
    assert [one["not_cautious"] for one in answer["thresholds"]] == pytest.approx(found.cautious["not"].tolist())


def test_the_interface_spends_a_budget_with_a_cap_on_harm(client, model):
    answer = client.post("/api/select", json={"budget": 0.5, "max_harm": 0.2}).json()
    found = select(model, 0.5, max_harm=0.2)
    assert answer["harmed_at_most"] == pytest.approx(found.harmed_share())
    assert [one["query"] for one in answer["selected"]] == found.columns()["query"]
    assert "error" in client.post("/api/select", json={"budget": 0.5, "max_harm": 20}).json()


def test_the_interface_takes_the_model_as_a_pilot(client, model):
    answer = client.post("/api/size", json={"margin": 0.05, "query": {"sex": "male"}}).json()
    found = size(0.05, pilot=model, query="sex=male")
    assert [one["experimental"] for one in answer["sizes"]] == found.experimental.tolist()
    assert "error" in client.post("/api/size", json={"margin": 5}).json()


def test_the_page_of_the_study_size_shows_what_the_library_says(client, model):
    page = read(client.get("/size?with.sex=male&margin=0.02").text)
    found = size(0.02, 0.9, pilot=model, query="sex=male")
    rows = page.one("table").one("tbody").every("tr")
    shown = [row.one("td", data_label="Rows of the experiment").text for row in rows]
    assert shown == [f"{rows:,.0f}" for rows in found.experimental]


@pytest.mark.parametrize("asked", ["margin=x", "margin=5", "margin=nan", "quantity=benefit"])
def test_a_study_size_that_makes_no_sense_is_told(client, asked):
    assert read(client.get(f"/size?{asked}").text).one("p", class_="problem").text
