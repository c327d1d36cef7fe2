"""`pnsight bench`: what its commands leave behind and show."""

import pytest

SMALL = ("--populations", "mediator", "--budgets", "20k", "--seeds", "1", "--learners", "plug-in", "--jobs", "1")


@pytest.fixture
def decided(run, tmp_path):
    """Results of the benchmark of decisions, of one quick fit."""
    ended = run("bench", "decide", *SMALL, "--results", tmp_path)
    assert "1 fitted, 0 were there" in ended.err
    return tmp_path


def test_decisions_that_are_there_are_not_made_again(run, decided):
    assert "0 fitted, 1 were there" in run("bench", "decide", *SMALL, "--results", decided).err


@pytest.mark.parametrize("table", ["decisions", "selection", "top"])
def test_the_tables_of_decisions_are_shown(run, decided, table):
    shown = run("bench", "show", table, "--results", decided, "--format", "csv")
    assert {row["population"] for row in shown.rows} == {"all of the catalog", "mediator"}
    assert {row["learner"] for row in shown.rows} == {"plug-in"}


def test_results_that_are_missing_are_named_with_the_command_that_makes_them(attempt, decided):
    ended = attempt("bench", "show", "table-1", "--results", decided)
    assert (ended.code, "pnsight bench run" in ended.err) == (2, True)
    ended = attempt("bench", "show", "top", "--results", decided / "elsewhere")
    assert (ended.code, "pnsight bench decide" in ended.err) == (2, True)


def test_a_learner_of_exact_queries_is_refused_before_anything_is_fitted(attempt, tmp_path):
    ended = attempt("bench", "decide", "--learners", "plug-in,exact-mlp", "--results", tmp_path / "none")
    assert (ended.code, "exact-mlp" in ended.err) == (2, True)
    assert not (tmp_path / "none").exists()
