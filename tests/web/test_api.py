"""The JSON interface: the library's numbers under the command line's names, and messages for all mistakes."""

from __future__ import annotations

import json

import pytest

import pnsight
import web_models
from pnsight._text import as_records
from pnsight.decisions import ask, decide, rank
from pnsight.queries.bound_table import BoundTable

QUERIES = ["", "sex=male", {"sex": "female", "age": 52}, {"region": None, "sex": "male"}]
ANSWER = [
    *["query", "lower", "upper", "lower_low", "lower_high", "upper_low", "upper_high"],
    *["support_experimental", "support_observational", "status", "basis"],
    *["value_low", "value_high", "trial_lower", "trial_upper"],
]


def records(found: BoundTable | pnsight.decisions.Decisions) -> list[dict]:
    return as_records(found.columns())


def error(response, status: int) -> str:
    assert response.status_code == status, response.text
    (message,) = response.json().values()
    assert list(response.json()) == ["error"]
    return message


def test_the_model_describes_itself(client, model):
    found = client.get("/api/model").json()
    assert found["model"] == "response-types"
    assert found["rows_experimental"] == 3000
    assert found["covariates"][0] == {"name": "sex", "levels": ["female", "male"], "numbers": None}
    assert found["intervals"] is True
    assert client.get("/api/model").json()["quantities"] == [
        "pns",
        "pn",
        "ps",
        "pd",
        "pe",
        "harm",
        "benefit",
        "ett",
        "etu",
        "treated-if-untreated",
        "untreated-if-treated",
    ]


def test_an_experiment_alone_has_no_observational_rows(ask):
    found = ask("experiment alone").get("/api/model").json()
    assert found["rows_observational"] is None
    assert found["quantities"] == ["pns", "harm", "benefit"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"quantity": "pn", "level": 0.5},
        {"payoffs": [100, -60, 0, -140]},
        {"assume": ["exogenous"], "refine": "covariates", "population": "pooled"},
    ],
)
def test_bounds_are_the_models(client, model, options):
    found = client.post("/api/bounds", json={"queries": QUERIES, **options}).json()
    expected = model.bounds([query or {} for query in QUERIES], **options)
    assert [list(answer) for answer in found["answers"]] == [ANSWER] * 4
    assert found["answers"] == records(expected)
    assert found["notes"] == list(map(str, expected.notes))
    assert (found["quantity"], found["level"]) == (expected.quantity, expected.level)


def test_an_address_asks_the_same(client):
    posted = {"queries": ["sex=male", ""], "payoffs": [1, 2, 3, 4], "assume": ["exogenous"], "level": 0.5}
    address = "/api/bounds?query=sex%3Dmale&query=&payoffs=1,2,3,4&assume=exogenous&level=0.5"
    assert client.get(address).json() == client.post("/api/bounds", json=posted).json()
    repeated = address.replace("payoffs=1,2,3,4", "payoffs=1&payoffs=2&payoffs=3&payoffs=4")
    assert client.get(repeated).json() == client.get(address).json()


@pytest.mark.parametrize("options", [{}, {"threshold": 0.1, "cautious": True}, {"quantity": "harm", "threshold": 0.3}])
def test_decisions_are_the_librarys(client, model, options):
    found = client.post("/api/decide", json={"queries": QUERIES, **options}).json()
    threshold, cautious = options.get("threshold"), options.get("cautious", False)
    expected = decide(model, QUERIES, threshold, cautious, quantity=options.get("quantity"))
    assert found["decisions"] == records(expected)
    assert found["threshold"] == expected.threshold
    flags = {"threshold": options.get("threshold", 0.5), "cautious": cautious}
    asked = client.get("/api/decide", params={"query": "sex=male", **flags, **options}).json()
    (alone,) = asked["decisions"]
    # asked for by itself or among others: a matrix product may differ in the last bit of a number, and in nothing else
    assert alone == {name: _to_the_last_bit(value) for name, value in found["decisions"][1].items()}


