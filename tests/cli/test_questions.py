"""Benefit, assumptions and refinement on the command line."""

from __future__ import annotations

import pytest

from cases import CHURN_EXPECTED, TOLERANCE, rows, write_csv, write_sexes

FIT = ["--treatment", "x", "--outcome", "y", "--model", "plug-in"]
PAYOFFS = ["--quantity", "benefit", "--payoffs", "100,-60,0,-140"]


def ends(row: dict[str, str]) -> tuple[float, float]:
    return float(row["lower"]), float(row["upper"])


@pytest.fixture
def sexes(run, tmp_path):
    run("fit", *write_sexes(tmp_path), *FIT, "--out", tmp_path / "model")
    return tmp_path / "model"


def test_case_e_churn(churn, run):
    ended = run("query", churn, "group=G1", "group=G2", *PAYOFFS, "--format", "csv")
    for row, expected in zip(ended.rows, CHURN_EXPECTED.values(), strict=True):
        assert ends(row) == pytest.approx(expected, abs=5e-5)
    said = [
        "averaged over the people of the experimental table",
        "payoffs: helped 100, always -60, never 0, harmed -140",
    ]
    assert ended.err.splitlines() == ["bounds on benefit", *said]


def test_payoffs_may_begin_with_a_minus(churn, run):
    ended = run("query", churn, "group=G1", "--quantity", "benefit", "--payoffs", "-100,60,0,140", "--format", "csv")
    assert ends(ended.rows[0]) == pytest.approx((0.1143, 5.1429), abs=5e-5)


def test_case_d_refined(sexes, run):
    ended = run("query", sexes, "--refine", "covariates", "--format", "csv")
    assert ends(ended.rows[0]) == pytest.approx((0.3845, 0.3845), abs=TOLERANCE)
    refined = [
        "averaged over the people of the observational table",
        "refined: the average of the profiles' own bounds",
    ]
    assert ended.err.splitlines() == refined
    plain = run("query", sexes, "--refine", "none", "--format", "csv")
    assert ends(plain.rows[0]) == pytest.approx((0.3395, 0.4295), abs=TOLERANCE)
    assert plain.err == "averaged over each table's own people: their rows are added up\n"


def test_an_assumption_is_stated_with_the_outcome_of_its_test(sexes, run):
    ended = run("query", sexes, "F", "--assume", "monotone", "--quantity", "ps", "--format", "csv")
    assert ends(ended.rows[0]) == pytest.approx((1, 1))
    assert "assumed: monotone (nobody is harmed by the treatment); not contradicted for those asked about" in ended.err


def test_a_contradicted_assumption_ends_with_code_two_and_the_figures(sexes, attempt):
    ended = attempt("query", sexes, "--assume", "monotone")
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("pnsight: assumed: monotone")
    assert "For sex=M, P(y) is 0.700 in the observational table, but P(y_x) only 0.490" in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("words", ["--assume monotone,exogenous", "--assume exogenous --assume monotone"])
def test_assumptions_are_separated_by_commas_or_repeated(words, run, tmp_path):
    """No effect, no confounding: both stand."""
    table = write_csv(tmp_path / "t.csv", "x,y", rows((50, 50, 50, 50)))
    run("fit", table, table, *FIT, "--out", tmp_path / "model")
    ended = run("query", tmp_path / "model", *words.split(), "--format", "csv")
    assert ends(ended.rows[0]) == (0, 0)
    assert "assumed: monotone (nobody" in ended.err
    assert "and exogenous (given the covariates" in ended.err
    assert "not contradicted in 1 subgroup (8 comparisons)" in ended.err


def test_the_oracle_knows_the_benefit_and_refines(run):
    asked = ("oracle", "tree:1", "", "1101001110", *PAYOFFS, "--format", "csv")
    plain, refined = run(*asked).rows, run(*asked, "--refine", "covariates").rows
    for wide, narrow in zip(plain, refined, strict=True):
        assert ends(wide)[0] <= ends(narrow)[0] + 1e-9
        assert ends(narrow)[0] - 1e-9 <= float(narrow["benefit"]) <= ends(narrow)[1] + 1e-9
        assert ends(narrow)[1] <= ends(wide)[1] + 1e-9
    assert ends(plain[0]) != ends(refined[0])


def test_an_observational_table_can_stand_alone(run, tmp_path):
    """Of those treated 70 of 100 respond, of the others 40 of 100."""
    table = write_csv(tmp_path / "t.csv", "x,y", rows((70, 30, 40, 60)))
    ended = run("fit", table, "--observational-only", *FIT, "--out", tmp_path / "model")
    assert "experimental rows: 0, observational rows: 200" in ended.err
    (alone,) = run("query", tmp_path / "model", "--format", "csv").rows
    assert alone["status"] == "undefined"
    (assumed,) = run("query", tmp_path / "model", "--assume", "exogenous", "--format", "csv").rows
    assert ends(assumed) == pytest.approx((0.3, 0.6))


def test_explain_says_what_a_model_is_and_how_it_answers(sexes, run, attempt):
    told = run("explain", sexes).out
    assert told.startswith("plug-in model of Study(experimental rows: 4,000")
    assert "Nothing was learned." in told
    assert "no model folder" in attempt("explain", sexes / "nothing").err
