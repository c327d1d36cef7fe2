"""`pnsight export`: a folder to hand on, and what it says about what it leaves out."""

from __future__ import annotations

import numpy as np
import pytest
from rare_people import RARE, rare_tables

import pnsight


def test_an_exported_model_has_no_small_count_and_says_what_is_withheld(model, run, tmp_path):
    ended = run("export", model, "--min-cell", 20, "--out", tmp_path / "public")
    assert "counts below 20 are withheld" in ended.err
    counts = pnsight.load(tmp_path / "public").study.counts
    assert not ((counts > 0) & (counts < 20)).any()
    assert "counts below 20 are withheld" in run("query", tmp_path / "public").err


def test_ten_is_the_limit_unless_another_is_given(model, run, tmp_path):
    run("export", model, "--out", tmp_path / "public")
    assert pnsight.load(tmp_path / "public").study.withheld.min_cell == 10


def test_the_model_itself_stays_as_it_was(model, run, tmp_path):
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    run("export", model, "--out", tmp_path / "public")
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before


def test_a_limit_below_two_is_refused(model, attempt, tmp_path):
    ended = attempt("export", model, "--min-cell", 1, "--out", tmp_path / "public")
    assert ended.code == 2
    assert "1 was given; expected at least 2" in ended.err
    assert not (tmp_path / "public").exists()


def test_a_folder_of_other_things_is_refused(model, attempt, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    ended = attempt("export", model, "--out", tmp_path / "mine")
    assert ended.code == 2
    assert "the folder holds other files" in ended.err


def test_the_model_is_not_replaced_by_its_own_export(model, attempt):
    before = sorted((path.name, path.read_bytes()) for path in model.iterdir())
    ended = attempt("export", model, "--out", model / ".." / model.name)
    assert ended.code == 2
    assert "is the model itself" in ended.err
    assert sorted((path.name, path.read_bytes()) for path in model.iterdir()) == before


@pytest.fixture
def tables(tmp_path):
    """A trial and a registry in which a few people are of a rare town."""
    for name, table in zip(("trial", "registry"), rare_tables(1), strict=True):
        table.assign(age=range(len(table))).to_csv(tmp_path / f"{name}.csv", index=False)
    roles = ["--treatment", "x", "--outcome", "y", "--model", "plug-in"]
    return [tmp_path / "trial.csv", tmp_path / "registry.csv", *roles]


def test_a_model_can_be_fitted_without_small_counts_at_once(tables, run, tmp_path):
    ended = run("fit", *tables, "--covariates", "town,sex", "--min-cell", 10, "--out", tmp_path / "public")
    assert "counts below 10 are withheld: about" in ended.err
    assert "answers are about the people whose counts are left" in ended.err
    found = pnsight.load(tmp_path / "public").study
    assert not set(RARE) & set(found.schema.covariates[0].levels)
    again = run("export", tmp_path / "public", "--min-cell", 5, "--out", tmp_path / "again")
    assert "counts below 10 are withheld" in again.err
    np.testing.assert_array_equal(pnsight.load(tmp_path / "again").study.counts, found.counts)


def test_a_higher_limit_starts_from_all_rows(tables, run, attempt, tmp_path):
    run("fit", *tables, "--covariates", "town,sex", "--min-cell", 10, "--out", tmp_path / "public")
    ended = attempt("export", tmp_path / "public", "--min-cell", 20, "--out", tmp_path / "again")
    assert ended.code == 2
    assert "those below 10 already are" in ended.err


def test_quantiles_are_said_to_be_published(tables, run, tmp_path):
    how = ["--covariates", "age,sex", "--bands", "age=2", "--out", tmp_path / "public"]
    assert "bands of age were cut at quantiles" in run("fit", *tables, *how, "--min-cell", 10).err
    assert "cut at quantiles" not in run("fit", *tables, *how).err


def test_weights_are_numbers_of_people_if_they_are_said_to_be(tables, run, attempt, tmp_path):
    how = ["--covariates", "town", "--weight", "n", "--min-cell", 1000, "--out", tmp_path / "public"]
    assert "nothing is left" in attempt("fit", *tables, *how).err
    run("fit", *tables, *how, "--weight-is-people")
    assert "no weight is given" in attempt("fit", *tables, "--weight-is-people", "--out", tmp_path / "other").err


def test_where_nothing_is_left_nothing_is_written(model, attempt, tmp_path):
    ended = attempt("export", model, "--min-cell", 2000, "--out", tmp_path / "public")
    assert ended.code == 2
    assert "nothing is left of the 3,000 experimental rows" in ended.err
    assert not (tmp_path / "public").exists()
