"""A second opinion, on its page and as JSON: what the library says, computed where long work is."""

from __future__ import annotations

import pytest

import pnsight
import web_models
from boastful import Boastful
from page_text import read
from pnsight.decisions.second_opinion import AGREE, TIGHTER
from pnsight.web import create_app
from web_clients import Client


@pytest.fixture(scope="module")
def model() -> pnsight.Model:
    """Quick to fit again, and with rows enough."""
    return pnsight.PlugIn().fit(web_models.study(rows=20_000))


@pytest.fixture(scope="module")
def client(model) -> Client:
    return Client(create_app(model))


@pytest.fixture(scope="module")
def boastful() -> Client:
    return Client(create_app(Boastful().fit(web_models.study(rows=20_000))))


@pytest.fixture(scope="module")
def withheld(model) -> Client:
    return Client(create_app(pnsight.suppress(model, 5)))


def test_the_page_shows_what_the_library_says(client, model):
    page = read(client.get("/opinion").text)
    found = pnsight.second_opinion(model)
    rows = page.one("table", class_="opinions").one("tbody").every("tr")
    assert len(rows) == len(found) > 1
    for row, lower, upper in zip(rows, found.lower, found.upper, strict=True):
        assert row.one("td", data_label="Second opinion").one("b").text == f"{lower:.3f} to {upper:.3f}"
    assert (
        f"agrees, within chance, with the model's refined bounds of everyone and {len(found) - 1} groups" in page.text
    )


def test_the_page_is_about_the_people_chosen_beside_everyone(client, model):
    page = read(client.get("/opinion?with.sex=male&quantity=harm").text)
    found = pnsight.second_opinion(model, ["", "sex=male"], "harm")
    rows = page.one("table", class_="opinions").one("tbody").every("tr")
    assert [row.one("th").text for row in rows] == ["Everyone", "sex = male"]
    shown = [row.one("td", data_label="Model").one("b").text for row in rows]
    assert shown == [f"{low:.3f} to {high:.3f}" for low, high in zip(found.model_lower, found.model_upper, strict=True)]


def test_where_the_two_disagree_the_page_says_so(boastful):
    page = read(boastful.get("/opinion").text)
    assert "does not bear out the model's refined bounds of" in page.one("p", class_="caveat").text
    assert "go by the second opinion" in page.one("table", class_="opinions").text


@pytest.mark.parametrize("name", ["mask-mlp", "plug-in", "contradicted"])
def test_a_model_without_one_says_why(ask, name):
    answer = ask(name).get("/opinion")
    assert answer.status_code == 200
    page = read(answer.text)
    assert page.every("p", class_="problem") or "there is no second opinion on" in page.text.lower()
    assert "nan" not in page.text.lower().split()


def test_an_assumption_is_refused_on_the_page(client):
    assert "goes without assumptions" in read(client.get("/opinion?assume=monotone").text).text


def test_the_interface_gives_it(client, model):
    answer = client.post("/api/opinion", json={"queries": ["", {"sex": "male"}], "level": 0.8, "folds": 3}).json()
    found = pnsight.second_opinion(model, ["", "sex=male"], level=0.8, folds=3)
    for name in ("lower", "upper", "low", "high", "model_lower", "model_high"):
        assert [one[name] for one in answer["opinions"]] == pytest.approx(getattr(found, name).tolist())
    assert {one["agreement"] for one in answer["opinions"]} == {AGREE}
    assert answer["level"] == 0.8
    assert "agrees" in answer["verdict"]
    again = client.get("/api/opinion?query=sex%3Dmale&level=0.8&folds=3").json()["opinions"]
    assert [one["lower"] for one in again] == pytest.approx(found.lower[1:].tolist())


def test_without_queries_the_interface_looks_at_large_groups(client, model):
    answer = client.post("/api/opinion", json={}).json()
    assert [one["query"] for one in answer["opinions"]] == list(pnsight.second_opinion(model).queries)
    assert client.get("/api/opinion").json() == answer


def test_programs_are_told_that_the_two_disagree(boastful):
    answer = boastful.post("/api/opinion", json={"queries": [""]}).json()
    assert [one["agreement"] for one in answer["opinions"]] == [TIGHTER]
    assert "Go by the second opinion there" in answer["verdict"]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"folds": 1}, "folds"),
        ({"folds": 99}, "folds"),
        ({"queries": [""] * 21}, "queries"),
        ({"queries": []}, "queries"),
        ({"assume": ["monotone"]}, "assume"),
        ({"refine": "covariates"}, "refine"),
    ],
)
def test_what_cannot_be_meant_is_refused(client, sent, said):
    refused = client.post("/api/opinion", json=sent)
    assert refused.status_code == 422
    assert said in refused.json()["error"]


def test_of_a_study_without_its_small_counts_there_is_none(withheld):
    assert "small counts are withheld" in withheld.post("/api/opinion", json={}).json()["error"]
    assert "Small counts are withheld" in read(withheld.get("/opinion").text).one("p", class_="problem").text
