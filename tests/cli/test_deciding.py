"""`decide`, `ask`, `rank`, `select`, `plan`: their columns, what they say beside, and that Python says the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pnsight
from cases import write_sexes
from pnsight import simulation as populations
from quick_config import QUICK

ANSWER = [
    *["lower", "upper", "lower_low", "lower_high", "upper_low", "upper_high"],
    *["support_experimental", "support_observational", "status", "basis"],
    *["value_low", "value_high", "trial_lower", "trial_upper"],
]
DECISIONS = ["decision", "decision_cautious"]
AMOUNTS = ["spent", "treated", "guaranteed", "net", "best_case"]
CSV = ["--format", "csv"]


@pytest.fixture(scope="module")
def sexes(tmp_path_factory):
    """Women with a PNS of 0.279, men with one of 0.49, as many of either."""
    folder = tmp_path_factory.mktemp("sexes")
    study = pnsight.read_study(*write_sexes(folder), treatment="x", outcome="y")
    pnsight.save(pnsight.PlugIn().fit(study), folder / "model")
    return folder / "model"


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A response-type model with intervals."""
    folder = tmp_path_factory.mktemp("fitted") / "model"
    study = populations.get("mediator").sample(experimental=5000, observational=5000, seed=1)
    pnsight.save(pnsight.ResponseTypeModel(config=QUICK).fit(study), folder)
    return folder


# --- decide ---------------------------------------------------------------------------------------------


def test_decide_prints_the_query_its_decision_and_its_answer(sexes, run):
    ended = run("decide", sexes, "sex=F", "sex=M", "", "--threshold", 0.4, *CSV)
    assert ended.header == ["query", *DECISIONS, *ANSWER]
    assert [row["decision"] for row in ended.rows] == ["not", "treat", "uncertain"]
    assert "treat if pns is at least 0.4" in ended.err
    assert "3 decisions: treat 1, not 1, uncertain 1" in ended.err


def test_the_threshold_is_a_half_unless_given(sexes, run):
    assert run("decide", sexes, "M", *CSV).rows[0]["decision"] == "not"


def test_decide_answers_spaces_files_and_other_quantities_as_query_does(sexes, run, tmp_path):
    assert len(run("decide", sexes, "--space", "mask", *CSV).rows) == 3
    (tmp_path / "people.csv").write_text("person,sex,decision\nann,F,old\nbo,,old\n")
    ended = run("decide", sexes, "--queries", tmp_path / "people.csv", *CSV)
    assert ended.header == ["person", "sex", "decision_given", "query", *DECISIONS, *ANSWER]
    harm = run("decide", sexes, "M", "--quantity", "harm", "--threshold", 0.2, *CSV)
    assert harm.rows[0]["decision"] == "treat"


def test_without_an_answer_the_decision_is_empty(run, tmp_path):
    study = populations.get("mediator").sample(experimental=50, observational=50, seed=1)
    pnsight.save(pnsight.PlugIn().fit(study), tmp_path / "model")
    (row,) = run("decide", tmp_path / "model", "0000000000", *CSV).rows
    assert (row["decision"], row["status"]) == ("", "undefined")


def test_decide_in_words(sexes, run):
    assert run("decide", sexes, "M", "--words", "--threshold", 0.4).out == (
        "M: treat: pns is at least 0.490, not below 0.4, and the 90% interval of that bound reaches 0.462, on the same "
        "side (rows: 2,000 experimental, 2,000 observational).\n"
    )


def test_a_benefit_must_be_worth_its_cost(churn, run):
    """Case E: the first group's benefit is between -5.14 and -.11, the second's between 1.09 and 4.06."""
    payoffs = ["--payoffs", "100,-60,0,-140"]
    for cost, expected in ((1, ["not", "treat"]), (2, ["not", "uncertain"]), (-0.2, ["uncertain", "treat"])):
        ended = run("decide", churn, "group=G1", "group=G2", *payoffs, "--cost", cost, *CSV)
        assert [row["decision"] for row in ended.rows] == expected
        assert f"treat if benefit is at least {cost}" in ended.err
    worth_it = run("decide", churn, "group=G1", "group=G2", *payoffs, *CSV)
    assert [row["decision"] for row in worth_it.rows] == ["not", "treat"]
    assert "treat if benefit is at least 0" in worth_it.err


def test_the_benefit_can_be_ranked_asked_about_and_bought(churn, run):
    payoffs = ["--payoffs", "100,-60,0,-140"]
    assert run("rank", churn, *payoffs, *CSV).rows[0]["query"] == "group=G2"
    assert run("rank", churn, "--by", "benefit", *payoffs, *CSV).rows[0]["query"] == "group=G2"
    assert "ask for group first: it always settles the decision" in run("ask", churn, *payoffs, "--cost", 1, *CSV).err
    assert [row["query"] for row in run("select", churn, "--budget", 1, *payoffs, *CSV).rows] == ["group=G2"]