def _to_the_last_bit(value):
    return pytest.approx(value, rel=1e-12) if isinstance(value, float) else value


def test_questions_are_those_of_ask(client, model):
    found = client.post("/api/ask", json={"query": {"sex": "male"}, "threshold": 0.3}).json()
    expected = ask(model, "sex=male", 0.3)
    assert found["questions"] == as_records(expected.columns())
    assert found["levels"] == as_records(expected.by_level())
    assert found["now"] == records(expected.now)[0]
    assert found["advice"] == str(expected.advice)
    assert found == client.get("/api/ask?query=sex%3Dmale&threshold=0.3").json()


@pytest.mark.parametrize(
    ("address", "twice"),
    [
        ("/api/bounds?level=0.5&level=0.9", "level is given as '0.5', '0.9'"),
        ("/api/decide?quantity=pn&quantity=ps", "quantity is given as 'pn', 'ps'"),
        ("/api/ask?query=sex%3Dmale&query=", "query is given as 'sex=male', ''"),
        ("/api/rank?top=3&top=4", "top is given as '3', '4'"),
    ],
)
def test_what_is_given_twice_in_an_address_is_refused(client, address, twice):
    assert error(client.get(address), 400) == f"{twice}; give it once."


def test_an_experiment_alone_is_not_asked_about_other_people(ask):
    message = error(ask("experiment alone").get("/api/bounds?population=observational"), 400)
    assert "only those of the experimental table" in message


def test_groups_are_those_of_rank(client, model):
    found = client.post("/api/rank", json={"top": 5, "by": "upper", "margin": 0, "least_share": 0.2}).json()
    expected = rank(model, 5, "upper", 0, 0.2)
    assert found["groups"] == as_records(expected.columns())
    assert found["overestimated"] == expected.overestimated
    assert found == client.get("/api/rank?top=5&by=upper&margin=0&least_share=0.2").json()


def test_no_queries_have_no_answers(client):
    assert client.post("/api/bounds", json={"queries": []}).json()["answers"] == []


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("bounds", {"queries": ["sex=mael"]}, "Did you mean 'male'?"),
        ("bounds", {"queries": [{"sexx": "male"}]}, "no covariate is called 'sexx'"),
        ("bounds", {"quantity": "benefit"}, "benefit needs payoffs"),
        ("bounds", {"quantity": "pn", "payoffs": [1, 2, 3, 4]}, "payoffs are given, but pn has none"),
        ("bounds", {"assume": ["monotone"]}, "The tables contradict it"),
        ("ask", {"query": "sex"}, "not of the form name=level"),
        ("rank", {"by": "benefit"}, "benefit needs payoffs"),
        ("decide", {"threshold": 30}, "a threshold for PNS lies between 0 and 1, and 30 was given; did you mean 0.3?"),
        ("ask", {"threshold": -1, "quantity": "harm"}, "a threshold for harm lies between 0 and 1, and -1 was given."),
    ],
)
def test_what_the_library_refuses_is_told_with_status_400(client, path, body, said):
    assert said in error(client.post(f"/api/{path}", json=body), 400)


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("bounds", {"level": 1}, "level: Input should be less than 1"),
        ("bounds", {"level": 90}, "level: Input should be less than 1; did you mean 0.9?"),
        ("bounds", {"level": "0.5"}, "level: Input should be a valid number"),
        ("bounds", {"levels": 0.5}, "levels: Extra inputs are not permitted"),
        ("bounds", {"quantity": "pnn"}, "quantity: Input should be 'pns'"),
        ("bounds", {"payoffs": [1, 2, 3]}, "payoffs: List should have at least 4 items"),
        ("bounds", {"payoffs": [1, 2, 3, 1e300]}, "payoffs.3: Input should be less than or equal to"),
        ("bounds", {"queries": [""] * 1001}, "queries: List should have at most 1000 items"),
        ("bounds", {"queries": ["x" * 5000]}, "String should have at most 4000 characters"),
        ("bounds", {"queries": "sex=male"}, "queries: Input should be a valid list"),
        ("bounds", [], "the request: "),
        ("decide", {"cautious": 1}, "cautious: Input should be a valid boolean"),
        ("decide", {"threshold": True}, "threshold: Input should be a valid number"),
        ("rank", {"top": 0}, "top: Input should be greater than or equal to 1"),
        ("rank", {"top": 2.5}, "top: Input should be a valid integer"),
    ],
)
def test_a_field_that_is_not_what_it_should_be_is_named_with_status_422(client, path, body, said):
    assert said in error(client.post(f"/api/{path}", json=body), 422)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({str(k): 0 for k in range(5000)}, "the request: 5,000 fields are given, and there are 17"),
        ({"queries": [{"sex": []}] * 1000}, "queries.0."),
        ({"queries": [{f"c{k}": [] for k in range(900)}]}, " more"),
        ({"queries": [{"x" * 5000: "male"}]}, "String should have at most 4000 characters"),
    ],
)
def test_of_a_heap_of_mistakes_the_first_are_told(client, body, said):
    told = error(client.post("/api/bounds", json=body), 422)
    assert said in told
    assert "queries.1." not in told
    assert len(told) < 10_000


