"""The explorer, its interface, the report and the program with numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import pnsight
from numeric_tables import tables
from pnsight.cli.main import app as program
from pnsight.decisions import decisions_by
from pnsight.output.report import render, summarise
from pnsight.web import create_app
from quick_config import QUICK
from web_clients import Client


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("numbers")
    for name, table in zip(("trial", "registry"), tables(600), strict=True):
        table.to_csv(place / f"{name}.csv", index=False)
    study = pnsight.read_study(place / "trial.csv", place / "registry.csv", treatment="x", outcome="y")
    pnsight.save(pnsight.ResponseTypeModel(config=QUICK).fit(study), place / "model")
    return place


@pytest.fixture(scope="module")
def model(folder) -> pnsight.Model:
    return pnsight.load(folder / "model")


@pytest.fixture(scope="module")
def client(model) -> Client:
    return Client(create_app(model))


def test_the_explorer_has_a_field_that_takes_numbers_and_ranges(client):
    page = client.get("/").text
    assert 'list="groups-0"' in page
    assert "<option" in page
    asked = client.get("/", params={"with.age": "40..65", "with.sex": "f"})
    assert asked.status_code == 200
    assert 'value="40..65"' in asked.text
    wrong = client.get("/", params={"with.age": "old"})
    assert "seen from" in wrong.text


def test_the_interface_says_what_numbers_were_seen_and_answers_about_ranges(client, model):
    about = client.get("/api/model").json()
    age = next(one for one in about["covariates"] if one["name"] == "age")
    assert set(age["numbers"]) == {"low", "high", "whole", "origin"}
    assert next(one for one in about["covariates"] if one["name"] == "sex")["numbers"] is None
    queries = ["age=52", "age=40..65,sex=f", {"age": ">=70"}]
    answers = client.post("/api/bounds", json={"queries": queries}).json()
    expected = model.bounds(queries)
    assert np.allclose([row["upper"] for row in answers["answers"]], expected.upper)
    assert [row["query"] for row in answers["answers"]] == expected.queries


def test_the_report_lists_groups_of_numbers(model):
    page = render(summarise(model, 0.4, top=5))
    assert "age" in page
    names = [level.replace("<", "&lt;").replace(">", "&gt;") for level in model.schema.covariate("age").levels]
    assert all(name in page for name in names)


def test_the_program_reads_asks_and_scores_numbers(folder, monkeypatch):
    monkeypatch.chdir(folder)
    runner = CliRunner()
    asked = runner.invoke(program, ["query", "model", "age=52", "age=40..65", "age<30,sex=m", "--format", "json"])
    assert asked.exit_code == 0, asked.output
    rows = json.loads(asked.stdout)
    assert [row["query"] for row in rows] == ["age=52", "age=40..65", "age<30,sex=m"]
    roles = ["trial.csv", "registry.csv", "--treatment", "x", "--outcome", "y"]
    refused = runner.invoke(program, ["fit", *roles, "--model", "plug-in", "--out", "other"])
    assert refused.exit_code != 0
    assert "--bands age=4" in str(refused.exception)
    checked = runner.invoke(program, ["check", *roles, "--numeric", "age", "--bands", "weight=3"])
    assert checked.exit_code == 0, checked.output


def test_who_is_treated_is_shown_by_groups_of_numbers(client, model):
    page = client.get("/decisions", params={"by": "age"})
    assert page.status_code == 200
    names = [level.replace("<", "&lt;").replace(">", "&gt;") for level in model.schema.covariate("age").levels]
    assert all(name in page.text for name in names)
    found = decisions_by(model, "age", threshold=0.4).columns()
    assert sum(found["people"][:-1]) == pytest.approx(1)


def test_what_counts_rows_by_level_says_how_to_get_levels(client):
    for path in ("validate", "opinion"):
        answer = client.post(f"/api/{path}", json={} if path == "validate" else {"queries": ["age>=65"]})
        assert answer.status_code == 400
        assert "--bands age=4 --bands weight=4" in answer.json()["error"]