def test_decisions_can_rest_on_assumptions_and_refinement(sexes, run):
    assert run("decide", sexes, "", "--threshold", 0.38, *CSV).rows[0]["decision"] == "uncertain"
    assert run("decide", sexes, "", "--threshold", 0.38, "--refine", "covariates", *CSV).rows[0]["decision"] == "treat"
    women = run("decide", sexes, "F", "--threshold", 0.3, "--assume", "monotone", *CSV)
    assert (women.rows[0]["decision"], "monotone" in women.err) == ("not", True)


def test_cautious_decisions_heed_the_level(fitted, run):
    decisions = [
        run("decide", fitted, "--space", "observed", "--threshold", 0.4, *more, *CSV).rows
        for more in ([], ["--cautious", "--level", 0.5], ["--cautious", "--level", 0.99])
    ]
    uncertain = [sum(row["decision"] == "uncertain" for row in rows) for rows in decisions]
    assert uncertain[0] < uncertain[1] < uncertain[2]


def test_the_cautious_decision_stands_beside_the_plain_one(fitted, run):
    asked = ["decide", fitted, "--space", "observed", "--threshold", 0.4, *CSV]
    plain, careful = run(*asked).rows, run(*asked, "--cautious").rows
    assert [row["decision_cautious"] for row in plain] == [row["decision"] for row in careful]
    assert [row["decision_cautious"] for row in careful] == [row["decision"] for row in careful]
    assert any(row["decision"] != row["decision_cautious"] for row in plain)


def test_without_intervals_the_cautious_decision_is_empty(sexes, run, monkeypatch):
    monkeypatch.setattr(pnsight.PlugIn, "noise_given", lambda *given: None)
    assert [row["decision_cautious"] for row in run("decide", sexes, "F", "M", *CSV).rows] == ["", ""]


@pytest.fixture
def guessing(sexes, monkeypatch):
    """Of women it is said that nobody like them was seen."""
    compute = pnsight.PlugIn.compute_bounds

    def saying(self, codes, estimand):
        basis = np.where(codes[:, 0] == 0, "extrapolated", "rows")
        return replace(compute(self, codes, estimand), basis=basis)

    monkeypatch.setattr(pnsight.PlugIn, "compute_bounds", saying)
    return sexes


def test_an_extrapolated_answer_is_decided_on_only_if_asked_for(guessing, run):
    ended = run("decide", guessing, "F", "M", "--threshold", 0.25, *CSV)
    assert [(row["decision"], row["basis"], row["status"]) for row in ended.rows] == [
        ("", "extrapolated", "ok"),
        ("treat", "rows", "ok"),
    ]
    assert float(ended.rows[0]["lower"]) == pytest.approx(0.279)
    assert "no decision for 1 of 2 queries: extrapolated: nobody like this was seen" in ended.err
    asked = run("decide", guessing, "F", "M", "--threshold", 0.25, "--extrapolate", *CSV)
    assert [row["decision"] for row in asked.rows] == ["treat", "treat"]
    assert "extrapolated" not in asked.err


def test_a_budget_and_a_question_go_by_that_too(guessing, run):
    assert [row["query"] for row in run("select", guessing, "--budget", 1, *CSV).rows] == ["M"]
    assert [row["query"] for row in run("select", guessing, "--budget", 1, "--extrapolate", *CSV).rows] == ["M", "F"]
    asked = ["ask", guessing, "", "--threshold", 0.25, "--levels", *CSV]
    assert [row["decision"] for row in run(*asked).rows] == ["", "treat"]
    assert [row["decision"] for row in run(*asked, "--extrapolate").rows] == ["treat", "treat"]


