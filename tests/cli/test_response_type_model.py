"""The default model through `fit` and `query`: intervals, whose people, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pnsight
from cases import MEN, WOMEN, rows, write_csv

COLUMNS = ["--treatment", "x", "--outcome", "y"]
ENDS = ["lower", "upper"]
INTERVALS = ["lower_low", "lower_high", "upper_low", "upper_high"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Women and men; the trial has five times as many women as men, the registry as many of either."""
    folder = tmp_path_factory.mktemp("tables")
    few_men = tuple(count // 5 for count in MEN.experimental)
    trial = write_csv(folder / "trial.csv", "sex,x,y", rows(WOMEN.experimental, "F,"), rows(few_men, "M,"))
    registry = write_csv(
        folder / "registry.csv", "sex,x,y", rows(WOMEN.observational, "F,"), rows(MEN.observational, "M,")
    )
    return trial, registry


@pytest.fixture(scope="module")
def fitted(quick_default, tables, tmp_path_factory):
    """A model fitted by the library, for commands that only read."""
    folder = tmp_path_factory.mktemp("fitted") / "model"
    study = pnsight.read_study(*tables, treatment="x", outcome="y")
    pnsight.save(pnsight.ResponseTypeModel().fit(study), folder)
    return folder


def test_fit_learns_response_types_unless_told_otherwise(quick_default, tables, fitted, run, tmp_path):
    ended = run("fit", *tables, *COLUMNS, "--out", tmp_path / "model")
    assert ended.out == ""
    model = pnsight.load(tmp_path / "model")
    assert isinstance(model, pnsight.ResponseTypeModel)
    assert model.parameters() == pnsight.ResponseTypeModel().parameters()
    assert model.bounds(["", "F"]).columns() == pnsight.load(fitted).bounds(["", "F"]).columns()


def test_query_shows_an_interval_for_each_end(fitted, run):
    for row in run("query", fitted, "--space", "mask", "--format", "csv").rows:
        number = {name: float(row[name]) for name in (*ENDS, *INTERVALS)}
        assert row["status"] == "ok"
        assert 0 <= number["lower_low"] <= number["lower"] <= number["lower_high"] <= 1
        assert 0 <= number["upper_low"] <= number["upper"] <= number["upper_high"] <= 1
        assert number["lower"] <= number["upper"]


def test_a_higher_level_gives_wider_intervals(fitted, run):
    narrow, wide = (run("query", fitted, "F", "--level", level, "--format", "csv").rows[0] for level in (0.5, 0.99))
    assert float(wide["upper_low"]) < float(narrow["upper_low"])
    assert float(wide["upper_high"]) > float(narrow["upper_high"])


def test_without_intervals_their_columns_are_empty(quick_default, tables, fitted, run, attempt, tmp_path):
    run("fit", *tables, *COLUMNS, "--no-intervals", "--out", tmp_path / "model")
    (bare,) = run("query", tmp_path / "model", "F", "--format", "csv").rows
    (full,) = run("query", fitted, "F", "--format", "csv").rows
    assert [bare[name] for name in INTERVALS] == [""] * 4
    assert "" not in [full[name] for name in INTERVALS]
    # without intervals nothing says how far the model is off, so a group's own rows are not set against it
    assert [float(bare[name]) for name in ENDS] == pytest.approx([float(full[name]) for name in ENDS], abs=0.01)
    for words, named in (
        (("decide", "--cautious"), "caution needs an interval for each bound"),
        (("query", "--simultaneous"), "--simultaneous (simultaneous=True) goes by how far bounds stray by chance"),
        (("query", "--median-unbiased"), "response-types model does not say; leave it out"),
    ):
        ended = attempt(words[0], tmp_path / "model", words[1])
        assert ended.code == 2
        assert named in ended.err


@pytest.mark.parametrize("people", ["experimental", "observational", "pooled"])
def test_query_averages_over_the_people_asked_for(people, fitted, run):
    (row,) = run("query", fitted, "--population", people, "--format", "csv").rows
    answer = pnsight.load(fitted).bounds("", population=people)
    assert [float(row[name]) for name in ENDS] == [answer.lower[0], answer.upper[0]]


def test_people_of_the_trial_and_of_the_registry_differ(fitted, run):
    """Men benefit more (.49 against .28), and there are fewer of them in the trial: 1/6 against 1/2."""
    trial, pooled, registry = (
        float(run("query", fitted, "--population", people, "--format", "csv").rows[0]["upper"])
        for people in ("experimental", "pooled", "observational")
    )
    assert trial < pooled < registry
    assert run("query", fitted, "--format", "csv").rows[0]["upper"] == str(registry)


def test_the_people_chosen_at_the_fit_are_remembered(quick_default, tables, fitted, run, tmp_path):
    run("fit", *tables, *COLUMNS, "--population", "experimental", "--out", tmp_path / "model")
    (remembered,) = run("query", tmp_path / "model", "--format", "csv").rows
    (asked,) = run("query", fitted, "--population", "experimental", "--format", "csv").rows
    assert [remembered[name] for name in ENDS] == [asked[name] for name in ENDS]


def test_a_plug_in_has_no_choice_of_people(tables, run, attempt, tmp_path):
    run("fit", *tables, *COLUMNS, "--model", "plug-in", "--out", tmp_path / "model")
    ended = attempt("query", tmp_path / "model", "--population", "experimental")
    assert (ended.code, ended.out) == (2, "")
    assert "population 'experimental' was given, but this plug-in model" in ended.err
    assert "response-types" in ended.err


@pytest.mark.parametrize("command", ["fit", "query"])
def test_people_that_do_not_exist_are_refused(command, tables, fitted, attempt, tmp_path):
    arguments = [*tables, *COLUMNS, "--out", tmp_path / "new"] if command == "fit" else [fitted]
    ended = attempt(command, *arguments, "--population", "trial")
    assert (ended.code, ended.out) == (2, "")
    assert "'trial'" in ended.err
    assert not (tmp_path / "new").exists()


def test_the_whole_way_as_separate_programs_with_the_ladder_as_it_is(tables, tmp_path):
    """Without covariates there is only one rung, so that this takes no longer than starting Python twice."""

    def program(*arguments: object) -> str:
        command = [sys.executable, "-m", "pnsight", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout

    assert program("fit", *tables, *COLUMNS, "--covariates", "", "--out", "model") == ""
    header, answer = program("query", "model", "--format", "csv").splitlines()
    row = dict(zip(header.split(","), answer.split(","), strict=True))
    assert row["status"] == "ok"
    assert 0 < float(row["lower_low"]) < float(row["lower"]) < float(row["upper"]) < float(row["upper_high"]) < 1
