"""`pnsight check`: what it prints in each format, its exit codes, and what `fit` says of contradictions."""

from __future__ import annotations

import json

import pandas
import pytest

import pnsight
from cases import INCOHERENT, WOMEN, write_case, write_csv, write_sexes

COLUMNS = ["--treatment", "x", "--outcome", "y"]
PARTS = ["support", "balance", "shift", "coherence", "overlap", "attrition", "coding", "columns"]
LOOKS = [
    "part",
    "kind",
    "look",
    "comparison",
    "rows_experimental",
    "rows_observational",
    "size",
    "low",
    "high",
    "p_value",
    "adjusted",
    "status",
]


def test_usable_tables_end_with_0_and_a_report(run, tmp_path):
    ended = run("check", *write_sexes(tmp_path), *COLUMNS)
    assert ended.out.startswith("Usable.\n")
    assert [line.split()[0] for line in ended.out.splitlines() if line[:1].islower()] == PARTS
    assert "Study(" in ended.err


def test_warnings_alone_end_with_0(run, tmp_path):
    table = write_csv(tmp_path / "table.csv", "x,y", ["1,1", "1,0", "0,1", "0,0"])
    assert run("check", table, table, *COLUMNS).out.startswith("Usable, with 1 warning (support)")


def test_contradicting_tables_end_with_1_and_the_size(attempt, tmp_path):
    ended = attempt("check", *write_case(INCOHERENT, tmp_path), *COLUMNS)
    assert ended.code == 1
    assert ended.out.startswith("Not usable as it is: coherence failed")
    assert "0.350 too much" in ended.out
    assert "Traceback" not in ended.err


def test_a_table_of_choices_is_no_experiment(attempt, tmp_path):
    lines = [f"{i >> 3 & 1},{i >> 2 & 1},{i >> 1 & 1},{i & 1}" for i in range(16)]
    treated = [line for line in lines for _ in range(20 * (1 + line.count("1")))]
    untreated = [line for line in lines for _ in range(20 * (5 - line.count("1")))]
    trial = write_csv(
        tmp_path / "trial.csv",
        "a,b,c,d,x,y",
        [f"{z},1,{i % 2}" for i, z in enumerate(treated)] + [f"{z},0,0" for z in untreated],
    )
    ended = attempt("check", trial, *COLUMNS)
    assert ended.code == 1
    assert "it looks chosen, not randomised" in " ".join(ended.out.split())


def test_an_experiment_alone_is_checked_as_far_as_it_goes(run, tmp_path):
    ended = run("check", write_sexes(tmp_path)[0], *COLUMNS)
    assert "coherence" not in ended.out
    assert "balance" in ended.out


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_csv_and_parquet_hold_one_row_a_look(ending, run, tmp_path):
    file = tmp_path / f"looks.{ending}"
    assert run("check", *write_sexes(tmp_path), *COLUMNS, "--out", file).out == ""
    frame = pandas.read_csv(file) if ending == "csv" else pandas.read_parquet(file)
    assert list(frame.columns) == LOOKS
    assert frame["part"].value_counts().to_dict() == {"coherence": 12, "balance": 2, "shift": 2}
    coherence = frame[frame["part"] == "coherence"]
    assert set(coherence["look"]) == {"X", "F", "M"}
    assert (coherence["low"] <= coherence["size"]).all()
    assert coherence["rows_experimental"].tolist() == [2000] * 4 + [1000] * 8


def test_json_gives_everything(attempt, tmp_path):
    ended = attempt("check", *write_case(INCOHERENT, tmp_path), *COLUMNS, "--format", "json")
    found = json.loads(ended.out)
    assert ended.code == 1
    assert found["ok"] is False
    assert found["verdict"] == "not usable"
    assert list(found["verdicts"]) == PARTS
    assert found["support"]["rows_experimental"] == 200
    assert found["coherence"]["named"][0]["excess"] == pytest.approx(0.35)
    assert len(found["coherence"]["comparisons"]) == 4


def test_the_ending_of_the_file_says_the_format(run, tmp_path):
    tables = write_sexes(tmp_path)
    for ending, kind in (("json", "json"), ("txt", "table"), ("csv", "csv")):
        run("check", *tables, *COLUMNS, "--out", tmp_path / f"check.{ending}")
        shown = run("check", *tables, *COLUMNS, "--format", kind).out
        assert (tmp_path / f"check.{ending}").read_text(encoding="utf-8") == shown


def test_another_coding_and_chosen_covariates_are_read_as_by_fit(run, tmp_path):
    lines = ["F,old,drug,yes", "F,old,none,no", "M,old,drug,no", "M,old,none,yes"] * 100
    table = write_csv(tmp_path / "table.csv", "sex,age,arm,result", lines)
    chosen = [
        "--treatment",
        "arm",
        "--outcome",
        "result",
        "--treated",
        "drug",
        "--success",
        "yes",
        "--covariates",
        "sex",
    ]
    found = json.loads(run("check", table, table, *chosen, "--format", "json").out)
    assert [record["covariate"] for record in found["balance"]["covariates"]] == ["sex"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nowhere.csv", *COLUMNS], "nowhere.csv"),
        (["experimental.csv", "--treatment", "drug", "--outcome", "y"], "drug"),
        (["experimental.csv", *COLUMNS, "--format", "parquet"], "--out FILE.parquet"),
        (["experimental.csv", *COLUMNS, "--out", "nowhere/check.csv"], "nowhere"),
    ],
)
def test_a_mistake_ends_with_2_and_a_message(arguments, named, attempt, tmp_path, monkeypatch):
    write_sexes(tmp_path)
    monkeypatch.chdir(tmp_path)
    ended = attempt("check", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert named in ended.err


def test_fit_warns_of_a_contradiction_and_goes_on(run, tmp_path):
    ended = run("fit", *write_case(INCOHERENT, tmp_path), *COLUMNS, "--out", tmp_path / "model")
    (warning,) = [line for line in ended.err.splitlines() if line.startswith("warning:")]
    assert "For everyone" in warning
    assert "0.350 too much" in warning
    assert pnsight.load(tmp_path / "model").study.observational is not None


def test_fit_does_not_warn_of_coherent_tables_or_of_an_experiment_alone(run, tmp_path):
    tables = write_case(WOMEN, tmp_path)
    for given in (tables, tables[:1]):
        assert "warning" not in run("fit", *given, *COLUMNS, "--out", tmp_path / "model").err