def test_on_the_screen_the_basis_stands_beside_the_answer(guessing, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert "status  basis" in run("query", guessing, "F").out


# --- ask ------------------------------------------------------------------------------------------------


def test_ask_says_which_question_is_worth_asking(sexes, run):
    ended = run("ask", sexes, "--threshold", 0.4, *CSV)
    assert ended.header == ["covariate", "changes", "treat", "not", "uncertain", "unanswered", "width"]
    assert (ended.rows[0]["covariate"], float(ended.rows[0]["changes"])) == ("sex", 1.0)
    assert "as things are: X: uncertain" in ended.err
    assert "ask for sex first: it always settles the decision" in ended.err


def test_ask_shows_the_decision_after_each_answer(sexes, run):
    ended = run("ask", sexes, "", "--threshold", 0.4, "--levels", *CSV)
    assert ended.header == ["covariate", "level", "probability", "query", *DECISIONS, *ANSWER]
    assert [(row["level"], row["decision"]) for row in ended.rows] == [("F", "not"), ("M", "treat")]


def test_ask_shows_the_decision_without_what_is_known(fitted, run):
    ended = run("ask", fitted, "1101001110", "--without", *CSV)
    assert ended.header == ["left_open", "query", *DECISIONS, *ANSWER]
    assert [row["query"] for row in ended.rows] == pnsight.queries.lattice.profile_and_parents("1101001110")


def test_ask_means_the_people_of_the_population_named(fitted, run):
    trial = run("ask", fitted, "z4=1", "--levels", "--population", "experimental", *CSV).rows
    expected = pnsight.ask(pnsight.load(fitted), "z4=1", population="experimental").by_level()
    assert [float(row["probability"]) for row in trial] == expected["probability"]


# --- rank -----------------------------------------------------------------------------------------------


def test_rank_lists_the_best_first(fitted, run):
    ended = run("rank", fitted, "--top", 5, *CSV)
    assert ended.header == ["query", "share", "adds", *ANSWER]
    low = [float(row["lower_low"]) for row in ended.rows]
    assert low == sorted(low, reverse=True)
    assert 1 < len(low) <= 5
    assert "too high on average" in ended.err


@pytest.mark.parametrize("by", ["lower", "upper"])
def test_rank_says_what_python_says(sexes, run, by):
    found = pnsight.rank(pnsight.load(sexes), 2, by, margin=0.02, least_share=0.4, least_support=10)
    options = ["--by", by, "--margin", 0.02, "--least-share", 0.4, "--least-support", 10]
    rows = run("rank", sexes, "--top", 2, *options, *CSV).rows
    assert [row["query"] for row in rows] == found.columns()["query"]


# --- select ---------------------------------------------------------------------------------------------


def test_select_spends_the_budget_on_those_who_gain_most(sexes, run):
    ended = run("select", sexes, "--budget", 600, "--people", 1000, *CSV)
    assert ended.header == ["query", "people", *AMOUNTS, *ANSWER]
    assert [row["query"] for row in ended.rows] == ["M", "F"]
    assert [float(row["treated"]) for row in ended.rows] == pytest.approx([500, 100])
    assert "treat 600.0 of 1,000 people: at least 272.9" in ended.err


def test_select_shows_the_gain_against_the_budget(sexes, run):
    ended = run("select", sexes, "--budget", 0.1, "--curve", *CSV)
    assert ended.header == AMOUNTS
    assert [float(row["guaranteed"]) for row in ended.rows] == pytest.approx([0, 0.245, 0.3845])


def test_select_spends_money(sexes, run):
    options = ["--budget", 50, "--cost", 5, "--people", 1000, "--by", "net"]
    (row,) = run("select", sexes, *options, *CSV).rows
    assert (row["query"], float(row["treated"]), float(row["spent"])) == ("M", 10.0, 50.0)


def test_cautious_selection_guarantees_less(fitted, run):
    plain, careful = (
        sum(float(row["guaranteed"]) for row in run("select", fitted, "--budget", 0.2, *more, *CSV).rows)
        for more in ([], ["--cautious"])
    )
    assert careful < plain


# --- plan -----------------------------------------------------------------------------------------------


def test_plan_lists_where_rows_would_settle_most(fitted, run):
    ended = run("plan", fitted, "--threshold", 0.3, "--rows", 5000, "--top", 3, *CSV)
    assert ended.header == ["query", "share", "uncertain", "stays", "change", "treat", "not"]
    expected = pnsight.decisions.planning.plan(pnsight.load(fitted), 0.3, 5000, top=3)
    assert [float(row["change"]) for row in ended.rows] == pytest.approx(list(expected.change))
    assert "experimental: expected change" in ended.err
    assert "stay so with unlimited rows" in ended.err


def test_plan_compares_the_groups_that_are_named(fitted, run):
    ended = run("plan", fitted, "z1=1", "z1=0", "--table", "both", "--cost", 0.1, "--payoffs", "1,0,0,-1", *CSV)
    assert {row["query"] for row in ended.rows} == {"1XXXXXXXXX", "0XXXXXXXXX"}
    assert "treat if benefit is at least 0.1" in ended.err


def test_plan_says_that_it_is_experimental(run):
    assert "Experimental: list the groups" in run("plan", "--help").out


def test_plan_refuses_a_model_without_intervals(sexes, attempt):
    ended = attempt("plan", sexes)
    assert (ended.code, ended.out) == (2, "")
    assert "this is a plug-in model" in ended.err
