"""The JSON interface about every structure: the answers of Python, with arms and outcomes by name."""

from __future__ import annotations

import pytest

from pnsight._text import as_records
from pnsight.decisions import decide, rank
from pnsight.web import create_app
from web_clients import Client
from web_structures import ARMS, HORIZONS, MODELS, RELIEF

QUESTIONS = {
    "doses": [
        {"contrast": "40 mg:placebo"},
        {"contrast": "40 mg:10 mg", "quantity": "harm"},
        {"statement": "Y['40 mg'] >= partial and Y[placebo] == none", "given": "X == placebo and Y == none"},
    ],
    "grades": [{}, {"quantity": "effect"}, {"contrast": "standard care:stroke unit"}],
    "survival": [{"horizon": 90.0}, {"quantity": "time", "horizon": 365.0}, {"statement": "T[immunotherapy] > 180"}],
    "screening": [{}, {"quantity": "effect", "among": "compliers", "assume": ["no-defiers"]}],
}


def client_of(name: str) -> Client:
    return Client(create_app(MODELS[name]()))


@pytest.mark.parametrize(("name", "options"), [(name, each) for name, some in QUESTIONS.items() for each in some])
def test_bounds_are_those_of_python_posted_or_in_an_address(name, options):
    client, model = client_of(name), MODELS[name]()
    expected = model.bounds(["", "sex=female"], **options)
    posted = client.post("/api/bounds", json={"queries": ["", "sex=female"], **options}).json()
    assert posted["answers"] == as_records(expected.columns())
    assert posted["notes"] == list(map(str, expected.notes))
    asked = client.get("/api/bounds", params={"query": ["", "sex=female"], **options}).json()
    assert asked == posted


def test_the_model_tells_arms_outcomes_and_horizons_by_name():
    doses = client_of("doses").get("/api/model").json()
    assert doses["structure"]["arms"] == list(ARMS)
    assert doses["structure"]["outcomes"] == list(RELIEF)
    assert {"pns", "harm", "effect"} <= set(doses["quantities"])
    survival = client_of("survival").get("/api/model").json()
    assert survival["structure"]["horizons"] == list(HORIZONS)
    assert survival["structure"]["event_is_bad"] is True
    assert "time" in survival["quantities"]


def test_of_several_arms_the_best_is_decided_for_unless_a_contrast_is_given():
    client, model = client_of("doses"), MODELS["doses"]()
    found = client.post("/api/decide", json={"queries": ["", "sex=female"], "threshold": 0.2}).json()
    expected = decide(model, ["", "sex=female"], 0.2)
    assert found["decisions"] == as_records(expected.columns())
    assert {"between", "arm"} <= set(found["decisions"][0])
    contrasted = client.post("/api/decide", json={"threshold": 0.2, "contrast": "40 mg:placebo"}).json()
    assert contrasted["decisions"] == as_records(decide(model, None, 0.2, contrast="40 mg:placebo").columns())
    assert "between" not in contrasted["decisions"][0]


@pytest.mark.parametrize("name", MODELS)
def test_groups_and_questions_are_answered_for_every_structure(name):
    client, model = client_of(name), MODELS[name]()
    options = {"contrast": "40 mg:placebo"} if name == "doses" else {"horizon": 90.0} if name == "survival" else {}
    groups = client.post("/api/rank", json={"top": 3, **options}).json()["groups"]
    assert groups == as_records(rank(model, 3, **options).columns())
    asked = client.post("/api/ask", json={"query": "sex=female", "threshold": 0.2, **options}).json()
    assert {question["covariate"] for question in asked["questions"]} == {"age"}


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("doses", {}, "--contrast 40 mg:placebo"),
        ("doses", {"contrast": "80 mg:placebo"}, "which is no arm"),
        ("doses", {"contrast": "40 mg:placebo", "horizon": 3.0}, "it has none"),
        ("survival", {"horizon": 91.0}, "its horizons are 90, 180, 365"),
        ("grades", {"among": "compliers"}, "nobody was assigned an arm"),
        ("grades", {"given": "Y == dead"}, "no statement that it is a condition of"),
    ],
)
def test_what_does_not_go_together_is_told(name, options, said):
    response = client_of(name).post("/api/bounds", json=options)
    assert response.status_code == 400
    assert said in response.json()["error"]


def test_two_arms_and_two_outcomes_are_told_by_name_too(ask):
    assert ask("response-types").get("/api/model").json()["structure"] == {
        "kind": "two arms, two outcomes",
        "arms": ["0", "1"],
        "outcomes": ["0", "1"],
        "ordered": True,
        "tried": ["0", "1"],
        "horizons": [],
        "event_is_bad": None,
    }


def test_a_contrast_of_two_arms_may_be_turned_round(ask):
    turned = ask("plug-in").post("/api/bounds", json={"contrast": "0:1"}).json()["answers"][0]
    harm = ask("plug-in").post("/api/bounds", json={"quantity": "harm"}).json()["answers"][0]
    assert (turned["lower"], turned["upper"]) == pytest.approx((harm["lower"], harm["upper"]))
