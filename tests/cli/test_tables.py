"""Any table on the command line: bands, gaps, weights, databases, patterns, and warnings that are not silent."""

from __future__ import annotations

import numpy as np
import pytest
from cluster_trials import household_trial

import pnsight
from cases import write_csv
from engine_tables import as_database, as_parquet

FIT = ["--treatment", "x", "--outcome", "y", "--model", "plug-in"]
AGES = [f"{age},{x},{y}" for age in range(20, 100) for x in (0, 1) for y in (0, 1)]


@pytest.fixture
def ages(tmp_path):
    return write_csv(tmp_path / "ages.csv", "age,x,y", AGES)


def fitted(run, folder, *arguments):
    return run("fit", *arguments, *FIT, "--out", folder / "model")


def test_a_number_finds_its_band_in_text_and_in_a_file_of_queries(run, ages, tmp_path):
    fitted(run, tmp_path, ages, ages, "--bands", "age=0,40,65,120")
    asked = run("query", tmp_path / "model", "age=52", "age=40", "age=65-120", "", "--format", "csv")
    assert [row["query"] for row in asked.rows] == ["age=40-64", "age=40-64", "age=65-120", ""]
    assert [row["support_experimental"] for row in asked.rows] == ["100", "100", "140", "320"]
    file = write_csv(tmp_path / "queries.csv", "name,age", ["Ann,52", "Bo,", "Cy,40-65"])
    asked = run("query", tmp_path / "model", "--queries", file, "--format", "csv")
    assert [row["query"] for row in asked.rows] == ["age=40-64", "", "age=40-64"]


def test_quantiles_are_learned_from_both_tables_and_take_any_number(run, ages, tmp_path):
    older = write_csv(
        tmp_path / "older.csv", "age,x,y", [f"{age + 80},{x},0" for age in range(20, 100) for x in (0, 1)]
    )
    fitted(run, tmp_path, ages, older, "--bands", "age=2")
    asked = run("query", tmp_path / "model", "age=5", "age=500", "--format", "csv")
    assert [row["query"] for row in asked.rows] == ["age=under-80", "age=80+"]
    assert [row["support_observational"] for row in asked.rows] == ["0", "160"]


def test_several_columns_are_cut_each_by_an_option_of_its_own(run, tmp_path):
    table = write_csv(tmp_path / "t.csv", "age,a=b,x,y", [f"{i},{i},{i % 2},{i // 2 % 2}" for i in range(100)])
    fitted(run, tmp_path, table, "--bands", "age=4", "--bands", r"a\=b=0,50,100")
    schema = pnsight.load(tmp_path / "model").schema
    assert [len(covariate.levels) for covariate in schema.covariates] == [4, 2]


def test_what_was_done_with_the_tables_is_said(run, tmp_path):
    lines = [f"{town},UK,{w},{i % 2},{i // 2 % 2}" for town, w in (("A", 2), ("B", 0.25), ("", 1)) for i in range(8)]
    trial = write_csv(tmp_path / "trial.csv", "town,country,w,x,y", lines)
    ended = fitted(run, tmp_path, trial, "--weight", "w", "--missing", "drop", "--merge-rare", 5)
    assert "Study(experimental rows: 18, observational rows: 0" in ended.err
    assert "left out: 8 experimental rows without town" in ended.err
    assert "note: town: rare levels that became 'other': B" in ended.err
    assert "note: country is UK in every row; it is kept, but distinguishes nobody" in ended.err


def test_tables_of_a_database_and_of_many_files(run, tmp_path):
    table = {"z": ["a", "b"] * 8, "x": [0, 0, 1, 1] * 4, "y": [0, 1, 1, 1] * 4}
    address = as_database(table, tmp_path / "trial")
    for part in (1, 2):
        as_parquet(table, tmp_path / f"part-{part}")
    ended = fitted(run, tmp_path, address, tmp_path / "part-*.parquet")
    assert "experimental rows: 16, observational rows: 32" in ended.err
    query = f"{address.removesuffix('people')}SELECT 'a' AS z"
    (row,) = run("query", tmp_path / "model", "--queries", query, "--format", "csv").rows
    assert (row["query"], row["support_observational"]) == ("a", "16")


