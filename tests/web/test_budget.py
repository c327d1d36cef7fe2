"""A budget and its gain, and who is treated how often, on their pages: what the library says."""

from __future__ import annotations

import pytest

from page_text import read
from pnsight.decisions import decisions_by, select, treated_groups
from pnsight.queries import lattice


def test_the_budget_stands_beside_chance_and_treating_all(client, model):
    page = read(client.get("/budget?budget=300&people=1000&cautious=no").text)
    found = select(model, 300, 1000, max_harm_each=1.0)
    rows = page.one("table", class_="choices").one("tbody").every("tr")
    cells = [[cell.text for cell in row.every("td")] for row in rows]
    random, everyone = found.baselines().values()
    assert cells[0][1] == f"{found.totals()['guaranteed']:,.1f}"
    assert cells[1][1] == f"{random['guaranteed']:,.1f}"
    assert cells[2][1] == f"{everyone['guaranteed']:,.1f}"
    assert [row[0] for row in cells] == ["300.0", "300.0", "1,000.0"]


def test_chosen_by_the_bounds_people_gain_at_least_as_much_as_at_random(model):
    for budget in (0.1, 0.5, 1.0):
        found = select(model, budget)
        assert found.totals()["guaranteed"] >= found.baselines()["at-random"]["guaranteed"] - 1e-9


def test_treating_all_is_the_mean_of_all_profiles(model):
    everyone = select(model, 0.2).baselines()["treat-all"]
    profiles = lattice.all_profiles(model.schema)
    share, found = model.shares(profiles), model.bounds(profiles)
    assert everyone["treated"] == pytest.approx(1.0)
    assert everyone["guaranteed"] == pytest.approx(share @ found.lower)
    assert everyone["best_case"] == pytest.approx(share @ found.upper)


def test_who_is_not_considered_is_said_first(ask, client):
    page = read(client.get("/budget").text)
    assert page.one("p", class_="not-considered").text == "All people are considered."
    rare = read(ask("guessing").get("/budget").text).one("p", class_="not-considered").text
    assert rare.endswith("of the people are not considered: nothing below is about them.")


def test_a_cap_on_harm_holds_of_those_treated(client, model):
    page = read(client.get("/budget?budget=0.5&max_harm=0.2&cautious=no").text)
    found = select(model, 0.5, max_harm=0.2, max_harm_each=1.0)
    assert found.harmed_share() <= 0.2 + 1e-9
    row = page.one("table", class_="choices").one("tbody").every("tr")[0]
    assert row.one("td", data_label="Helped, at least").text == f"{found.totals()['guaranteed']:.1%}"
    assert page.one("input", id="max_harm").attributes["value"] == "0.2"


def test_what_sets_those_treated_apart_stands_before_a_long_list_of_them(client, model, monkeypatch):
    short = read(client.get("/budget?budget=0.5&cautious=no").text)
    assert not short.every("table", class_="apart")
    assert "open" in short.one("details", class_="more").attributes
    monkeypatch.setattr("pnsight.web.views.budget.MOST_LISTED", 2)
    page = read(client.get("/budget?budget=0.5&cautious=no").text)
    found = treated_groups(model, select(model, 0.5, max_harm_each=1.0), model.estimand())
    rows = page.one("table", class_="apart").one("tbody").every("tr")
    terms = zip(found["covariate"], found["level"], strict=True)
    assert [row.one("th").text for row in rows] == [f"{name} = {level}" for name, level in terms]
    assert "open" not in page.one("details", class_="more").attributes


def test_a_budget_that_is_not_spent_says_why(client, model):
    treated = select(model, 1.0, cautious=True, max_harm_each=1.0).treated.sum()
    assert treated < 0.5
    said = read(client.get("/budget?budget=1").text).one("p", class_="left-over").text
    assert said == f"Only {treated:.1%} are treated: nobody else who is considered gains for sure."
    assert not read(client.get("/budget?budget=0.1").text).every("p", class_="left-over")


@pytest.mark.parametrize("asked", ["budget=x", "budget=-1", "budget=7", "people=0", "quantity=pn", "max_harm=3"])
def test_a_mistake_is_told(client, asked):
    assert read(client.get(f"/budget?{asked}").text).one("p", class_="problem").text


def test_decisions_by_a_covariate_are_those_of_the_library(client, model):
    page = read(client.get("/decisions?by=sex&threshold=0.2&cautious=no").text)
    found = decisions_by(model, "sex", threshold=0.2).columns()
    rows = page.one("table", class_="by-covariate").one("tbody").every("tr")
    assert [row.one("th").text for row in rows] == ["female", "male", "Everyone"]
    treated = [row.one("td", data_label="Treat").text for row in rows]
    assert treated == [f"{share:.1%}" for share in found["treat"]]


def test_an_unknown_covariate_is_told(client):
    assert "No covariate is called 'sexx'" in read(client.get("/decisions?by=sexx").text).text


def test_the_check_is_shown_part_by_part(client, ask):
    page = read(client.get("/check").text)
    assert "Was the treatment randomised? balance: ok" in page.text
    assert "Does any population fit both tables? coherence: failed" in read(ask("contradicted").get("/check").text).text