@pytest.mark.parametrize("body", ["{", '{"level": NaN}', '{"threshold": 1e999}', '{"queries": [["a"]]}', "[" * 5000])
def test_what_is_no_json_of_the_right_kind_is_refused(client, body):
    response = client.post("/api/decide", content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422)
    assert list(response.json()) == ["error"]


def test_text_that_no_encoding_has_is_refused_like_other_text(client):
    body = json.dumps({"queries": ["sex=\ud800", {"\ud800": "male"}]})
    response = client.post("/api/bounds", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 422


def test_an_unknown_address_and_a_wrong_method_are_told_in_json(client):
    assert "nothing at this address" in error(client.get("/api/nothing"), 404)
    assert "not asked in this way" in error(client.request("DELETE", "/api/bounds"), 405)


def test_a_model_without_other_people_refuses_them(ask):
    assert "only the people" in error(ask("plug-in").get("/api/bounds?population=pooled"), 400)
    assert "cannot bound pn" in error(ask("mask-mlp").get("/api/bounds?quantity=pn"), 400)


def test_where_there_is_no_answer_numbers_are_null(ask):
    query = {"sex": "female", "age": "18-40", "region": "South"}
    (found,) = ask("plug-in").post("/api/decide", json={"queries": [query]}).json()["decisions"]
    assert (found["lower"], found["decision"]) == (None, "")
    assert found["status"] in ("undefined", "incoherent")


NAMES = (
    "model",
    "bounds",
    "decide",
    "tip",
    "ask",
    "rank",
    "policies",
    "opinion",
    "thresholds",
    "validate",
    "size",
    "select",
)


def test_the_description_names_every_address_and_loads_nothing_from_elsewhere(client):
    found = client.get("/api/openapi.json").json()
    assert list(found["paths"]) == [f"/api/{name}" for name in NAMES]
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert client.get(path).status_code == 404
    page = client.get("/api/").text
    for name in ("least_support", "queries", "cautious"):
        assert f"<code>{name}</code>" in page


def test_too_many_slow_queries_are_refused_with_status_413(client, monkeypatch):
    monkeypatch.setattr("pnsight.web.explorer.MAX_ENUMERATED_PROFILES", 0)
    monkeypatch.setattr("pnsight.web.explorer.MOST_SECONDS", 0.0)
    assert "would take this model" in error(client.post("/api/bounds", json={"queries": [""] * 100}), 413)


def test_nasty_names_are_plain_data(ask):
    found = ask("nasty names").get("/api/model").json()
    assert found["covariates"][0]["name"] == web_models.NASTY