# --- warnings --------------------------------------------------------------------------------------------


def uneven(folder, name, treated_share, old_share):
    """Old and young, of whom that many in ten are treated, and that many in ten are old."""
    lines = []
    for age, share, people in (("old", treated_share, old_share), ("young", 10 - treated_share, 10 - old_share)):
        lines += [f"{age},{int(i % 10 < share)},{i // 10 % 2}" for i in range(100 * people)]
    return write_csv(folder / f"{name}.csv", "age,x,y", lines)


def test_uneven_assignment_is_not_pooled_in_silence(run, tmp_path):
    trial = uneven(tmp_path, "trial", 8, 5)
    ended = fitted(run, tmp_path, trial)
    assert "warning: the experiment treats some profiles more often than others (shares vary by 60%)" in ended.err
    assert "--mix profiles" in ended.err
    assert "--assignment" in ended.err
    assert "warning" not in fitted(run, tmp_path, trial, "--mix", "profiles").err
    assert pnsight.load(tmp_path / "model").mix == "profiles"


def test_tables_that_mix_covariates_differently_are_not_pooled_in_silence(run, tmp_path):
    trial, registry = uneven(tmp_path, "trial", 5, 5), uneven(tmp_path, "registry", 5, 2)
    ended = fitted(run, tmp_path, trial, registry)
    assert "warning: the two tables mix the covariates differently" in ended.err
    assert "warning" not in fitted(run, tmp_path, trial, trial).err
    for population in ("observational", "experimental", "pooled"):
        ended = fitted(run, tmp_path, trial, registry, "--mix", "profiles", "--population", population)
        assert "warning" not in ended.err


def test_people_a_standardised_answer_leaves_out_are_said_beside_the_answer(run, tmp_path):
    lines = [f"old,{i % 2},{i // 2 % 2}" for i in range(100)] + ["young,1,1"] * 3
    fitted(run, tmp_path, write_csv(tmp_path / "trial.csv", "age,x,y", lines), "--mix", "profiles")
    asked = run("query", tmp_path / "model", "--format", "csv")
    assert asked.rows[0]["status"] == "ok"
    assert "1 of 1 answers leave out people" in asked.err
    assert "at most 2.9%" in asked.err


def test_names_of_covariates_may_stand_apart(run, tmp_path):
    table = write_csv(tmp_path / "t.csv", "a,b,c,x,y", [f"1,1,1,{x},{y}" for x in (0, 1) for y in (0, 1)])
    fitted(run, tmp_path, table, "--covariates", "a, b")
    assert pnsight.load(tmp_path / "model").schema.names == ("a", "b")


def test_survey_weights_and_clusters_on_the_command_line(run, tmp_path):
    trial, registry = household_trial(300, seed=1), household_trial(400, seed=2)
    trial.assign(w=np.arange(len(trial)) % 7 + 1).to_csv(tmp_path / "trial.csv", index=False)
    registry.to_csv(tmp_path / "registry.csv", index=False)
    tables = [tmp_path / "trial.csv", tmp_path / "registry.csv"]
    how = ["--survey-weight", "w", "--cluster", "household", "--covariates", "sex"]
    study = pnsight.read_study(
        *tables, treatment="x", outcome="y", survey_weight="w", cluster="household", covariates=["sex"]
    )
    first, second = (f"{one.effective_rows:,.0f}" for one in study.design.tables)
    for command in (["check"], ["fit", "--model", "plug-in", "--out", tmp_path / "model"]):
        ended = run(command[0], *tables, "--treatment", "x", "--outcome", "y", *how, *command[1:])
        assert f"experimental rows weigh unequally, come in 300 clusters and are worth {first}" in ended.err
        assert f"observational rows come in 400 clusters and are worth {second}" in ended.err
        assert "rows of the observational table count once each: it has no column 'w'" in ended.err
    assert pnsight.load(tmp_path / "model").study.design == study.design
