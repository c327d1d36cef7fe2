"""Proof on held-out rows, on its page and as JSON: what the library says."""

from __future__ import annotations

import pytest

import pnsight
import web_models
from page_text import read
from pnsight.web import create_app
from pnsight.web.views.proof import SPLITS
from web_clients import Client


@pytest.fixture(scope="module")
def model() -> pnsight.Model:
    return pnsight.PlugIn().fit(web_models.study(rows=20_000))


@pytest.fixture(scope="module")
def client(model) -> Client:
    return Client(create_app(model))


def test_the_page_shows_what_the_library_says(client, model):
    measures, cells = read(client.get("/proof").text).every("table")
    found = pnsight.validate(model.study, model.unfitted(), SPLITS)
    rows = measures.one("tbody").every("tr")
    assert [row.one("td").one("b").text for row in rows] == [f"{value:.4f}" for value in found.columns()["value"]]
    table = found.calibration
    known = zip(table["group"], table["tenth"], table["observed"], strict=True)
    everyone = [f"{observed:.3f}" for group, tenth, observed in known if (group, tenth) == ("everyone", None)]
    rows = cells.one("tbody").every("tr")
    assert [row.one("td", data_label="Observed").text for row in rows] == everyone


def test_the_interface_gives_measures_and_calibration(client, model):
    answer = client.post("/api/validate", json={"splits": 2, "subgroups": ["", {"sex": "male"}], "level": 0.8}).json()
    found = pnsight.validate(model.study, model.unfitted(), 2, subgroups=["", "sex=male"], level=0.8)
    assert [one["value"] for one in answer["measures"]] == found.columns()["value"]
    assert [one["observed"] for one in answer["calibration"]] == found.calibration["observed"]
    assert (answer["splits"], answer["held_out"], answer["level"]) == (2, 0.25, 0.8)


@pytest.mark.parametrize(
    "sent", [{"splits": 0}, {"splits": 99}, {"held_out": 0.9}, {"held_out": 1e-300}, {"quantity": "fun"}, {"seed": 1}]
)
def test_what_cannot_be_meant_is_refused(client, sent):
    assert client.post("/api/validate", json=sent).status_code == 422


@pytest.mark.parametrize("name", ["experiment alone", "contradicted"])
def test_a_model_that_cannot_be_validated_says_why(ask, name):
    page = read(ask(name).get("/proof").text)
    assert page.every("p", class_="problem") or page.every("table")


def test_of_a_study_without_its_small_counts_there_is_none(model):
    client = Client(create_app(pnsight.suppress(model, 5)))
    assert "small counts are withheld" in client.post("/api/validate", json={}).json()["error"]
