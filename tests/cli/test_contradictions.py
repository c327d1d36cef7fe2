"""Tables that contradict each other, and whom answers are about: said by every command where its answer is read."""

from __future__ import annotations

import pytest

import pnsight
from cases import LALONDE, half_contradicted, write_case, write_sexes

CSV = ["--format", "csv"]
FIT = ["--treatment", "x", "--outcome", "y", "--model", "plug-in"]
CONTRADICTED = "warning: the tables contradict each other. For everyone, P(x',y) is 0.848 in the observational table"
ALONE = "from the experiment alone, and of its people: the observational table is not used"
OBSERVED = "averaged over the people of the observational table"


@pytest.fixture
def lalonde(run, tmp_path):
    """A trial of 722 people beside a survey of 16,289 others, from files."""
    run("fit", *write_case(LALONDE, tmp_path), *FIT, "--out", tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def towns(tmp_path):
    """Of two towns one is contradicted."""
    pnsight.save(pnsight.PlugIn(mix="profiles").fit(half_contradicted()), tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def sexes(run, tmp_path):
    """Women and men, averaged over the people of the observational table."""
    run("fit", *write_sexes(tmp_path), *FIT, "--mix", "profiles", "--out", tmp_path / "model")
    return tmp_path / "model"


# --- contradictions -------------------------------------------------------------------------------------


def test_query_has_no_answer_and_shows_the_trials_bounds_beside(lalonde, run):
    ended = run("query", lalonde, *CSV)
    (row,) = ended.rows
    assert (row["status"], row["lower"], row["upper"]) == ("contradicted", "", "")
    assert (float(row["trial_lower"]), float(row["trial_upper"])) == (
        pytest.approx(0.078, abs=5e-4),
        pytest.approx(0.304, abs=5e-4),
    )
    assert ended.err.count(CONTRADICTED) == 1
    assert "--trial-alone goes on with that" in ended.err


def test_decide_decides_nothing_and_shows_the_trials_bounds(lalonde, run):
    ended = run("decide", lalonde, "--threshold", 0.2, *CSV)
    (row,) = ended.rows
    assert (row["decision"], row["decision_cautious"], row["status"]) == ("", "", "contradicted")
    assert (row["trial_lower"][:5], row["trial_upper"][:5]) == ("0.077", "0.303")
    assert ended.err.count(CONTRADICTED) == 1


def test_on_the_screen_the_trials_bounds_stand_there_and_empty_columns_do_not(lalonde, run):
    shown = run("decide", lalonde, "--threshold", 0.2).out
    assert "0.078-0.304" in shown
    assert "lower_low" not in shown
    assert "value_low" not in shown


def test_the_reason_in_words_is_the_contradiction_and_what_the_trial_says(lalonde, run):
    assert run("decide", lalonde, "--threshold", 0.2, "--words").out == (
        "everyone: no decision: the tables contradict each other here beyond chance; by the trial alone pns is "
        "between 0.078 and 0.304 (rows: 722 experimental, 16,289 observational).\n"
    )


@pytest.mark.parametrize("command", [["rank"], ["select", "--budget", 0.3]])
def test_if_everyone_is_contradicted_nobody_is_ranked_or_chosen(command, lalonde, attempt, run):
    ended = attempt(*command[:1], lalonde, *command[1:])
    assert (ended.code, ended.out) == (2, "")
    assert "the tables contradict each other beyond chance" in ended.err
    assert "use --trial-alone" in ended.err
    going_on = run(*command[:1], lalonde, *command[1:], "--trial-alone", *CSV)
    assert going_on.rows[0]["lower"][:5] == "0.077"
    assert ALONE in going_on.err


@pytest.mark.parametrize("command", ["query", "decide", "ask"])
def test_the_trial_alone_answers_and_says_so(command, lalonde, run):
    ended = run(command, lalonde, "--trial-alone", *CSV)
    assert ended.err.count(ALONE) == 1
    assert CONTRADICTED not in ended.err
    if command != "ask":
        assert ended.rows[0]["status"] == "ok"


def test_groups_that_are_contradicted_are_left_out_of_a_ranking_and_counted(towns, run):
    ended = run("rank", towns, "--margin", 0, *CSV)
    assert ended.rows
    assert all("Ain" in row["query"] for row in ended.rows)
    assert "left out: 6 of 9 groups, about which the tables contradict each other" in ended.err
    assert ended.err.count("warning: the tables contradict each other") == 1


def test_people_whom_the_tables_contradict_each_other_about_get_nothing_of_a_budget(towns, run):
    ended = run("select", towns, "--budget", 1, *CSV)
    assert all("Ain" in row["query"] for row in ended.rows)
    assert "have a profile about which the tables contradict each other" in ended.err


# --- whom answers are about -----------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["query"], ["decide"], ["rank"], ["ask"], ["select", "--budget", 0.1]])
def test_whom_answers_are_about_is_said_once(command, sexes, run):
    assert run(*command[:1], sexes, *command[1:]).err.count(OBSERVED) == 1


def test_rows_that_are_added_up_are_each_tables_own(run, tmp_path):
    run("fit", *write_sexes(tmp_path), *FIT, "--out", tmp_path / "model")
    assert "averaged over each table's own people" in run("query", tmp_path / "model").err
    assert OBSERVED in run("query", tmp_path / "model", "--refine", "covariates").err


def test_an_experiment_alone_is_about_its_people(churn, run):
    assert "averaged over the people of the experimental table" in run("query", churn).err
    assert "averaged over" not in run("query", churn, "--trial-alone").err
