"""The pages about every structure: arms and outcomes by name, the contrast and the horizon to choose, and curves."""

from __future__ import annotations

import html
import re

import pytest

from pnsight.estimands.contrast import read_contrast, write_contrast
from pnsight.web import create_app
from pnsight.web.state import Reader
from web_clients import Client
from web_structures import MODELS

PATHS = ("/", "/groups", "/people", "/about", "/api/", "/policies", "/opinion", "/slack", "/proof", "/size")


def client_of(name: str) -> Client:
    return Client(create_app(MODELS[name]()))


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).split())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("path", PATHS)
def test_every_page_shows_every_structure(name, path):
    response = client_of(name).get(path)
    assert response.status_code == 200
    assert not re.search(r"responds? (because|either way|only without)|true or false", text_of(response.text))


def test_arms_and_outcomes_are_named_and_the_best_arm_is_told():
    model, page = MODELS["doses"](), text_of(client_of("doses").get("/?with.sex=female&threshold=0.2").text)
    assert "the share for whom relief is higher under 40 mg than it would be under placebo" in page
    assert "To treat means 40 mg in place of placebo." in page
    assert "Of all arms: " in page
    expected = model.bounds("sex=female", contrast="40 mg:placebo")
    assert f"{expected.lower[0]:.3f}" in page


def test_a_contrast_is_chosen_by_the_address():
    page = text_of(client_of("doses").get("/", params={"contrast": "10 mg:placebo"}).text)
    expected = MODELS["doses"]().bounds("", contrast="10 mg:placebo")
    assert f"{expected.lower[0]:.3f}" in page
    assert "relief is higher under 10 mg than it would be under placebo" in page


def test_horizons_are_chosen_and_curves_show_all_of_them():
    model, page = MODELS["survival"](), client_of("survival").get("/?horizon=90").text
    assert f"{model.bounds('', horizon=90).lower[0]:.3f}" in page
    assert page.count('class="curve ') == 2
    for quantity in ("pns", "harm"):
        for horizon in (90, 180, 365):
            found = model.bounds("", quantity, horizon=horizon)
            assert f"{horizon}: {found.lower[0]:.3f} to {found.upper[0]:.3f}" in page


def test_compliers_are_asked_about_under_an_assumption():
    page = text_of(client_of("screening").get("/?among=compliers&assume=no-defiers").text)
    assert "Among those who take screened = yes if assigned to it" in page
    refused = text_of(client_of("screening").get("/?among=compliers").text)
    assert "add --assume no-defiers" in refused


def test_two_arms_and_two_outcomes_are_not_offered_what_they_would_be_refused(ask):
    page = ask("plug-in").get("/").text
    assert "Assume exogenous" in page
    assert "no-defiers" not in page
    assert 'name="contrast"' not in page


@pytest.mark.parametrize(
    ("name", "address", "said"),
    [
        ("doses", {"contrast": "80 mg:placebo"}, "which is no arm"),
        ("doses", {"contrast": "placebo"}, "expected two different arms"),
        ("survival", {"horizon": "soon"}, "give a number"),
        ("survival", {"horizon": "91"}, "its horizons are 90, 180, 365"),
        ("grades", {"among": "compliers"}, "nobody was assigned an arm"),
        ("grades", {"assume": "exogenous"}, "two arms and two outcomes only"),
    ],
)
def test_what_a_structure_cannot_be_asked_is_told(name, address, said):
    response = client_of(name).get("/", params=address)
    assert response.status_code == 400
    assert said in text_of(response.text)


def test_a_horizon_that_is_no_number_is_told_with_two_outcomes_too(ask):
    response = ask("plug-in").get("/?horizon=soon")
    assert response.status_code == 400
    assert "Horizon is 'soon'; give a number" in text_of(response.text)


@pytest.mark.parametrize(
    ("name", "pairs", "address"),
    [
        ("doses", [("contrast", "40 mg:placebo")], ""),
        ("doses", [("contrast", "10 mg:placebo")], "contrast=10+mg%3Aplacebo"),
        ("survival", [("horizon", "365")], ""),
        ("survival", [("horizon", "90"), ("quantity", "time")], "quantity=time&horizon=90"),
        ("screening", [("among", "compliers"), ("assume", "no-defiers")], "assume=no-defiers&among=compliers"),
    ],
)
def test_every_state_has_one_shortest_address(name, pairs, address):
    reader = Reader(MODELS[name]())
    state, problem = reader.read(pairs)
    assert problem == ""
    assert reader.write(state) == address


def test_colons_in_names_of_arms_survive_an_address():
    assert read_contrast(write_contrast(("1:1 mix", "plain"))) == ("1:1 mix", "plain")
